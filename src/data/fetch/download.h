#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "fetch/digest.h"

namespace bntt {

struct DownloadRequest {
  std::string url;             ///< http or https
  std::filesystem::path path;  ///< the final name, given to the complete and verified file
  uint64_t bytes = 0;          ///< published size; 0: unknown
  uint64_t max_bytes = 0;      ///< upper limit if the size is unknown
  std::optional<Checksum> checksum;
};

struct DownloadOptions {
  int attempts = 5;  ///< consecutive connections without a new byte before giving up
  std::chrono::milliseconds pause{1000};  ///< between two connections
  int connect_seconds = 30;
  int stall_seconds = 60;  ///< a connection that is silent for this long counts as cut
  ByteProgress progress;
};

struct DownloadResult {
  bool stopped = false;  ///< by `progress`; the .part file is kept for the next time
  uint64_t bytes = 0;
  uint64_t resumed_from = 0;  ///< bytes already present from an earlier attempt
  Checksum checksum;          ///< as published, or SHA-256
};

/// Fetches a file into `path`.part, continuing after what an earlier attempt left there, and
/// renames it only if size and checksum are right. A file with a wrong checksum is removed. Throws
/// Error with one sentence that begins with the URL or the file.
DownloadResult download(const DownloadRequest& request, const DownloadOptions& options = {});

}  // namespace bntt
