#include "report/gamma.h"

#include <algorithm>
#include <vector>

#include "analyse/activity.h"
#include "train/run_trainer.h"

namespace bntt {
namespace {

// Few channels in many bins would look like isolated spikes.
Json histogram_document(const Network& network, std::size_t stage) {
  const auto bins = std::clamp<int64_t>(network.stages()[stage].output.channels, 12, 40);
  const std::vector<Histogram> histograms = gain_histograms(network, stage, bins);
  Json counts = Json::array();
  for (const Histogram& histogram : histograms) counts.push_back(histogram.counts);
  return {{"low", histograms.front().low}, {"high", histograms.front().high}, {"counts", counts}};
}

}  // namespace

Json gamma_document(const Network& network) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    if (network.gain(i) == nullptr) continue;
    const StagePlan& plan = network.stages()[i];
    Json means = mean_gain(network, i);
    const bool shared = means.size() == 1 && network.spec().steps > 1;
    for (int64_t step = 0; !shared && step < static_cast<int64_t>(means.size()); ++step) {
      const bool active = step >= plan.first_step && step < plan.first_step + plan.active_steps;
      if (!active) means[step] = nullptr;
    }
    layers.push_back({{"name", plan.name},
                      {"channels", plan.output.channels},
                      {"shared", shared},
                      {"first_step", plan.first_step},
                      {"active_steps", plan.active_steps},
                      {"mean", means},
                      {"histogram", histogram_document(network, i)}});
  }
  return layers;
}

}  // namespace bntt
