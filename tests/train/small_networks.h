#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "bntt/network.h"
#include "bntt/zoo.h"

namespace bntt::testing {

inline Network small_vgg5(ZooOptions options = {}) {
  options.input = {1, 8, 8};
  options.steps = 3;
  options.width = 0.05;
  return {vgg5(options), 1};
}

/// Running statistics and γ that are not those of a new network.
inline void make_unlike_new(Network& network) {
  float next = 0.125F;
  const auto change = [&](Buffer<float>& values) {
    for (float& value : values) value += next += 0.001F;
  };
  for (Parameter& parameter : network.parameters()) change(parameter.value);
  for (Statistic& statistic : network.statistics()) change(statistic.value);
}

inline bool same_numbers(const Buffer<float>& a, const Buffer<float>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

inline bool same_numbers(const Network& a, const Network& b) {
  bool same = a.parameters().size() == b.parameters().size();
  for (std::size_t i = 0; same && i < a.parameters().size(); ++i) {
    same = same_numbers(a.parameters()[i].value, b.parameters()[i].value);
  }
  for (std::size_t i = 0; same && i < a.statistics().size(); ++i) {
    same = same_numbers(a.statistics()[i].value, b.statistics()[i].value);
  }
  return same;
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace bntt::testing
