#include <fmt/format.h>

#include "classical/svm_study.h"

namespace bntt {
namespace {

/// The mean surface of a polarity over all cells and training recordings.
std::vector<FeatureMap> mean_surfaces(const Hats& hats, const LabelledFeatures& train) {
  const int64_t side = hats.surface_side();
  std::vector<FeatureMap> maps;
  for (int64_t p = 0; p < hats.polarities(); ++p) {
    maps.push_back({.group = "Mean surface",
                    .name = hats.polarities() == 1 ? "both polarities"
                            : p == 0               ? "OFF"
                                                   : "ON",
                    .width = side,
                    .height = side,
                    .values = std::vector<double>(static_cast<std::size_t>(side * side))});
  }
  const auto surfaces =
      static_cast<double>(hats.columns() * hats.rows()) * static_cast<double>(train.rows.size());
  for (const SparseFeatures& row : train.rows) {
    for (const FeatureEntry& entry : row) {
      const int64_t surface = entry.index / (side * side);
      maps[surface % hats.polarities()].values[entry.index % (side * side)] +=
          entry.value / surfaces;
    }
  }
  return maps;
}

}  // namespace

ClassicalAnswers run_hats(const ClassicalConfig& config, RecordingStream& stream) {
  const Hats hats(stream.sensor(), config.hats);
  ExtractedFeatures features =
      extract_all([&](const Recording& recording) { return hats.extract(recording); }, stream);
  ClassicalAnswers answers;
  answers.features = {
      .count = hats.features(),
      .mean_nonzero = mean_nonzero(features.train),
      .text = fmt::format("{0} x {1} cells, {2} {3}, surfaces of {4} x {4}", hats.columns(),
                          hats.rows(), hats.polarities(),
                          hats.polarities() == 1 ? "polarity" : "polarities", hats.surface_side())};
  const int64_t cell = hats.polarities() * hats.surface_side() * hats.surface_side();
  answers.maps = mean_surfaces(hats, features.train);
  for (FeatureMap& map :
       class_maps(features.train, stream, "Sum of each cell's surfaces, by class", hats.columns(),
                  hats.rows(), [&](int64_t index) { return index / cell; })) {
    answers.maps.push_back(std::move(map));
  }
  classify_linearly(std::move(features), hats.features(), config, stream, answers);
  return answers;
}

}  // namespace bntt
