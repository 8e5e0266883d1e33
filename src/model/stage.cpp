#include "model/stage.h"

#include <algorithm>

#include "base/threads.h"
#include "kernels/kernel_set.h"
#include "layers/neurons/blocks.h"
#include "model/drive.h"
#include "model/stage_clock.h"

namespace bntt {
namespace {

// Bands have few rows if there are few other units of work, so that every thread gets several.
int64_t rows_per_band(const MapShape& output, int64_t units) {
  constexpr int64_t kUnitsPerThread = 4;
  const int64_t bands = (kUnitsPerThread * threads() + units - 1) / units;
  return std::max<int64_t>(1, output.height / bands);
}

Drive drive_of(const kernels::NeuronShape& shape, const std::vector<Branch>& branches,
               const std::vector<BranchTrace>& traces) {
  std::vector<NormalisedCurrent> currents;
  for (std::size_t b = 0; b < branches.size(); ++b) {
    currents.push_back(
        {affine_of(traces[b].norm), currents_of(traces[b], shape), &branches[b].working()});
  }
  return {shape, currents};
}

std::vector<Branch> make_branches(const StagePlan& plan, int64_t run_steps) {
  std::vector<Branch> branches;
  branches.reserve(plan.branches.size());
  for (const BranchPlan& branch : plan.branches) branches.emplace_back(branch, plan, run_steps);
  return branches;
}

}  // namespace

Stage::Stage(const StagePlan& plan, int64_t run_steps, Propagation propagation)
    : plan_(plan),
      branches_(make_branches(plan, run_steps)),
      neurons_(make_neurons(plan, propagation)) {}

Buffer<float> Stage::no_state(const kernels::NeuronShape& shape) const {
  return Buffer<float>::zeros(shape.batch * neurons_->state_size(plan_.output));
}

StageTrace Stage::forward(const Inputs& inputs, const StageNumbers& numbers,
                          const std::vector<std::span<Statistic>>& statistics,
                          const ForwardOptions& options, Buffer<float>* voltage) const {
  const kernels::NeuronShape shape = branches_.front().shape_of(*inputs.front());
  StageTrace trace;
  for (std::size_t b = 0; b < branches_.size(); ++b) {
    trace.branches.push_back(
        branches_[b].forward(*inputs[b], numbers.branches[b], statistics[b], options));
  }
  {
    const PhaseTimer timer(plan_.name, StagePhase::neuron_forward);
    const Drive drive = drive_of(shape, branches_, trace.branches);
    Buffer<float> carry = no_state(shape);
    trace.output = neurons_->forward(drive.input(), numbers.neurons, carry.data());
    if (voltage != nullptr) *voltage = std::move(carry);
  }
  for (std::size_t b = 0; b < branches_.size() && options.keep == Keep::for_backward; ++b) {
    branches_[b].drop_cheap_currents(*inputs[b], trace.branches[b]);
  }
  return trace;
}

std::vector<GradientBuffer> Stage::backward(const Inputs& inputs, StageTrace trace,
                                            const StageNumbers& numbers,
                                            const ForwardOptions& options,
                                            ArrivingGradient arriving,
                                            const Gradients& gradients) const {
  const kernels::NeuronShape shape = branches_.front().shape_of(*inputs.front());
  for (std::size_t b = 0; b < branches_.size(); ++b) {
    branches_[b].restore_currents(*inputs[b], numbers.branches[b], options.precision,
                                  trace.branches[b]);
  }
  const auto zero_sums = [](const RowSplit& rows) {
    return RowGradientSums{rows, Buffer<float>::zeros(rows.size()),
                           Buffer<float>::zeros(rows.size())};
  };

  // ∂L/∂v. Without a pool it overwrites the gradient of the spikes in place.
  RowGradientSums sums = zero_sums(branches_.front().row_split(shape));
  GradientBuffer gradient;
  {
    const PhaseTimer timer(plan_.name, StagePhase::neuron_backward);
    const Drive drive = drive_of(shape, branches_, trace.branches);
    if (!neurons_->takes_half_gradients()) {
      arriving.values = GradientBuffer(arriving.values.take_floats());
    }
    const bool in_place = arriving.pool.is_identity();
    gradient = in_place ? std::move(arriving.values)
                        : GradientBuffer(shape.steps * shape.batch * shape.frame(),
                                         arriving.values.in_halves());
    const kernels::SpikeGradient at_spikes{(in_place ? gradient : arriving.values).view(),
                                           arriving.pool};
    neurons_->backward(drive.input(), at_spikes, gradients.neurons, gradient.place(), sums);
    arriving.values = GradientBuffer();
  }

  std::vector<GradientBuffer> at_inputs;
  const auto continue_in = [&](std::size_t b, RowGradientSums rows, GradientBuffer at_branch) {
    at_inputs.push_back(branches_[b].backward(
        *inputs[b], std::move(trace.branches[b]), numbers.branches[b], options, std::move(rows),
        std::move(at_branch), gradients.branches[b], gradients.wants_input[b]));
  };
  if (branches_.size() == 1) {
    continue_in(0, std::move(sums), std::move(gradient));
    return at_inputs;
  }
  // The same ∂L/∂v goes to every branch; the last one may overwrite it.
  const auto sums_of = [&](std::size_t b) {
    const PhaseTimer timer(plan_.name, StagePhase::neuron_backward);
    RowGradientSums rows = zero_sums(branches_[b].row_split(shape));
    branches_[b].add_gradient_sums(shape, trace.branches[b], gradient, rows);
    return rows;
  };
  const std::size_t last = branches_.size() - 1;
  for (std::size_t b = 0; b < last; ++b) continue_in(b, sums_of(b), gradient);
  RowGradientSums rows_of_last = sums_of(last);
  continue_in(last, std::move(rows_of_last), std::move(gradient));
  return at_inputs;
}

Signal Stage::advance(const Inputs& inputs, int64_t first, const StageNumbers& numbers,
                      Buffer<float>& carry, const AdvanceOptions& options) const {
  std::vector<Buffer<float>> of_window(branches_.size());
  std::vector<Buffer<float>>& constant_currents =
      options.constant_currents != nullptr ? *options.constant_currents : of_window;
  const int64_t steps = signal_steps(*inputs.front());
  RestingSteps resting;
  if (options.active != nullptr) {
    const auto from = options.active->begin() + plan_.first_step + first;
    resting.assign(from, from + steps);
    resting.flip();
  }
  const int64_t at_rest = std::ranges::count(resting, true);
  if (at_rest == 0) resting.clear();
  const bool leaks_by_rows = at_rest == steps && plan_.spikes() && plan_.output.pixels() > 1;
  if (takes_rows(inputs) || leaks_by_rows) {
    return work_by_rows(inputs, first, resting, numbers, carry);
  }
  return at_rest == steps ? rest(steps, signal_batch(*inputs.front()), numbers, carry)
                          : work(inputs, first, resting, numbers, carry, constant_currents);
}

Signal Stage::work(const Inputs& inputs, int64_t first, const RestingSteps& resting,
                   const StageNumbers& numbers, Buffer<float>& carry,
                   std::vector<Buffer<float>>& constant_currents) const {
  const kernels::NeuronShape shape = branches_.front().shape_of(*inputs.front());
  std::vector<Branch::Evaluation> evaluated;
  std::vector<NormalisedCurrent> currents;
  evaluated.reserve(branches_.size());
  for (std::size_t b = 0; b < branches_.size(); ++b) {
    evaluated.push_back(branches_[b].evaluate(*inputs[b], first, resting, numbers.branches[b],
                                              constant_currents[b]));
    currents.push_back({affine_of(evaluated[b].norm), evaluated[b].currents});
  }
  const PhaseTimer timer(plan_.name, StagePhase::neuron_forward);
  const Drive drive(shape, currents);
  return neurons_->forward(drive.input(), numbers.neurons, carry.data());
}

bool Stage::takes_rows(const Inputs& inputs) const {
  if (!plan_.spikes()) return false;
  for (std::size_t b = 0; b < branches_.size(); ++b) {
    if (branches_[b].norm().per_image() || !branches_[b].synapse().makes_rows(*inputs[b])) {
      return false;
    }
  }
  return true;
}

// A unit of work is one block of channels in a band of rows of one image, over all steps: the
// block's weights and the band's membranes stay in the L2 cache, a row of currents in the L1 cache.
// Blocks change slowest, so that threads share the weights they read. How a map is divided into
// bands does not affect the result of any neuron. At resting steps the membranes leak, and may
// still fire.
SpikeTrain Stage::work_by_rows(const Inputs& inputs, int64_t first, const RestingSteps& resting,
                               const StageNumbers& numbers, Buffer<float>& carry) const {
  const kernels::NeuronShape shape = branches_.front().shape_of(*inputs.front());
  const PhaseTimer timer(plan_.name, StagePhase::forward_by_rows);
  const MapShape& map = plan_.output;
  const kernels::Dynamics dynamics = *neurons_->dynamics(numbers.neurons);
  std::vector<NormTrace> norms;
  std::vector<std::unique_ptr<CurrentRows>> rows;
  const bool any_work = resting.empty() || !std::ranges::all_of(resting, std::identity());
  for (std::size_t b = 0; b < branches_.size() && any_work; ++b) {
    norms.push_back(branches_[b].evaluated_norm(shape.steps, first, numbers.branches[b]));
    rows.push_back(branches_[b].synapse().rows(*inputs[b], *numbers.branches[b].prepared,
                                               frames_of(resting, shape.batch)));
  }
  SpikeTrain spikes(shape.steps, shape.batch, map);
  const int64_t pixel_bytes = spikes.words_per_pixel() * static_cast<int64_t>(sizeof(SpikeWord));
  const int64_t width = branches_.front().synapse().block_channels();
  const int64_t blocks = (map.channels + width - 1) / width;
  const int64_t band = rows_per_band(map, blocks * shape.batch);
  const int64_t bands = (map.height + band - 1) / band;
  const bool one_branch = branches_.size() == 1;
  const std::vector<float> ones(width, 1.0F);
  const std::vector<float> zeros(width, 0.0F);

  parallel_for(blocks * shape.batch * bands, [&](int64_t unit) {
    const int64_t block = unit / (shape.batch * bands);
    const int64_t image = unit / bands % shape.batch;
    const int64_t top = unit % bands * band;
    const int64_t first_channel = block * width;
    const int64_t channels = std::min(width, map.channels - first_channel);
    float* made = thread_scratch(ScratchSlot::result, map.width * width);
    float* sum = one_branch ? nullptr : thread_scratch(ScratchSlot::currents, map.width * width);
    for (int64_t step = 0; step < shape.steps; ++step) {
      const int64_t at_norm = step * map.channels + first_channel;
      auto* frame = reinterpret_cast<uint8_t*>(spikes.frame(0, step, image));
      for (int64_t y = top; y < std::min(top + band, map.height); ++y) {
        kernels::NeuronRow neurons{
            .pixels = map.width,
            .channels = channels,
            .carry =
                carry.data() + image * map.size() + y * map.width * map.channels + first_channel,
            .carry_stride = map.channels,
            .spikes = frame + y * map.width * pixel_bytes + first_channel / 8,
            .spike_stride = pixel_bytes};
        if (!resting.empty() && resting[step]) {
          neurons.scale = neurons.shift = zeros.data();
          neurons.currents = {.data = zeros.data()};  // of every pixel: the stride is 0
          kernels::kernels().spiking_step(dynamics, neurons);
          continue;
        }
        for (std::size_t b = 0; b < rows.size(); ++b) {
          const RowView row = rows[b]->row(step * shape.batch + image, block, y, made);
          const float* scale = norms[b].scale.data() + at_norm;
          const float* shift = norms[b].shift.data() + at_norm;
          if (one_branch) {
            neurons.scale = scale;
            neurons.shift = shift;
            neurons.currents = {.data = row.values};
            neurons.current_stride = row.stride;
          } else {
            kernels::kernels().add_normalised({.pixels = map.width,
                                               .channels = channels,
                                               .scale = scale,
                                               .shift = shift,
                                               .currents = {.data = row.values},
                                               .current_stride = row.stride,
                                               .accumulate = b > 0,
                                               .out = sum,
                                               .out_stride = width});
          }
        }
        if (!one_branch) {
          neurons.scale = ones.data();
          neurons.shift = zeros.data();
          neurons.currents = {.data = sum};
          neurons.current_stride = width;
        }
        kernels::kernels().spiking_step(dynamics, neurons);
      }
    }
  });
  return spikes;
}

// Without input, the membranes leak and may still fire.
Signal Stage::rest(int64_t steps, int64_t batch, const StageNumbers& numbers,
                   Buffer<float>& carry) const {
  const PhaseTimer timer(plan_.name, StagePhase::neuron_forward);
  const kernels::NeuronShape shape{steps, batch, plan_.output.pixels(), plan_.output.channels};
  const auto zeros = Buffer<float>::zeros(batch * shape.frame());
  const auto nothing = Buffer<float>::zeros(steps * shape.channels);
  return neurons_->forward(
      {shape, {.scale = nothing.data(), .shift = nothing.data()}, {.data = zeros.data()}},
      numbers.neurons, carry.data());
}

}  // namespace bntt
