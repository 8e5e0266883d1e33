#include "data/path_list.h"

namespace bntt {

void PathList::reserve(std::size_t paths, std::size_t name_bytes) {
  directory_of_.reserve(directory_of_.size() + paths);
  end_of_.reserve(end_of_.size() + paths);
  names_.reserve(names_.size() + name_bytes);
}

void PathList::push_back(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  const std::string directory = path.substr(0, name);
  const auto [place, is_new] =
      places_.emplace(directory, static_cast<uint32_t>(directories_.size()));
  if (is_new) directories_.push_back(directory);
  names_.append(path, name);
  directory_of_.push_back(place->second);
  end_of_.push_back(names_.size());
}

std::filesystem::path PathList::operator[](std::size_t index) const {
  const uint64_t begin = index == 0 ? 0 : end_of_[index - 1];
  return directories_[directory_of_[index]] + names_.substr(begin, end_of_[index] - begin);
}

void PathList::keep_first(std::size_t count) {
  if (count >= size()) return;
  names_.resize(count == 0 ? 0 : end_of_[count - 1]);
  directory_of_.resize(count);
  end_of_.resize(count);
}

}  // namespace bntt
