#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "fetch/digest.h"

namespace bntt {

/// Limits for the contents of an archive; anything beyond them is rejected as soon as it appears.
struct UnpackLimits {
  uint64_t entries = 0;
  uint64_t bytes = 0;  ///< of all files together, unpacked
};

struct UnpackOptions {
  std::string folder;  ///< the top folder of the archive; other entries are skipped
  UnpackLimits limits;
  ByteProgress progress;  ///< in bytes of the archive
};

struct UnpackResult {
  bool stopped = false;
  uint64_t files = 0;
  uint64_t bytes = 0;
};

/// Unpacks an untrusted zip or tar.gz archive into `directory`/`folder`. Everything goes into
/// `directory`/.unpacking first, which is renamed at the end and removed on failure, so that the
/// folder is either complete or absent. Only plain files and directories are created: paths that
/// leave the folder, links, devices and repeated files are rejected. Throws Error with one sentence
/// that begins with the archive.
UnpackResult unpack(const std::filesystem::path& archive, const std::filesystem::path& directory,
                    const UnpackOptions& options);

}  // namespace bntt
