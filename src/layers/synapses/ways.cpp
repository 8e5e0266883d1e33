#include "layers/synapses/conv_direct.h"
#include "layers/synapses/conv_patterns.h"
#include "layers/synapses/conv_reference.h"
#include "layers/synapses/conv_walk.h"
#include "layers/synapses/conv_winograd.h"
#include "layers/synapses/dense_bf16.h"
#include "layers/synapses/dense_matmul.h"
#include "layers/synapses/dense_reference.h"
#include "layers/synapses/dense_walk.h"
#include "layers/synapses/identity.h"

namespace bntt {
namespace {

template <typename... Ways>
SynapseWays listed(const BranchPlan& plan) {
  SynapseWays ways;
  const auto add = [&]<typename Way>(const Way*) {
    if (Way::suits(plan)) ways.push_back(std::make_unique<Way>(plan));
  };
  (add(static_cast<const Ways*>(nullptr)), ...);
  return ways;
}

}  // namespace

SynapseWays make_ways(const BranchPlan& plan) {
  switch (plan.synapse) {
    case SynapseKind::conv:
      return listed<ConvPatternsInt8, ConvPatterns, ConvWalkInt8, ConvWalk, ConvWinogradBf16,
                    ConvWinograd, ConvDirect, ConvReference>(plan);
    case SynapseKind::dense:
      return listed<DenseWalkInt8, DenseWalk, DenseBf16, DenseMatmul, DenseReference>(plan);
    case SynapseKind::identity:
      break;
  }
  return listed<Identity>(plan);
}

}  // namespace bntt
