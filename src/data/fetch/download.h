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
  std::filesystem::path path;  ///< where the file stands once it is whole and verified
  uint64_t bytes = 0;          ///< published size; 0: not known
  uint64_t max_bytes = 0;      ///< no more is accepted when the size is not known
  std::optional<Checksum> checksum;
};

struct DownloadOptions {
  int attempts = 5;  ///< connections in a row that bring no new byte before we give up
  std::chrono::milliseconds pause{1000};  ///< between two connections
  int connect_seconds = 30;
  int stall_seconds = 60;  ///< a connection that is silent for so long counts as cut
  ByteProgress progress;
};

struct DownloadResult {
  bool stopped = false;  ///< `progress` asked for it; the .part file waits for the next time
  uint64_t bytes = 0;
  uint64_t resumed_from = 0;  ///< bytes that were there from an earlier time
  Checksum checksum;          ///< as published, or SHA-256
};

/// Fetches a file into `path`.part, going on from what an earlier try left there, and gives it its
/// name only when size and checksum are right. What fails its checksum is removed. Throws Error, in
/// one sentence that begins with the URL or the file.
DownloadResult download(const DownloadRequest& request, const DownloadOptions& options = {});

}  // namespace bntt
