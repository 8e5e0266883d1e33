#include <fmt/format.h>

#include <algorithm>

#include "analyse/energy.h"
#include "experiment/result.h"

namespace bntt {
namespace {

/// The numbers of one run for one row.
struct RowNumbers {
  std::optional<double> steps;
  std::optional<double> accuracy;
  std::optional<double> spikes;
  std::optional<double> energy_ratio;
  std::optional<double> measured_ratio;
  std::optional<double> truenorth;
  int64_t images = 0;
  std::string problem;

  const std::optional<double>& at(Column column) const {
    switch (column) {
      case Column::steps:
        return steps;
      case Column::accuracy:
        return accuracy;
      case Column::spikes:
        return spikes;
      case Column::energy_ratio:
        return energy_ratio;
      case Column::measured_ratio:
        return measured_ratio;
      case Column::truenorth:
        break;
    }
    return truenorth;
  }
};

std::optional<double> paper_number(const PaperNumbers& paper, Column column) {
  RowNumbers numbers;
  numbers.steps = paper.steps;
  numbers.accuracy = paper.accuracy;
  numbers.spikes = paper.spikes;
  numbers.energy_ratio = paper.energy_ratio;
  numbers.measured_ratio = paper.measured_ratio;
  numbers.truenorth = paper.truenorth;
  return numbers.at(column);
}

std::optional<double> number(const Json& json, const char* key) {
  if (!json.contains(key) || !json[key].is_number()) return std::nullopt;
  return json[key].get<double>();
}

double accuracy_of(const Json& answers) {
  return 100.0 * answers.at("correct").get<double>() / answers.at("images").get<double>();
}

/// The rows of a table, seed after seed.
class Rows {
 public:
  Rows(const Experiment& experiment, const Source& source)
      : experiment_(experiment),
        source_(source),
        scale_(experiment.scale.at(source.plan.options.scale)) {}

  ResultRow row(const RowEntry& entry) const {
    std::vector<RowNumbers> numbers;
    const std::vector<std::size_t> runs = source_.plan.runs_of(experiment_, entry.run);
    for (std::size_t seed = 0; seed < runs.size(); ++seed) {
      numbers.push_back(numbers_of(entry, runs[seed], seed));
    }
    ResultRow row{.label = entry.label};
    for (const RowNumbers& seed : numbers) {
      if (row.problem.empty()) row.problem = seed.problem;
    }
    for (const Column column : experiment_.columns) {
      row.cells.push_back(cell(column, numbers, paper_number(entry.paper, column)));
    }
    return row;
  }

 private:
  bool shows(Column column) const { return std::ranges::count(experiment_.columns, column) > 0; }

  static ResultCell cell(Column column, const std::vector<RowNumbers>& seeds,
                         std::optional<double> paper) {
    ResultCell cell{.values = {}, .interval = std::nullopt, .paper = paper};
    for (const RowNumbers& seed : seeds) {
      if (seed.at(column)) cell.values.push_back(*seed.at(column));
    }
    if (column == Column::accuracy && !cell.values.empty()) {
      const auto images = static_cast<double>(seeds.front().images);
      const auto correct = std::llround(spread_of(cell.values).mean * images / 100.0);
      const ConfidenceInterval share = wilson_interval(correct, seeds.front().images);
      cell.interval = ConfidenceInterval{100.0 * share.low, 100.0 * share.high};
    }
    return cell;
  }

  RowNumbers numbers_of(const RowEntry& entry, std::size_t run, std::size_t seed) const {
    RowNumbers numbers = entry.early_exit
                             ? at_exit(run)
                             : after_steps(run, entry.steps.at(source_.plan.options.scale));
    const std::string& problem = source_.plan.runs[run].problem;
    if (!problem.empty()) numbers.problem = problem;
    if (shows(Column::truenorth)) add_truenorth(numbers, seed);
    return numbers;
  }

  RowNumbers after_steps(std::size_t run, int64_t steps) const {
    RowNumbers numbers;
    if (const auto answers = source_.lookup(run, answers_measure(steps))) {
      numbers.steps = number(*answers, "steps");
      numbers.accuracy = accuracy_of(*answers);
      numbers.images = answers->at("images").get<int64_t>();
      if (answers->value("spiking", true)) numbers.spikes = number(*answers, "spikes_per_image");
    }
    if (shows(Column::energy_ratio) || shows(Column::measured_ratio)) {
      if (const auto energy = source_.lookup(run, energy_measure(scale_, steps))) {
        const bool ann = !energy->value("spiking", true);
        numbers.energy_ratio = ann ? 1.0 : number(*energy, "paper_ratio");
        numbers.measured_ratio = ann ? 1.0 : number(*energy, "measured_ratio");
      }
    }
    return numbers;
  }

  RowNumbers at_exit(std::size_t run) const {
    RowNumbers numbers;
    const auto exit = source_.lookup(run, exit_measure(scale_));
    if (!exit) return numbers;
    if (!exit->contains("proposed")) {
      numbers.problem =
          fmt::format("no exit step is certain to cost at most {} points", scale_.max_loss);
      return numbers;
    }
    const Json& point = exit->at("sweep").at(exit->at("proposed").get<std::size_t>());
    numbers.steps = number(point, "exit_step");
    numbers.accuracy = number(point, "accuracy");
    numbers.spikes = number(point, "spikes_per_image");
    numbers.images = exit->at("images").get<int64_t>();
    return numbers;
  }

  void add_truenorth(RowNumbers& numbers, std::size_t seed) const {
    const TrueNorthTable table = default_energy_table().truenorth;
    double reference = table.spike * table.reference_spikes + table.step * table.reference_steps;
    if (!experiment_.reference.empty()) {
      const std::size_t run = source_.plan.runs_of(experiment_, experiment_.reference)[seed];
      const auto answers = source_.lookup(run, answers_measure());
      if (!answers) return;
      reference = table.spike * answers->at("spikes_per_image").get<double>() +
                  table.step * answers->at("steps").get<double>();
    }
    if (!numbers.spikes || !numbers.steps || !(reference > 0.0)) return;
    numbers.truenorth = (table.spike * *numbers.spikes + table.step * *numbers.steps) / reference;
  }

  const Experiment& experiment_;
  const Source& source_;
  const ScaleEntry& scale_;
};

}  // namespace

Measure answers_measure(int64_t steps) { return {.kind = MeasureKind::answers, .steps = steps}; }

Measure energy_measure(const ScaleEntry& scale, int64_t steps) {
  return {.kind = MeasureKind::energy, .images = scale.images, .steps = steps};
}

Measure exit_measure(const ScaleEntry& scale) {
  return {.kind = MeasureKind::exit, .images = scale.images, .max_loss = scale.max_loss};
}

Measure activity_measure(const ScaleEntry& scale) {
  return {.kind = MeasureKind::activity, .images = scale.images};
}

Measure attack_measure(MeasureKind kind, const ScaleEntry& scale,
                       const std::vector<double>& strengths) {
  return {.kind = kind, .images = scale.attack_images, .strengths = strengths};
}

std::vector<ResultRow> gather_rows(const Experiment& experiment, const Source& source) {
  const Rows rows(experiment, source);
  std::vector<ResultRow> result;
  for (const RowEntry& row : experiment.rows) result.push_back(rows.row(row));
  return result;
}

ExperimentResult gather(const Experiment& experiment, const Source& source) {
  const Scale scale = source.plan.options.scale;
  ExperimentResult result{.name = experiment.name,
                          .title = experiment.title,
                          .scale = scale,
                          .seeds = source.plan.options.seeds,
                          .columns = experiment.columns,
                          .rows = gather_rows(experiment, source),
                          .claims = gather_claims(experiment, source),
                          .drawings = gather_drawings(experiment, source)};
  for (const std::string& note : {experiment.note, experiment.scale.at(scale).note}) {
    if (!note.empty()) result.notes.push_back(note);
  }
  return result;
}

}  // namespace bntt
