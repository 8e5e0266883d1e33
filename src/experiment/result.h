#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analyse/statistics.h"
#include "experiment/experiment_file.h"
#include "experiment/measure.h"
#include "experiment/plan.h"

namespace bntt {

/// Our numbers beside the paper's.
struct ResultCell {
  std::vector<double> values;                  ///< one per seed; empty: not measured
  std::optional<ConfidenceInterval> interval;  ///< of an accuracy: Wilson's 95 %, in per cent
  std::optional<double> paper;
};

struct ResultRow {
  std::string label;
  std::string problem;            ///< why we have no numbers; empty if we have
  std::vector<ResultCell> cells;  ///< [column]
};

enum class Verdict { confirmed, denied, undecided, unknown };
constexpr auto enum_names(Verdict) {
  return std::array{
      std::pair{Verdict::confirmed, "confirmed"}, std::pair{Verdict::denied, "denied"},
      std::pair{Verdict::undecided, "undecided"}, std::pair{Verdict::unknown, "not measured"}};
}

struct ResultClaim {
  std::string text;
  Verdict verdict = Verdict::unknown;
  std::string numbers;
};

/// A picture: a script for gnuplot, or a PNG file.
struct ResultDrawing {
  std::string title;
  std::string file;  ///< name without extension
  std::variant<std::string, std::vector<uint8_t>> content;
};

struct ExperimentResult {
  std::string name;
  std::string title;
  std::vector<std::string> notes;
  Scale scale = Scale::full;
  int64_t seeds = 1;
  std::vector<Column> columns;
  std::vector<ResultRow> rows;
  std::vector<ResultClaim> claims;
  std::vector<ResultDrawing> drawings;
};

/// The result of a measurement on a run of the plan; absent until it is known.
using Lookup = std::function<std::optional<Json>(std::size_t run, const Measure& measure)>;

struct Source {
  const Plan& plan;
  Lookup lookup;
  std::filesystem::path runs;  ///< directory of the runs
  bool draw = true;            ///< false: only look up measurements, draw nothing

  std::filesystem::path directory(std::size_t run) const { return runs / plan.runs[run].place; }
};

/// Looks up everything that the experiment shows, whether or not the results exist, so that the
/// required measurements can be collected first.
ExperimentResult gather(const Experiment& experiment, const Source& source);

// The parts of gather, one file each.
std::vector<ResultRow> gather_rows(const Experiment& experiment, const Source& source);
std::vector<ResultClaim> gather_claims(const Experiment& experiment, const Source& source);
std::vector<ResultDrawing> gather_drawings(const Experiment& experiment, const Source& source);

// The measurements that all parts share.
Measure answers_measure(int64_t steps = 0);
Measure energy_measure(const ScaleEntry& scale, int64_t steps = 0);
Measure exit_measure(const ScaleEntry& scale);
Measure activity_measure(const ScaleEntry& scale);
Measure attack_measure(MeasureKind kind, const ScaleEntry& scale,
                       const std::vector<double>& strengths);

/// In words, for display.
std::string column_heading(Column column);

}  // namespace bntt
