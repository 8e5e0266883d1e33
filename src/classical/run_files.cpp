#include "classical/run_files.h"

#include "base/fail.h"
#include "base/files.h"
#include "train/run_settings.h"

namespace bntt {
namespace fs = std::filesystem;

bool is_classical_run(const fs::path& directory) {
  std::error_code ignored;
  return fs::exists(ClassicalPaths{directory}.settings(), ignored);
}

void expect_room_for_classical_run(const ClassicalPaths& paths) {
  expect_room_for_run({paths.directory}, false);
  std::error_code error;
  fs::create_directories(paths.directory, error);
  if (error) fail("{}: cannot be created: {}", paths.directory.string(), error.message());
}

void write_classical_run(const ClassicalPaths& paths, const ClassicalConfig& config,
                         const ClassicalStudy& study) {
  write_text_atomically(paths.result(), to_json(study.result).dump(2) + "\n");
  write_text_atomically(paths.times(), to_json(study.times).dump(2) + "\n");
  write_text_atomically(paths.predictions(), study.predictions);
  write_text_atomically(paths.settings(), to_toml(config));
}

ClassicalRun read_classical_run(const ClassicalPaths& paths) {
  constexpr uint64_t kLargestResult = 64U << 20;
  return {
      .config = classical_config_from_toml(read_text(paths.settings()), paths.settings().string()),
      .result = classical_result_from_json(read_text(paths.result(), kLargestResult),
                                           paths.result().string()),
      .times = classical_times_from_json(read_text(paths.times()), paths.times().string())};
}

}  // namespace bntt
