#include "data/class_folders.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/fail.h"
#include "base/text.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

std::vector<fs::directory_entry> entries_of(const fs::path& directory, const std::string& dataset) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->path().filename().string().starts_with('.')) entries.push_back(*entry);
  }
  if (error) fail("{}: {} cannot be listed: {}", dataset, directory.string(), error.message());
  return entries;
}

std::vector<FilePaths> files_of_classes(const fs::path& directory,
                                        const std::vector<std::string>& classes,
                                        const std::vector<std::string>& extensions,
                                        const std::string& dataset) {
  std::vector<FilePaths> files;
  files.reserve(classes.size());
  for (const std::string& name : classes) {
    files.push_back(hashed_files(directory / name, extensions, dataset));
  }
  return files;
}

}  // namespace

std::string lower_extension(const fs::path& path) {
  std::string extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

void TextHash::add(std::string_view text) {
  for (const char c : text) {
    state_ ^= static_cast<uint8_t>(c);
    state_ *= 0x100000001b3U;
  }
}

uint64_t TextHash::value() const {
  uint64_t hash = state_;
  hash ^= hash >> 30;
  hash *= 0xbf58476d1ce4e5b9U;
  hash ^= hash >> 27;
  hash *= 0x94d049bb133111ebU;
  return hash ^ (hash >> 31);
}

uint64_t name_hash(std::string_view name) {
  TextHash hash;
  hash.add(name);
  return hash.value();
}

std::vector<std::string> folder_names(const fs::path& directory, const std::string& dataset) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : entries_of(directory, dataset)) {
    std::error_code ignored;
    if (entry.is_directory(ignored)) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

FilePaths hashed_files(const fs::path& directory, const std::vector<std::string>& extensions,
                       const std::string& dataset) {
  std::vector<std::tuple<uint64_t, std::string, std::string>> files;
  for (const fs::directory_entry& entry : entries_of(directory, dataset)) {
    if (std::ranges::count(extensions, lower_extension(entry.path())) == 0) continue;
    const std::string name = entry.path().filename().string();
    files.emplace_back(name_hash(name), name, entry.path().string());
  }
  if (files.empty()) {
    fail("{}: {} holds no file, expected some that end in {}", dataset, directory.string(),
         fmt::join(extensions, ", "));
  }
  std::ranges::sort(files);
  FilePaths paths;
  paths.reserve(files.size());
  for (auto& [hash, name, path] : files) paths.push_back(std::move(path));
  return paths;
}

std::vector<LabelledFile> interleaved(std::vector<FilePaths> files) {
  struct Rank {
    uint32_t label;
    uint32_t i;
  };
  std::size_t all = 0;
  for (const FilePaths& of_class : files) all += of_class.size();
  std::vector<Rank> ranks;
  ranks.reserve(all);
  for (std::size_t label = 0; label < files.size(); ++label) {
    for (std::size_t i = 0; i < files[label].size(); ++i) {
      ranks.push_back({static_cast<uint32_t>(label), static_cast<uint32_t>(i)});
    }
  }
  // (2 i + 1) / 2n, compared by cross multiplication
  const auto place = [](const Rank& rank) { return 2 * uint64_t{rank.i} + 1; };
  const auto count = [&](const Rank& rank) { return uint64_t{files[rank.label].size()}; };
  std::ranges::stable_sort(ranks, [&](const Rank& a, const Rank& b) {
    return place(a) * count(b) < place(b) * count(a);
  });
  std::vector<LabelledFile> result;
  result.reserve(ranks.size());
  for (const Rank& rank : ranks) {
    result.push_back({std::move(files[rank.label][rank.i]), int64_t{rank.label}});
  }
  return result;
}

FolderSplit split_tenth(std::vector<FilePaths> files) {
  FolderSplit split;
  for (FilePaths& of_class : files) {
    const auto tenth = static_cast<std::ptrdiff_t>((of_class.size() + 9) / 10);
    const auto cut = of_class.begin() + (of_class.size() > 1 ? tenth : 0);
    split.test.emplace_back(std::move_iterator(of_class.begin()), std::move_iterator(cut));
    of_class.erase(of_class.begin(), cut);
    split.train.push_back(std::move(of_class));
  }
  return split;
}

ClassFolders read_class_folders(const fs::path& directory,
                                const std::vector<std::string>& extensions,
                                const std::string& dataset) {
  std::error_code ignored;
  const bool published = fs::is_directory(directory / "train", ignored);
  const fs::path train = published ? directory / "train" : directory;
  const fs::path test =
      directory / (fs::is_directory(directory / "test", ignored) ? "test" : "val");
  if (published && !fs::is_directory(test, ignored)) {
    fail("{}: {} has a folder train but neither test nor val", dataset, directory.string());
  }
  ClassFolders folders;
  folders.names = folder_names(train, dataset);
  if (folders.names.empty()) {
    fail("{}: {} holds no folders, expected one for each class", dataset, train.string());
  }
  if (folders.names.size() == 1) {
    fail("{}: {} holds one class folder, '{}', expected at least two classes", dataset,
         train.string(), excerpt(folders.names.front()));
  }
  if (published && folder_names(test, dataset) != folders.names) {
    fail("{}: {} has different class folders from {}", dataset, test.string(), train.string());
  }
  folders.files.train = files_of_classes(train, folders.names, extensions, dataset);
  if (published) {
    folders.files.test = files_of_classes(test, folders.names, extensions, dataset);
  } else {
    folders.files = split_tenth(std::move(folders.files.train));
  }
  return folders;
}

}  // namespace bntt
