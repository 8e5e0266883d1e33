#include "analyse/effective_threshold.h"

#include <algorithm>
#include <cmath>

#include "base/threads.h"
#include "layers/neurons/neurons.h"
#include "model/quantise.h"

namespace bntt {
namespace {

double share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace

StageReplay::StageReplay(const Network& network, std::size_t stage, int64_t bins)
    : plan_(network.stages()[stage]),
      dynamics_(*make_neurons(plan_, network.spec().propagation)
                     ->dynamics(network.neuron_parameters(stage))),
      units_(scales_of(network, stage)),
      fixed_statistics_(plan_.branches.size() == 1 && !network.norm_statistics(stage).empty()),
      low_(-3.0 * plan_.neuron.threshold),
      high_(3.0 * plan_.neuron.threshold) {
  sums_.histogram.resize(bins, 0);
}

void StageReplay::add(const StageTrace& trace, int64_t batch) {
  const int64_t channels = plan_.output.channels;
  if (fixed_statistics_ && median_.empty()) {
    for (int64_t step = 0; step < plan_.active_steps; ++step) {
      std::vector<double> thresholds;
      for (int64_t c = 0; c < channels; ++c) {
        const float scale = trace.branches.front().norm.scale[step * channels + c];
        const float unit = units_.empty() ? 1.0F : units_[static_cast<std::size_t>(c)];
        if (scale > 0.0F) thresholds.push_back(plan_.neuron.threshold / scale * unit);
      }
      const auto middle = thresholds.begin() + static_cast<int64_t>(thresholds.size() / 2);
      std::ranges::nth_element(thresholds, middle);
      median_.push_back(thresholds.empty() ? 0.0 : *middle);
    }
  }
  std::vector<Sums> of_image(batch);
  parallel_for(batch, [&](int64_t image) { of_image[image] = replay(trace, batch, image); });
  for (const Sums& sums : of_image) add(sums);
}

StageReplay::Sums StageReplay::replay(const StageTrace& trace, int64_t batch, int64_t image) const {
  const int64_t channels = plan_.output.channels;
  const int64_t frame = plan_.output.size();
  const auto bins = static_cast<int64_t>(sums_.histogram.size());
  Sums sums;
  sums.histogram.resize(bins, 0);
  for (int64_t neuron = 0; neuron < frame; ++neuron) {
    const int64_t c = neuron % channels;
    float real = 0.0F;
    float paper = 0.0F;
    float with_mean = 0.0F;
    for (int64_t step = 0; step < plan_.active_steps; ++step) {
      const auto current = [&](const BranchTrace& branch) {
        const int64_t place = branch.stored_steps.empty() ? step : branch.stored_steps[step];
        const int64_t stored = branch.current_constant ? 0 : place;
        return branch.current[(stored * batch + image) * frame + neuron];
      };
      const auto row_of = [&](const NormTrace& norm) {
        return (step * norm.rows_per_step + (norm.rows_per_step > 1 ? image : 0)) * channels + c;
      };
      const auto add_branch = [&](float base, const BranchTrace& branch) {
        const int64_t at = row_of(branch.norm);
        return kernels::add_affine(base, current(branch), branch.norm.scale[at],
                                   branch.norm.shift[at]);
      };
      const BranchTrace& first = trace.branches.front();
      float v = 0.0F;
      if (trace.branches.size() == 1) {
        v = add_branch(real, first);
      } else {
        for (const BranchTrace& branch : trace.branches) v = add_branch(v, branch);
        v += real;
      }
      v = dynamics_.membrane(v);
      const float x = current(first);
      const float mean = first.norm.mean[row_of(first.norm)];
      const float scale = first.norm.scale[row_of(first.norm)];
      const bool fired = dynamics_.fires(v);
      real = dynamics_.carried(v, fired);
      sums.membrane += v;
      sums.squared += static_cast<double>(v) * v;
      ++sums.samples;
      const double place = (v - low_) / (high_ - low_) * static_cast<double>(bins);
      // Written so that NaN, which a damaged network may have, falls into the first bin.
      ++sums.histogram[place > 0.0 ? std::min(static_cast<int64_t>(std::min(place, 1e9)), bins - 1)
                                   : 0];

      const bool positive = scale > 0.0F;
      const kernels::Dynamics effective =
          dynamics_.with_threshold(positive ? dynamics_.threshold / scale : 0.0F);
      const auto compare = [&](float& membrane, float drive, Agreement& agreement) {
        const float u = effective.membrane(membrane + drive);
        const bool predicted = positive && effective.fires(u);
        membrane = effective.carried(u, predicted);
        if (!positive) return;
        agreement.both_fire += predicted && fired ? 1 : 0;
        agreement.predicted += predicted ? 1 : 0;
        agreement.same += predicted == fired ? 1 : 0;
      };
      compare(paper, x, sums.paper);
      compare(with_mean, x - mean, sums.with_mean);
      sums.positive_samples += positive ? 1 : 0;
      (positive ? sums.positive_spikes : sums.other_spikes) += fired ? 1 : 0;
    }
  }
  return sums;
}

void StageReplay::add(const Sums& sums) {
  sums_.membrane += sums.membrane;
  sums_.squared += sums.squared;
  sums_.samples += sums.samples;
  for (std::size_t i = 0; i < sums.histogram.size(); ++i) {
    sums_.histogram[i] += sums.histogram[i];
  }
  sums_.positive_samples += sums.positive_samples;
  sums_.positive_spikes += sums.positive_spikes;
  sums_.other_spikes += sums.other_spikes;
  const auto add_agreement = [](Agreement& to, const Agreement& from) {
    to.both_fire += from.both_fire;
    to.predicted += from.predicted;
    to.same += from.same;
  };
  add_agreement(sums_.paper, sums.paper);
  add_agreement(sums_.with_mean, sums.with_mean);
}

MembraneStatistics StageReplay::membrane() const {
  const auto samples = static_cast<double>(std::max<int64_t>(1, sums_.samples));
  const double mean = sums_.membrane / samples;
  // Doubles computed from floats: the cancellation error is far below the digits that are shown.
  const double variance = std::max(0.0, sums_.squared / samples - mean * mean);
  return {mean, std::sqrt(variance), {low_, high_, sums_.histogram}};
}

ThresholdAgreement StageReplay::shares(const Agreement& agreement) const {
  return {.same = share(agreement.same, sums_.positive_samples),
          .recall = share(agreement.both_fire, sums_.positive_spikes),
          .precision = share(agreement.both_fire, agreement.predicted),
          .predicted_rate = share(agreement.predicted, sums_.positive_samples)};
}

std::optional<EffectiveThreshold> StageReplay::effective_threshold() const {
  if (!fixed_statistics_) return std::nullopt;
  return EffectiveThreshold{
      .positive_gains = share(sums_.positive_samples, sums_.samples),
      .spikes_elsewhere = share(sums_.other_spikes, sums_.other_spikes + sums_.positive_spikes),
      .real_rate = share(sums_.positive_spikes, sums_.positive_samples),
      .median = median_,
      .paper = shares(sums_.paper),
      .with_mean = shares(sums_.with_mean)};
}

}  // namespace bntt
