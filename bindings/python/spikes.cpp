#include <pybind11/stl.h>

#include "arrays.h"
#include "base/fail.h"
#include "parts.h"

namespace bntt::python {
namespace {

Shape packed_shape(const SpikeTrain& spikes) {
  const MapShape& map = spikes.shape();
  return {spikes.planes(), spikes.steps(), spikes.batch(),
          map.height,      map.width,      spikes.words_per_pixel()};
}

Shape dense_shape(const SpikeTrain& spikes) {
  const MapShape& map = spikes.shape();
  return {spikes.steps(), spikes.batch(), map.height, map.width, map.channels};
}

py::array_t<float> dense_of(const SpikeTrain& spikes) {
  const MapShape& map = spikes.shape();
  Buffer<float> values = Buffer<float>::zeros(spikes.steps() * spikes.batch() * map.size());
  {
    const py::gil_scoped_release release;
    for (int64_t plane = 0; plane < spikes.planes(); ++plane) {
      const float weight = spikes.plane_weights()[static_cast<std::size_t>(plane)];
      float* value = values.data();
      const SpikeWord* words = spikes.frame(plane, 0, 0);
      const int64_t pixels = spikes.steps() * spikes.batch() * map.pixels();
      for (int64_t pixel = 0; pixel < pixels; ++pixel, words += spikes.words_per_pixel()) {
        for (int64_t channel = 0; channel < map.channels; ++channel, ++value) {
          const SpikeWord word = words[channel / kSpikesPerWord];
          if ((word >> (channel % kSpikesPerWord) & 1U) != 0) *value += weight;
        }
      }
    }
  }
  return array_of(std::move(values), dense_shape(spikes));
}

SpikeTrain from_dense(const py::array& fired) {
  if (!py::isinstance<py::array_t<bool>>(fired)) {
    fail("spikes: dtype {}, expected bool", py::str(fired.dtype()).cast<std::string>());
  }
  expect_layout(fired, "spikes", 5, "[step, sample, y, x, channel]");
  SpikeTrain spikes(
      fired.shape(0), fired.shape(1),
      {.channels = fired.shape(4), .height = fired.shape(2), .width = fired.shape(3)});
  const auto* values = static_cast<const bool*>(fired.data());
  SpikeWord* words = spikes.frame(0, 0, 0);
  const int64_t pixels = fired.size() / fired.shape(4);
  for (int64_t pixel = 0; pixel < pixels; ++pixel, words += spikes.words_per_pixel()) {
    for (int64_t channel = 0; channel < fired.shape(4); ++channel, ++values) {
      if (*values) words[channel / kSpikesPerWord] |= SpikeWord{1} << (channel % kSpikesPerWord);
    }
  }
  return spikes;
}

SpikeTrain from_packed(const py::array& words, int64_t channels,
                       const std::vector<float>& weights) {
  if (!py::isinstance<py::array_t<uint64_t>>(words)) {
    fail("packed: dtype {}, expected uint64", py::str(words.dtype()).cast<std::string>());
  }
  expect_layout(words, "packed", 6, "[plane, step, sample, y, x, word]");
  SpikeTrain spikes(words.shape(1), words.shape(2),
                    {.channels = channels, .height = words.shape(3), .width = words.shape(4)},
                    weights);
  if (words.shape(0) != spikes.planes() || words.shape(5) != spikes.words_per_pixel()) {
    fail("packed: shape {}, expected {} planes and {} words of 64 channels for {} channels",
         shape_text(words), spikes.planes(), spikes.words_per_pixel(), channels);
  }
  std::copy_n(static_cast<const SpikeWord*>(words.data()), words.size(), spikes.words().data());
  check_signal(Signal(spikes));
  return spikes;
}

}  // namespace

void add_spikes(py::module_& module) {
  py::class_<SpikeTrain>(
      module, "Spikes",
      "Spikes over several steps, as bits packed along the channels. A value is the sum "
      "of weight times bit over the planes.")
      .def_static("from_dense", &from_dense, py::arg("fired"),
                  "From an array of bool [step, sample, y, x, channel].")
      .def_static("from_packed", &from_packed, py::arg("words"), py::arg("channels"),
                  py::arg("weights") = std::vector<float>{1.0F},
                  "From words [plane, step, sample, y, x, word]: channel c is bit c % 64 of word c "
                  "// 64.")
      .def_property_readonly(
          "shape",
          [](const SpikeTrain& spikes) { return py::tuple(py::cast(dense_shape(spikes))); })
      .def_property_readonly("weights", &SpikeTrain::plane_weights)
      .def_property_readonly(
          "packed",
          [](const py::object& self) {
            // Shares the memory of the spikes, which it keeps alive.
            const auto& spikes = self.cast<const SpikeTrain&>();
            py::array_t<uint64_t> words(packed_shape(spikes), spikes.words().data(), self);
            words.attr("flags").attr("writeable") = false;
            return words;
          },
          "The words, uint64 [plane, step, sample, y, x, word]; shared memory, read-only.")
      .def("dense", &dense_of, "The values, float32 [step, sample, y, x, channel].")
      .def("__repr__", [](const SpikeTrain& spikes) {
        return fmt::format("Spikes(steps={}, samples={}, y={}, x={}, channels={}, planes={})",
                           spikes.steps(), spikes.batch(), spikes.shape().height,
                           spikes.shape().width, spikes.shape().channels, spikes.planes());
      });
}

}  // namespace bntt::python
