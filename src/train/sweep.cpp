#include "train/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/fail.h"
#include "base/text.h"
#include "train/metrics.h"

namespace bntt {
namespace {

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values(1);
  int depth = 0;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      values.emplace_back();
      continue;
    }
    values.back() += c;
  }
  std::ranges::transform(values, values.begin(), [](const std::string& v) { return trimmed(v); });
  return values;
}

std::string leaf_of(const std::string& key) { return key.substr(key.rfind('.') + 1); }

// Characters that every file system accepts and no shell requires to be quoted.
std::string as_directory_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '_' || c == '=' || c == '+';
    if (plain) name += c;
    if (c == ',' || c == '/') name += '_';
  }
  return name;
}

std::string name_of(const std::vector<SweepAxis>& axes, const std::vector<std::string>& values) {
  std::string name;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto same_leaf = std::ranges::count_if(
        axes, [&](const SweepAxis& axis) { return leaf_of(axis.key) == leaf_of(axes[i].key); });
    const std::string key = same_leaf > 1 ? axes[i].key : leaf_of(axes[i].key);
    name += (i == 0 ? "" : "_") + as_directory_name(key + "=" + values[i]);
  }
  return name;
}

std::string number_field(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

SweepAxis parse_sweep_axis(std::string_view text) {
  const auto equals = text.find('=');
  SweepAxis axis;
  if (equals != std::string_view::npos) {
    axis = {trimmed(text.substr(0, equals)), split_values(text.substr(equals + 1))};
  }
  if (axis.key.empty() || std::ranges::count(axis.values, "") > 0) {
    fail(
        "--over: '{}' is not a setting with values, expected something like "
        "train.learning_rate=0.1,0.2,0.3",
        excerpt(text));
  }
  for (const std::string& value : axis.values) {
    if (std::ranges::count(axis.values, value) > 1) {
      fail("--over: {} has the value {} more than once", excerpt(axis.key), excerpt(value));
    }
  }
  return axis;
}

std::vector<SweepPoint> sweep_points(const RunConfig& base, const std::vector<SweepAxis>& axes) {
  std::vector<SweepPoint> points = {{.values = {}, .name = "", .config = base}};
  for (const SweepAxis& axis : axes) {
    const auto same_key = std::ranges::count(axes, axis.key, &SweepAxis::key);
    if (same_key > 1) fail("--over: {} is given {} times", excerpt(axis.key), same_key);
    std::vector<SweepPoint> finer;
    for (const SweepPoint& point : points) {
      for (const std::string& value : axis.values) {
        finer.push_back(point);
        finer.back().values.push_back(value);
        apply_setting(finer.back().config, axis.key + "=" + value, "--over");
      }
    }
    points = std::move(finer);
  }
  std::set<std::string> names;
  for (SweepPoint& point : points) {
    point.name = name_of(axes, point.values);
    if (!names.insert(point.name).second) {
      fail("--over: two runs would share the directory {}", point.name);
    }
  }
  return points;
}

RunSummary summarise_run(const RunPaths& paths) {
  RunSummary summary;
  for (const Json& line : read_metrics(paths, "epoch")) {
    ++summary.epochs;
    if (!line.value("best", false)) continue;
    summary.validation_accuracy = line.at("validation_accuracy").get<double>();
    summary.spikes_per_image = line.at("spikes_per_image").get<double>();
  }
  for (const Json& line : read_metrics(paths, "test")) {
    summary.test_accuracy = line.at("accuracy").get<double>();
    if (!summary.spikes_per_image) {
      summary.spikes_per_image = line.at("spikes_per_image").get<double>();
    }
  }
  return summary;
}

bool is_finished(const RunSummary& summary, const RunConfig& config) {
  return summary.test_accuracy && summary.epochs == config.train.epochs;
}

std::string sweep_csv(const std::vector<SweepAxis>& axes, const std::vector<SweepRow>& rows) {
  std::string text = "run,seconds,state";
  for (const SweepAxis& axis : axes) text += "," + csv_field(axis.key);
  text += ",epochs,validation_accuracy,test_accuracy,spikes_per_image\n";
  for (const SweepRow& row : rows) {
    text += fmt::format("{},{:.1f},{}", row.run, row.seconds, row.state);
    for (const std::string& value : row.values) text += "," + csv_field(value);
    text += fmt::format(
        ",{},{},{},{}\n", row.summary.epochs, number_field(row.summary.validation_accuracy),
        number_field(row.summary.test_accuracy), number_field(row.summary.spikes_per_image));
  }
  return text;
}

double seconds_in_csv(std::string_view csv, std::string_view run) {
  const std::string wanted = "\n" + std::string(run) + ",";
  const auto found = csv.find(wanted);
  if (found == std::string_view::npos) return 0.0;
  const std::string_view rest = csv.substr(found + wanted.size());
  double seconds = 0.0;
  std::from_chars(rest.data(), rest.data() + rest.size(), seconds);
  return seconds >= 0.0 ? seconds : 0.0;
}

}  // namespace bntt
