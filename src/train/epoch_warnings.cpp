#include "train/epoch_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bntt {
namespace {

constexpr double kAbsurd = 10.0;  // times the loss of guessing

std::string silence_text(const Network& network, std::span<const double> densities) {
  if (densities.empty() || densities.back() > 0.0) return "";
  constexpr const char* kAdvice = "try a lower threshold, or a norm if there is none";
  if (std::ranges::all_of(densities, [](double density) { return density == 0.0; })) {
    return fmt::format("no neuron fires, so the network cannot learn: {}", kAdvice);
  }
  std::string last;
  for (const StagePlan& stage : network.stages()) {
    if (stage.spikes()) last = stage.name;
  }
  return fmt::format("no neuron of {} fires, so no spike reaches the readout: {}", last, kAdvice);
}

std::string loss_text(const TrainConfig& config, int64_t classes, double loss) {
  if (config.loss != "cross-entropy") return "";
  const double guessing = std::log(static_cast<double>(classes));
  if (loss <= kAbsurd * guessing) return "";
  return fmt::format(
      "the training loss is {:.4g}, but guessing would give {:.2f}: try a smaller "
      "train.learning_rate than {:g}",
      loss, guessing, config.learning_rate);
}

}  // namespace

std::vector<std::string> epoch_warnings(const TrainConfig& config, const Network& network,
                                        const LossSums& train, std::span<const double> densities) {
  std::vector<std::string> warnings;
  for (std::string text : {silence_text(network, densities),
                           loss_text(config, classes_of(network.spec()), train.mean_loss())}) {
    if (!text.empty()) warnings.push_back(std::move(text));
  }
  return warnings;
}

}  // namespace bntt
