#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/compare.h"

namespace bntt::bench {

/// A workload and the ratios of images per second that were recorded for it: this program's median
/// over that of another engine. What is left out is not compared.
struct GateCase {
  Kind kind = Kind::train;
  std::string model = "vgg9";
  double width = 1.0;
  int64_t steps = 25;
  int64_t batch = 32;
  double density = 0.05;
  Precision precision = Precision::mixed;
  bool int8 = false;  ///< inference with int8 weights instead of fp32
  std::optional<double> torch_fp32;
  std::optional<double> torch_bf16;
  std::optional<double> previous;
};

struct Gate {
  double margin = 0.05;  ///< a ratio may fall short of the recorded one by this share
  int64_t repeats = 5;
  std::vector<GateCase> cases;
};

Gate read_gate(const std::filesystem::path& file);

struct GateCheck {
  std::string what;  ///< "train vgg9, density 5 %, batch 32, 25 steps, against LibTorch fp32"
  double recorded = 0.0;
  std::optional<double> measured;  ///< nothing: the other engine cannot run here
  std::string why_none;

  bool passes(double margin) const { return !measured || *measured >= recorded * (1.0 - margin); }
};

/// Times the case as `options` say (programs, data, threads) and compares what was recorded.
std::vector<GateCheck> check_case(const GateCase& wanted, const Gate& gate, Options options);

}  // namespace bntt::bench
