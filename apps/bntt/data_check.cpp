#include <fmt/format.h>

#include <map>

#include "base/json.h"
#include "base/threads.h"
#include "data_commands.h"
#include "data_options.h"
#include "fetch/check.h"
#include "interrupt.h"
#include "progress.h"

namespace bntt::cli {
namespace {

struct CheckArguments {
  std::string name;
  std::string directory;
  int threads = 0;
  bool json = false;
  SensorSize sensor;
};

Json report_of(const CheckReport& report, const std::string& directory) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    findings.push_back({{"file", finding.file.string()}, {"problem", finding.problem}});
  }
  return {{"dataset", report.dataset},
          {"directory", directory},
          {"whole", report.findings.empty()},
          {"files", report.files},
          {"bytes", report.bytes},
          {"checksums", report.checksums},
          {"train_samples", report.train_samples},
          {"test_samples", report.test_samples},
          {"findings", findings}};
}

/// The lines that list the findings. Of many files with the same problem only the first are named.
std::vector<std::string> finding_lines(const std::vector<Finding>& findings) {
  constexpr int64_t kNamed = 3;
  std::map<std::string, int64_t> found;
  std::vector<std::string> lines;
  for (const Finding& finding : findings) {
    if (++found[finding.problem] > kNamed) continue;
    lines.push_back(fmt::format("{}: {}", finding.file.string(), finding.problem));
  }
  for (const auto& [problem, files] : found) {
    if (files <= kNamed) continue;
    lines.push_back(
        fmt::format("{} more files have the same problem: {}", files - kNamed, problem));
  }
  return lines;
}

int check(const CheckArguments& arguments) {
  set_threads(arguments.threads);
  Progress progress;
  catch_interrupts();
  Rate rate;
  int64_t done_before = 0;
  const CheckReport report = check_dataset(
      arguments.name, arguments.directory,
      {.sensor = arguments.sensor, .progress = [&](int64_t done, int64_t all) {
         rate.add(std::max<int64_t>(0, done - done_before));
         done_before = done;
         if (!arguments.json) {
           progress.bar("check", done, all, fmt::format("{:.0f} files/s", rate.per_second()),
                        rate.seconds_for(all - done));
         }
         return interrupted();
       }});
  if (report.stopped) return kInterrupted;
  const int code = report.findings.empty() ? kDone : kBadInput;
  if (arguments.json) {
    fmt::print("{}\n", report_of(report, arguments.directory).dump(2));
    return code;
  }
  for (const std::string& line : finding_lines(report.findings)) progress.line(line);
  const std::size_t problems = report.findings.size();
  progress.line(fmt::format(
      "{}: {}: {} training and {} test samples in {} files, {:.1f} MB{}", report.dataset,
      problems == 0 ? "complete" : fmt::format("{} problem{}", problems, problems == 1 ? "" : "s"),
      report.train_samples, report.test_samples, report.files,
      static_cast<double>(report.bytes) / 1e6,
      report.checksums == 0 ? "" : fmt::format(", {} with a known checksum", report.checksums)));
  return code;
}

}  // namespace

void add_data_check(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "check", "Read every file of a data set and list what is wrong; exit code 2 if anything is");
  auto arguments = std::make_shared<CheckArguments>();
  command->add_option("name", arguments->name, "name of the data set")->required();
  command->add_option("directory", arguments->directory, "directory of the data set")->required();
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(not_negative());
  command->add_flag("--json", arguments->json, "print JSON");
  add_sensor_options(*command, arguments->sensor);
  command->footer(
      "Example:\n  bntt data check cifar10 data/cifar10 --json\n"
      "  bntt data check event-folder data/mine --sensor-width 640 --sensor-height 480");
  command->callback([arguments, &action] { action = [arguments] { return check(*arguments); }; });
}

}  // namespace bntt::cli
