#include "bench/compare.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "base/fail.h"
#include "base/threads.h"
#include "bench/density.h"
#include "bench/worker_process.h"
#include "model/quantise.h"
#include "train/break_even_table.h"

namespace bntt::bench {
namespace {

constexpr double kNoLimit = 1e6;  // seconds

/// Shared by all workers of one density.
struct Files {
  explicit Files(const Workload& workload)
      : network(pack_network(workload)), images(pack_images(workload)) {}
  SharedFile network;
  SharedFile images;
};

enum class EngineKind { ours, previous, torch };

/// A worker and its answers so far.
class Contender {
 public:
  Contender(const Options& options, const Files& files, Job job, EngineKind engine, double limit)
      : limit_(limit) {
    job.network = kNetworkFile;
    job.images = kImagesFile;
    timing_.images = images_per_unit(job.kind, job.batch);
    WorkerCommand command{.network = &files.network, .images = &files.images};
    if (engine == EngineKind::torch) {
      timing_.variant = describe(job.torch, job.kind);
      command.program = options.torch_program;
      command.arguments = {to_json(job)};
      command.default_waiting = true;
    } else {
      command.program =
          engine == EngineKind::previous ? options.previous_program : options.own_program;
      command.arguments = {"bench", "worker", to_json(job)};
    }
    process_ = std::make_unique<WorkerProcess>(command);
    if (!process_->ready(limit_)) process_.reset();
  }

  void time_unit() {
    if (process_ == nullptr) return;
    const std::optional<UnitTime> time = process_->time_unit(limit_);
    if (time) {
      timing_.seconds.push_back(time->seconds);
      timing_.processor_seconds.push_back(time->processor_seconds);
    } else {
      process_.reset();
    }
  }

  /// Empty if it was too slow.
  std::optional<Timing> finish() {
    if (process_ == nullptr) return std::nullopt;
    report_ = process_->report(limit_).value_or(Json());
    process_.reset();
    if (report_.is_null()) return std::nullopt;
    timing_.peak_memory_bytes = report_.at("peak_memory_bytes").get<int64_t>();
    return timing_;
  }
  const Json& report() const { return report_; }

 private:
  double limit_;
  Timing timing_;
  Json report_;
  std::unique_ptr<WorkerProcess> process_;
};

using Contenders = std::vector<std::unique_ptr<Contender>>;

/// Contenders take turns, so that a slow moment of the machine affects all of them.
void alternate(Contenders& contenders, int64_t repeats) {
  for (int64_t i = 0; i < repeats; ++i) {
    for (const auto& contender : contenders) contender->time_unit();
  }
}

void take_report(Result& result, Contender& contender) {
  result.ours = contender.finish().value();
  result.density = contender.report().at("density").get<double>();
  read_fields(contender.report().at("stages"), result.stages, "worker");
  // Time that no stage measures, such as the allocation of memory.
  double rest = result.ours.best_seconds();
  for (const StageCost& stage : result.stages) rest -= stage.seconds();
  result.stages.push_back(
      {.name = "other", .phases = {{.name = "outside the stages", .seconds = rest}}});
}

std::vector<TorchVariant> variants_of(Kind kind, Precision precision) {
  std::vector<TorchVariant> variants;
  for (const Layout layout : {Layout::contiguous, Layout::channels_last}) {
    variants.push_back({layout, precision, Form::folded});
    if (kind == Kind::infer) variants.push_back({layout, precision, Form::looped});
  }
  return variants;
}

/// LibTorch's work does not depend on the density, so its best variant is searched for once per
/// batch size.
class TorchChoice {
 public:
  explicit TorchChoice(const Options& options) : options_(options) {}

  struct Chosen {
    std::optional<TorchVariant> variant;  ///< empty: all too slow, or not possible here
    std::string why_none;
    double seconds = std::numeric_limits<double>::infinity();
  };

  const Chosen& best(const Files& files, const Job& job, Precision precision) {
    const auto key = std::pair{job.batch, precision};
    const auto known = chosen_.find(key);
    if (known != chosen_.end()) return known->second;
    return chosen_[key] = precision == Precision::mixed && !has_native_bf16()
                              ? Chosen{.why_none = "this CPU has no bf16 arithmetic"}
                              : search(files, job, precision);
  }

  /// If bf16 turns out to be emulated, it must not delay the other measurements.
  double limit(const Files& files, const Job& job, Precision precision) {
    constexpr double kPatience = 4.0;
    constexpr double kStart = 60.0;
    if (precision == Precision::fp32) return kNoLimit;
    return kStart + kPatience * best(files, job, Precision::fp32).seconds;
  }

 private:
  Chosen search(const Files& files, Job job, Precision precision) {
    const double limit_seconds = limit(files, job, precision);
    Chosen chosen{.why_none = "too slow here"};
    for (const TorchVariant& variant : variants_of(job.kind, precision)) {
      job.torch = variant;
      std::optional<Timing> timing;
      try {
        timing = try_once(files, job, limit_seconds);
      } catch (const Error& error) {
        // Some guests announce AMX, which oneDNN's bf16 then uses, but trap on its instructions.
        if (precision == Precision::fp32) throw;
        chosen.why_none = error.what();
      }
      if (!timing) continue;
      options_.note(fmt::format("LibTorch {} {}, batch {}: {:.3g} images/s",
                                precision == Precision::mixed ? "bf16" : "fp32",
                                describe(variant, job.kind), job.batch, timing->best_rate()));
      if (timing->seconds.front() < chosen.seconds) {
        chosen = {.variant = variant, .seconds = timing->seconds.front()};
      }
    }
    return chosen;
  }

  std::optional<Timing> try_once(const Files& files, const Job& job, double limit_seconds) const {
    Contender contender(options_, files, job, EngineKind::torch, limit_seconds);
    contender.time_unit();
    return contender.finish();
  }

  const Options& options_;
  std::map<std::pair<int64_t, Precision>, Chosen> chosen_;
};

/// The same workload with int8 weights.
Workload with_int8(const Workload& workload) {
  const bool input_spikes = workload.encoder.kind != EncoderKind::direct;
  const auto branches = quantisable_branches(workload.network, input_spikes, "bench");
  return {.network = quantise(workload.network, scales_of_largest(workload.network, branches)),
          .images = workload.images,
          .encoder = workload.encoder,
          .images_from = workload.images_from,
          .break_even_from = workload.break_even_from};
}

/// Inference by the rules, in turn with that of all steps.
class RuleComparison {
 public:
  RuleComparison(const Options& options, const Files& files, const Workload& workload,
                 const Job& job, Contenders& contenders)
      : workload_(workload),
        network_(workload.network),
        share_(options.rules_share),
        contenders_(contenders) {
    if (share_ == 0.0) return;
    for (const Rule rule : {Rule::at_rest, Rule::windows, Rule::sample_exit}) {
      Job ruled = job;
      ruled.rule = rule;
      ruled.share = share_;
      places_.push_back(contenders.size());
      contenders.push_back(
          std::make_unique<Contender>(options, files, ruled, EngineKind::ours, kNoLimit));
    }
  }

  /// `whole` has its stages.
  std::vector<RuleResult> finish(const Result& whole) {
    if (places_.empty()) return {};
    Result at_rest;
    take_report(at_rest, *contenders_[places_[0]]);
    RuleResult windows{.rule = Rule::windows, .ours = contenders_[places_[1]]->finish().value()};
    windows.expected_seconds = whole.ours.best_seconds();
    const StepWindows band = band_windows(network_, share_);
    const std::vector<double> shares = working_shares(workload_, band);
    double left = 0.0;
    double all = 0.0;
    for (std::size_t i = 0; i < network_.stages().size(); ++i) {
      const auto macs = static_cast<double>(network_.stages()[i].macs);
      left += shares[i] * macs;
      all += macs;
      const double synapses =
          std::max(0.0, whole.stages[i].seconds() - at_rest.stages[i].seconds());
      windows.expected_seconds -= (1.0 - shares[i]) * synapses;
    }
    windows.work = left / all;

    Contender& leaving = *contenders_[places_[2]];
    RuleResult exit{.rule = Rule::sample_exit, .ours = leaving.finish().value()};
    const int64_t idle = network_.spec().steps - active_steps(network_.spec());
    exit.work = (leaving.report().at("mean_steps").get<double>() - static_cast<double>(idle)) /
                static_cast<double>(active_steps(network_.spec()));
    exit.expected_seconds = exit.work * whole.ours.best_seconds();
    return {std::move(windows), std::move(exit)};
  }

 private:
  const Workload& workload_;
  const Network& network_;
  double share_;
  Contenders& contenders_;
  std::vector<std::size_t> places_;
};

/// The densities to time a network at. Empty: its own.
std::vector<std::optional<double>> densities_for(const DensityFinder& finder,
                                                 const std::vector<double>& wanted) {
  if (!finder.scales()) return {std::nullopt};
  return {wanted.begin(), wanted.end()};
}

/// `int8`: the files of the same workload with int8 weights, or null.
Result compare_at(const Options& options, const Files& files, const Files* int8,
                  const Workload& workload, const Job& job, std::optional<double> density,
                  TorchChoice& torch) {
  Result result{.kind = job.kind,
                .wanted_density = density,
                .batch = job.batch,
                .steps = workload.network.spec().steps,
                .threads = job.threads};
  Contenders contenders;
  std::optional<std::size_t> fp32;
  std::optional<std::size_t> bf16;
  const auto add_torch = [&](Precision precision) -> std::optional<std::size_t> {
    const TorchChoice::Chosen& chosen = torch.best(files, job, precision);
    if (precision == Precision::mixed) result.no_bf16 = chosen.why_none;
    if (!chosen.variant) return std::nullopt;
    Job torch_job = job;
    torch_job.torch = *chosen.variant;
    contenders.push_back(std::make_unique<Contender>(options, files, torch_job, EngineKind::torch,
                                                     torch.limit(files, job, precision)));
    return contenders.size() - 1;
  };
  contenders.push_back(
      std::make_unique<Contender>(options, files, job, EngineKind::ours, kNoLimit));
  std::optional<std::size_t> previous;
  if (!options.previous_program.empty()) {
    previous = contenders.size();
    contenders.push_back(
        std::make_unique<Contender>(options, files, job, EngineKind::previous, kNoLimit));
  }
  std::optional<std::size_t> with_int8_weights;
  if (int8 != nullptr) {
    with_int8_weights = contenders.size();
    contenders.push_back(
        std::make_unique<Contender>(options, *int8, job, EngineKind::ours, kNoLimit));
  }
  if (!options.torch_program.empty()) {
    fp32 = add_torch(Precision::fp32);
    bf16 = add_torch(Precision::mixed);
  }
  RuleComparison rules(options, files, workload, job, contenders);
  alternate(contenders, options.repeats);
  take_report(result, *contenders.front());
  if (previous) result.previous = contenders[*previous]->finish();
  if (with_int8_weights) result.int8 = contenders[*with_int8_weights]->finish();
  result.rules = rules.finish(result);
  if (fp32) result.torch_fp32 = contenders[*fp32]->finish();
  if (bf16) result.torch_bf16 = contenders[*bf16]->finish();
  return result;
}

std::vector<Result> measure_scaling(const Options& options) {
  const int64_t batch = options.batches.front();
  const int64_t steps = options.workload.steps;
  struct Case {
    int64_t batch, steps, threads;
  };
  std::vector<Case> cases = {{batch, steps, options.threads}};
  if (options.threads > 1) cases.push_back({batch, steps, 1});
  cases.push_back({batch, 2 * steps, options.threads});
  cases.push_back({2 * batch, steps, options.threads});

  std::vector<std::unique_ptr<Files>> files;
  std::vector<Result> results;
  Contenders contenders;
  for (const Case& scaled : cases) {
    WorkloadOptions workload_options = options.workload;
    workload_options.steps = scaled.steps;
    workload_options.images = images_per_unit(options.kind, scaled.batch);
    Workload workload = make_workload(workload_options);
    DensityFinder finder(workload, options.kind, workload_options.images);
    const std::optional<double> density = densities_for(finder, options.densities).front();
    if (density) finder.reach(*density);
    files.push_back(std::make_unique<Files>(workload));
    const Job job{.kind = options.kind,
                  .batch = scaled.batch,
                  .threads = scaled.threads,
                  .precision = options.precision};
    contenders.push_back(
        std::make_unique<Contender>(options, *files.back(), job, EngineKind::ours, kNoLimit));
    results.push_back({.kind = options.kind,
                       .wanted_density = density,
                       .batch = scaled.batch,
                       .steps = scaled.steps,
                       .threads = scaled.threads});
  }
  alternate(contenders, options.repeats);
  for (std::size_t i = 0; i < results.size(); ++i) take_report(results[i], *contenders[i]);
  return results;
}

}  // namespace

double Timing::best_seconds() const { return *std::ranges::min_element(seconds); }

double Timing::best_processor_seconds() const {
  return *std::ranges::min_element(processor_seconds);
}

double Timing::best_rate() const { return static_cast<double>(images) / best_seconds(); }

double Timing::processor_seconds_per_image() const {
  return *std::ranges::min_element(processor_seconds) / static_cast<double>(images);
}

double Timing::median_rate() const {
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  const double median =
      sorted.size() % 2 == 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
  return static_cast<double>(images) / median;
}

Report compare(const Options& options) {
  set_threads(static_cast<int>(options.threads));
  WorkloadOptions workload_options = options.workload;
  workload_options.images = 0;
  for (const int64_t batch : options.batches) {
    workload_options.images =
        std::max(workload_options.images, images_per_unit(options.kind, batch));
  }
  Workload workload = make_workload(workload_options);
  Report report{.machine = measure_machine(),
                .images_from = workload.images_from,
                .break_even_from = workload.break_even_from,
                .break_even = break_even_values(workload.network.break_even()),
                .dense_above = dense_above_text(workload.network)};
  TorchChoice torch(options);
  const auto compare_batches = [&](DensityFinder& finder, std::span<const int64_t> batches) {
    for (const std::optional<double> density : densities_for(finder, options.densities)) {
      if (density) finder.reach(*density);
      const Files files(workload);
      std::optional<Files> int8;
      if (options.int8) int8.emplace(with_int8(workload));
      for (const int64_t batch : batches) {
        const Job job{.kind = options.kind,
                      .batch = batch,
                      .threads = options.threads,
                      .precision = options.precision};
        report.results.push_back(
            compare_at(options, files, int8 ? &*int8 : nullptr, workload, job, density, torch));
      }
    }
  };
  if (options.kind == Kind::infer) {
    DensityFinder finder(workload, options.kind, workload.images.size());
    compare_batches(finder, options.batches);
  } else {
    // Batch statistics, and therefore the density, depend on the batch size.
    for (const int64_t batch : options.batches) {
      DensityFinder finder(workload, options.kind, batch);
      compare_batches(finder, std::span(&batch, 1));
    }
  }
  if (options.scaling) report.scaling = measure_scaling(options);
  return report;
}

}  // namespace bntt::bench
