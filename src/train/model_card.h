#pragma once

#include "bntt/model.h"
#include "data/dataset.h"
#include "train/checkpoint.h"
#include "train/config.h"

namespace bntt {

/// The card of a run's model before training.
ModelCard card_of(const RunConfig& config, const DatasetSplits& data);

/// The same, as far as it is known without the data. Throws Error if the settings do not give the
/// normalisation and that of the data set is not known without its files.
ModelCard card_of_settings(const RunConfig& config, const Network& network);

/// The encoder of a run for a data set.
EncoderSpec encoder_for(const RunConfig& config, const DatasetSplits& data);

/// Maps the labels of the data to those of a run's model. Throws an Error that begins with `origin`
/// unless shape and classes are those of the network.
void fit_data_to_model(const RunModel& model, const std::string& origin, const std::string& name,
                       DatasetSplits& data);
/// As given in the model's file; for files of version 0.1, as in the run's settings.
EncoderSpec encoder_for(const RunModel& model, const RunConfig& config, const DatasetSplits& data);

}  // namespace bntt
