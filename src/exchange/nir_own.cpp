#include "exchange/nir_own.h"

#include "base/fail.h"
#include "base/text.h"
#include "model/model_file.h"
#include "model/spec_limits.h"

namespace bntt {
namespace {

/// The metadata of our own files, under the same names.
TensorFile described(const NirGraph& graph) {
  TensorFile file;
  for (const auto& [name, text] : graph.metadata.texts) {
    if (name.starts_with("bntt.")) file.metadata[name] = text;
  }
  return file;
}

}  // namespace

std::optional<float> nir_number(const NirMetadata& metadata, const char* name) {
  const auto found = metadata.arrays.find(name);
  if (found == metadata.arrays.end() || found->second.size() != 1) return std::nullopt;
  return found->second.at(0);
}

std::optional<ModelCard> nir_card(const NirGraph& graph, const std::string& origin) {
  return card_in(described(graph), origin);
}

int64_t nir_steps(const NirGraph& graph) {
  const float steps = nir_number(graph.metadata, kNirSteps).value_or(0.0F);
  return steps >= 1.0F && steps <= static_cast<float>(kMaxSteps) ? static_cast<int64_t>(steps) : 0;
}

Network exact_network(const NirGraph& graph, const std::string& origin) {
  TensorFile file = described(graph);
  const auto add = [&](const std::string& name, const NirArray& array) {
    if (std::ssize(array.values) != array.size()) {
      fail("{}: the tensor '{}' in its metadata is not whole", origin, excerpt(name));
    }
    file.tensors.push_back(float_tensor(name, array.shape, array.values));
  };
  for (const auto& [name, array] : graph.metadata.arrays) {
    if (name.starts_with(kNirTensor)) add(name.substr(std::string(kNirTensor).size()), array);
  }
  for (const NirNode& node : graph.nodes) {
    const auto prefix = node.metadata.texts.find(kNirPrefix);
    const auto weight = node.metadata.arrays.find(kNirRawWeight);
    if (prefix == node.metadata.texts.end() || weight == node.metadata.arrays.end()) continue;
    add(prefix->second + ".weight", weight->second);
  }
  return network_in(file, origin);
}

}  // namespace bntt
