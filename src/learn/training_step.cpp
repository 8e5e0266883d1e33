#include "learn/training_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "base/threads.h"

namespace bntt {
namespace {

// Integers and no early exit, so that the compiler vectorises the loop.
bool all_finite(std::span<const float> values) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t any = 0;
  for (const float value : values) {
    any |= (std::bit_cast<uint32_t>(value) & kExponent) == kExponent ? 1U : 0U;
  }
  return any == 0;
}

std::optional<NonFinite> non_finite_number(const Network& network) {
  struct Numbers {
    const std::string& name;
    std::span<const float> values;
  };
  std::vector<Numbers> all;
  for (const Parameter& parameter : network.parameters()) {
    all.push_back({parameter.name, parameter.value.span()});
  }
  for (const Statistic& statistic : network.statistics()) {
    all.push_back({statistic.name, statistic.value.span()});
  }
  std::vector<char> finite(all.size());
  parallel_for(std::ssize(all), [&](int64_t i) { finite[i] = all_finite(all[i].values) ? 1 : 0; });
  const auto found = std::ranges::find(finite, 0);
  if (found == finite.end()) return std::nullopt;
  const Numbers& wrong = all[found - finite.begin()];
  return NonFinite{
      "a number of " + wrong.name,
      *std::ranges::find_if_not(wrong.values, [](float value) { return std::isfinite(value); })};
}

}  // namespace

StepResult train_step(const Batch& batch, const TrainingStep& step, Network& network,
                      Optimizer& optimizer) {
  const DropoutDraws dropout{step.seed, step.epoch, batch.sample_ids};
  Trace trace = network.forward(
      encode(batch, active_steps(network.spec()), step.encoder, step.seed, step.epoch),
      NormMode::batch, Keep::for_backward, &dropout);
  const Loss loss = loss_of(step.loss, {trace.logits, network.step_logits(trace)}, batch.labels);
  StepResult result{.sums = {.loss = loss.loss * static_cast<double>(batch.size()),
                             .correct = loss.correct,
                             .images = batch.size()}};
  if (!std::isfinite(loss.loss)) {
    result.diverged = {"the loss", loss.loss};
    return result;
  }
  if (step.observe) step.observe(trace);
  if (loss.of_steps) {
    network.backward_from_steps(std::move(trace), loss.gradient);
  } else {
    network.backward(std::move(trace), loss.gradient);
  }
  optimizer.step(network, step.learning_rate);
  result.diverged = non_finite_number(network);
  return result;
}

std::string divergence_text(const NonFinite& diverged, int64_t epoch, int64_t step) {
  return fmt::format("training has diverged: {} is {} in epoch {}, step {}", diverged.what,
                     std::isnan(diverged.value) ? "nan" : fmt::format("{}", diverged.value), epoch,
                     step);
}

}  // namespace bntt
