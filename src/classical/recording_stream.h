#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "classical/config.h"
#include "classical/result.h"
#include "data/event_sets.h"
#include "data/split.h"

namespace bntt {

/// Reports the current task and its progress; stops if it returns true.
using ClassicalProgress = std::function<bool(const std::string& what, int64_t done, int64_t of)>;

/// Thrown when a study is stopped.
struct StudyStopped {};

/// The recordings of a data set, read one by one: at most one per thread is in memory.
class RecordingStream {
 public:
  /// Throws Error if there are no recordings.
  RecordingStream(const ClassicalConfig& config, ClassicalProgress progress);

  const RecordingSets& sets() const { return sets_; }
  /// Common to all recordings: features need one grid.
  const SensorSize& sensor() const { return sensor_; }
  int64_t classes() const { return static_cast<int64_t>(sets_.class_names.size()); }
  const SampleRange& train() const { return split_.train; }
  const SampleRange& validation() const { return split_.validation; }
  const SampleRange& test() const { return test_; }
  std::vector<int64_t> train_labels(const SampleRange& range) const;
  std::vector<int64_t> test_labels() const;
  std::string test_file(int64_t sample) const;

  /// `index` counts from the start of the range.
  using Body = std::function<void(int64_t index, const Recording& recording)>;
  /// Recordings of the training set on all threads, in any order.
  void each_training(const std::string& what, const SampleRange& range, const Body& body);
  void each_test(const std::string& what, const Body& body);
  /// In order, one by one.
  void in_order(const std::string& what, const SampleRange& range, const Body& body);

  /// Reports the progress; throws StudyStopped if stopped.
  void tell(const std::string& what, int64_t done, int64_t of) const;
  const std::vector<PassTimes>& passes() const { return passes_; }

 private:
  enum class Order { any, fixed };
  void each(const FileList& list, const SampleRange& range, const std::string& what, Order order,
            const Body& body);

  RecordingSets sets_;
  ClassicalProgress progress_;
  Split split_;
  SampleRange test_;
  SensorSize sensor_;
  std::vector<PassTimes> passes_;
};

}  // namespace bntt
