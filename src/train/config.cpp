#include "train/config.h"

#include <algorithm>

#include "base/kinds.h"
#include "bntt/learning_rate.h"
#include "bntt/loss.h"
#include "bntt/norm.h"
#include "bntt/optimizer.h"
#include "bntt/zoo.h"
#include "learn/schedules.h"
#include "model/spec_fields.h"
#include "toml/toml.h"
#include "train/foreign_names.h"
#include "train/precision_names.h"

namespace bntt {

constexpr auto enum_names(Labels) {
  return std::array{std::pair{Labels::fine, "fine"}, std::pair{Labels::coarse, "coarse"}};
}

template <class Visitor>
void visit_fields(Visitor& visit, DataConfig& data) {
  visit("name", data.name);
  visit("dir", data.dir);
  visit("labels", data.labels);
  visit("size", data.size, between(0, 1024));
  visit("fit", data.fit);
  visit("frames", data.frames, between(0, 1 << 16));
  visit("interval", data.interval);
  visit("bin_us", data.bin_us, between(0, 1e9));
  visit("clip", data.clip);
  visit("sensor_width", data.sensor_width, between(0, kLargestSensorSide));
  visit("sensor_height", data.sensor_height, between(0, kLargestSensorSide));
  visit("validation", data.validation, from_below(0, 1));
  visit("limit_train", data.limit_train, at_least(0));
  visit("limit_test", data.limit_test, at_least(0));
  visit("augment_pad", data.augment_pad, between(0, 1024));
  visit("augment_flip", data.augment_flip);
  visit("augment_cutout", data.augment_cutout, between(0, 1024));
  visit("normalisation", data.normalisation);
  visit("mean", data.mean);
  visit("deviation", data.deviation, above(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, ModelConfig& model) {
  visit("name", model.name);
  visit("steps", model.steps, between(1, 1 << 16));
  visit("width", model.width, above_up_to(0, 64));
  visit.name("norm", model.norm, names_of(norm_kinds()));
  visit("norm_epsilon", model.norm_epsilon, above(0));
  visit("norm_momentum", model.norm_momentum, above_up_to(0, 1));
  visit("norm_shift", model.norm_shift);
  visit("norm_gain_start", model.norm_gain_start);
  visit("norm_alpha", model.norm_alpha, at_least(0));
  visit.name("readout_norm", model.readout_norm, names_of(norm_kinds()));
  visit("divide_by_steps", model.divide_by_steps);
  visit("readout_leak", model.readout_leak, above_up_to(0, 1));
  visit("readout_leak_newest", model.readout_leak_newest);
  visit("readout_leak_gradient", model.readout_leak_gradient);
  visit("readout_votes", model.readout_votes, between(1, 1024));
  visit("zero_residual", model.zero_residual);
  visit("pool_threshold", model.pool_threshold, at_least(0));
  visit("init", model.init);
  visit.name("neuron", model.neuron, names_of(neuron_kinds()));
  visit("leak", model.leak, above_up_to(0, 1));
  visit("threshold", model.threshold, above(0));
  visit("thresholds", model.thresholds, above(0));
  visit("fire", model.fire);
  visit("reset", model.reset);
  visit("detach_reset", model.detach_reset);
  visit("floor", model.floor, up_to(0));
  visit("propagation", model.propagation);
  visit("surrogate", model.surrogate);
  visit("surrogate_alpha", model.surrogate_alpha, above(0));
  visit("surrogate_width", model.surrogate_width, at_least(0));
  visit("surrogate_per_threshold", model.surrogate_per_threshold);
  visit("neunorm_decay", model.neunorm_decay, from_below(0, 1));
  visit("surrogate_decay", model.surrogate_decay, at_least(0));
  visit("dropout", model.dropout, from_below(0, 1));
  visit("dropout_per_step", model.dropout_per_step);
  visit("dense_dropout", model.dense_dropout, from_below(0, 1));
  visit("dropout_before_pools", model.dropout_before_pools);
}

template <class Visitor>
void visit_fields(Visitor& visit, EncoderConfig& encoder) {
  visit("kind", encoder.kind);
}

template <class Visitor>
void visit_fields(Visitor& visit, TrainConfig& train) {
  visit("epochs", train.epochs, between(0, 1e6));
  visit("batch", train.batch, between(1, 1 << 20));
  visit.name("optimizer", train.optimizer, names_of(optimizer_kinds()));
  visit("learning_rate", train.learning_rate, above(0));
  visit("dense_rate_factor", train.dense_rate_factor, between(0, 1000));
  visit("momentum", train.momentum, from_below(0, 1));
  visit("beta1", train.beta1, from_below(0, 1));
  visit("beta2", train.beta2, from_below(0, 1));
  visit("epsilon", train.epsilon, above(0));
  visit("amsgrad", train.amsgrad);
  visit("weight_decay", train.weight_decay, at_least(0));
  visit("decay_gamma", train.decay_gamma);
  visit.name("schedule", train.schedule, names_of(schedule_kinds()));
  visit("drops", train.drops, inside(0, 1));
  visit("drop_factor", train.drop_factor, above_up_to(0, 1));
  visit("final_learning_rate", train.final_learning_rate, at_least(0));
  visit("cosine_epochs", train.cosine_epochs, at_least(0));
  visit("one_cycle_rise", train.one_cycle_rise, inside(0, 1));
  visit("one_cycle_start_divisor", train.one_cycle_start_divisor, at_least(1));
  visit("one_cycle_end_divisor", train.one_cycle_end_divisor, at_least(1));
  visit("warmup_epochs", train.warmup_epochs, at_least(0));
  visit.name("loss", train.loss, names_of(loss_kinds()));
  visit("label_smoothing", train.label_smoothing, from_below(0, 1));
  visit("tet_share", train.tet_share, between(0, 1));
  visit("tet_target", train.tet_target);
  visit("clip_norm", train.clip_norm, at_least(0));
  visit("window_threshold", train.window_threshold, above(0));
  visit("window_work", train.window_work, inside(0, 1));
  visit("window_from", train.window_from, between(0, 1));
  visit("window_until", train.window_until, between(0, 1));
  visit("precision", train.precision);
  visit("break_even", train.break_even, at_least(0));
  visit("seed", train.seed, at_least(0));
  visit("from", train.from);
  visit("from_thresholds", train.from_thresholds);
}

template <class Visitor>
void visit_fields(Visitor& visit, OutputConfig& run) {
  visit("log_steps", run.log_steps, at_least(1));
  visit("checkpoint_steps", run.checkpoint_steps, at_least(1));
}

template <class Visitor>
void visit_fields(Visitor& visit, MethodConfig& method) {
  visit("name", method.name);
  visit("source", method.source);
  visit("settings", method.settings);
}

template <class Visitor>
void visit_fields(Visitor& visit, RunConfig& config) {
  visit("method", config.method);
  visit("data", config.data);
  visit("model", config.model);
  visit("encoder", config.encoder);
  visit("train", config.train);
  visit("run", config.run);
  visit("network", config.network);
}

namespace {

// Checks that involve more than one field.
void check_schedule(const RunConfig& config, const std::string& origin) {
  const TrainConfig& train = config.train;
  const std::vector<double>& drops = train.drops;
  const auto wrong = std::adjacent_find(drops.begin(), drops.end(), std::greater_equal<>());
  if (wrong != drops.end()) {
    fail("{}: train.drops has {} before {}, expected ascending fractions", origin, *wrong,
         *(wrong + 1));
  }
  const auto& schedule = find_kind<ScheduleEntry>("schedule", train.schedule, schedule_table());
  if (!schedule.warms_up && train.warmup_epochs > 0.0) {
    fail("{}: train.warmup_epochs is {}, expected 0, since the schedule '{}' has its own warm-up",
         origin, train.warmup_epochs, train.schedule);
  }
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// A shell strips quotes, so a word that is not a TOML value was meant as a string.
Json value_of(std::string_view text, const std::string& origin) {
  try {
    Json parsed = parse_toml("value = " + std::string(text), origin);
    if (parsed.size() == 1 && parsed.contains("value")) return parsed["value"];
  } catch (const Error&) {
  }
  return std::string(text);
}

std::vector<std::string> split_at_dots(std::string_view key) {
  std::vector<std::string> parts(1);
  for (const char c : key) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Every key of the sections, in the form model.width.
std::vector<std::string> dotted_keys() {
  std::vector<std::string> keys;
  RunConfig config;  // settings without a value would not be written
  config.data.mean.emplace();
  config.data.deviation.emplace();
  config.model.floor.emplace();
  config.model.dense_dropout.emplace();
  config.train.window_threshold.emplace();
  config.train.window_work.emplace();
  const Json sections = write_fields(config);
  for (const auto& [section, settings] : sections.items()) {
    for (const auto& [key, value] : settings.items()) keys.push_back(section + "." + key);
  }
  return keys;
}

// Looks in all sections: `width` and `train.width` both mean model.width.
void refuse_unknown_setting(const std::string& key, const std::vector<std::string>& parts,
                            const std::string& origin) {
  const std::vector<std::string> known = dotted_keys();
  // A whole section may be set at once, and the keys of [network] are those of a spec.
  const bool is_section = parts.size() == 1 && write_fields(RunConfig{}).contains(key);
  const bool is_known = std::find(known.begin(), known.end(), key) != known.end();
  if (is_known || is_section || parts.front() == "network") return;
  const auto same_leaf =
      std::find_if(known.begin(), known.end(), [&](const std::string& candidate) {
        return split_at_dots(candidate).back() == parts.back();
      });
  std::string suggestion = meant_by_foreign_name(parts.back());
  if (same_leaf != known.end()) {
    suggestion = ", did you mean '" + *same_leaf + "'?";
  } else if (suggestion.empty()) {
    suggestion = did_you_mean(key, known);
  }
  fail("{}: unknown key '{}'{}", origin, excerpt(key), suggestion);
}

// For files: if the key is another tool's name for a setting, suggest ours instead of the key with
// the most similar spelling.
void refuse_foreign_names(const Json& sections, const std::string& origin) {
  const std::vector<std::string> known = dotted_keys();
  for (const auto& [section, settings] : sections.items()) {
    if (!settings.is_object() || section == "network") continue;
    for (const auto& [key, value] : settings.items()) {
      const std::string dotted = section + "." + key;
      if (std::ranges::count(known, dotted) == 0 && foreign_name(key)) {
        refuse_unknown_setting(dotted, {section, key}, origin);
      }
    }
  }
}

// [network] replaces [model]: the keys of [model] would have no effect.
void refuse_ignored_model(const RunConfig& config, const std::string& origin) {
  if (config.network && config.model != ModelConfig{}) {
    fail("{}: has both [model] and [network], expected one of them", origin);
  }
}

}  // namespace

RunConfig config_from_toml(std::string_view text, const std::string& origin) {
  RunConfig config;
  const Json sections = parse_toml(text, origin);
  refuse_foreign_names(sections, origin);
  read_fields(sections, config, origin);
  check_schedule(config, origin);
  refuse_ignored_model(config, origin);
  return config;
}

std::string to_toml(const RunConfig& config) {
  Json sections = write_fields(config);
  if (config.network) sections.erase("model");
  return format_toml(sections);
}

NetworkSpec network_from_toml(const std::string& text, const std::string& origin) {
  return read_network(parse_toml(text, origin), origin);
}

std::string to_toml(const NetworkSpec& spec) { return format_toml(write_fields(spec)); }

void apply_setting(RunConfig& config, std::string_view setting, const std::string& origin) {
  const auto equals = setting.find('=');
  if (equals == std::string_view::npos) {
    fail("{}: '{}' has no value, expected key=value", origin, excerpt(setting));
  }
  const std::string key(trimmed(setting.substr(0, equals)));
  const std::vector<std::string> parts = split_at_dots(key);
  refuse_unknown_setting(key, parts, origin);
  if (parts.size() > kMaxNesting) {
    fail("{}: '{}' has more than {} parts", origin, excerpt(key), kMaxNesting);
  }
  Json change = value_of(trimmed(setting.substr(equals + 1)), origin);
  // NOLINTNEXTLINE(modernize-loop-convert): clang 14 cannot read libstdc++'s <ranges>.
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    Json table = Json::object();
    table[*part] = std::move(change);
    change = std::move(table);
  }
  if (config.network && parts.front() == "model") {
    const bool known = write_fields(*config.network).contains(parts.back());
    fail("{}: '{}' would have no effect because the settings describe the network in [network]{}",
         origin, excerpt(key), known ? ", did you mean 'network." + parts.back() + "'?" : "");
  }
  if (!config.network && parts.front() == "network" && parts.size() > 1) {
    const std::string of_model = "model." + parts.back();
    const bool known = std::ranges::count(dotted_keys(), of_model) > 0;
    fail("{}: '{}' would have no effect because the settings describe the network in [model]{}",
         origin, excerpt(key), known ? ", did you mean '" + of_model + "'?" : "");
  }
  RunConfig changed = config;
  read_fields(change, changed, origin);
  check_schedule(changed, origin);
  config = std::move(changed);
}

std::vector<TableDescription> described_settings() { return describe_tables<RunConfig>(); }

DatasetOptions dataset_options(const RunConfig& config) {
  const int64_t steps = steps_of(config);
  const DataConfig& data = config.data;
  if (data.bin_us > 0 && data.frames > 0) {
    fail("data.frames is {}, expected 0 with data.bin_us, which sets the number of frames",
         data.frames);
  }
  return {.limit_train = data.limit_train,
          .limit_test = data.limit_test,
          .labels = data.labels,
          .size = data.size,
          .fit = data.fit,
          .events = {.frames = data.frames > 0 ? data.frames : steps,
                     .interval = data.interval,
                     .bin_us = data.bin_us,
                     .clip = data.clip},
          .sensor = {data.sensor_width, data.sensor_height}};
}

int64_t steps_of(const RunConfig& config) {
  return config.network ? config.network->steps : config.model.steps;
}

void set_steps(RunConfig& config, int64_t steps) {
  (config.network ? config.network->steps : config.model.steps) = steps;
}

int64_t steps_of_bins(const RunConfig& config) {
  const int64_t bins =
      longest_recording_bins(config.data.name, config.data.dir, dataset_options(config));
  if (bins > kMaxSteps) {
    fail("data.bin_us: the longest recording has {} bins of {} microseconds, expected at most {}",
         bins, config.data.bin_us, kMaxSteps);
  }
  return bins;
}

void keep_measured_statistics(const DatasetSplits& data, RunConfig& config) {
  const bool measured =
      dataset_info(config.data.name).normalisation.mean.empty() && !data.normalisation.mean.empty();
  if (!measured || !config.data.normalisation.empty()) return;
  if (!config.data.mean) config.data.mean = data.normalisation.mean;
  if (!config.data.deviation) config.data.deviation = data.normalisation.deviation;
}

void set_thresholds(const std::vector<float>& thresholds, NetworkSpec& spec) {
  std::vector<NeuronSpec*> neurons;
  for (StageSpec& any : spec.stages) {
    std::visit(
        [&](auto& stage) {
          if constexpr (requires { stage.neuron; }) {
            if (stage.neuron.kind != "none") neurons.push_back(&stage.neuron);
          }
        },
        any);
  }
  if (thresholds.empty()) return;
  if (thresholds.size() != neurons.size()) {
    fail("model.thresholds has {} numbers, expected {}, one for each stage of neurons",
         thresholds.size(), neurons.size());
  }
  for (std::size_t i = 0; i < neurons.size(); ++i) neurons[i]->threshold = thresholds[i];
}

namespace {

/// Sets dropout where it differs from stage to stage. Otherwise the network of the zoo decides,
/// which may have stages without.
void set_dropout(const ModelConfig& model, NetworkSpec& spec) {
  const auto is_pool = [](const StageSpec& stage) {
    return std::holds_alternative<AvgPool>(stage) || std::holds_alternative<SumPool>(stage) ||
           std::holds_alternative<MaxPool>(stage);
  };
  for (std::size_t i = 0; i + 1 < spec.stages.size(); ++i) {
    if (auto* dense = std::get_if<Dense>(&spec.stages[i]);
        dense != nullptr && model.dense_dropout) {
      dense->neuron.dropout = *model.dense_dropout;
    }
    if (model.dropout_before_pools || !is_pool(spec.stages[i + 1])) continue;
    std::visit(
        [](auto& stage) {
          if constexpr (requires { stage.neuron; }) stage.neuron.dropout = 0.0F;
        },
        spec.stages[i]);
  }
}

/// Recordings have different numbers of bins, so a step of one does not correspond to the same step
/// of another.
void expect_no_step_rows(const NetworkSpec& spec) {
  for (const StagePlan& plan : plan_stages(spec)) {
    for (const BranchPlan& branch : plan.branches) {
      const auto numbers = [&](int64_t steps) {
        const NormPlace place{.run_steps = steps, .threshold = plan.neuron.threshold};
        return size_of(make_norm(branch.norm, place)->parameters());
      };
      if (numbers(1) == numbers(2)) continue;
      fail(
          "data.bin_us: {} has a norm '{}' with parameters for every step, expected one without, "
          "such as bn or none",
          branch.name, branch.norm.kind);
    }
  }
}

}  // namespace

NetworkSpec network_of(const RunConfig& config, const MapShape& input, int64_t classes) {
  NetworkSpec spec;
  if (config.network) {
    spec = *config.network;
    if (spec.input != input) {
      fail("network.input is {}x{}x{}, but the data are {}x{}x{}", spec.input.channels,
           spec.input.height, spec.input.width, input.channels, input.height, input.width);
    }
    if (classes_of(spec) != classes) {
      fail("the network's readout has {} classes, but the data have {}", classes_of(spec), classes);
    }
  } else {
    const ModelConfig& model = config.model;
    NormSpec norm{.kind = model.norm,
                  .epsilon = model.norm_epsilon,
                  .momentum = model.norm_momentum,
                  .shift = model.norm_shift,
                  .gain_start = model.norm_gain_start,
                  .alpha = model.norm_alpha};
    if (model.norm == "none") norm.shift = false;
    const NormSpec readout_norm{
        .kind = model.readout_norm, .epsilon = model.norm_epsilon, .momentum = model.norm_momentum};
    const NeuronSpec neuron = {.kind = model.neuron,
                               .leak = model.leak,
                               .threshold = model.threshold,
                               .fire = model.fire,
                               .reset = model.reset,
                               .detach_reset = model.detach_reset,
                               .floor = model.floor,
                               .surrogate = {.kind = model.surrogate,
                                             .alpha = model.surrogate_alpha,
                                             .width = model.surrogate_width,
                                             .per_threshold = model.surrogate_per_threshold,
                                             .decay = model.surrogate_decay},
                               .neunorm_decay = model.neunorm_decay,
                               .dropout = model.dropout,
                               .dropout_per_step = model.dropout_per_step};
    spec = zoo_network(model.name, {.input = input,
                                    .classes = classes,
                                    .steps = model.steps,
                                    .width = model.width,
                                    .propagation = model.propagation,
                                    .init = model.init,
                                    .norm = norm,
                                    .neuron = neuron,
                                    .readout_norm = readout_norm,
                                    .divide_by_steps = model.divide_by_steps,
                                    .readout_leak = model.readout_leak,
                                    .readout_leak_newest = model.readout_leak_newest,
                                    .readout_leak_gradient = model.readout_leak_gradient,
                                    .readout_votes = model.readout_votes,
                                    .pool_threshold = model.pool_threshold,
                                    .zero_residual = model.zero_residual});
    set_thresholds(model.thresholds, spec);
    set_dropout(model, spec);
  }
  plan_stages(spec);
  if (config.data.bin_us > 0) expect_no_step_rows(spec);
  return spec;
}

}  // namespace bntt
