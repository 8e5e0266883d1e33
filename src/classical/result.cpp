#include "classical/result.h"

#include <algorithm>
#include <numeric>

#include "base/fields.h"

namespace bntt {

template <class Visitor>
void visit_fields(Visitor& visit, FeatureMap& map) {
  visit("group", map.group);
  visit("name", map.name);
  visit("width", map.width, between(1, 1024));
  visit("height", map.height, between(1, 1024));
  visit("values", map.values);
}

template <class Visitor>
void visit_fields(Visitor& visit, OtherScore& score) {
  visit("name", score.name);
  visit("accuracy", score.accuracy, between(0, 100));
}

template <class Visitor>
void visit_fields(Visitor& visit, PublishedScore& score) {
  visit("accuracy", score.accuracy, between(0, 100));
  visit("source", score.source);
}

template <class Visitor>
void visit_fields(Visitor& visit, CostScore& score) {
  visit("cost", score.cost);
  visit("validation_accuracy", score.validation_accuracy, between(0, 100));
}

template <class Visitor>
void visit_fields(Visitor& visit, ClassicalDataSummary& data) {
  visit("name", data.name);
  visit("classes", data.classes);
  visit("sensor_width", data.sensor_width, at_least(1));
  visit("sensor_height", data.sensor_height, at_least(1));
  visit("train", data.train, at_least(0));
  visit("validation", data.validation, at_least(0));
  visit("test", data.test, at_least(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, FeatureSummary& features) {
  visit("count", features.count, at_least(1));
  visit("mean_nonzero", features.mean_nonzero, at_least(0));
  visit("text", features.text);
}

template <class Visitor>
void visit_fields(Visitor& visit, ClassicalResult& result) {
  visit("method", result.method);
  visit("title", result.title);
  visit("source", result.source);
  visit("data", result.data);
  visit("features", result.features);
  visit("right", result.right, at_least(0));
  visit("accuracy", result.accuracy, between(0, 100));
  visit("class_balanced", result.class_balanced, between(0, 100));
  visit("validation_accuracy", result.validation_accuracy, between(0, 100));
  visit("auc", result.auc, between(0, 1));
  visit("confusion", result.confusion, at_least(0));
  visit("unanswered", result.unanswered, at_least(0));
  visit("also", result.also);
  visit("cost", result.cost);
  visit("costs", result.costs);
  visit("published", result.published);
  visit("notes", result.notes);
  visit("maps", result.maps);
}

template <class Visitor>
void visit_fields(Visitor& visit, PassTimes& pass) {
  visit("what", pass.what);
  visit("recordings", pass.recordings, at_least(0));
  visit("events", pass.events, at_least(0));
  visit("reading_ms", pass.reading_ms, at_least(0));
  visit("work_ms", pass.work_ms, at_least(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, ClassicalTimes& times) {
  visit("threads", times.threads, at_least(0));
  visit("seconds", times.seconds, at_least(0));
  visit("passes", times.passes);
}

Json to_json(const ClassicalResult& result) { return write_fields(result); }
Json to_json(const ClassicalTimes& times) { return write_fields(times); }

ClassicalResult classical_result_from_json(std::string_view text, const std::string& origin) {
  ClassicalResult result;
  read_fields(parse_json(text, origin), result, origin);
  const std::size_t classes = result.data.classes.size();
  const bool square =
      result.confusion.size() == classes &&
      std::ranges::all_of(result.confusion, [&](const auto& row) { return row.size() == classes; });
  if (!square || result.unanswered.size() != classes) {
    fail("{}: confusion and unanswered do not fit the {} classes", origin, classes);
  }
  for (const FeatureMap& map : result.maps) {
    if (std::ssize(map.values) != map.width * map.height) {
      fail("{}: the map '{}' has {} values, expected {} times {}", origin, excerpt(map.name),
           map.values.size(), map.width, map.height);
    }
  }
  return result;
}

ClassicalTimes classical_times_from_json(std::string_view text, const std::string& origin) {
  ClassicalTimes times;
  read_fields(parse_json(text, origin), times, origin);
  return times;
}

double Tally::class_balanced() const {
  double sum = 0.0;
  int64_t present = 0;
  for (std::size_t k = 0; k < confusion.size(); ++k) {
    const int64_t all = std::accumulate(confusion[k].begin(), confusion[k].end(), unanswered[k]);
    if (all == 0) continue;
    sum += 100.0 * static_cast<double>(confusion[k][k]) / static_cast<double>(all);
    ++present;
  }
  return present == 0 ? 0.0 : sum / static_cast<double>(present);
}

Tally tally(const std::vector<int64_t>& labels, const std::vector<int64_t>& answers,
            int64_t classes) {
  const auto count = static_cast<std::size_t>(classes);
  Tally result{.confusion = std::vector(count, std::vector<int64_t>(count)),
               .unanswered = std::vector<int64_t>(count)};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (answers[i] < 0) {
      ++result.unanswered[labels[i]];
    } else {
      ++result.confusion[labels[i]][answers[i]];
    }
    result.right += answers[i] == labels[i] ? 1 : 0;
  }
  return result;
}

double area_under_roc(const std::vector<double>& scores, const std::vector<int64_t>& labels) {
  std::vector<std::pair<double, int64_t>> sorted;
  for (std::size_t i = 0; i < scores.size(); ++i) sorted.emplace_back(scores[i], labels[i]);
  std::ranges::sort(sorted);
  double pairs = 0.0;
  double below = 0.0;  // of class 0, with a lower score
  double positives = 0.0;
  for (std::size_t i = 0; i < sorted.size();) {
    double zeros = 0.0;
    double ones = 0.0;
    std::size_t end = i;
    for (; end < sorted.size() && sorted[end].first == sorted[i].first; ++end) {
      (sorted[end].second == 1 ? ones : zeros) += 1.0;
    }
    pairs += ones * (below + 0.5 * zeros);
    below += zeros;
    positives += ones;
    i = end;
  }
  return positives * below > 0.0 ? pairs / (positives * below) : 0.5;
}

}  // namespace bntt
