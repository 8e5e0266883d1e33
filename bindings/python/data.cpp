#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "arrays.h"
#include "base/cache_directory.h"
#include "base/fail.h"
#include "bntt/data/picture.h"
#include "bntt/data/recording.h"
#include "data/dataset.h"
#include "data/recordings.h"
#include "parts.h"

namespace bntt::python {
namespace {

struct DatasetArguments {
  std::string directory;
  std::string split;
  int64_t limit = 0;
  int64_t size = 0;
  int64_t frames = 0;
};

/// All samples in memory, or in files that are mapped to it.
SharedBytes bytes_of(const ImageSet& set) {
  if (set.stored == nullptr) return set.pixels;
  const auto bytes = static_cast<std::size_t>(set.size() * set.sample_bytes());
  if (const auto mapped = set.stored->mapped()) return mapped->first(bytes);
  std::vector<uint8_t> read(bytes);
  for (int64_t i = 0; i < set.size(); ++i)
    set.stored->read(i, read.data() + i * set.sample_bytes());
  return read;
}

/// Shares the memory of the set, which may be that of mapped files.
py::array_t<uint8_t> samples_of(const ImageSet& set) {
  Shape shape = {set.size(), set.shape.height, set.shape.width, set.shape.channels};
  if (set.kind == SampleKind::events) shape.insert(shape.begin() + 1, set.frames);
  auto* owned = new SharedBytes(bytes_of(set));
  const py::capsule owner(owned, [](void* memory) { delete static_cast<SharedBytes*>(memory); });
  py::array_t<uint8_t> array(shape, owned->data(), owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

py::tuple dataset(const std::string& name, const DatasetArguments& wanted) {
  if (wanted.split != "test" && wanted.split != "train") {
    fail("split: '{}', expected 'test' or 'train'", wanted.split);
  }
  const bool test = wanted.split == "test";
  ImageSet set;
  {
    const py::gil_scoped_release release;
    DatasetOptions options{.need_train = !test,
                           .need_test = test,
                           .limit_train = test ? 0 : wanted.limit,
                           .limit_test = test ? wanted.limit : 0,
                           .size = wanted.size};
    if (wanted.frames > 0) options.events.frames = wanted.frames;
    options.cache.directory = user_cache_directory();
    options.progress = [](const std::string&, int64_t, int64_t) { raise_if_interrupted(); };
    DatasetSplits data = open_dataset(name, wanted.directory, options);
    set = test ? std::move(data.test) : std::move(data.train);
  }
  py::array_t<int64_t> labels(static_cast<py::ssize_t>(set.labels.size()));
  std::ranges::copy(set.labels, labels.mutable_data());
  return py::make_tuple(samples_of(set), labels, set.class_names);
}

py::array_t<uint8_t> picture(const std::filesystem::path& file) {
  Picture read;
  {
    const py::gil_scoped_release release;
    read = read_picture(file);
  }
  py::array_t<uint8_t> array(
      {py::ssize_t{1}, py::ssize_t{read.height}, py::ssize_t{read.width}, py::ssize_t{3}});
  std::ranges::copy(read.pixels, array.mutable_data());
  return array;
}

/// The recording as one sample of the model: [1, frame, y, x, polarity].
py::array_t<uint8_t> recording(const Model& model, const std::filesystem::path& file,
                               const SensorSize& sensor) {
  const FrameOptions& options = model.card().input.events;
  Batch batch;
  {
    const py::gil_scoped_release release;
    const Recording read = read_recording_for(model.card(), file, sensor);
    if (const auto cut = cut_text(read, options)) warn(fmt::format("{} {}", file.string(), *cut));
    batch = frames_of(read, model.network().spec().input, options);
  }
  const Shape shape = {1, batch.frames, batch.shape.height, batch.shape.width,
                       batch.shape.channels};
  return array_of(std::move(batch.counts), shape);
}

}  // namespace

void add_data(py::module_& module) {
  module.def("dataset", [](const std::string& name, const std::string& directory,
                           const std::string& split, int64_t limit, int64_t size, int64_t frames) {
    return dataset(name, {directory, split, limit, size, frames});
  });
  module.def("dataset_names", &dataset_names);
  module.def("picture", &picture);
  module.def("recording", [](const Model& model, const std::filesystem::path& file, int64_t width,
                             int64_t height) {
    return recording(model, file, {width, height});
  });
}

}  // namespace bntt::python
