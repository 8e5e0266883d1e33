#include "data_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cache_directory.h"

namespace bntt::cli {

void add_cache_option(CLI::App& command, CacheArguments& arguments) {
  command.add_option("--cache", arguments.directory,
                     "directory that caches decoded samples, or none for no cache; default: "
                     "$XDG_CACHE_HOME/bntt or "
                     "~/.cache/bntt");
}

void add_sensor_options(CLI::App& command, SensorSize& sensor) {
  const auto side = CLI::Range(int64_t{1}, kLargestSensorSide);
  command
      .add_option("--sensor-width", sensor.width,
                  "width of the camera's sensor in pixels, for your own recordings; default: from "
                  "the files")
      ->check(side);
  command.add_option("--sensor-height", sensor.height, "height of the camera's sensor in pixels")
      ->check(side);
}

std::filesystem::path cache_directory(const CacheArguments& arguments) {
  if (arguments.directory.empty()) return user_cache_directory();
  return arguments.directory == "none" ? "" : arguments.directory;
}

DatasetSplits open_run_data(const RunConfig& config, const std::string& directory,
                            DatasetOptions options, const CacheArguments& cache,
                            Progress* progress) {
  options.cache.directory = cache_directory(cache);
  Rate rate;
  int64_t done_before = 0;
  options.progress = [&](const std::string& what, int64_t done, int64_t all) {
    if (progress == nullptr) return;
    if (done < done_before) {
      rate = Rate();
      done_before = 0;
    }
    rate.add(done - done_before);
    done_before = done;
    progress->bar("decoding " + what, done, all,
                  fmt::format("{:.0f} per second", rate.per_second()),
                  rate.seconds_for(all - done));
  };
  options.notice = [&](const std::string& sentence) {
    if (progress != nullptr) progress->line(sentence + ": decoding it again");
  };
  int64_t longest = 0;
  int64_t cut = 0;
  options.recording = [&](int64_t bins) {
    longest = std::max(longest, bins);
    if (bins > options.events.frames) ++cut;
  };
  DatasetSplits splits = open_dataset(config.data.name, directory, options);
  if (cut > 0) {
    fmt::print(stderr,
               "warning: {} recordings are longer than the network's {} bins of {} microseconds "
               "and are cut off; the longest lasts {}\n",
               cut, options.events.frames, options.events.bin_us, longest);
  }
  return splits;
}

}  // namespace bntt::cli
