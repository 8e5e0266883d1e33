#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "base/fields.h"
#include "bench/rules.h"
#include "train/precision_names.h"

namespace bntt::bench {

enum class Kind { train, infer };

/// How LibTorch does the same work.
enum class Layout { contiguous, channels_last };
enum class Form {
  folded,  ///< the steps of a stage form one larger batch, as in training
  looped,  ///< runs the whole chain step by step
};

struct TorchVariant {
  Layout layout = Layout::contiguous;
  Precision precision = Precision::fp32;  ///< mixed: autocast to bf16
  Form form = Form::folded;
  bool operator==(const TorchVariant&) const = default;
};

/// "channels-last, folded"
std::string describe(const TorchVariant& variant, Kind kind);

/// The work that one worker process times.
struct Job {
  Kind kind = Kind::train;
  int64_t batch = 32;
  int64_t threads = 1;
  std::string network;                    ///< file of the network
  std::string images;                     ///< file of the images
  Precision precision = Precision::fp32;  ///< of our training
  TorchVariant torch;                     ///< only for the LibTorch worker
  Rule rule = Rule::all_steps;            ///< of our inference
  double share = 1.0;                     ///< of the steps, where the rule leaves some out
};

/// Images of one timed unit of work: a training step, or inference of enough batches to cover
/// several images.
int64_t images_per_unit(Kind kind, int64_t batch);

std::string to_json(const Job& job);
Job job_from_json(const std::string& text);

constexpr auto enum_names(Kind) {
  return std::array{std::pair{Kind::train, "train"}, std::pair{Kind::infer, "infer"}};
}
constexpr auto enum_names(Layout) {
  return std::array{std::pair{Layout::contiguous, "contiguous"},
                    std::pair{Layout::channels_last, "channels-last"}};
}
constexpr auto enum_names(Form) {
  return std::array{std::pair{Form::folded, "folded"}, std::pair{Form::looped, "looped"}};
}

}  // namespace bntt::bench
