#include <algorithm>
#include <array>

#include "experiment/rate_coding.h"
#include "experiment/result.h"
#include "report/figure.h"
#include "report/figures.h"
#include "report/run_document.h"

namespace bntt {
namespace {

// Distinguishable with red-green colour blindness.
constexpr std::array kColours = {"#2457c5", "#b3372f", "#8a93a3", "#d98a08",
                                 "#1f9d6b", "#4b2991", "#1487a8"};

std::string colour(std::size_t index) { return kColours.at(index % kColours.size()); }

/// A picture of runs side by side, or of one run.
class Drawings {
 public:
  Drawings(const Experiment& experiment, const Source& source)
      : experiment_(experiment),
        source_(source),
        scale_(experiment.scale.at(source.plan.options.scale)) {}

  void add(const DrawingEntry& entry) {
    switch (entry.kind) {
      case DrawingKind::spikes:
        for (const std::string& run : entry.runs) {
          add_document(entry, run, "activity", activity_measure(scale_), "spikes");
        }
        break;
      case DrawingKind::exit:
        for (const std::string& run : entry.runs) {
          add_document(entry, run, "exit", exit_measure(scale_), "exit");
        }
        break;
      case DrawingKind::gamma:
        for (const std::string& run : entry.runs) add_gamma(entry, run);
        break;
      case DrawingKind::gamma_histogram:
        for (const std::string& run : entry.runs) add_histograms(entry, run);
        break;
      case DrawingKind::spike_rate:
        add_spike_rates(entry);
        break;
      case DrawingKind::noise:
        add_curves(entry, MeasureKind::noise, "σ of the noise", 1.0);
        break;
      case DrawingKind::fgsm:
        add_curves(entry, MeasureKind::fgsm, "ε (in 1/255)", 255.0);
        break;
      case DrawingKind::rate_coding:
        for (const std::string& run : entry.runs) add_rate_coding(entry, run);
        break;
    }
  }

  std::vector<ResultDrawing> take() { return std::move(drawings_); }

 private:
  // Pictures show the first seed.
  std::size_t index_of(const std::string& run) const {
    return source_.plan.runs_of(experiment_, run).front();
  }
  const std::string& label_of(const std::string& run) const {
    return source_.plan.runs[index_of(run)].label;
  }

  void push(const DrawingEntry& entry, const std::string& run,
            std::variant<std::string, std::vector<uint8_t>> content,
            const std::string& layer = "") {
    std::string title = entry.title;
    if (!run.empty()) title += (title.empty() ? "" : ": ") + label_of(run);
    if (!layer.empty()) title += ", " + layer;
    drawings_.push_back({.title = title,
                         .file = fmt::format("{}-{}", experiment_.name, drawings_.size() + 1),
                         .content = std::move(content)});
  }

  /// A figure of bntt plot, from one analysis.
  void add_document(const DrawingEntry& entry, const std::string& run, const char* key,
                    const Measure& measure, const std::string& figure) {
    const std::size_t index = index_of(run);
    const auto result = source_.lookup(index, measure);
    if (!result) return;
    Json document = run_outline(source_.directory(index));
    document[key] = *result;
    push(entry, run, figure_script(figure, document, "", PictureFormat::svg));
  }

  /// γ is part of the weights, which exist if the answers do.
  std::optional<Json> outline(const DrawingEntry& entry, const std::string& run) const {
    const std::size_t index = index_of(run);
    if (!source_.lookup(index, answers_measure())) return std::nullopt;
    return run_outline(source_.directory(index), {.exit_threshold = entry.threshold});
  }

  void add_gamma(const DrawingEntry& entry, const std::string& run) {
    const auto document = outline(entry, run);
    if (!document) return;
    push(entry, run, figure_script("gamma", *document, "", PictureFormat::svg));
  }

  void add_histograms(const DrawingEntry& entry, const std::string& run) {
    const auto document = outline(entry, run);
    if (!document) return;
    for (const std::string& layer : entry.layers) {
      const bool there = std::ranges::any_of(
          document->at("gamma"), [&](const Json& stage) { return stage.at("name") == layer; });
      if (!there) continue;  // a smaller network has fewer layers
      push(entry, run, figure_script("gamma-histogram", *document, layer, PictureFormat::svg),
           layer);
    }
  }

  void add_spike_rates(const DrawingEntry& entry) {
    LineFigure figure{.x_label = "layer", .y_label = "spikes per neuron", .from_zero = false};
    figure.logarithmic_y = true;
    for (const std::string& run : entry.runs) {
      const auto activity = source_.lookup(index_of(run), activity_measure(scale_));
      if (!activity) continue;
      FigureSeries series{.label = label_of(run), .colour = colour(figure.series.size())};
      std::vector<std::string> names;
      for (const Json& stage : activity->at("stages")) {
        if (stage.at("neurons").get<int64_t>() == 0) continue;
        names.push_back(stage.at("name").get<std::string>());
        series.points.push_back(
            {static_cast<double>(names.size()), stage.at("spike_rate").get<double>()});
      }
      if (names.size() > figure.x_names.size()) figure.x_names = names;
      figure.series.push_back(std::move(series));
    }
    if (!figure.series.empty()) push(entry, "", plot_script(figure, PictureFormat::svg));
  }

  void add_curves(const DrawingEntry& entry, MeasureKind kind, const std::string& x_label,
                  double unit) {
    LineFigure figure{.x_label = x_label, .y_label = "accuracy (%)"};
    for (const std::string& run : entry.runs) {
      const auto study =
          source_.lookup(index_of(run), attack_measure(kind, scale_, entry.strengths));
      if (!study) continue;
      FigureSeries series{.label = label_of(run), .colour = colour(figure.series.size())};
      for (const Json& point : study->at("curves").at(0).at("points")) {
        series.points.push_back(
            {unit * point.at("strength").get<double>(), point.at("accuracy").get<double>()});
      }
      figure.series.push_back(std::move(series));
    }
    if (!figure.series.empty()) push(entry, "", plot_script(figure, PictureFormat::svg));
  }

  void add_rate_coding(const DrawingEntry& entry, const std::string& run) {
    const PlannedRun& planned = source_.plan.runs[index_of(run)];
    if (!source_.draw || !planned.problem.empty()) return;
    push(entry, run, rate_coding_sheet(planned.config));
  }

  const Experiment& experiment_;
  const Source& source_;
  const ScaleEntry& scale_;
  std::vector<ResultDrawing> drawings_;
};

}  // namespace

std::vector<ResultDrawing> gather_drawings(const Experiment& experiment, const Source& source) {
  Drawings drawings(experiment, source);
  for (const DrawingEntry& entry : experiment.figures) drawings.add(entry);
  return drawings.take();
}

}  // namespace bntt
