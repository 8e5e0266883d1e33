#include "bntt/norm.h"

#include <algorithm>

#include "base/kinds.h"
#include "bntt/batch_norms.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/no_norm.h"
#include "layers/norms/norm_checks.h"

namespace bntt {

// Norms that only the table refers to have no header.
std::unique_ptr<Norm> make_tdbn(const NormSpec& spec, const NormPlace& place);
std::unique_ptr<Norm> make_tebn(const NormSpec& spec, const NormPlace& place);

namespace {

template <typename Kind>
std::unique_ptr<Norm> make(const NormSpec& spec, const NormPlace& place) {
  return std::make_unique<Kind>(spec, place);
}

std::vector<NormEntry>& norms() {
  static std::vector<NormEntry> all = {
      {"none", "y = x", make<NoNorm>},
      {"bntt", "separate statistics and gain for every step (the paper's)",
       make<BatchNormThroughTime>},
      {"bn", "statistics of each step's batch; gain and running statistics shared by all steps",
       make<BatchNormPerStep>},
      {"bn-time", "statistics over batch, space and all steps together", make<BatchNormOverTime>},
      {"layer", "statistics per sample and step over channels and space", make<LayerNorm>},
      {"tdbn", "bn-time, scaled by α times the threshold", make_tdbn},
      {"tebn", "bn-time, with one more factor per step", make_tebn},
  };
  return all;
}

/// Expects a row of γ, and of β if there is a shift, for the affine maps below.
void expect_rows(std::span<const Parameter> parameters, bool shift, int64_t end, bool gradients) {
  const std::size_t count = shift ? 2 : 1;
  if (parameters.size() < count) {
    fail("norm: {} parameters, expected at least {}", parameters.size(), count);
  }
  for (const Parameter& parameter : parameters.first(count)) {
    const int64_t size = (gradients ? parameter.gradient : parameter.value).size();
    if (size < end) {
      fail("norm: {} of '{}' has {} numbers, expected at least {}",
           gradients ? "the gradient" : "the value", parameter.name, size, end);
    }
  }
}

}  // namespace

std::span<const NormEntry> norm_table() { return norms(); }

void register_norm(NormEntry entry) {
  const bool well_formed = !entry.name.empty() && std::ranges::all_of(entry.name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
  });
  if (!well_formed) {
    fail("norm '{}': expected a name of lower-case letters, digits and hyphens",
         excerpt(entry.name));
  }
  const auto same_name = [&](const NormEntry& known) { return known.name == entry.name; };
  if (std::ranges::any_of(norms(), same_name)) fail("norm '{}': is already registered", entry.name);
  if (!entry.make) fail("norm '{}': has no factory", entry.name);
  norms().push_back(std::move(entry));
}

std::unique_ptr<Norm> make_norm(const NormSpec& spec, const NormPlace& place) {
  if (place.channels < 1 || place.run_steps < 1 || place.branches < 1) {
    fail("norm '{}': {} channels, {} steps and {} branches, expected at least 1 each",
         excerpt(spec.kind), place.channels, place.run_steps, place.branches);
  }
  std::unique_ptr<Norm> norm =
      find_kind<NormEntry>("norm", spec.kind, norm_table()).make(spec, place);
  if (norm == nullptr) fail("norm '{}': its factory returned null", spec.kind);
  return norm;
}

int64_t Norm::checked_row(int64_t run_step, bool per_step) const {
  if (run_step < 0 || run_step >= place_.run_steps) {
    fail("norm: step {} is out of range, expected 0 to {}", run_step, place_.run_steps - 1);
  }
  return row_at(run_step, per_step);
}

std::vector<int64_t> Norm::rows_shape(bool per_step) const {
  if (per_step) return {place_.run_steps, place_.channels};
  return {place_.channels};
}

std::vector<ParameterDeclaration> Norm::parameters() const {
  const std::vector<int64_t> shape = rows_shape(affine_per_step());
  std::vector<ParameterDeclaration> declared = {{.name = "weight",
                                                 .group = ParameterGroup::gain,
                                                 .pytorch_shape = shape,
                                                 .start = spec_.gain_start}};
  if (has_shift()) {
    declared.push_back({.name = "bias", .group = ParameterGroup::shift, .pytorch_shape = shape});
  }
  return declared;
}

void Norm::affine(int64_t run_step, std::span<const Parameter> parameters,
                  const StepAffine& result) const {
  const int64_t row = checked_row(run_step, affine_per_step());
  expect_rows(parameters, has_shift(), row + channels(), false);
  std::copy_n(parameters[0].value.data() + row, channels(), result.gain);
  if (has_shift()) std::copy_n(parameters[1].value.data() + row, channels(), result.shift);
}

void Norm::add_gradient(int64_t run_step, const StepAffineGradient& gradient,
                        std::span<Parameter> parameters) const {
  const int64_t row = checked_row(run_step, affine_per_step());
  expect_rows(parameters, has_shift(), row + channels(), true);
  for (int64_t c = 0; c < channels(); ++c) parameters[0].gradient[row + c] += gradient.gain[c];
  if (!has_shift()) return;
  for (int64_t c = 0; c < channels(); ++c) parameters[1].gradient[row + c] += gradient.shift[c];
}

// y = gain (x − μ)/√(σ² + ε) + β: scale = gain/√(σ² + ε), shift = β − μ · scale.
void Norm::fold(int64_t first_step, std::span<const Parameter> parameters, float factor,
                NormTrace& trace) const {
  if (trace.rows_per_step < 1 || trace.mean.size() % (trace.rows_per_step * channels()) != 0) {
    fail("norm: a trace of {} numbers in {} rows per step, expected whole steps of {} channels",
         trace.mean.size(), trace.rows_per_step, channels());
  }
  expect_trace(trace, trace.mean.size() / (trace.rows_per_step * channels()), trace.rows_per_step,
               channels());
  std::vector<float> gain(channels());
  std::vector<float> shift(channels());
  trace.scale = Buffer<float>(trace.mean.size());
  trace.shift = Buffer<float>(trace.mean.size());
  for (int64_t row = 0; row < trace.mean.size() / channels(); ++row) {
    if (row % trace.rows_per_step == 0) {
      affine(first_step + row / trace.rows_per_step, parameters, {gain.data(), shift.data()});
    }
    for (int64_t c = 0; c < channels(); ++c) {
      const int64_t at = row * channels() + c;
      const float scale = gain[c] * trace.inverse_deviation[at];
      const float offset = -trace.mean[at] * scale;
      trace.scale[at] = factor * scale;
      trace.shift[at] = factor * (has_shift() ? offset + shift[c] : offset);
    }
  }
}

}  // namespace bntt
