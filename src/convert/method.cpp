#include "convert/method.h"

#include "base/kinds.h"

namespace bntt {
namespace {

constexpr ConversionMethod kMethods[] = {
    {.name = "cao",
     .meaning = "unscaled weights, membranes clipped at 0, pools and output with spiking neurons",
     .source = "Cao, Chen, Khosla 2015, IJCV 113:54",
     .rule = ThresholdRule::copied,
     .reset = Reset::hard,
     .floor = 0.0F,
     .percentile = 100.0,
     .direct_input = false,
     .pools_fire = true,
     .output_fires = true},
    {.name = "diehl",
     .meaning = "scaled by the largest activations of the ANN, hard reset",
     .source = "Diehl, Neil, Binas et al. 2015, IJCNN",
     .rule = ThresholdRule::activations,
     .reset = Reset::hard,
     .floor = std::nullopt,
     .percentile = 100.0,
     .direct_input = false,
     .pools_fire = false,
     .output_fires = false},
    {.name = "rueckauer",
     .meaning = "scaled by a percentile of the ANN's activations, soft reset, direct encoding",
     .source = "Rueckauer, Lungu, Hu et al. 2017, Front. Neurosci. 11:682",
     .rule = ThresholdRule::activations,
     .reset = Reset::soft,
     .floor = std::nullopt,
     .percentile = 99.9,
     .direct_input = true,
     .pools_fire = false,
     .output_fires = false},
    {.name = "spike-norm",
     .meaning = "thresholds are the largest weighted inputs of the spiking network, hard reset",
     .source = "Sengupta, Ye, Wang et al. 2019, Front. Neurosci. 13:95",
     .rule = ThresholdRule::weighted_inputs,
     .reset = Reset::hard,
     .floor = std::nullopt,
     .percentile = 100.0,
     .direct_input = false,
     .pools_fire = false,
     .output_fires = false},
    {.name = "rmp",
     .meaning =
         "thresholds as in spike-norm, but with soft reset, which keeps the residual potential",
     .source = "Han, Srinivasan, Roy 2020, CVPR",
     .rule = ThresholdRule::weighted_inputs,
     .reset = Reset::soft,
     .floor = std::nullopt,
     .percentile = 100.0,
     .direct_input = false,
     .pools_fire = false,
     .output_fires = false},
};

}  // namespace

std::span<const ConversionMethod> conversion_methods() { return kMethods; }

const ConversionMethod& conversion_method(std::string_view name) {
  return find_kind<ConversionMethod>("conversion method", name, kMethods);
}

}  // namespace bntt
