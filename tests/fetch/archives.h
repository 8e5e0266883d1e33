#pragma once

#include <string>
#include <vector>

namespace bntt::testing {

enum class EntryKind { file, folder, symbolic_link, hard_link, pipe };

struct ArchiveEntry {
  std::string path;
  std::string contents;  ///< of a file; of a link, where it leads
  EntryKind kind = EntryKind::file;
};

/// Archives as a stranger could write them: no path is mended.
std::string zip_archive(const std::vector<ArchiveEntry>& entries);
std::string tar_gz_archive(const std::vector<ArchiveEntry>& entries);

}  // namespace bntt::testing
