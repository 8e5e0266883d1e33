#include "experiment/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyse/activity.h"
#include "analyse/early_exit.h"
#include "analyse/energy.h"
#include "analyse/inference.h"
#include "analyse/json.h"
#include "analyse/robustness.h"
#include "base/check.h"
#include "base/crc32.h"
#include "base/fields.h"
#include "base/files.h"
#include "classical/run_files.h"
#include "train/checkpoint.h"

namespace bntt {
namespace {
namespace fs = std::filesystem;

std::string digits_of(uint32_t sum) { return fmt::format("{:08x}", sum); }

uint32_t sum_of(const std::string& text) {
  return crc32({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

std::string question(const Measure& measure) {
  Json question{{"kind", name_of(measure.kind)},
                {"images", measure.images},
                {"steps", measure.steps},
                {"max_loss", measure.max_loss},
                {"strengths", measure.strengths}};
  // Results of earlier versions do not say which images were right.
  if (!measure.strengths.empty()) question["right"] = true;
  return question.dump();
}

/// A digest of the weights that analyses use; a classical method has its result instead.
std::string weights_digits(const fs::path& run) {
  const RunPaths paths{run};
  fs::path file = fs::exists(paths.best()) ? paths.best() : paths.checkpoint();
  if (is_classical_run(run)) file = ClassicalPaths{run}.result();
  constexpr uint64_t kLimit = uint64_t{1} << 36;
  return digits_of(crc32(read_file(file, kLimit)));
}

Json answers_of(const OpenRun& run, const Inference& inference) {
  std::string right;
  for (std::size_t i = 0; i < inference.predictions.size(); ++i) {
    const int64_t label = run.data.test.labels[run.test.begin + static_cast<int64_t>(i)];
    right += inference.predictions[i] == label ? '1' : '0';
  }
  return {{"images", inference.sums.images},
          {"correct", inference.sums.correct},
          {"steps", inference.steps},
          {"spiking", is_spiking(run.network)},
          {"spikes_per_image", inference.spikes_per_image()},
          {"right", right}};
}

/// Computes one result, and records whether it was stopped.
class Measurement {
 public:
  Measurement(OpenRun& run, const Measure& measure, const MeasureProgress& progress)
      : run_(run), measure_(measure), progress_(progress) {}

  std::optional<Json> result() {
    Json json = measured();
    if (stopped_) return std::nullopt;
    return json;
  }

 private:
  bool tell(const std::string& what, int64_t done, int64_t of) {
    stopped_ = stopped_ || (progress_ && progress_(what, done, of));
    return stopped_;
  }
  std::function<bool(int64_t)> counted() {
    return [this](int64_t done) { return tell(name_of(measure_.kind), done, run_.test.size()); };
  }
  std::function<bool(const std::string&, int64_t, int64_t)> told() {
    return
        [this](const std::string& what, int64_t done, int64_t of) { return tell(what, done, of); };
  }

  Json measured() {
    const Sample sample = test_sample(run_);
    switch (measure_.kind) {
      case MeasureKind::answers:
        return answers_of(
            run_, infer(run_.network, sample, {.steps = measure_.steps, .progress = counted()}));
      case MeasureKind::energy:
        return to_json(
            study_energy(run_.network, sample, {.steps = measure_.steps, .progress = counted()}));
      case MeasureKind::exit:
        return to_json(study_exit(run_.network, sample, validation_sample(run_),
                                  {.max_loss = measure_.max_loss, .progress = told()}));
      case MeasureKind::activity:
        return to_json(
            study_activity(run_.network, sample, {.detail_images = 0, .progress = counted()}));
      case MeasureKind::noise:
        return to_json(study_robustness(run_.network, sample,
                                        {.noise = measure_.strengths,
                                         .clip_events = run_.config.data.clip,
                                         .keep_right = true,
                                         .progress = told()}));
      case MeasureKind::fgsm:
        return to_json(
            study_robustness(run_.network, sample,
                             {.fgsm = measure_.strengths, .keep_right = true, .progress = told()}));
    }
    BNTT_CHECK(false);
    return {};
  }

  OpenRun& run_;
  const Measure& measure_;
  const MeasureProgress& progress_;
  bool stopped_ = false;
};

}  // namespace

std::string Measure::file_name() const {
  return fmt::format("{}-{}", name_of(kind), digits_of(sum_of(question(*this))));
}

OpenRunOptions open_options(const Measure& measure, const RunConfig& config) {
  // Zero means all for both of them.
  const int64_t all = config.data.limit_test;
  const bool limited = measure.images > 0 && (all == 0 || measure.images < all);
  return {.data = config.data.dir,
          .need_validation = measure.kind == MeasureKind::exit,
          .limit = limited ? measure.images : all};
}

std::optional<Json> run_measure(OpenRun& run, const Measure& measure,
                                const MeasureProgress& progress) {
  return Measurement(run, measure, progress).result();
}

double passes_of(const Measure& measure) {
  const auto strengths = static_cast<double>(measure.strengths.size());
  switch (measure.kind) {
    case MeasureKind::answers:
      return 1.0;
    case MeasureKind::energy:
    case MeasureKind::activity:
      return 1.5;
    case MeasureKind::exit:
      return 12.0;
    case MeasureKind::noise:
      return 1.0 + strengths;
    case MeasureKind::fgsm:
      return 1.0 + 4.0 * strengths;
  }
  return 1.0;
}

fs::path ResultStore::file_of(const fs::path& run, const Measure& measure) const {
  return directory_ / run.filename() / (measure.file_name() + ".json");
}

std::optional<Json> ResultStore::find(const fs::path& run, const Measure& measure) const {
  const fs::path file = file_of(run, measure);
  if (!fs::exists(file)) return std::nullopt;
  const Json kept = parse_json(read_text(file, uint64_t{1} << 28), file.string());
  if (!kept.is_object() || kept.value("weights", "") != weights_digits(run) ||
      !kept.contains("result")) {
    return std::nullopt;  // belongs to other weights
  }
  return kept["result"];
}

void ResultStore::keep(const fs::path& run, const Measure& measure, const Json& result) const {
  const fs::path file = file_of(run, measure);
  fs::create_directories(file.parent_path());
  const Json kept = {{"question", parse_json(question(measure), "question")},
                     {"weights", weights_digits(run)},
                     {"result", result}};
  write_text_atomically(file, kept.dump() + "\n");
}

}  // namespace bntt
