#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/digest.h"

namespace bntt {

/// One file of a data set as published.
struct SourceFile {
  std::string name;       ///< of the file on disk
  std::string url;        ///< empty: cannot be fetched by a program
  int64_t bytes = 0;      ///< published size; 0: unknown
  int64_t max_bytes = 0;  ///< upper limit if the size is unknown
  std::string md5;        ///< published checksums; empty: none
  std::string sha256;
  std::string folder;       ///< the top folder of an archive; empty: the file is used as it is
  int64_t max_entries = 0;  ///< of an archive
  int64_t max_unpacked_bytes = 0;  ///< of an archive

  bool is_archive() const { return !folder.empty(); }
  /// The stronger of the published checksums.
  std::optional<Checksum> checksum() const;
};

struct DataSource {
  std::string dataset;
  std::string page;          ///< the publisher's description of the data and its terms
  std::string instructions;  ///< for files without a URL
  std::vector<SourceFile> files;
};

/// The names of data sets with a known official source.
std::vector<std::string> source_names();

/// The official source. Throws Error for a name without one.
const DataSource& official_source(std::string_view dataset);

/// A source of the user's own, described in TOML: docs/getting-data.md has the keys. Throws Error
/// for anything that is not such a description.
DataSource source_from_toml(const std::string& text, const std::string& origin,
                            std::string_view dataset);

/// The same files at a mirror: `from` is the URL of the directory that holds them, or of the file
/// itself if there is only one.
DataSource at_mirror(DataSource source, const std::string& from);

}  // namespace bntt
