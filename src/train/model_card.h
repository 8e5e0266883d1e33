#pragma once

#include "bntt/model.h"
#include "data/dataset.h"
#include "train/checkpoint.h"
#include "train/config.h"

namespace bntt {

/// What the files of a run say of its model before training.
ModelCard card_of(const RunConfig& config, const DatasetSplits& data);

/// The same as far as it is known without the data. Throws Error where the settings say nothing of
/// the normalisation and the data set's is not known without its files.
ModelCard card_of_settings(const RunConfig& config, const Network& network);

/// The encoder of a run for a data set.
EncoderSpec encoder_for(const RunConfig& config, const DatasetSplits& data);

/// Gives the labels of the data the meaning that they have in a run's model. Throws Error,
/// beginning with `origin`, unless shape and classes are the network's.
void fit_data_to_model(const RunModel& model, const std::string& origin, const std::string& name,
                       DatasetSplits& data);
/// What the model's file says; for files of version 0.1, what the run's settings say.
EncoderSpec encoder_for(const RunModel& model, const RunConfig& config, const DatasetSplits& data);

}  // namespace bntt
