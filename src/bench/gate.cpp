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
  visit("int8", entry.int8);
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
  for (const GateCase& entry : gate.cases) {
    if (entry.int8 && entry.kind != Kind::infer) {
      fail("{}: a case of kind '{}' has int8, which is only for 'infer'", origin,
           name_of(entry.kind));
    }
    if (!entry.torch_fp32 && !entry.torch_bf16 && !entry.previous) {
      fail("{}: a case compares with nothing, expected torch_fp32, torch_bf16 or previous", origin);
    }
  }
  return gate;
}

namespace {

std::string numbers_of(const GateCase& entry) {
  if (entry.kind == Kind::train) return name_of(entry.precision);
  return entry.int8 ? "int8" : "fp32";
}

}  // namespace

std::vector<GateCheck> check_case(const GateCase& wanted, const Gate& gate, Options options) {
  options.kind = wanted.kind;
  options.workload.model = wanted.model;
  options.workload.width = wanted.width;
  options.workload.steps = wanted.steps;
  options.batches = {wanted.batch};
  options.densities = {wanted.density};
  options.precision = wanted.precision;
  options.int8 = wanted.int8;
  options.repeats = gate.repeats;
  if (!wanted.torch_fp32 && !wanted.torch_bf16) options.torch_program.clear();
  if (!wanted.previous) options.previous_program.clear();
  const Result result = compare(options).results.front();
  const Timing& ours = wanted.int8 ? *result.int8 : result.ours;

  std::vector<GateCheck> checks;
  const auto check = [&](const std::optional<double>& recorded, const std::optional<Timing>& other,
                         const std::string& engine, const std::string& why_none) {
    if (!recorded) return;
    GateCheck made{
        .what = fmt::format("{} {} {} x {:g}, density {:g} %, batch {}, {} steps, {}",
                            name_of(wanted.kind), numbers_of(wanted), wanted.model, wanted.width,
                            100.0 * wanted.density, wanted.batch, wanted.steps, engine),
        .recorded = *recorded};
    if (other) {
      made.measured = ours.median_rate() / other->median_rate();
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
