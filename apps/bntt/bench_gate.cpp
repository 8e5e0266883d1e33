#include "bench_gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/gate.h"
#include "command.h"

namespace bntt::cli {
namespace {

constexpr int kTooSlow = 1;

void print(const bench::GateCheck& check, double margin) {
  if (!check.measured) {
    fmt::print("not measured  {}: {}\n", check.what, check.why_none);
  } else {
    fmt::print("{}  {}: {:.2f} times as fast, recorded {:.2f}\n",
               check.passes(margin) ? "passed      " : "TOO SLOW    ", check.what, *check.measured,
               check.recorded);
  }
  std::fflush(stdout);
}

}  // namespace

int run_gate(const std::filesystem::path& file, const bench::Options& options) {
  const bench::Gate gate = bench::read_gate(file);
  int64_t passed = 0;
  int64_t failed = 0;
  int64_t missing = 0;
  for (const bench::GateCase& wanted : gate.cases) {
    for (const bench::GateCheck& check : bench::check_case(wanted, gate, options)) {
      print(check, gate.margin);
      ++(!check.measured ? missing : check.passes(gate.margin) ? passed : failed);
    }
  }
  fmt::print("{} ratios hold within {:g} %, {} do not, {} not measured\n", passed,
             100.0 * gate.margin, failed, missing);
  if (passed + failed == 0) {
    fmt::print(stderr, "bntt: {}: none of its ratios could be measured here\n", file.string());
    return kTooSlow;
  }
  return failed == 0 ? kDone : kTooSlow;
}

}  // namespace bntt::cli
