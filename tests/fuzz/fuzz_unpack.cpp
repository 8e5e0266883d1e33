#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/check.h"
#include "bntt/error.h"
#include "fetch/unpack.h"

namespace fs = std::filesystem;

namespace {

/// On a file system in memory where there is one.
fs::path scratch_directory() {
  std::error_code missing;
  const fs::path memory = "/dev/shm";
  std::string name = ((fs::is_directory(memory, missing) ? memory : fs::temp_directory_path()) /
                      "bntt-fuzz-XXXXXX")
                         .string();
  BNTT_CHECK(mkdtemp(name.data()) != nullptr);
  return name;
}

struct Scratch {
  fs::path path = scratch_directory();
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

}  // namespace

// Whatever the archive holds: a whole folder of plain files and folders, or nothing.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const Scratch scratch;
  const fs::path archive = scratch.path / "archive";
  const fs::path target = scratch.path / "target";
  std::ofstream(archive, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  fs::create_directory(target);
  bool whole = false;
  try {
    bntt::unpack(archive, target, {.folder = "set", .limits = {64, 1U << 16}, .progress = {}});
    whole = true;
  } catch (const bntt::Error&) {
  }
  BNTT_CHECK(fs::exists(target / "set") == whole);
  for (const auto& entry : fs::recursive_directory_iterator(target)) {
    BNTT_CHECK(entry.symlink_status().type() == fs::file_type::regular ||
               entry.symlink_status().type() == fs::file_type::directory);
  }
  for (const auto& entry : fs::directory_iterator(target)) {
    BNTT_CHECK(entry.path().filename() == "set");
  }
  for (const auto& entry : fs::directory_iterator(scratch.path)) {
    BNTT_CHECK(entry.path() == archive || entry.path() == target);
  }
  fs::remove_all(target);
  return 0;
}
