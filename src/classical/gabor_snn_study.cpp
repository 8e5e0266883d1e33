#include <fmt/format.h>

#include "classical/svm_study.h"

namespace bntt {

ClassicalAnswers run_gabor_snn(const ClassicalConfig& config, RecordingStream& stream) {
  const GaborSnn network(stream.sensor(), config.gabor_snn);
  ExtractedFeatures features =
      extract_all([&](const Recording& recording) { return network.extract(recording); }, stream);
  ClassicalAnswers answers;
  answers.features = {
      .count = network.features(),
      .mean_nonzero = mean_nonzero(features.train),
      .text = fmt::format("spikes of {} orientations, 2 polarities, {} x {} cells",
                          GaborBank::kOrientations, network.columns(), network.rows())};
  constexpr int64_t kPerCell = GaborSnn::kPolarities * GaborBank::kOrientations;
  answers.maps = filter_maps(network.bank());
  for (FeatureMap& map :
       class_maps(features.train, stream, "Spikes of each cell, by class", network.columns(),
                  network.rows(), [](int64_t index) { return index / kPerCell; })) {
    answers.maps.push_back(std::move(map));
  }
  classify_linearly(std::move(features), network.features(), config, stream, answers);
  return answers;
}

}  // namespace bntt
