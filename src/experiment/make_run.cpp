#include "experiment/make_run.h"

#include <sstream>

#include "base/check.h"
#include "base/fail.h"
#include "base/files.h"
#include "classical/run_files.h"
#include "convert/converted_run.h"
#include "data/split.h"
#include "train/model_card.h"
#include "train/run_lock.h"
#include "train/run_settings.h"

namespace bntt {
namespace {
namespace fs = std::filesystem;

ConversionOptions options_of(const PlannedRun& run, const MeasureProgress& progress) {
  ConversionOptions options = *run.conversion;
  options.seed = static_cast<uint64_t>(run.seed);
  options.progress = progress;
  return options;
}

/// index, file, label, prediction; fields with commas are quoted (RFC 4180).
std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      const bool doubled = quoted && i + 1 < line.size() && line[i + 1] == '"';
      if (doubled) fields.back() += line[i++];
      if (!doubled) quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

}  // namespace

bool make_conversion(const PlannedRun& run, const fs::path& ann, const fs::path& out,
                     const CacheOptions& cache, const MeasureProgress& progress) {
  BNTT_CHECK(run.conversion.has_value());
  const RunPaths from{ann};
  const RunPaths to{out};
  // Left by a killed process: settings without weights.
  if (fs::exists(to.settings()) && !is_made(run, out)) fs::remove(to.settings());
  RunConfig config = read_run_settings(from);
  config.data.dir = run.config.data.dir;
  const RunModel model = load_run_model(from);
  DatasetOptions wanted = dataset_options(config);
  wanted.need_test = false;
  wanted.cache = cache;
  DatasetSplits data = open_dataset(config.data.name, config.data.dir, wanted);
  fit_data_to_model(model, ann.string(), config.data.name, data);
  const Split split = split_training(data.train.size(), config.data.validation);
  const ConversionOptions options = options_of(run, progress);
  const Conversion conversion =
      convert(model.network, encoder_for(model, config, data),
              {data.train, split.train, split.validation}, options, ann.string());
  if (conversion.stopped) return false;
  write_converted_run(to, converted_settings(config, conversion, options, ann.filename().string()),
                      conversion, model.card.value_or(card_of(config, data)));
  return true;
}

bool make_classical(const PlannedRun& run, const fs::path& out, const MeasureProgress& progress) {
  BNTT_CHECK(run.classical.has_value());
  const ClassicalPaths paths{out};
  ClassicalConfig config = *run.classical;
  config.data.dir = run.config.data.dir;
  const std::optional<ClassicalStudy> study = study_classical(config, progress);
  if (!study) return false;
  fs::create_directories(out);
  write_classical_run(paths, config, *study);
  return true;
}

bool is_made(const PlannedRun& run, const fs::path& directory) {
  return run.kind == RunKind::classical ? is_classical_run(directory)
                                        : fs::exists(RunPaths{directory}.checkpoint());
}

Json classical_answers(const fs::path& directory) {
  const ClassicalPaths paths{directory};
  const ClassicalRun run = read_classical_run(paths);
  std::string right;
  std::istringstream lines(read_text(paths.predictions(), uint64_t{1} << 28));
  std::string line;
  std::getline(lines, line);  // the heading
  while (std::getline(lines, line)) {
    const std::vector<std::string> fields = csv_fields(line);
    if (fields.size() != 4) {
      fail("{}: a line has {} fields, expected 4", paths.predictions().string(), fields.size());
    }
    right += fields[2] == fields[3] ? '1' : '0';
  }
  return {{"images", run.result.data.test},
          {"correct", run.result.right},
          {"spiking", false},
          {"right", right}};
}

}  // namespace bntt
