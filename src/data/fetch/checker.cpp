#include "fetch/checker.h"

#include <atomic>

#include "base/files.h"
#include "base/threads.h"
#include "fetch/digest.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

// Loaders begin their sentences with data set and file; a finding already names the file.
std::string without_place(const std::string& sentence, const fs::path& file) {
  const std::size_t place = sentence.find(file.string());
  if (place == std::string::npos) return sentence;
  std::string rest = sentence.substr(place + file.string().size());
  while (rest.starts_with(':') || rest.starts_with(' ')) rest.erase(0, 1);
  return rest;
}

}  // namespace

void Checker::add(Finding finding) {
  const std::lock_guard lock(mutex_);
  report_.findings.push_back(std::move(finding));
}

void Checker::find_error(const fs::path& file, const Error& error) {
  add({file, without_place(error.what(), file)});
}

void Checker::count(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  report_.files += 1;
  report_.bytes += bytes;
}

void Checker::each_file(
    const std::vector<fs::path>& files, uint64_t limit,
    const std::function<void(std::size_t file, std::span<const uint8_t> bytes)>& check) {
  std::atomic<bool> stop = report_.stopped;
  int64_t done = 0;
  parallel_for(static_cast<int64_t>(files.size()), [&](int64_t i) {
    if (stop) return;
    const fs::path& file = files[static_cast<std::size_t>(i)];
    try {
      const std::vector<uint8_t> bytes = read_file(file, limit);
      count(bytes.size());
      check(static_cast<std::size_t>(i), bytes);
    } catch (const Error& error) {
      find_error(file, error);
    }
    const std::lock_guard lock(mutex_);
    done += 1;
    if (options_.progress && options_.progress(done, static_cast<int64_t>(files.size()))) {
      stop = true;
    }
  });
  report_.stopped = stop;
}

void Checker::compare(const fs::path& file, std::span<const uint8_t> content,
                      const std::string& md5) {
  const Checksum found = checksum_of(DigestKind::md5, content);
  if (found.hex != md5) {
    find(file, "has the md5 {}, expected {}", found.hex, md5);
  }
  const std::lock_guard lock(mutex_);
  report_.checksums += 1;
}

void Checker::compare_classes(const fs::path& file, const std::vector<int64_t>& counts,
                              int64_t expected) {
  if (expected == 0) return;
  for (std::size_t label = 0; label < counts.size(); ++label) {
    if (counts[label] != expected) {
      find(file, "has {} samples of class {}, expected {}", counts[label], label, expected);
    }
  }
}

}  // namespace bntt
