#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fetch/download.h"
#include "fetch/sources.h"

namespace bntt {

enum class GetPhase { download, verify, unpack };

struct GetProgress {
  std::string file;
  GetPhase phase = GetPhase::download;
  uint64_t done = 0;
  uint64_t all = 0;  ///< 0: unknown
};

struct GetOptions {
  bool keep_archives = false;                        ///< after unpacking them
  DownloadOptions download;                          ///< its progress is not used
  std::function<bool(const GetProgress&)> progress;  ///< stops if it returns true
};

struct GotFile {
  std::string name;            ///< as on disk: a file, or the folder of an archive
  bool already_there = false;  ///< nothing was done
  uint64_t bytes = 0;          ///< fetched
  uint64_t resumed_from = 0;
  uint64_t unpacked_files = 0;
  /// If no checksum is published: that of the first download, stored in kRecordedChecksums.
  std::optional<Checksum> recorded;
};

struct GetResult {
  bool stopped = false;
  std::vector<GotFile> files;
};

inline constexpr const char* kRecordedChecksums = "bntt-checksums.json";

/// Fetches, verifies and unpacks every file of `source` that `directory` does not have yet. A name
/// appears in `directory` only when its contents are complete. Throws Error with one sentence.
GetResult get_dataset(const DataSource& source, const std::filesystem::path& directory,
                      const GetOptions& options = {});

}  // namespace bntt
