#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bntt/declaration.h"

/// A NIR file as data: nodes, edges, and numbers in PyTorch's axis order.
namespace bntt {

/// Numbers of a node. One value may stand for all: parameters of neurons have the shape of their
/// whole map, and are constant in nearly every file.
struct NirArray {
  /// Integer arrays up to this size are also stored as integers: strides, shapes, paddings.
  static constexpr int64_t kMostIntegers = 16;

  std::vector<int64_t> shape;
  std::vector<float> values;      ///< as many as the shape has elements, or one
  std::vector<int64_t> integers;  ///< of small integer arrays, in addition to the values

  int64_t size() const { return size_of(shape); }
  float at(int64_t i) const { return values.size() == 1 ? values.front() : values[i]; }
  bool operator==(const NirArray&) const = default;
};

/// The same value everywhere.
inline NirArray nir_constant(std::vector<int64_t> shape, float value) {
  return {.shape = std::move(shape), .values = {value}, .integers = {}};
}
inline NirArray nir_integers(std::vector<int64_t> numbers) {
  const std::vector<float> values(numbers.begin(), numbers.end());
  return {.shape = {static_cast<int64_t>(numbers.size())},
          .values = values,
          .integers = std::move(numbers)};
}

/// Information that other tools may ignore.
struct NirMetadata {
  std::map<std::string, std::string> texts;
  std::map<std::string, NirArray> arrays;
  bool operator==(const NirMetadata&) const = default;
};

struct NirNode {
  std::string name;
  std::string type;  ///< Input, Conv2d, LIF, ...
  std::map<std::string, NirArray> arrays;
  std::map<std::string, std::string> texts;  ///< such as a padding "same"
  NirMetadata metadata;
  bool operator==(const NirNode&) const = default;
};

struct NirGraph {
  std::string version;  ///< of the nir package
  std::vector<NirNode> nodes;
  std::vector<std::pair<std::string, std::string>> edges;  ///< from, to
  NirMetadata metadata;
  bool operator==(const NirGraph&) const = default;
};

}  // namespace bntt
