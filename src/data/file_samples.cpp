#include "data/file_samples.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <unordered_map>

#include "base/fail.h"
#include "base/memory.h"
#include "base/threads.h"
#include "data/sample_cache.h"
#include "data/split.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

/// The samples of one file, and where to write them.
struct FileWork {
  std::size_t file;
  std::vector<FileSample> samples;
  std::vector<uint8_t*> out;
};

std::vector<FileWork> work_of(const FileSplit& split, SampleRange range, uint8_t* pixels) {
  std::unordered_map<std::size_t, std::size_t> place;
  std::vector<FileWork> work;
  for (int64_t i = range.begin; i < range.end; ++i) {
    const FileSample& sample = split.samples[i];
    const auto [found, is_new] = place.emplace(sample.file, work.size());
    if (is_new) work.push_back({.file = sample.file, .samples = {}, .out = {}});
    FileWork& of_file = work[found->second];
    of_file.samples.push_back(sample);
    of_file.out.push_back(pixels + (i - range.begin) * split.form.sample_bytes());
  }
  return work;
}

/// Decodes samples of a split on all threads and reports how many of all are done.
class Decoder {
 public:
  Decoder(const FileSplit& split, const DatasetOptions& options, int64_t all)
      : split_(split), options_(options), all_(all) {}

  void decode(SampleRange range, uint8_t* pixels) {
    const std::vector<FileWork> work = work_of(split_, range, pixels);
    parallel_for(static_cast<int64_t>(work.size()), [&](int64_t i) {
      const FileWork& of_file = work[i];
      split_.decode(split_.files[of_file.file], of_file.samples, of_file.out);
      const std::lock_guard lock(mutex_);
      done_ += static_cast<int64_t>(of_file.samples.size());
      if (options_.progress) options_.progress(split_.name, done_, all_);
    });
  }

 private:
  const FileSplit& split_;
  const DatasetOptions& options_;
  int64_t all_;
  std::mutex mutex_;
  int64_t done_ = 0;
};

/// Throws the Error of a damaged sample.
void check_samples(const SampleFile& shard) {
  parallel_for(shard.samples, [&](int64_t i) {
    std::vector<uint8_t> scratch(static_cast<std::size_t>(shard.sample_bytes));
    shard.read(i, scratch.data());
  });
}

/// The samples of a split in the cache, as many shards of them as are needed.
class CachedSplit {
 public:
  /// The first `count` samples are needed.
  CachedSplit(const FileSplit& split, int64_t count, const DatasetOptions& options)
      : split_(split), options_(options), entry_(cache_entry(split, options.cache)), count_(count) {
    const int64_t shards = (count + entry_.samples_per_shard - 1) / entry_.samples_per_shard;
    shards_.resize(static_cast<std::size_t>(shards));
  }

  /// Decodes what is missing or damaged. False if the samples cannot be, or are not to be, stored.
  bool open(ImageSet& set) {
    std::vector<int64_t> missing;
    for (int64_t i = 0; i < std::ssize(shards_); ++i) {
      if (!open_sound(i, options_.notice)) missing.push_back(i);
    }
    if (!missing.empty()) {
      // A shard is not made for the sake of a small part of it.
      if (count_ < std::min(entry_.samples, entry_.samples_per_shard)) return false;
      const Descriptor lock = lock_shards(entry_);
      std::erase_if(missing, [&](int64_t i) { return open_sound(i, {}); });
      if (!store(missing)) return false;
    }
    auto samples = std::make_shared<const StoredSamples>(std::move(shards_));
    if (is_mapped()) {
      if (const std::optional<SharedBytes> bytes = samples->mapped()) {
        set.pixels = bytes->first(static_cast<std::size_t>(count_ * entry_.sample_bytes));
        return true;
      }
    }
    set.stored = std::move(samples);
    return true;
  }

 private:
  /// Small sets are checked as a whole when they are opened, and read in place.
  bool is_mapped() const {
    return entry_.shards() == 1 && static_cast<uint64_t>(entry_.samples * entry_.sample_bytes) <=
                                       options_.cache.mapped_bytes;
  }

  bool open_sound(int64_t i, const std::function<void(const std::string&)>& notice) {
    const fs::path path = entry_.path(i);
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return false;
    try {
      SampleFile shard = open_shard(path, entry_.form(i));
      if (is_mapped()) check_samples(shard);
      shards_[i] = std::move(shard);
    } catch (const Error& error) {
      if (notice) notice(error.what());
      return false;
    }
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);  // of its last use
    return true;
  }

  bool store(const std::vector<int64_t>& missing) {
    uint64_t bytes = 0;
    int64_t samples = 0;
    for (const int64_t i : missing) {
      bytes += entry_.form(i).file_bytes();
      samples += entry_.form(i).samples;
    }
    if (!make_room(entry_, bytes, options_.cache)) return false;
    Decoder decoder(split_, options_, samples);
    return std::ranges::all_of(missing, [&](int64_t i) {
      if (!build(i, decoder)) return false;
      shards_[i] = open_shard(entry_.path(i), entry_.form(i));
      return true;
    });
  }

  /// Decodes a shard block by block, so that memory does not grow with its size.
  bool build(int64_t i, Decoder& decoder) const {
    constexpr int64_t kBlockBytes = 32 << 20;
    constexpr int64_t kLargestBlockBytes = 256 << 20;  // for samples so large that threads idle
    const ShardForm form = entry_.form(i);
    std::optional<ShardWriter> writer = ShardWriter::create(entry_.path(i), form);
    if (!writer) return false;
    const int64_t together =
        std::max({int64_t{1}, kBlockBytes / form.sample_bytes,
                  std::min<int64_t>(threads(), kLargestBlockBytes / form.sample_bytes)});
    std::vector<uint8_t> block;
    for (int64_t begin = 0; begin < form.samples; begin += together) {
      const int64_t end = std::min(begin + together, form.samples);
      block.assign(static_cast<std::size_t>((end - begin) * form.sample_bytes), 0);
      decoder.decode({form.first + begin, form.first + end}, block.data());
      if (!writer->append(block)) return false;
    }
    return writer->finish();
  }

  const FileSplit& split_;
  const DatasetOptions& options_;
  CacheEntry entry_;
  int64_t count_;
  std::vector<SampleFile> shards_;
};

/// The file of each of the first `count` samples.
PathList files_of_samples(const FileList& list, int64_t count) {
  PathList files = list.files;
  bool one_each = true;
  for (int64_t i = 0; i < count; ++i) {
    one_each = one_each && list.samples[i].file == static_cast<std::size_t>(i);
  }
  if (one_each) {
    files.keep_first(static_cast<std::size_t>(count));
    return files;
  }
  files = {};
  for (int64_t i = 0; i < count; ++i) {
    files.push_back(list.files[list.samples[i].file].string());
  }
  return files;
}

void decode_into_memory(const FileSplit& split, int64_t count, const DatasetOptions& options,
                        ImageSet& set) {
  const int64_t bytes = count * split.form.sample_bytes();
  const int64_t available = available_memory_bytes();
  if (bytes > available) {
    fail("{}: {} decoded samples take {} bytes, but {} bytes of memory are available and {}",
         split.name, count, bytes, available,
         options.cache.directory.empty()
             ? "there is no cache to store them in"
             : fmt::format("{} has no room for them or cannot be written",
                           options.cache.directory.string()));
  }
  std::vector<uint8_t> pixels(static_cast<std::size_t>(bytes));
  Decoder(split, options, count).decode({0, count}, pixels.data());
  set.pixels = std::move(pixels);
}

}  // namespace

void add_files(const std::vector<LabelledFile>& files, FileList& list) {
  std::size_t name_bytes = 0;
  for (const LabelledFile& file : files) {
    name_bytes += file.path.size() - (file.path.rfind('/') + 1);  // npos + 1 is 0
  }
  list.files.reserve(files.size(), name_bytes);
  list.samples.reserve(list.samples.size() + files.size());
  for (const LabelledFile& file : files) {
    list.samples.push_back({.file = list.files.size(), .label = file.label});
    list.files.push_back(file.path);
  }
}

ImageSet read_samples(const FileSplit& split, int64_t limit, const DatasetOptions& options) {
  const auto all = static_cast<int64_t>(split.samples.size());
  const int64_t count = limit == 0 ? all : std::min(limit, all);
  ImageSet set = split.form;
  set.labels.reserve(static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) set.labels.push_back(split.samples[i].label);
  set.files = files_of_samples(split, count);
  if (count == 0) return set;
  const bool cached =
      !options.cache.directory.empty() && CachedSplit(split, count, options).open(set);
  if (!cached) decode_into_memory(split, count, options, set);
  return set;
}

}  // namespace bntt
