#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/safetensors.h"
#include "bntt/error.h"
#include "model/model_file.h"

// Weights of float32 or int8, their scales, the network and its card: what Model::load reads.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  try {
    bntt::TensorFile file = bntt::parse_tensors({data, size}, "fuzz");
    const bntt::Network network = bntt::network_in(file, "fuzz");
    const auto card = bntt::card_in(file, "fuzz");
    const bntt::TensorFile packed = bntt::pack_model(network, card.value_or(bntt::ModelCard()));
    BNTT_CHECK(bntt::network_in(packed, "again").weight_scales() == network.weight_scales());
  } catch (const bntt::Error&) {
  }
  return 0;
}
