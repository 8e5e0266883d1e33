#include "bench/gate.h"

#include <fmt/format.h>

#include "base/fail.h"
#include "base/files.h"
#include "toml/toml.h"

namespace bntt::bench {

template <class Visitor>
void visit_fields(Visitor& visit, GateCase& entry) {
  visit("kind", entry.kind);
  visit("model", entry.model);
  visit("width", entry.width, above(0));
  visit("steps", entry.steps, between(1, 4096));
  visit("batch", entry.batch, between(1, 65536));
  visit("density", entry.density, between(0.0001, 0.9999));
  visit("precision", entry.precision);
  visit("torch_fp32", entry.torch_fp32, above(0));
  visit("torch_bf16", entry.torch_bf16, above(0));
  visit("previous", entry.previous, above(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, Gate& gate) {
  visit("margin", gate.margin, from_below(0, 1));
  visit("repeats", gate.repeats, between(1, 1000));
  visit("case", gate.cases);
}

Gate read_gate(const std::filesystem::path& file) {
  Gate gate;
  const std::string origin = file.string();
  read_fields(parse_toml(read_text(file), origin), gate, origin);
  if (gate.cases.empty()) fail("{}: has no cases, expected at least one [[case]]", origin);
  return gate;
}

std::vector<GateCheck> check_case(const GateCase& wanted, const Gate& gate, Options options) {
  options.kind = wanted.kind;
  options.workload.model = wanted.model;
  options.workload.width = wanted.width;
  options.workload.steps = wanted.steps;
  options.batches = {wanted.batch};
  options.densities = {wanted.density};
  options.precision = wanted.precision;
  options.repeats = gate.repeats;
  if (!wanted.torch_fp32 && !wanted.torch_bf16) options.torch_program.clear();
  if (!wanted.previous) options.previous_program.clear();
  const Result result = compare(options).results.front();

  std::vector<GateCheck> checks;
  const auto check = [&](const std::optional<double>& recorded, const std::optional<Timing>& other,
                         const std::string& engine, const std::string& why_none) {
    if (!recorded) return;
    GateCheck made{.what = fmt::format("{} {} x {:g}, density {:g} %, batch {}, {} steps, {}",
                                       name_of(wanted.kind), wanted.model, wanted.width,
                                       100.0 * wanted.density, wanted.batch, wanted.steps, engine),
                   .recorded = *recorded};
    if (other) {
      made.measured = result.ours.median_rate() / other->median_rate();
    } else {
      made.why_none = why_none;
    }
    checks.push_back(std::move(made));
  };
  const std::string no_torch = "bntt-torch-bench is not beside bntt";
  const std::string why_no_bf16 = options.torch_program.empty() ? no_torch : result.no_bf16;
  check(wanted.torch_fp32, result.torch_fp32, "against LibTorch fp32", no_torch);
  check(wanted.torch_bf16, result.torch_bf16, "against LibTorch bf16", why_no_bf16);
  check(wanted.previous, result.previous, "against the previous program", "no --previous PROGRAM");
  return checks;
}

}  // namespace bntt::bench
