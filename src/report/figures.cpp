#include "report/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/fail.h"
#include "base/suggest.h"
#include "base/text.h"

namespace bntt {
namespace {

constexpr const char* kAccent = "#2457c5";
constexpr const char* kQuiet = "#8a93a3";
constexpr const char* kContrast = "#b3372f";

// The page's palette of layers (web/palette.js), first to last.
std::string layer_colour(std::size_t index, std::size_t all) {
  using Colour = std::array<int, 3>;
  constexpr std::array<Colour, 7> kStops = {{{0x4b, 0x29, 0x91},
                                             {0x2f, 0x5f, 0xc4},
                                             {0x14, 0x87, 0xa8},
                                             {0x1f, 0x9d, 0x6b},
                                             {0x86, 0xa5, 0x1e},
                                             {0xd9, 0x8a, 0x08},
                                             {0xcf, 0x4a, 0x25}}};
  const double place = all > 1 ? static_cast<double>(index) / static_cast<double>(all - 1) : 0.2;
  const double at = place * (kStops.size() - 1);
  const auto low = std::min<std::size_t>(kStops.size() - 2, static_cast<std::size_t>(at));
  Colour mixed{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double part = (kStops[low + 1][c] - kStops[low][c]) * (at - static_cast<double>(low));
    mixed[c] = kStops[low][c] + static_cast<int>(std::lround(part));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2]);
}

double value(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::vector<FigurePoint> over_steps(const Json& values) {
  std::vector<FigurePoint> points;
  for (const Json& y : values) points.push_back({static_cast<double>(points.size() + 1), value(y)});
  return points;
}

std::vector<FigurePoint> pairs(const Json& rows, const char* x, const char* y) {
  std::vector<FigurePoint> points;
  for (const Json& row : rows) points.push_back({value(row.at(x)), value(row.at(y))});
  return points;
}

[[noreturn]] void missing(const Json& run, const std::string& what) {
  if (run.contains("missing")) fail("{}", run["missing"].get<std::string>());
  fail("the run {} has no {}", run["name"].get<std::string>(), what);
}

const Json& part(const Json& run, const char* key, const std::string& what) {
  if (!run.contains(key) || run[key].empty()) missing(run, what);
  return run[key];
}

// Layers whose γ differs from step to step.
std::vector<Json> gamma_layers(const Json& run) {
  std::vector<Json> layers;
  for (const Json& layer : run.at("gamma")) {
    if (layer.at("shared") == false) layers.push_back(layer);
  }
  if (layers.empty()) missing(run, "gamma of its own for every step");
  return layers;
}

std::vector<Json> spiking_stages(const Json& run) {
  std::vector<Json> stages;
  for (const Json& stage : part(run, "activity", "spikes").at("stages")) {
    if (stage.at("neurons") > 0) stages.push_back(stage);
  }
  return stages;
}

LineFigure learning(const Json& run) {
  const Json& lines = run.at("learning");
  if (lines.at("steps").empty() && lines.at("epochs").empty()) missing(run, "learning curves");
  return {.x_label = "training step",
          .y_label = "accuracy (%)",
          .from_zero = false,
          .series = {{.label = "training",
                      .colour = kQuiet,
                      .points = pairs(lines["steps"], "step", "accuracy"),
                      .marks = false},
                     {.label = "validation",
                      .colour = kAccent,
                      .points = pairs(lines["epochs"], "step", "validation_accuracy")}}};
}

LineFigure accuracy_over_minutes(const Json& run) {
  LineFigure figure{.x_label = "minutes",
                    .y_label = "accuracy (%)",
                    .from_zero = false,
                    .series = {{.label = "training", .colour = kQuiet},
                               {.label = "validation", .colour = kAccent}}};
  for (const Json& epoch : run.at("learning").at("epochs")) {
    if (!epoch.contains("seconds")) continue;
    const double minutes = value(epoch["seconds"]) / 60.0;
    figure.series[0].points.push_back({minutes, value(epoch.at("train_accuracy"))});
    figure.series[1].points.push_back({minutes, value(epoch.at("validation_accuracy"))});
  }
  if (figure.series[0].points.empty()) missing(run, "times of its epochs");
  return figure;
}

LineFigure density(const Json& run) {
  const Json& steps = run.at("learning").at("steps");
  if (steps.empty() || steps.front().at("density").empty()) missing(run, "logged densities");
  LineFigure figure{.x_label = "training step", .y_label = "neuron-steps that fire (%)"};
  const std::size_t layers = steps.front()["density"].size();
  std::vector<std::string> spiking;
  for (const Json& stage : run.at("network").at("stages")) {
    if (stage.at("spikes").get<bool>()) spiking.push_back(stage.at("name").get<std::string>());
  }
  for (std::size_t l = 0; l < layers; ++l) {
    FigureSeries series{.label = l < spiking.size() ? spiking[l] : fmt::format("layer {}", l + 1),
                        .colour = layer_colour(l, layers),
                        .marks = false};
    for (const Json& step : steps) {
      if (l >= step["density"].size()) continue;
      series.points.push_back({value(step["step"]), 100.0 * value(step["density"][l])});
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

LineFigure gamma(const Json& run) {
  const std::vector<Json> layers = gamma_layers(run);
  LineFigure figure{.x_label = "time step", .y_label = "mean γ"};
  for (std::size_t l = 0; l < layers.size(); ++l) {
    figure.series.push_back({.label = layers[l]["name"],
                             .colour = layer_colour(l, layers.size()),
                             .points = over_steps(layers[l]["mean"])});
  }
  const Json& exit = run.at("gamma_exit");
  const double last = value(run.at("network").at("steps"));
  if (value(exit.at("exit_step")) < last) figure.shaded_from = value(exit["exit_step"]);
  const double threshold = value(exit.at("threshold"));
  figure.series.push_back({.label = "exit threshold",
                           .colour = kQuiet,
                           .points = {{1.0, threshold}, {last, threshold}},
                           .dashed = true,
                           .marks = false});
  return figure;
}

RidgeFigure gamma_histogram(const Json& run, const std::string& wanted) {
  const std::vector<Json> layers = gamma_layers(run);
  std::vector<std::string> names;
  for (const Json& layer : layers) names.push_back(layer["name"]);
  const auto found = wanted.empty() ? names.begin() : std::ranges::find(names, wanted);
  if (found == names.end()) {
    fail("--layer: '{}' is not a layer of {}{}", excerpt(wanted), run["name"].get<std::string>(),
         did_you_mean(wanted, names));
  }
  const Json& layer = layers[found - names.begin()];
  const Json& histogram = layer.at("histogram");
  const double low = value(histogram.at("low"));
  const double high = value(histogram.at("high"));
  RidgeFigure figure{.x_label = fmt::format("γ of {}", *found), .y_label = "time step"};
  const auto first = layer.at("first_step").get<std::size_t>();
  const auto count = layer.at("active_steps").get<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) {
    const Json& bins = histogram.at("counts").at(first + i);
    FigureSeries ridge{.label = fmt::format("{}", first + i + 1),
                       .colour = layer_colour(i, count),
                       .points = {{low, 0.0}}};
    const double width = (high - low) / static_cast<double>(bins.size());
    for (std::size_t b = 0; b < bins.size(); ++b) {
      ridge.points.push_back({low + (static_cast<double>(b) + 0.5) * width, value(bins[b])});
    }
    ridge.points.push_back({high, 0.0});
    figure.ridges.push_back(std::move(ridge));
  }
  return figure;
}

LineFigure spikes(const Json& run) {
  const std::vector<Json> stages = spiking_stages(run);
  LineFigure figure{.x_label = "time step", .y_label = "spikes per image"};
  for (std::size_t l = 0; l < stages.size(); ++l) {
    figure.series.push_back({.label = stages[l]["name"],
                             .colour = layer_colour(l, stages.size()),
                             .points = over_steps(stages[l].at("spikes_per_step"))});
  }
  return figure;
}

BarFigure spike_rate(const Json& run) {
  const std::vector<Json> stages = spiking_stages(run);
  BarFigure figure{.x_label = "layer", .y_label = "spikes per neuron"};
  for (std::size_t l = 0; l < stages.size(); ++l) {
    figure.bars.push_back({.label = stages[l]["name"],
                           .colour = layer_colour(l, stages.size()),
                           .value = value(stages[l].at("spike_rate"))});
  }
  return figure;
}

double value_or(const Json& row, const char* key, double otherwise) {
  return row.contains(key) && row[key].is_number() ? row[key].get<double>() : otherwise;
}

// Every threshold in a row's interval gives the same result, so lines are flat from edge to edge.
std::vector<FigurePoint> over_intervals(const Json& sweep, const char* key) {
  std::vector<FigurePoint> points;
  for (const Json& row : sweep) {
    const double threshold = value(row.at("threshold"));
    points.push_back(
        {value_or(row, "threshold_above", std::min(0.0, threshold)), value(row.at(key))});
    points.push_back({value_or(row, "threshold_up_to", threshold), value(row.at(key))});
  }
  return points;
}

LineFigure early_exit(const Json& run) {
  const Json& sweep = part(run, "exit", "early exit").at("sweep");
  if (sweep.empty()) missing(run, "gamma of its own for every step");
  return {.x_label = "γ threshold",
          .y_label = "accuracy (%)",
          .right_label = "exit step",
          .from_zero = false,
          .series = {{.label = "accuracy",
                      .colour = kAccent,
                      .points = over_intervals(sweep, "accuracy"),
                      .marks = false},
                     {.label = "exit step",
                      .colour = kContrast,
                      .points = over_intervals(sweep, "exit_step"),
                      .marks = false,
                      .right = true}}};
}

LineFigure robustness(const Json& run,
                      const std::vector<std::pair<std::string, std::string>>& kinds,
                      const std::string& x_label, double unit) {
  LineFigure figure{.x_label = x_label, .y_label = "accuracy (%)", .from_zero = false};
  for (const Json& curve : part(run, "robustness", "robustness curves").at("curves")) {
    for (const auto& [kind, label] : kinds) {
      if (curve.at("kind") != kind) continue;
      FigureSeries series{.label = label,
                          .colour = figure.series.empty() ? kAccent : kContrast,
                          .points = pairs(curve.at("points"), "strength", "accuracy")};
      for (FigurePoint& point : series.points) point.x *= unit;
      figure.series.push_back(std::move(series));
    }
  }
  if (figure.series.empty()) {
    const Json& study = run["robustness"];
    missing(run, study.contains("no_gradient_attacks")
                     ? fmt::format("gradient attacks: {}",
                                   study["no_gradient_attacks"].get<std::string>())
                     : "curve of this kind");
  }
  return figure;
}

LineFigure noise(const Json& run) {
  const bool events = part(run, "robustness", "robustness curves").value("events", false);
  return events ? robustness(run, {{"noise", "noise"}}, "share of events removed and added", 1.0)
                : robustness(run, {{"noise", "Gaussian noise"}}, "σ of the noise", 1.0);
}

using Draw = std::function<std::string(const Json& run, const std::string& layer, PictureFormat)>;

struct DrawnEntry {
  FigureEntry entry;
  Draw draw;
};

template <typename Make>
Draw drawn_from(Make make) {
  return [make](const Json& run, const std::string&, PictureFormat format) {
    return plot_script(make(run), format);
  };
}

const std::vector<DrawnEntry>& drawn_entries() {
  constexpr AnalysisParts kNone = AnalysisParts::none();
  AnalysisParts activity = kNone;
  activity.activity = true;
  AnalysisParts exit = kNone;
  exit.exit = true;
  AnalysisParts attack = kNone;
  attack.robustness = true;
  static const std::vector<DrawnEntry> kEntries = {
      {{"learning", "training and validation accuracy", kNone}, drawn_from(learning)},
      {{"accuracy-over-minutes", "accuracy of each epoch against the time it took", kNone},
       drawn_from(accuracy_over_minutes)},
      {{"density", "share of neuron-steps that fire, while training", kNone}, drawn_from(density)},
      {{"gamma", "mean gamma per layer and step, with the exit region (Fig. 3)", kNone},
       drawn_from(gamma)},
      {{"gamma-histogram", "gamma of one layer over time (Fig. 5); see --layer", kNone},
       [](const Json& run, const std::string& layer, PictureFormat format) {
         return plot_script(gamma_histogram(run, layer), format);
       }},
      {{"spikes", "spikes per layer and step (Fig. 1)", activity}, drawn_from(spikes)},
      {{"spike-rate", "spikes per neuron of each layer (Fig. 4a)", activity},
       drawn_from(spike_rate)},
      {{"exit", "accuracy and exit step against the threshold (Fig. 6)", exit},
       drawn_from(early_exit)},
      {{"noise", "accuracy against noise (Fig. 4b)", attack}, drawn_from(noise)},
      {{"attack", "accuracy against FGSM and PGD (App. F)", attack},
       drawn_from([](const Json& run) {
         return robustness(run, {{"fgsm", "FGSM"}, {"pgd", "PGD"}}, "ε (in 1/255)", 255.0);
       })},
  };
  return kEntries;
}

}  // namespace

const std::vector<FigureEntry>& figure_entries() {
  static const std::vector<FigureEntry> kEntries = [] {
    std::vector<FigureEntry> entries;
    for (const DrawnEntry& drawn : drawn_entries()) entries.push_back(drawn.entry);
    return entries;
  }();
  return kEntries;
}

const FigureEntry& figure_entry(const std::string& name) {
  std::vector<std::string> names;
  for (const FigureEntry& entry : figure_entries()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  const std::string suggestion = did_you_mean(name, names);
  fail("--figure: unknown figure '{}'{}", excerpt(name),
       suggestion.empty() ? "; --figure list lists all names" : suggestion);
}

std::string figure_script(const std::string& name, const Json& run, const std::string& layer,
                          PictureFormat format) {
  const FigureEntry& wanted = figure_entry(name);
  const auto found = std::ranges::find(drawn_entries(), wanted.name,
                                       [](const DrawnEntry& drawn) { return drawn.entry.name; });
  return found->draw(run, layer, format);
}

}  // namespace bntt
