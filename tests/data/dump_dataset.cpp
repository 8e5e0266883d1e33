// Writes what a data set looks like after loading, for readers in other languages:
// dump_dataset NAME DIRECTORY PREFIX [frames=N] [interval=count] [clip=1] [size=N] [labels=coarse]
// [fit=squeeze] [width=N height=N] PREFIX.train and PREFIX.test: int64 samples, frames, height,
// width, channels, then labels, then bytes.
#include <cstdio>
#include <fstream>
#include <string>

#include "bntt/error.h"
#include "data/dataset.h"

namespace {

void write(const bntt::ImageSet& set, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const auto put = [&](int64_t value) {
    file.write(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  for (const int64_t value :
       {set.size(), set.frames, set.shape.height, set.shape.width, set.shape.channels}) {
    put(value);
  }
  for (const int64_t label : set.labels) put(label);
  std::vector<uint8_t> scratch;
  for (int64_t i = 0; i < set.size(); ++i) {
    const std::span<const uint8_t> bytes = set.sample(i, scratch);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  bntt::DatasetOptions options;
  for (int i = 4; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string value = argument.substr(argument.find('=') + 1);
    if (argument.starts_with("frames=")) options.events.frames = std::stoll(value);
    if (argument.starts_with("size=")) options.size = std::stoll(value);
    if (argument == "interval=count") options.events.interval = bntt::Interval::count;
    if (argument == "clip=1") options.events.clip = true;
    if (argument == "labels=coarse") options.labels = bntt::Labels::coarse;
    if (argument == "fit=squeeze") options.fit = bntt::Fit::squeeze;
    if (argument.starts_with("width=")) options.sensor.width = std::stoll(value);
    if (argument.starts_with("height=")) options.sensor.height = std::stoll(value);
    if (argument == "train=0") options.need_train = false;
  }
  try {
    const bntt::DatasetSplits data = bntt::open_dataset(argv[1], argv[2], options);
    write(data.train, std::string(argv[3]) + ".train");
    write(data.test, std::string(argv[3]) + ".test");
  } catch (const bntt::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
