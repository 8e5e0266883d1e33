#include "exchange/nir_numbers.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace bntt {
namespace {

std::vector<int64_t> shape_of(const NirSignal& signal) {
  if (signal.flat) return {signal.map.size()};
  return {signal.map.channels, signal.map.height, signal.map.width};
}

}  // namespace

std::string nir_shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string nir_shape_text(const NirSignal& signal) { return nir_shape_text(shape_of(signal)); }

bool nir_shape_fits(std::vector<int64_t> shape, const NirSignal& signal) {
  const std::vector<int64_t> expected = shape_of(signal);
  while (shape.size() > expected.size() && shape.front() == 1) shape.erase(shape.begin());
  return shape == expected;
}

const NirArray& NirNumbers::array(const NirNode& node, const char* name) const {
  const auto found = node.arrays.find(name);
  if (found == node.arrays.end()) refuse(node, "has no numbers '{}'", name);
  return found->second;
}

std::vector<int64_t> NirNumbers::integers(const NirNode& node, const char* name,
                                          std::size_t count) const {
  std::vector<int64_t> numbers = array(node, name).integers;
  if (numbers.size() == 1) numbers.resize(count, numbers.front());
  if (numbers.size() != count) refuse(node, "has a '{}' that is not {} integers", name, count);
  return numbers;
}

int64_t NirNumbers::square(const NirNode& node, const char* name, int64_t lowest,
                           int64_t highest) const {
  const std::vector<int64_t> pair = integers(node, name, 2);
  if (pair[0] != pair[1]) {
    refuse(node, "has {} [{}, {}], expected the same in both directions", name, pair[0], pair[1]);
  }
  if (pair[0] < lowest || pair[0] > highest) {
    refuse(node, "has {} {}, expected {} to {}", name, pair[0], lowest, highest);
  }
  return pair[0];
}

std::vector<float> NirNumbers::weights(const NirNode& node) const {
  const NirArray& found = array(node, "weight");
  const int64_t size = found.size();
  if (std::ssize(found.values) == size) return found.values;
  if (size > kMostUnwritten) {
    refuse(node, "has {} equal weights, expected at most {}", size, kMostUnwritten);
  }
  return std::vector<float>(static_cast<std::size_t>(size), found.values.front());
}

std::vector<double> NirNumbers::biases(const NirNode& node, int64_t outputs) const {
  const NirArray& bias = array(node, "bias");
  if (bias.size() != outputs) refuse(node, "has {} biases, expected {}", bias.size(), outputs);
  std::vector<double> result(static_cast<std::size_t>(outputs));
  for (int64_t i = 0; i < outputs; ++i) result[i] = bias.at(i);
  if (std::ranges::all_of(result, [](double value) { return value == 0.0; })) result.clear();
  return result;
}

double NirNumbers::parameter(const NirNode& node, const char* name, const NirSignal& signal) const {
  const NirArray& found = array(node, name);
  expect_shape(node, name, found, signal);
  const float first = found.at(0);
  for (const float value : found.values) {
    if (value == first) continue;
    refuse(node, "has values of '{}' that differ from neuron to neuron: {} and {}", name, first,
           value);
  }
  return readable_double(first);
}

double NirNumbers::parameter_or(const NirNode& node, const char* name, const NirSignal& signal,
                                double otherwise) const {
  return node.arrays.contains(name) ? parameter(node, name, signal) : otherwise;
}

void NirNumbers::expect_shape(const NirNode& node, const char* what, const NirArray& array,
                              const NirSignal& signal) const {
  if (array.size() == 1 || nir_shape_fits(array.shape, signal)) return;
  refuse(node, "has '{}' of shape {}, but {} arrives", what, nir_shape_text(array.shape),
         nir_shape_text(signal));
}

}  // namespace bntt
