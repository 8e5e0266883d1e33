#include <cstdlib>
#include <sstream>

#include "tiny_runs.h"

namespace bntt {
namespace {

using testing::bytes_of;
using testing::ProcessEnd;
using testing::run_bntt;
using testing::TemporaryDirectory;

using Lines = std::vector<std::string>;

/// The fields `wanted` of every line.
Lines columns(const std::filesystem::path& csv, const std::vector<std::size_t>& wanted) {
  Lines lines;
  std::istringstream text(bytes_of(csv));
  for (std::string line; std::getline(text, line);) {
    std::vector<std::string> fields;
    std::istringstream rest(line);
    for (std::string field; std::getline(rest, field, ',');) fields.push_back(field);
    std::string chosen;
    for (const std::size_t i : wanted) chosen += fields.at(i) + ",";
    lines.push_back(chosen);
  }
  return lines;
}

/// Named by BNTT_CIFAR10_DIR, or where docs/getting-data.md puts it, in the project's directory;
/// empty: neither.
std::string cifar10_directory() {
  const char* named = std::getenv("BNTT_CIFAR10_DIR");
  if (named != nullptr) return named;
  const auto usual = std::filesystem::path(BNTT_RESULTS).parent_path() / "data" / "cifar10";
  return std::filesystem::is_directory(usual) ? usual.string() : "";
}

// Instruction sets round differently, which may change a prediction that is nearly a tie.
TEST(Results, TheKeptCifar10NetworkPredictsWhatWasRecorded) {
  const std::string data = cifar10_directory();
  if (data.empty()) {
    GTEST_SKIP() << "no CIFAR-10: neither BNTT_CIFAR10_DIR nor data/cifar10 in the project (bntt "
                    "data get cifar10 data/cifar10)";
  }
  const std::filesystem::path run = std::filesystem::path(BNTT_RESULTS) / "fast-cifar10";
  const TemporaryDirectory directory;
  const std::string measured = (directory.path() / "predictions.csv").string();
  const ProcessEnd end =
      run_bntt({"eval", run.string(), "--data", data, "--limit", "500", "--predictions", measured});
  ASSERT_EQ(end.exit_code, 0) << end.error;

  const Lines recorded = columns(run / "predictions-500.csv", {0, 1, 2});
  const Lines predicted = columns(measured, {0, 2, 3});
  ASSERT_EQ(recorded.size(), 501U);
  ASSERT_EQ(predicted.size(), recorded.size());
  int64_t equal = 0;
  for (std::size_t i = 0; i < recorded.size(); ++i) equal += recorded[i] == predicted[i] ? 1 : 0;
  EXPECT_GE(equal, 496);
}

}  // namespace
}  // namespace bntt
