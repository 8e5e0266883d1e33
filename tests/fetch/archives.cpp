#include "archives.h"

#include <archive.h>
#include <archive_entry.h>

#include <stdexcept>

namespace bntt::testing {
namespace {

void add(archive* writer, const ArchiveEntry& item) {
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, item.path.c_str());
  archive_entry_set_perm(entry, 0644);
  switch (item.kind) {
    case EntryKind::file:
      archive_entry_set_filetype(entry, AE_IFREG);
      archive_entry_set_size(entry, static_cast<la_int64_t>(item.contents.size()));
      break;
    case EntryKind::folder:
      archive_entry_set_filetype(entry, AE_IFDIR);
      break;
    case EntryKind::symbolic_link:
      archive_entry_set_filetype(entry, AE_IFLNK);
      archive_entry_set_symlink(entry, item.contents.c_str());
      break;
    case EntryKind::hard_link:
      archive_entry_set_filetype(entry, AE_IFREG);
      archive_entry_set_hardlink(entry, item.contents.c_str());
      break;
    case EntryKind::pipe:
      archive_entry_set_filetype(entry, AE_IFIFO);
      break;
  }
  const bool has_data = item.kind == EntryKind::file && !item.contents.empty();
  if (archive_write_header(writer, entry) != ARCHIVE_OK ||
      (has_data && archive_write_data(writer, item.contents.data(), item.contents.size()) < 0)) {
    throw std::runtime_error(archive_error_string(writer));
  }
  archive_entry_free(entry);
}

la_ssize_t append(archive*, void* text, const void* data, std::size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

std::string written(archive* writer, const std::vector<ArchiveEntry>& entries) {
  std::string bytes;
  archive_write_set_bytes_in_last_block(writer, 1);
  if (archive_write_open(writer, &bytes, nullptr, append, nullptr) != ARCHIVE_OK) {
    throw std::runtime_error(archive_error_string(writer));
  }
  for (const ArchiveEntry& entry : entries) add(writer, entry);
  archive_write_close(writer);
  archive_write_free(writer);
  return bytes;
}

}  // namespace

std::string zip_archive(const std::vector<ArchiveEntry>& entries) {
  archive* writer = archive_write_new();
  archive_write_set_format_zip(writer);
  return written(writer, entries);
}

std::string tar_gz_archive(const std::vector<ArchiveEntry>& entries) {
  archive* writer = archive_write_new();
  archive_write_set_format_pax_restricted(writer);
  archive_write_add_filter_gzip(writer);
  return written(writer, entries);
}

}  // namespace bntt::testing
