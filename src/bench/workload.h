#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bntt/batch.h"
#include "bntt/encoder.h"
#include "bntt/network.h"
#include "train/config.h"

namespace bntt::bench {

struct WorkloadOptions {
  std::string model = "vgg9";
  int64_t steps = 25;
  double width = 1.0;
  std::string run;   ///< use the network of this run instead of a fresh one
  std::string data;  ///< directory of the images; empty: an installed data set, or noise
  int64_t images = 32;
  std::optional<BreakEvenSource> break_even;  ///< default: that of the run, or the formula
};

/// A network and the images that it is timed on: the same for every engine.
struct Workload {
  Network network;
  Batch images;
  EncoderSpec encoder;
  std::string images_from;           ///< for display: "cifar10", "seeded noise"
  std::string break_even_from = {};  ///< for display: "formula", "timed", "the run"
};

/// Every norm of the network fully adopts the statistics of each batch, so that one forward pass in
/// batch mode calibrates the running statistics.
Workload make_workload(const WorkloadOptions& options);

/// Images [first, first + count).
Batch slice(const Batch& images, int64_t first, int64_t count);

inline constexpr uint64_t kSeed = 1;

/// Packs the workload as files for the workers; the convolutions' break-even table is stored with
/// the images.
std::vector<uint8_t> pack_network(const Workload& workload);
std::vector<uint8_t> pack_images(const Workload& workload);
Workload unpack_workload(const std::string& network_file, const std::string& images_file);

}  // namespace bntt::bench
