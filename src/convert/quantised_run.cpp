#include "convert/quantised_run.h"

#include "base/fail.h"
#include "train/model_card.h"
#include "train/run_settings.h"

namespace bntt {
namespace {

constexpr int64_t kImagesTogether = 8;

}  // namespace

Quantisation quantise(const Network& network, const EncoderSpec& encoder, const ImageSet& images,
                      SampleRange train, const QuantiseOptions& options,
                      const std::string& origin) {
  const std::vector<bool> suited =
      quantisable_branches(network, encoder.kind != EncoderKind::direct, origin);
  LeastErrorScales chosen;
  if (options.scales == ScaleRule::max) {
    chosen.scales = scales_of_largest(network, suited);
    chosen.errors.resize(suited.size());
  } else {
    const Calibration calibration{
        .batches = calibration_batches(images, train, options.calibration_images, options.seed,
                                       kImagesTogether),
        .encoder = encoder,
        .seed = options.seed,
        .progress = options.progress};
    chosen = least_error_scales(network, suited, calibration);
  }
  Quantisation result{.network = quantise(network, chosen.scales), .stopped = chosen.stopped};
  std::size_t next = 0;
  for (const StagePlan& stage : network.stages()) {
    for (const BranchPlan& branch : stage.branches) {
      const std::size_t at = next++;
      if (branch.weights == 0) continue;
      result.branches.push_back({.name = branch.name,
                                 .weights = branch.weights,
                                 .int8 = suited[at],
                                 .errors = chosen.errors[at]});
    }
  }
  return result;
}

RunConfig quantised_settings(RunConfig config, const QuantiseOptions& options,
                             const std::string& origin) {
  std::string text = fmt::format("weights of {} as int8, scales by ", origin);
  text += options.scales == ScaleRule::max
              ? "the largest weight"
              : fmt::format("the least error on {} training images", options.calibration_images);
  std::string& settings = config.method.settings;
  settings = settings.empty() ? text : settings + "; " + text;
  return config;
}

void write_quantised_run(const RunPaths& paths, const RunConfig& config,
                         const Quantisation& quantisation, ModelCard card) {
  card.training.settings = card_of_settings(config, quantisation.network).training.settings;
  card.training.validation_accuracy.reset();
  card.training.validation_images = 0;
  begin_run_directory(paths, config, false);
  save_checkpoint(paths, pack_model(quantisation.network, card));
}

}  // namespace bntt
