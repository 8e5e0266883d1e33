#pragma once

#include <vector>

#include "bntt/buffer.h"
#include "kernels/neuron.h"
#include "layers/neurons/neurons.h"
#include "model/working_steps.h"

namespace bntt {

/// The current of one branch and the affine map that normalises it.
struct NormalisedCurrent {
  kernels::Affine affine;
  kernels::Currents currents;
  const WorkingSteps* working = nullptr;  // steps that add something; null: all
};

/// What drives the neurons of a stage. A single branch is read as it is: the neurons normalise its
/// current themselves. Several are normalised and summed first, in their order.
class Drive {
 public:
  Drive(const kernels::NeuronShape& shape, const std::vector<NormalisedCurrent>& branches);

  const NeuronInput& input() const { return input_; }

 private:
  Buffer<float> sum_;   // [step, batch, y, x, channel]
  Buffer<float> ones_;  // [step, channel]
  Buffer<float> zeros_;
  NeuronInput input_;
};

}  // namespace bntt
