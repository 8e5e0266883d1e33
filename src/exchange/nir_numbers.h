#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/text.h"
#include "exchange/nir_graph.h"
#include "exchange/nir_lowering.h"

namespace bntt {

/// Limit for weights that are not stored individually: a fill value, or the zeros between groups.
inline constexpr int64_t kMostUnwritten = int64_t{1} << 25;

/// [2, 34, 34]
std::string nir_shape_text(const std::vector<int64_t>& shape);
std::string nir_shape_text(const NirSignal& signal);

/// Whether a shape in a file is that of a signal; leading axes of one element are ignored.
bool nir_shape_fits(std::vector<int64_t> shape, const NirSignal& signal);

/// Reads the numbers of nodes; errors name the node.
class NirNumbers {
 public:
  explicit NirNumbers(const std::string& origin) : origin_(origin) {}

  template <typename... Arguments>
  [[noreturn]] void refuse(const NirNode& node, fmt::format_string<Arguments...> format,
                           Arguments&&... arguments) const {
    fail("{}: node '{}' ({}) {}", origin_, excerpt(node.name), excerpt(node.type),
         fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  const NirArray& array(const NirNode& node, const char* name) const;
  /// `count` integers; a single one stands for all.
  std::vector<int64_t> integers(const NirNode& node, const char* name, std::size_t count) const;
  /// Two equal integers, as for square kernels.
  int64_t square(const NirNode& node, const char* name, int64_t lowest, int64_t highest) const;

  std::vector<float> weights(const NirNode& node) const;
  /// Empty if all are 0.
  std::vector<double> biases(const NirNode& node, int64_t outputs) const;

  /// The single value of a parameter of neurons that read this signal.
  double parameter(const NirNode& node, const char* name, const NirSignal& signal) const;
  double parameter_or(const NirNode& node, const char* name, const NirSignal& signal,
                      double otherwise) const;
  /// A single number stands for all.
  void expect_shape(const NirNode& node, const char* what, const NirArray& array,
                    const NirSignal& signal) const;

 private:
  const std::string& origin_;
};

}  // namespace bntt
