#include <fmt/format.h>

#include <chrono>
#include <set>
#include <thread>

#include "analysis.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/threads.h"
#include "classical/run_files.h"
#include "command.h"
#include "interrupt.h"
#include "report/live_server.h"
#include "report/page.h"
#include "report/run_document.h"

namespace bntt::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLookAgain{200};

struct ReportArguments {
  std::vector<std::string> runs;
  std::optional<std::string> data;
  std::string out;
  int64_t limit = AnalysisOptions{}.images;
  int64_t attack_limit = AnalysisOptions{}.attack_images;
  bool no_attack = false;
  int threads = 0;
  bool follow = false;
  int port = 0;
};

void measure(Json& document, const std::string& run, const ReportArguments& arguments) {
  AnalysisProgress progress(false);
  add_analyses(document, run,
               {.data = arguments.data,
                .images = arguments.limit,
                .attack_images = arguments.attack_limit,
                .parts = {.robustness = !arguments.no_attack},
                .progress = std::ref(progress)});
}

// Runs of the same name are told apart by their paths.
void make_names_unique(std::vector<Json>& documents, const std::vector<std::string>& runs) {
  std::multiset<std::string> names;
  for (const Json& run : documents) names.insert(run.at("name").get<std::string>());
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (names.count(documents[i]["name"].get<std::string>()) > 1) documents[i]["name"] = runs[i];
  }
}

fs::path output_of(const ReportArguments& arguments) {
  if (!arguments.out.empty()) return arguments.out;
  return arguments.runs.size() == 1 ? fs::path(arguments.runs.front()) / "report.html"
                                    : fs::path("report.html");
}

std::string proposal_text(const Json& exit) {
  if (!exit.contains("proposed")) return "; no early exit is proposed";
  const Json& point = exit["sweep"][exit["proposed"].get<std::size_t>()];
  return fmt::format(
      ", {:.2f} % after {} (early exit, gamma threshold {:.3g}, chosen on {} validation images: "
      "costs at most {:.2f} points with {:.0f} % confidence)",
      point["accuracy"].get<double>(), point["exit_step"].get<int64_t>(),
      point["threshold"].get<double>(), exit["validation_images"].get<int64_t>(),
      point["validation_loss_bound"].get<double>(), 100.0 * exit["bound_confidence"].get<double>());
}

// What one wants to know without opening the page.
void print_summary(const Json& run) {
  if (run.contains("classical")) {
    const Json& found = run["classical"];
    fmt::print("{}: {} of {} test recordings correct, accuracy {:.2f} %\n",
               found["title"].get<std::string>(), found["right"].get<int64_t>(),
               found["data"]["test"].get<int64_t>(), found["accuracy"].get<double>());
  }
  if (run.contains("missing")) {
    fmt::print("without the analyses that need images: {}\n", run["missing"].get<std::string>());
  }
  if (run.contains("exit")) {
    const Json& exit = run["exit"];
    fmt::print("{} test images: accuracy {:.2f} % with all {} steps{}\n",
               exit["images"].get<int64_t>(), exit["methods"][0]["accuracy"].get<double>(),
               exit["steps"].get<int64_t>(), proposal_text(exit));
  }
  if (run.contains("energy") && run["energy"].contains("measured_ratio")) {
    fmt::print("energy {} the same network as an ANN ({})\n",
               energy_comparison(run["energy"]["measured_ratio"].get<double>()),
               run["energy"]["table"]["name"].get<std::string>());
  }
}

int write_report(const ReportArguments& arguments) {
  std::vector<Json> documents;
  for (const std::string& run : arguments.runs) documents.push_back(run_outline(run));
  const fs::path out = output_of(arguments);
  prepare_output(out);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    measure(documents[i], arguments.runs[i], arguments);
    if (interrupted()) return kInterrupted;
  }
  make_names_unique(documents, arguments.runs);
  write_text_atomically(out, report_page(report_document(documents)));
  for (const Json& run : documents) {
    if (documents.size() > 1) fmt::print("{}:\n", run["name"].get<std::string>());
    print_summary(run);
  }
  fmt::print("report: {}\n", out.string());
  return kDone;
}

/// Changes when a file of the run does.
std::string stamp(const fs::path& run) {
  const RunPaths paths{run};
  std::string text;
  for (const fs::path& file : {paths.metrics(), paths.checkpoint(), paths.settings()}) {
    std::error_code error;
    const auto time = fs::last_write_time(file, error).time_since_epoch().count();
    const auto size = fs::file_size(file, error);
    text += error ? "-;" : fmt::format("{}:{};", time, size);
  }
  return text;
}

// At once, even into a pipe: someone waits for the address.
void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

int follow(const ReportArguments& arguments) {
  if (arguments.runs.size() != 1 || !arguments.out.empty()) {
    fail("--follow: expected one run and no --out");
  }
  const std::string& run = arguments.runs.front();
  if (is_classical_run(run))
    fail("--follow: {} is a run of a classical method, which has already ended", run);
  Json document = report_document({run_outline(run, {.weights = RunWeights::last})});
  catch_interrupts();
  LiveServer server(arguments.port);
  server.publish(document);
  say(fmt::format("http://127.0.0.1:{}/ shows {}; Ctrl-C stops the server", server.port(), run));
  for (std::string seen; !interrupted(); std::this_thread::sleep_for(kLookAgain)) {
    const std::string now = stamp(run);
    if (now == seen) continue;
    seen = now;
    try {
      document = report_document({run_outline(run, {.weights = RunWeights::last})});
      server.publish(document);
      if (document["runs"][0]["learning"]["finished"] == false) continue;
      Json complete = run_outline(run);
      measure(complete, run, arguments);
      if (interrupted()) break;
      document = report_document({complete});
      say("the run has ended; the page is complete");
    } catch (const Error& error) {
      // The run may be about to be written anew; the page keeps its last state and says why.
      document["problem"] = error.what();
    }
    server.publish(document);
  }
  return kDone;
}

int report(const ReportArguments& arguments) {
  set_threads(arguments.threads);
  return arguments.follow ? follow(arguments) : write_report(arguments);
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("report", "Write a web page that shows one run, or several side by side");
  auto arguments = std::make_shared<ReportArguments>();
  command->add_option("run", arguments->runs, "directories of one or several runs")->required();
  command->add_option("--data", arguments->data, "directory of the data set");
  command->add_option("--out", arguments->out,
                      "file to write; default: report.html in the run, or in the current directory "
                      "for several runs");
  command
      ->add_option(
          "--limit", arguments->limit,
          fmt::format("measure on the first N test and validation images (default {}; 0: all)",
                      arguments->limit))
      ->check(not_negative());
  command
      ->add_option(
          "--attack-limit", arguments->attack_limit,
          fmt::format("measure noise and attacks on the first N of them (default {}; 0: all)",
                      arguments->attack_limit))
      ->check(not_negative());
  command->add_flag("--no-attack", arguments->no_attack, "do not measure noise and attacks");
  command->add_flag("--follow", arguments->follow,
                    "serve the page on 127.0.0.1 and update it while the run trains");
  command->add_option("--port", arguments->port, "port of --follow; 0: any free port")
      ->check(CLI::Range(0, 65535));
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(not_negative());
  command->footer(
      "Example:\n  bntt report runs/demo\n  bntt report runs/bntt runs/no-norm --out both.html\n"
      "  bntt report runs/demo --follow --port 8080");
  command->callback([arguments, &action] { action = [arguments] { return report(*arguments); }; });
}

}  // namespace bntt::cli
