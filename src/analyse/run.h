#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "bntt/encoder.h"
#include "bntt/network.h"
#include "data/dataset.h"
#include "data/split.h"
#include "train/checkpoint.h"
#include "train/config.h"

namespace bntt {

struct OpenRunOptions {
  std::optional<std::string> data;  ///< directory of the data set; default: that of the run
  RunWeights weights = RunWeights::best;
  bool need_validation = false;
  int64_t limit = 0;  ///< use only the first images of each split; 0: all
  std::optional<int64_t> seed;
  CacheOptions cache;  ///< of decoded samples
};

/// A trained run with its data, ready for analysis.
struct OpenRun {
  RunConfig config;
  Network network;
  DatasetSplits data;
  EncoderSpec encoder;
  uint64_t seed = 1;
  SampleRange test;        ///< of data.test
  SampleRange validation;  ///< of data.train; empty without need_validation or a split
};

/// Throws Error unless the directory holds a run whose network fits its data set.
OpenRun open_run(const std::filesystem::path& directory, const OpenRunOptions& options = {});

/// False for an ANN.
bool is_spiking(const Network& network);

/// The images of an analysis and the network they run through. Refers to parts of an OpenRun (or of
/// a test).
struct Sample {
  const ImageSet& images;
  SampleRange range;
  const EncoderSpec& encoder;
  uint64_t seed = 1;
};

inline Sample test_sample(const OpenRun& run) {
  return {run.data.test, run.test, run.encoder, run.seed};
}
inline Sample validation_sample(const OpenRun& run) {
  return {run.data.train, run.validation, run.encoder, run.seed};
}

}  // namespace bntt
