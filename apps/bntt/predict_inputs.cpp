#include "predict_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/fail.h"
#include "bntt/data/picture.h"
#include "data/class_folders.h"
#include "data/image_folders.h"
#include "data/recordings.h"

namespace bntt::cli {
namespace {
namespace fs = std::filesystem;

bool reads_events(const Model& model) {
  return model.card().input.encoder.kind == EncoderKind::events;
}

std::vector<fs::path> files_below(const fs::path& folder,
                                  const std::vector<std::string>& extensions) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && std::ranges::count(extensions, lower_extension(entry.path()))) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

int64_t frames_per_sample(const Model& model) {
  return reads_events(model) ? model.card().input.events.frames : 1;
}

Batch batch_of(const Model& model, std::span<const uint8_t> bytes, uint32_t sample) {
  const MapShape& shape = model.network().spec().input;
  Batch batch{.sample_ids = {kFirstTestId + sample}, .shape = shape};
  if (reads_events(model)) {
    batch.frames = frames_per_sample(model);
    batch.counts = Buffer<uint8_t>(std::ssize(bytes));
    std::ranges::copy(bytes, batch.counts.data());
  } else {
    batch.images = Buffer<float>(std::ssize(bytes));
    std::ranges::transform(bytes, batch.images.data(), value_of_pixel);
  }
  return batch;
}

}  // namespace

std::vector<fs::path> sample_files(const Model& model, const std::vector<std::string>& names) {
  const bool events = reads_events(model);
  const std::vector<std::string>& extensions =
      events ? recording_extensions() : picture_extensions();
  std::vector<fs::path> files;
  for (const std::string& name : names) {
    if (!fs::exists(name)) fail("{}: does not exist", name);
    if (!fs::is_directory(name)) {
      files.emplace_back(name);
      continue;
    }
    const std::vector<fs::path> found = files_below(name, extensions);
    if (found.empty()) {
      fail("{}: holds no {}", name, events ? "event recordings" : "PNG or JPEG pictures");
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

NamedSample read_sample(const Model& model, const fs::path& file, const SensorSize& sensor,
                        uint32_t sample) {
  if (!reads_events(model)) {
    return {file.string(), model.prepare(read_picture(file).images(), sample)};
  }
  Batch batch = frames_of(read_model_recording(model, file, sensor), model.network().spec().input,
                          model.card().input.events);
  batch.sample_ids = {kFirstTestId + sample};
  return {file.string(), std::move(batch)};
}

Recording read_model_recording(const Model& model, const fs::path& file, const SensorSize& sensor) {
  Recording recording = read_recording_for(model.card(), file, sensor);
  if (const auto cut = cut_text(recording, model.card().input.events)) {
    fmt::print(stderr, "warning: {} {}\n", file.string(), *cut);
  }
  return recording;
}

void read_frames(const Model& model, uint32_t first_sample,
                 const std::function<bool(NamedSample)>& use) {
  const MapShape& shape = model.network().spec().input;
  std::vector<uint8_t> bytes(static_cast<std::size_t>(frames_per_sample(model) * shape.size()));
  for (uint32_t i = 0;; ++i) {
    const std::size_t read = std::fread(bytes.data(), 1, bytes.size(), stdin);
    if (read == 0 && i > 0) return;
    if (read < bytes.size()) {
      fail("standard input: ends after {} bytes of sample {}, expected {} ({} of {}x{}x{})", read,
           i + 1, bytes.size(), reads_events(model) ? "frames" : "an image", shape.height,
           shape.width, shape.channels);
    }
    if (use({fmt::format("sample {}", i + 1), batch_of(model, bytes, first_sample + i)})) return;
  }
}

}  // namespace bntt::cli
