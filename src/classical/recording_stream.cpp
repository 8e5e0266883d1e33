#include "classical/recording_stream.h"

#include <time.h>

#include <algorithm>
#include <mutex>

#include "base/fail.h"
#include "base/threads.h"

namespace bntt {
namespace {

/// Processor time of this thread, which excludes other work on the machine.
double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

struct FileWork {
  std::size_t file = 0;
  std::vector<int64_t> samples;
};

/// A file with several consecutive samples is read once for all of them.
std::vector<FileWork> work_of(const FileList& list, const SampleRange& range) {
  std::vector<FileWork> work;
  for (int64_t i = range.begin; i < range.end; ++i) {
    const std::size_t file = list.samples[i].file;
    if (work.empty() || work.back().file != file) work.push_back({.file = file, .samples = {}});
    work.back().samples.push_back(i);
  }
  return work;
}

int64_t limited(int64_t count, int64_t limit) {
  return limit == 0 ? count : std::min(count, limit);
}

}  // namespace

RecordingStream::RecordingStream(const ClassicalConfig& config, ClassicalProgress progress)
    : sets_(open_recordings(config.data.name, config.data.dir,
                            {config.data.sensor_width, config.data.sensor_height})),
      progress_(std::move(progress)) {
  const auto all = [&](const FileList& list, const char* split) {
    if (list.samples.empty()) {
      fail("{}: {} has no {} recordings", sets_.dataset, config.data.dir, split);
    }
    return static_cast<int64_t>(list.samples.size());
  };
  split_ = split_training(limited(all(sets_.train, "training"), config.data.limit_train),
                          config.data.validation);
  test_ = {0, limited(all(sets_.test, "test"), config.data.limit_test)};
  sensor_ = sets_.read(sets_.train.files[sets_.train.samples.front().file]).sensor;
}

std::vector<int64_t> RecordingStream::train_labels(const SampleRange& range) const {
  std::vector<int64_t> labels;
  for (int64_t i = range.begin; i < range.end; ++i) labels.push_back(sets_.train.samples[i].label);
  return labels;
}

std::vector<int64_t> RecordingStream::test_labels() const {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < test_.end; ++i) labels.push_back(sets_.test.samples[i].label);
  return labels;
}

std::string RecordingStream::test_file(int64_t sample) const {
  return sets_.test.files[sets_.test.samples[sample].file].string();
}

void RecordingStream::tell(const std::string& what, int64_t done, int64_t of) const {
  if (progress_ && progress_(what, done, of)) throw StudyStopped();
}

void RecordingStream::each_training(const std::string& what, const SampleRange& range,
                                    const Body& body) {
  each(sets_.train, range, what, Order::any, body);
}

void RecordingStream::each_test(const std::string& what, const Body& body) {
  each(sets_.test, test_, what, Order::any, body);
}

void RecordingStream::in_order(const std::string& what, const SampleRange& range,
                               const Body& body) {
  each(sets_.train, range, what, Order::fixed, body);
}

void RecordingStream::each(const FileList& list, const SampleRange& range, const std::string& what,
                           Order order, const Body& body) {
  const std::vector<FileWork> work = work_of(list, range);
  std::mutex mutex;
  PassTimes pass{.what = what};
  const auto one_file = [&](int64_t i) {
    const std::filesystem::path file = list.files[work[i].file];
    double start = thread_ms();
    const Recording whole = sets_.read(file);
    const double reading = thread_ms() - start;
    int64_t events = 0;
    start = thread_ms();
    for (const int64_t sample : work[i].samples) {
      const Recording recording = events_of(whole, list.samples[sample]);
      if (recording.events.empty()) {
        fail("{}: {} has no event in the time span of sample {}", sets_.dataset, file.string(),
             sample);
      }
      if (recording.sensor != sensor_) {
        fail(
            "{}: {} has a sensor of {}x{} pixels, but others have {}x{}: set data.sensor_width and "
            "data.sensor_height for all",
            sets_.dataset, file.string(), recording.sensor.width, recording.sensor.height,
            sensor_.width, sensor_.height);
      }
      body(sample - range.begin, recording);
      events += static_cast<int64_t>(recording.events.size());
    }
    const double working = thread_ms() - start;
    const std::lock_guard lock(mutex);
    pass.recordings += static_cast<int64_t>(work[i].samples.size());
    pass.events += events;
    pass.reading_ms += reading;
    pass.work_ms += working;
    tell(what, pass.recordings, range.size());
  };
  const auto files = static_cast<int64_t>(work.size());
  if (order == Order::any) {
    parallel_for(files, one_file);
  } else {
    for (int64_t i = 0; i < files; ++i) one_file(i);
  }
  const auto recordings = static_cast<double>(std::max<int64_t>(1, pass.recordings));
  pass.reading_ms /= recordings;
  pass.work_ms /= recordings;
  passes_.push_back(std::move(pass));
}

}  // namespace bntt
