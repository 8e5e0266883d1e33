#include "experiment_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis.h"
#include "base/fail.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/threads.h"
#include "command.h"
#include "experiment/make_run.h"
#include "experiment/result_page.h"
#include "experiment/run_records.h"
#include "experiment/tables.h"
#include "experiment/work.h"
#include "interrupt.h"
#include "report/gnuplot.h"
#include "run_jobs.h"
#include "train.h"
#include "train/run_settings.h"
#include "train/sweep.h"

namespace bntt::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongestSilence{10};

struct Question {
  std::size_t run = 0;
  Measure measure;
};

/// One call of bntt experiment.
class ExperimentSession {
 public:
  ExperimentSession(const ExperimentArguments& arguments, std::vector<Experiment> experiments,
                    Plan plan)
      : arguments_(arguments),
        out_(arguments.out),
        experiments_(std::move(experiments)),
        plan_(std::move(plan)),
        records_(out_ / "runs.json"),
        store_(out_ / "analyses") {
    for (PlannedRun& run : plan_.runs) take_place(run);
    pass_problems_on();
  }

  int run() {
    if (!arguments_.only_run.empty()) return make_only();
    progress_.never_silent_for(kLongestSilence);
    catch_interrupts();
    show_plan();
    if (arguments_.dry_run) return kDone;
    fs::create_directories(out_);
    make_all();
    if (!interrupted()) measure_all();
    return interrupted() ? stopped() : finish();
  }

 private:
  fs::path directory(std::size_t run) const { return out_ / "runs" / plan_.runs[run].place; }

  /// A run with the same settings that was made under another name is this one.
  void take_place(PlannedRun& run) const {
    std::error_code error;
    for (fs::directory_iterator entry(out_ / "runs", error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.ends_with("-" + run.key)) run.place = name;
    }
  }

  /// A run that diverged is a result like any other; what starts from it, or from one that could
  /// not be made, cannot be made.
  void pass_problems_on() {
    for (PlannedRun& run : plan_.runs) {
      if (records_.diverged(run.place)) run.problem = "its training diverged";
      if (run.from && run.problem.empty()) run.problem = plan_.runs[*run.from].problem;
    }
  }

  bool finished(std::size_t i) const {
    const PlannedRun& run = plan_.runs[i];
    return run.kind == RunKind::train ? is_finished(summarise_run({directory(i)}), run.config)
                                      : is_made(run, directory(i));
  }
  bool usable(std::size_t i) const {
    const PlannedRun& run = plan_.runs[i];
    return run.problem.empty() && run.trained;
  }
  bool waits(std::size_t i) const { return usable(i) && !finished(i); }

  double work_left(std::size_t i) const {
    if (!waits(i)) return 0.0;
    if (plan_.runs[i].kind != RunKind::train) return making_work(plan_.runs[i]);
    const RunConfig& config = plan_.runs[i].config;
    const auto done = static_cast<double>(summarise_run({directory(i)}).epochs);
    return making_work(plan_.runs[i]) *
           (1.0 - done / std::max(1.0, static_cast<double>(config.train.epochs)));
  }

  Source source(Lookup lookup) const {
    return {.plan = plan_, .lookup = std::move(lookup), .runs = out_ / "runs"};
  }

  /// What was measured before; nothing for a run that is not finished.
  std::optional<Json> known(std::size_t run, const Measure& measure) const {
    if (!usable(run) || !finished(run)) return std::nullopt;
    return store_.find(directory(run), measure);
  }

  /// What the experiments ask and nobody has measured yet, by run.
  std::vector<Question> open_questions() const {
    std::map<std::size_t, std::map<std::string, Measure>> open;
    Source asked = source([&](std::size_t run, const Measure& measure) -> std::optional<Json> {
      if (usable(run) && !known(run, measure)) open[run].emplace(measure.file_name(), measure);
      return std::nullopt;
    });
    asked.draw = false;
    for (const Experiment& experiment : experiments_) gather(experiment, asked);
    std::vector<Question> questions;
    for (const auto& [run, measures] : open) {
      for (const auto& [name, measure] : measures) questions.push_back({run, measure});
    }
    return questions;
  }

  double seconds_left(const std::vector<Question>& questions) const {
    double seconds = 0.0;
    for (std::size_t i = 0; i < plan_.runs.size(); ++i) seconds += making_seconds(i);
    for (const Question& question : questions) seconds += measuring_seconds(question);
    return seconds;
  }

  std::string state_text(std::size_t i) const {
    const PlannedRun& run = plan_.runs[i];
    if (!run.problem.empty()) return run.problem;
    if (!run.trained) return "only its input is shown";
    if (run.kind != RunKind::train) {
      return finished(i) ? "finished"
                         : fmt::format("{} by {}, about {}", name_of(run.kind), run.method(),
                                       duration_text(making_seconds(i)));
    }
    const RunSummary summary = summarise_run({directory(i)});
    if (is_finished(summary, run.config)) {
      return fmt::format("finished, test {:.2f} %", summary.test_accuracy.value_or(0.0));
    }
    return fmt::format("{}/{} epochs, about {}", summary.epochs, run.config.train.epochs,
                       duration_text(making_seconds(i)));
  }

  void show_plan() {
    std::size_t width = 0;
    for (const PlannedRun& run : plan_.runs) width = std::max(width, run.place.size());
    for (std::size_t i = 0; i < plan_.runs.size(); ++i) {
      progress_.line(fmt::format("{:<{}}  {}", plan_.runs[i].place, width, state_text(i)));
    }
    const std::vector<Question> questions = open_questions();
    int64_t waiting = 0;
    int64_t without = 0;
    for (std::size_t i = 0; i < plan_.runs.size(); ++i) {
      waiting += waits(i) ? 1 : 0;
      without += plan_.runs[i].problem.empty() ? 0 : 1;
    }
    if (without > 0) {
      progress_.line(fmt::format(
          "{} of {} runs cannot be made, for the reason given above; their rows stay empty",
          without, plan_.runs.size()));
    }
    progress_.line(fmt::format("{} of {} runs and {} measurements left to do, about {}", waiting,
                               plan_.runs.size(), questions.size(),
                               duration_text(seconds_left(questions))));
  }

  RunEnd train(std::size_t i, const std::string& label) {
    const PlannedRun& run = plan_.runs[i];
    const RunPaths paths{directory(i)};
    RunConfig config = run.config;
    if (run.from) config.train.from = fs::absolute(directory(*run.from)).string();
    try {
      if (fs::exists(paths.settings())) {
        config.train.from.clear();  // the directory may have been moved since
        config = resumed_settings(paths, read_run_settings(paths), config, false);
      }
      const TrainingResult result = run_training(config, paths, {},
                                                 {.resume = fs::exists(paths.directory),
                                                  .cache = arguments_.cache,
                                                  .label = label,
                                                  .quiet = true},
                                                 progress_);
      return {result.end == TrainEnd::finished ? RunEndKind::finished : RunEndKind::stopped};
    } catch (const TrainingDiverged&) {
      return {RunEndKind::diverged};
    } catch (const Error& error) {
      return {RunEndKind::failed, error.what()};
    }
  }

  /// A conversion or a classical run.
  RunEnd derive(std::size_t i, const std::string& label) const {
    const PlannedRun& run = plan_.runs[i];
    AnalysisProgress bar(false);
    const auto progress = [&](const std::string& what, int64_t done, int64_t of) {
      return bar(label + what, done, of);
    };
    try {
      const bool made =
          run.kind == RunKind::convert
              ? make_conversion(run, directory(*run.from), directory(i),
                                {.directory = cache_directory(arguments_.cache)}, progress)
              : make_classical(run, directory(i), progress);
      return {made ? RunEndKind::finished : RunEndKind::stopped};
    } catch (const Error& error) {
      return {RunEndKind::failed, error.what()};
    }
  }

  RunEnd make(std::size_t i, const std::string& label) {
    return plan_.runs[i].kind == RunKind::train ? train(i, label) : derive(i, label);
  }

  /// The only work of a process that another session started.
  int make_only() {
    constexpr std::chrono::milliseconds kBetweenLines{500};
    end_with_parent();
    catch_interrupts();
    for (std::size_t i = 0; i < plan_.runs.size(); ++i) {
      if (plan_.runs[i].place != arguments_.only_run) continue;
      progress_.never_silent_for(kBetweenLines);
      progress_.line(end_line(make(i, "")));
      return kDone;
    }
    fail("--only-run: '{}' is none of the runs", arguments_.only_run);
  }

  /// A run that cannot be made does not keep the others from going on. If it cannot be trained, the
  /// command ends with exit code 2; networks or recordings that a conversion or a classical method
  /// does not allow, such as a stage that never fires, are a result.
  void settle(const RunJob& job, const RunEnd& end) {
    PlannedRun& run = plan_.runs[job.run];
    const double seconds = job.rate.seconds();
    if (end.kind == RunEndKind::stopped) return;
    if (end.kind == RunEndKind::diverged) records_.set_diverged(run.place);
    if (end.kind == RunEndKind::failed) {
      run.problem = end.message;
      failed_ += run.kind == RunKind::train ? 1 : 0;
    }
    pass_problems_on();
    if (run.problem.empty()) {
      records_.add(run.place, work_kind(run), job.work, job.share * seconds);
    }
    progress_.line(fmt::format("run {}/{} {}: {} ({}); about {} left", job.run + 1,
                               plan_.runs.size(), run.place, state_text(job.run),
                               duration_text(seconds),
                               duration_text(seconds_left(open_questions()))));
  }

  std::string label(std::size_t i) const {
    return fmt::format("run {}/{} {}", i + 1, plan_.runs.size(), plan_.runs[i].name);
  }

  void make_all() {
    const int64_t jobs = jobs_at_once();
    if (jobs > 1) {
      make_together(jobs);
      return;
    }
    for (std::size_t i = 0; i < plan_.runs.size() && !interrupted(); ++i) {
      if (!waits(i)) continue;
      const RunJob job{.run = i, .work = work_left(i)};
      const std::string left = duration_text(seconds_left(open_questions()));
      settle(job, make(i, fmt::format("{}, {} left in all  ", label(i), left)));
    }
  }

  int64_t jobs_at_once() const {
    constexpr int64_t kProgramAndData = int64_t{1} << 29;
    int64_t waiting = 0;
    int64_t largest = 0;
    for (std::size_t i = 0; i < plan_.runs.size(); ++i) {
      if (!waits(i)) continue;
      ++waiting;
      largest = std::max(largest, making_bytes(plan_.runs[i]));
    }
    const int64_t most =
        arguments_.jobs > 0
            ? arguments_.jobs
            : std::clamp<int64_t>(available_memory_bytes() / (kProgramAndData + largest), 1,
                                  threads());
    return std::min(most, waiting);
  }

  std::vector<std::string> arguments_to_make(std::size_t run, int64_t own_threads) const {
    std::vector<std::string> words = {"experiment", arguments_.name,
                                      "--scale",    arguments_.scale,
                                      "--seeds",    std::to_string(arguments_.seeds),
                                      "--out",      arguments_.out,
                                      "--threads",  std::to_string(own_threads),
                                      "--only-run", plan_.runs[run].place};
    if (!arguments_.data.empty()) words.insert(words.end(), {"--data", arguments_.data});
    if (!arguments_.cache.directory.empty()) {
      words.insert(words.end(), {"--cache", arguments_.cache.directory});
    }
    return words;
  }

  /// Several runs at once, each with its share of the threads: those of one run would wait for each
  /// other in every layer. The results are the same.
  void make_together(int64_t most) {
    const int64_t own_threads = std::max<int64_t>(1, threads() / most);
    const double share = static_cast<double>(own_threads) / static_cast<double>(threads());
    RunJobs jobs;
    std::vector<bool> started(plan_.runs.size(), false);
    bool asked_to_stop = false;
    std::string left = duration_text(seconds_left(open_questions()));
    do {
      for (std::size_t i = 0; i < plan_.runs.size() && !interrupted(); ++i) {
        if (jobs.count() == most) break;
        const auto& from = plan_.runs[i].from;
        if (started[i] || !waits(i) || (from && waits(*from))) continue;
        started[i] = true;
        jobs.start({.run = i, .label = label(i), .work = work_left(i), .share = share},
                   arguments_to_make(i, own_threads));
      }
      if (interrupted() && !asked_to_stop) jobs.ask_to_stop();
      asked_to_stop = interrupted();
      for (const RunJobs::Ended& ended : jobs.wait()) {
        settle(ended.job, ended.end);
        left = duration_text(seconds_left(open_questions()));
      }
      progress_.status(fmt::format("{}; about {} in all", jobs.status(), left));
    } while (!jobs.empty());
  }

  void measure_all() {
    const std::vector<Question> questions = open_questions();
    double left = 0.0;
    for (const Question& question : questions) left += measuring_seconds(question);
    std::optional<OpenRun> open;
    std::optional<std::pair<std::size_t, OpenRunOptions>> as;
    for (std::size_t i = 0; i < questions.size() && !interrupted(); ++i) {
      const Question& question = questions[i];
      const PlannedRun& run = plan_.runs[question.run];
      const std::string label = fmt::format("measurement {}/{} {} {}", i + 1, questions.size(),
                                            run.name, name_of(question.measure.kind));
      const Rate rate;
      if (run.kind == RunKind::classical) {
        keep_classical(question);
      } else {
        OpenRunOptions options = open_options(question.measure, run.config);
        const bool same = as && as->first == question.run && as->second.limit == options.limit &&
                          as->second.need_validation == options.need_validation;
        if (!same) {
          options.cache.directory = cache_directory(arguments_.cache);
          open.reset();
          open.emplace(open_run(directory(question.run), options));
          as.emplace(question.run, options);
        }
        measure(*open, question, label);
      }
      if (interrupted()) return;
      left -= measuring_seconds(question);
      progress_.line(fmt::format("{} ({}); about {} left", label, duration_text(rate.seconds()),
                                 duration_text(left)));
    }
  }

  double making_seconds(std::size_t i) const {
    return work_left(i) / records_.speed(work_kind(plan_.runs[i]));
  }
  double measuring_seconds(const Question& question) const {
    const PlannedRun& run = plan_.runs[question.run];
    return measuring_work(run, question.measure) / records_.speed(work_kind(run));
  }

  void measure(OpenRun& run, const Question& question, const std::string& label) const {
    AnalysisProgress bar(false);
    const std::optional<Json> result =
        run_measure(run, question.measure, [&](const std::string& what, int64_t done, int64_t of) {
          return bar(label + ": " + what, done, of);
        });
    if (result) store_.keep(directory(question.run), question.measure, *result);
  }

  void keep_classical(const Question& question) const {
    if (question.measure.kind != MeasureKind::answers) {
      fail("{}: a classical method has predictions but no {}", plan_.runs[question.run].name,
           name_of(question.measure.kind));
    }
    const fs::path run = directory(question.run);
    store_.keep(run, question.measure, classical_answers(run));
  }

  int stopped() {
    int64_t done = 0;
    for (std::size_t i = 0; i < plan_.runs.size(); ++i) done += finished(i) ? 1 : 0;
    progress_.line(
        fmt::format("stopped with {} of {} runs finished; run the same command again to continue",
                    done, plan_.runs.size()));
    return kInterrupted;
  }

  /// The drawings of a result as files, which the page holds, too.
  std::vector<std::string> write_drawings(const ExperimentResult& result, const fs::path& folder) {
    std::vector<std::string> files;
    for (const ResultDrawing& drawing : result.drawings) {
      const auto* script = std::get_if<std::string>(&drawing.content);
      if (script != nullptr) {
        files.push_back(run_gnuplot(*script));
      } else {
        const auto& png = std::get<std::vector<uint8_t>>(drawing.content);
        files.emplace_back(png.begin(), png.end());
      }
      const char* ending = script != nullptr ? ".svg" : ".png";
      write_text_atomically(folder / (drawing.file + ending), files.back());
    }
    return files;
  }

  int finish() {
    const fs::path folder = out_ / arguments_.scale;
    fs::create_directories(folder);
    std::vector<ExperimentResult> results;
    std::vector<std::vector<std::string>> pictures;
    const Source answers =
        source([&](std::size_t run, const Measure& measure) { return known(run, measure); });
    for (const Experiment& experiment : experiments_) {
      results.push_back(gather(experiment, answers));
      const ExperimentResult& result = results.back();
      pictures.push_back(write_drawings(result, folder));
      write_text_atomically(folder / (result.name + ".md"), markdown(result));
      write_text_atomically(folder / (result.name + ".csv"), csv(result));
      progress_.line(markdown(result));
    }
    const std::string name = experiments_.size() == 1 ? experiments_.front().name : arguments_.name;
    const fs::path page = folder / (name + ".html");
    write_text_atomically(page,
                          result_page(fmt::format("bntt experiment {}", name), results, pictures));
    progress_.line(fmt::format("tables and figures: {}\npage: {}", folder.string(), page.string()));
    if (failed_ > 0) {
      fail("{} of {} runs failed; the reasons are in the table", failed_, plan_.runs.size());
    }
    return kDone;
  }

  const ExperimentArguments& arguments_;
  fs::path out_;
  std::vector<Experiment> experiments_;
  Plan plan_;
  RunRecords records_;
  ResultStore store_;
  Progress progress_;
  int64_t failed_ = 0;  // trainings that ended with an error
};

}  // namespace

int run_experiments(const ExperimentArguments& arguments, std::vector<Experiment> experiments,
                    Plan plan) {
  return ExperimentSession(arguments, std::move(experiments), std::move(plan)).run();
}

}  // namespace bntt::cli
