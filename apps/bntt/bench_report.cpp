#include "bench_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/kernel_set.h"

namespace bntt::cli {
namespace {

using bench::PhaseCost;
using bench::Result;
using bench::StageCost;
using bench::Timing;

constexpr double kGiga = 1e9;
constexpr double kMilli = 1e-3;

Json phase_json(const PhaseCost& phase, const bench::Machine& machine) {
  Json json{{"phase", phase.name}, {"seconds", phase.seconds}};
  if (!phase.path.empty()) json["path"] = phase.path;
  if (phase.dense_flops > 0.0) {
    json["gflops_per_second"] = phase.dense_flops / phase.seconds / kGiga;
  } else if (phase.bytes > 0.0) {
    json["gbytes_per_second"] = phase.bytes / phase.seconds / kGiga;
  }
  if (phase.bytes > 0.0) {
    const bench::Bound bound = bench::bound_of(phase, machine);
    json["bound"] = bound.compute ? "compute" : "bandwidth";
    json["of_bound"] = bound.of_peak;
  }
  return json;
}

Json stage_json(const StageCost& stage, const bench::Machine& machine) {
  Json phases = Json::array();
  for (const PhaseCost& phase : stage.phases) phases.push_back(phase_json(phase, machine));
  return {{"name", stage.name},
          {"seconds", stage.seconds()},
          {"density", stage.density},
          {"input_density", stage.input_density},
          {"phases", phases}};
}

Json rate_json(const std::optional<Timing>& timing) {
  return timing ? Json(timing->best_rate()) : Json();
}

double processor_seconds_per_image(const Timing& timing) {
  return timing.best_processor_seconds() / static_cast<double>(timing.images);
}

Json rule_json(const bench::RuleResult& rule, const Timing& whole) {
  return {{"rule", name_of(rule.rule)},
          {"work", rule.work},
          {"images_per_second", rule.ours.best_rate()},
          {"seconds", rule.ours.seconds},
          {"time_of_all_steps", rule.ours.best_seconds() / whole.best_seconds()},
          {"time_of_expected", rule.ours.best_seconds() / rule.expected_seconds}};
}

Json result_json(const Result& result, const bench::Machine& machine) {
  Json stages = Json::array();
  for (const StageCost& stage : result.stages) stages.push_back(stage_json(stage, machine));
  const auto& fp32 = result.torch_fp32;
  const auto& bf16 = result.torch_bf16;
  const auto& int8 = result.int8;
  Json rules = Json::array();
  for (const bench::RuleResult& rule : result.rules) {
    rules.push_back(rule_json(rule, result.ours));
  }
  return {{"what", name_of(result.kind)},
          {"density", result.density},
          {"batch", result.batch},
          {"steps", result.steps},
          {"threads", result.threads},
          {"images_per_second", result.ours.best_rate()},
          {"torch_fp32_images_per_second", rate_json(fp32)},
          {"torch_bf16_images_per_second", rate_json(bf16)},
          {"peak_memory_bytes", result.ours.peak_memory_bytes},
          {"torch_peak_memory_bytes", fp32 ? Json(fp32->peak_memory_bytes) : Json()},
          {"median_images_per_second", result.ours.median_rate()},
          {"torch_fp32_median_images_per_second", fp32 ? Json(fp32->median_rate()) : Json()},
          {"torch_bf16_median_images_per_second", bf16 ? Json(bf16->median_rate()) : Json()},
          {"processor_seconds_per_image", result.ours.processor_seconds_per_image()},
          {"torch_fp32_processor_seconds_per_image",
           fp32 ? Json(fp32->processor_seconds_per_image()) : Json()},
          {"torch_fp32_variant", fp32 ? Json(fp32->variant) : Json()},
          {"torch_bf16_variant", bf16 ? Json(bf16->variant) : Json()},
          {"processor_seconds_per_image", processor_seconds_per_image(result.ours)},
          {"int8_images_per_second", rate_json(int8)},
          {"int8_processor_seconds_per_image",
           int8 ? Json(processor_seconds_per_image(*int8)) : Json()},
          {"int8_peak_memory_bytes", int8 ? Json(int8->peak_memory_bytes) : Json()},
          {"wanted_density", result.wanted_density ? Json(*result.wanted_density) : Json()},
          {"seconds", result.ours.seconds},
          {"rules", rules},
          {"stages", stages}};
}

std::string memory_text(int64_t bytes) {
  const double giga = static_cast<double>(bytes) / kGiga;
  return giga >= 1.0 ? fmt::format("{:.2f} GB", giga) : fmt::format("{:.0f} MB", 1e3 * giga);
}

/// Latency for single images, else the rate.
std::string speed_text(const Result& result, const Timing& timing) {
  std::string rate =
      fmt::format("{:.4g} images/s (median {:.4g})", timing.best_rate(), timing.median_rate());
  if (result.kind == bench::Kind::train || result.batch > 1) return rate;
  return fmt::format("{:.4g} ms, {}", 1.0 / timing.best_rate() / kMilli, rate);
}

void print_torch(const Result& result, const char* precision, const std::optional<Timing>& torch,
                 const std::string& why_none) {
  if (torch) {
    fmt::print(
        "  LibTorch {} ({}): {}, {}; bntt is {:.2f} times as fast with 1/{:.1f} of the memory\n",
        precision, torch->variant, speed_text(result, *torch),
        memory_text(torch->peak_memory_bytes), result.ours.best_rate() / torch->best_rate(),
        static_cast<double>(torch->peak_memory_bytes) /
            static_cast<double>(result.ours.peak_memory_bytes));
  } else if (!why_none.empty()) {
    fmt::print("  LibTorch {}: not measured, {}\n", precision, why_none);
  }
}

void print_int8(const Result& result) {
  if (!result.int8) return;
  fmt::print(
      "  int8 weights: {}, {}; {:.2f} times as fast as fp32, {:.2f} times by processor time\n",
      speed_text(result, *result.int8), memory_text(result.int8->peak_memory_bytes),
      result.int8->best_rate() / result.ours.best_rate(),
      result.ours.best_processor_seconds() / result.int8->best_processor_seconds());
}

void print_rules(const Result& result) {
  for (const bench::RuleResult& rule : result.rules) {
    const double seconds = rule.ours.best_seconds();
    fmt::print("  {}, {:.0f} % of {}: {}, {:.2f} times the time of all steps, {:.2f} times {}\n",
               name_of(rule.rule), 100.0 * rule.work,
               rule.rule == bench::Rule::windows ? "the synapses' work" : "the steps",
               speed_text(result, rule.ours), seconds / result.ours.best_seconds(),
               seconds / rule.expected_seconds,
               rule.rule == bench::Rule::windows
                   ? "that of neurons, encoder and the share of synapses that is left"
                   : "that share of it");
  }
}

/// Stages of several branches name the path of each, so the column is as wide as the longest.
std::size_t path_width(const Result& result) {
  std::size_t width = 9;
  for (const StageCost& stage : result.stages) {
    for (const PhaseCost& phase : stage.phases) width = std::max(width, phase.path.size());
  }
  return width;
}

void print_phase(const StageCost& stage, const PhaseCost& phase, double all_seconds,
                 const bench::Machine& machine, std::size_t width) {
  std::string achieved;
  std::string bound;
  if (phase.dense_flops > 0.0) {
    achieved = fmt::format("{:.1f} GFLOP/s", phase.dense_flops / phase.seconds / kGiga);
  } else if (phase.bytes > 0.0) {
    achieved = fmt::format("{:.1f} GB/s", phase.bytes / phase.seconds / kGiga);
  }
  if (phase.bytes > 0.0) {
    const bench::Bound limit = bench::bound_of(phase, machine);
    bound = fmt::format("{:.0f} % of {}", 100.0 * limit.of_peak,
                        limit.compute ? "compute" : "bandwidth");
  }
  const std::string density =
      stage.density > 0.0 ? fmt::format("{:.2f} %", 100.0 * stage.density) : "";
  fmt::print("  {:<8} {:>8}  {:<27} {:>9.2f} ms {:>5.1f} %  {:<{}} {:>15}  {}\n", stage.name,
             density, phase.name, phase.seconds / kMilli, 100.0 * phase.seconds / all_seconds,
             phase.path, width, achieved, bound);
}

void print_stages(const Result& result, const bench::Machine& machine) {
  const double seconds = result.ours.best_seconds();
  const std::size_t width = path_width(result);
  fmt::print("  {:<8} {:>8}  {:<27} {:>12} {:>7}  {:<{}} {:>15}  {}\n", "stage", "density", "phase",
             "time", "share", "path", width, "achieved", "bound");
  for (const StageCost& stage : result.stages) {
    for (const PhaseCost& phase : stage.phases) print_phase(stage, phase, seconds, machine, width);
  }
  fmt::print("  {:<8} {:>8}  {:<27} {:>9.2f} ms {:>5.1f} %\n", "all", "",
             fmt::format("{} images, fastest repeat", result.ours.images), seconds / kMilli, 100.0);
}

void print_scaling(const std::vector<Result>& scaling) {
  if (scaling.empty()) return;
  const Result& base = scaling.front();
  fmt::print("\nscaling, from {} threads, {} steps, batch {}, at density {:.1f} %\n", base.threads,
             base.steps, base.batch, 100.0 * base.density);
  for (auto result = scaling.begin() + 1; result != scaling.end(); ++result) {
    const double ratio = result->ours.best_seconds() / base.ours.best_seconds();
    fmt::print("  {} threads, {} steps, batch {}: {:.4g} images/s, {:.2f} times the time\n",
               result->threads, result->steps, result->batch, result->ours.best_rate(), ratio);
  }
}

}  // namespace

Json json_report(const bench::Report& report) {
  Json results = Json::array();
  for (const Result& result : report.results) {
    results.push_back(result_json(result, report.machine));
  }
  Json json{{"results", results},
            {"images", report.images_from},
            {"kernels", kernels::kernels().name},
            {"break_even_from", report.break_even_from},
            {"break_even", report.break_even},
            {"peak_gflops_per_second", report.machine.flops / kGiga},
            {"peak_gbytes_per_second", report.machine.bytes_per_second / kGiga}};
  if (!report.scaling.empty()) {
    json["scaling"] = Json::array();
    for (const Result& result : report.scaling) {
      json["scaling"].push_back(result_json(result, report.machine));
    }
  }
  return json;
}

void print_report(const bench::Report& report) {
  fmt::print("images: {}; kernels: {}; this machine at best: {:.0f} GFLOP/s, {:.1f} GB/s\n",
             report.images_from, kernels::kernels().name, report.machine.flops / kGiga,
             report.machine.bytes_per_second / kGiga);
  fmt::print("break-even: {}; {}\n", report.break_even_from,
             report.dense_above.empty() ? "no synapse has a choice" : report.dense_above);
  for (const Result& result : report.results) {
    fmt::print("\n{}, density {:.2f} %{}, batch {}, {} steps, {} threads: {}, {}\n",
               name_of(result.kind), 100.0 * result.density,
               result.wanted_density ? "" : " (its own: the network has no gamma to scale)",
               result.batch, result.steps, result.threads, speed_text(result, result.ours),
               memory_text(result.ours.peak_memory_bytes));
    print_int8(result);
    print_torch(result, "fp32", result.torch_fp32, "");
    print_torch(result, "bf16", result.torch_bf16, result.no_bf16);
    print_rules(result);
    print_stages(result, report.machine);
  }
  print_scaling(report.scaling);
}

}  // namespace bntt::cli
