#include "data/file_samples.h"

#include <algorithm>
#include <mutex>

#include "base/threads.h"
#include "data/sample_cache.h"

namespace bntt {
namespace {

/// The samples of one file, and where to write them.
struct FileWork {
  std::size_t file;
  std::vector<FileSample> samples;
  std::vector<uint8_t*> out;
};

std::vector<FileWork> work_of(const FileSplit& split, int64_t count, uint8_t* pixels) {
  std::vector<std::size_t> place(split.files.size(), split.files.size());
  std::vector<FileWork> work;
  for (int64_t i = 0; i < count; ++i) {
    const FileSample& sample = split.samples[i];
    if (place[sample.file] == split.files.size()) {
      place[sample.file] = work.size();
      work.push_back({.file = sample.file, .samples = {}, .out = {}});
    }
    FileWork& of_file = work[place[sample.file]];
    of_file.samples.push_back(sample);
    of_file.out.push_back(pixels + i * split.form.sample_bytes());
  }
  return work;
}

void decode_samples(const FileSplit& split, int64_t count, const DatasetOptions& options,
                    uint8_t* pixels) {
  const std::vector<FileWork> work = work_of(split, count, pixels);
  std::mutex mutex;
  int64_t done = 0;
  parallel_for(static_cast<int64_t>(work.size()), [&](int64_t i) {
    const FileWork& of_file = work[i];
    split.decode(split.files[of_file.file], of_file.samples, of_file.out);
    const std::lock_guard lock(mutex);
    done += static_cast<int64_t>(of_file.samples.size());
    if (options.progress) options.progress(split.name, done, count);
  });
}

SharedBytes decoded(const FileSplit& split, int64_t count, const DatasetOptions& options) {
  const auto bytes = static_cast<uint64_t>(count * split.form.sample_bytes());
  const auto all = static_cast<int64_t>(split.samples.size());
  if (count == 0) return {};
  const CacheEntry entry = cache_entry(split, options.cache);
  if (std::optional<SharedBytes> kept = open_cache(entry)) {
    return kept->first(bytes);
  }
  if (count == all) {
    if (std::optional<CacheWriter> writer = begin_cache(entry, options.cache)) {
      decode_samples(split, count, options, writer->payload().data());
      if (std::optional<SharedBytes> kept = writer->finish()) return *kept;
    }
  }
  std::vector<uint8_t> pixels(bytes);
  decode_samples(split, count, options, pixels.data());
  return pixels;
}

}  // namespace

void add_files(const std::vector<LabelledFile>& files, FileList& list) {
  for (const LabelledFile& file : files) {
    list.samples.push_back({.file = list.files.size(), .label = file.label});
    list.files.push_back(file.path);
  }
}

ImageSet read_samples(const FileSplit& split, int64_t limit, const DatasetOptions& options) {
  const auto all = static_cast<int64_t>(split.samples.size());
  const int64_t count = limit == 0 ? all : std::min(limit, all);
  ImageSet set = split.form;
  for (int64_t i = 0; i < count; ++i) {
    set.labels.push_back(split.samples[i].label);
    set.files.push_back(split.files[split.samples[i].file].string());
  }
  set.pixels = decoded(split, count, options);
  return set;
}

}  // namespace bntt
