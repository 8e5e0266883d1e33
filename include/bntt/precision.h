#pragma once

namespace bntt {

/// What training keeps of its currents between forward and backward.
enum class Precision {
  fp32,
  mixed,  ///< bf16, rounded before the neurons see them: half the memory. All arithmetic is fp32.
};

}  // namespace bntt
