// How fast samples come: loader_bench NAME DIRECTORY [STEPS]
// Prints samples per second of opening (reading and decoding), of the loader (crop, flip) and of
// loader and encoder together, on one thread and on two; for images in files also of decoding
// alone, by the bare library.
#include "data/loader.h"

#include <fmt/format.h>
#include <turbojpeg.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/threads.h"
#include "bntt/encoder.h"
#include "bntt/error.h"

namespace {

using Clock = std::chrono::steady_clock;

template <typename Work>
void measure(const std::string& what, const Work& work) {
  const auto begin = Clock::now();
  const std::clock_t begin_work = std::clock();
  const auto samples = static_cast<double>(work());
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const double work_seconds = static_cast<double>(std::clock() - begin_work) / CLOCKS_PER_SEC;
  fmt::print("{:<36} {:>7} samples {:>7.2f} s {:>8.0f}/s; processor {:>7.2f} s {:>8.0f}/s\n", what,
             samples, seconds, samples / seconds, work_seconds, samples / work_seconds);
}

/// Batches of one epoch; with steps, encoded too.
int64_t epoch(const bntt::ImageSet& set, const bntt::EncoderSpec& encoder, int64_t steps) {
  constexpr int64_t kBatch = 50;
  bntt::TrainLoader loader(set, {0, set.size()}, {.batch = kBatch, .seed = 1});
  int64_t done = 0;
  for (int64_t i = 0; i < loader.batches_per_epoch(); ++i) {
    const bntt::Batch batch = loader.next();
    if (steps > 0) bntt::encode(batch, steps, encoder, 1, 0);
    done += batch.size();
  }
  return done;
}

/// Every JPEG file below the directory, by libjpeg-turbo and nothing else.
int64_t decode_all(const std::filesystem::path& directory) {
  const tjhandle decoder = tjInitDecompress();
  std::vector<uint8_t> pixels;
  int64_t done = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().extension() != ".JPEG") continue;
    const std::vector<uint8_t> bytes = bntt::read_file(entry.path(), 1 << 28);
    int width = 0;
    int height = 0;
    int subsampling = 0;
    int colours = 0;
    tjDecompressHeader3(decoder, bytes.data(), bytes.size(), &width, &height, &subsampling,
                        &colours);
    pixels.resize(static_cast<std::size_t>(3 * width * height));
    tjDecompress2(decoder, bytes.data(), bytes.size(), pixels.data(), width, 0, height, TJPF_RGB,
                  0);
    ++done;
  }
  tjDestroy(decoder);
  return done;
}

void run(const std::string& name, const std::string& directory, int64_t steps) {
  if (name == "tiny-imagenet") {
    decode_all(directory);  // into the page cache
    measure("bare libjpeg-turbo, 1 thread", [&] { return decode_all(directory); });
  }
  for (const int count : {1, 2}) {
    bntt::set_threads(count);
    bntt::DatasetSplits data;
    const auto title = [&](const char* what) {
      return fmt::format("{}, {} thread{}", what, count, count == 1 ? "" : "s");
    };
    measure(title("open"), [&] {
      data = bntt::open_dataset(name, directory, {.events = {.frames = steps}});
      return data.train.size() + data.test.size();
    });
    const bool events = data.train.kind == bntt::SampleKind::events;
    const bntt::EncoderSpec encoder = {.kind = events ? bntt::EncoderKind::events
                                                      : bntt::EncoderKind::poisson_unsigned};
    measure("crop and flip, the loader's thread", [&] { return epoch(data.train, encoder, 0); });
    measure(title("the same and encoding"), [&] { return epoch(data.train, encoder, steps); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: loader_bench NAME DIRECTORY [STEPS]\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], argc > 3 ? std::atoll(argv[3]) : 25);
  } catch (const bntt::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
