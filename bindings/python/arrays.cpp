#include "arrays.h"

#include <algorithm>
#include <numeric>

#include "base/fail.h"

namespace bntt::python {
namespace {

std::vector<uint32_t> test_ids(uint32_t first, int64_t count) {
  std::vector<uint32_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), kFirstTestId + first);
  return ids;
}

std::string text_of(const py::handle& object) { return py::str(object).cast<std::string>(); }

Batch event_batch(const Model& model, const py::array& counts, uint32_t first_sample) {
  if (!py::isinstance<py::array_t<uint8_t>>(counts)) {
    fail("samples: dtype {}, expected uint8 counts of events for this model",
         text_of(counts.dtype()));
  }
  expect_layout(counts, "samples", 5, "[recording, frame, y, x, polarity]");
  const MapShape& shape = model.network().spec().input;
  if (counts.shape(2) != shape.height || counts.shape(3) != shape.width ||
      counts.shape(4) != shape.channels || counts.shape(0) < 1) {
    fail("samples: shape {}, expected (n, frames, {}, {}, {}) for this model", shape_text(counts),
         shape.height, shape.width, shape.channels);
  }
  Batch batch{.sample_ids = test_ids(first_sample, counts.shape(0)),
              .shape = shape,
              .frames = counts.shape(1),
              .counts = Buffer<uint8_t>(counts.size())};
  std::copy_n(static_cast<const uint8_t*>(counts.data()), counts.size(), batch.counts.data());
  return batch;
}

template <typename Float>
Batch float_batch(const Model& model, const py::array& images, uint32_t first_sample) {
  const MapShape& shape = model.network().spec().input;
  if (model.card().input.encoder.kind == EncoderKind::events) {
    fail("samples: dtype {}, expected uint8 counts of events for this model",
         text_of(images.dtype()));
  }
  if (images.shape(1) != shape.height || images.shape(2) != shape.width ||
      images.shape(3) != shape.channels || images.shape(0) < 1) {
    fail(
        "images: shape {}, expected (n, {}, {}, {}): only images of uint8 are brought to the "
        "model's size",
        shape_text(images), shape.height, shape.width, shape.channels);
  }
  const auto* values = static_cast<const Float*>(images.data());
  const auto* wrong = std::find_if(values, values + images.size(), [](Float value) {
    return !(value >= 0 && value <= 1);  // nan, too
  });
  if (wrong != values + images.size()) {
    fail("images: hold the value {}, expected floats from 0 to 1, or uint8 from 0 to 255", *wrong);
  }
  Batch batch{.sample_ids = test_ids(first_sample, images.shape(0)),
              .shape = shape,
              .images = Buffer<float>(images.size())};
  std::transform(values, values + images.size(), batch.images.data(),
                 [](Float value) { return static_cast<float>(value); });
  return batch;
}

bool holds_numbers(const Json& list) {
  return !list.empty() && std::ranges::all_of(list, [](const Json& value) {
    return value.is_number() || value.is_boolean();
  });
}

py::object list_of(const Json& list) {
  if (!holds_numbers(list)) {
    py::list result;
    for (const Json& value : list) result.append(object_of(value));
    return result;
  }
  const bool whole =
      std::ranges::all_of(list, [](const Json& value) { return value.is_number_integer(); });
  const bool logical =
      std::ranges::all_of(list, [](const Json& value) { return value.is_boolean(); });
  const auto size = static_cast<py::ssize_t>(list.size());
  const auto fill = [&](auto array) {
    auto* values = array.mutable_data();
    for (const Json& value : list) {
      using Value = std::remove_reference_t<decltype(*values)>;
      *values++ = value.is_boolean() ? static_cast<Value>(value.get<bool>()) : value.get<Value>();
    }
    return array;
  };
  if (logical) return fill(py::array_t<bool>(size));
  if (whole) return fill(py::array_t<int64_t>(size));
  return fill(py::array_t<double>(size));
}

}  // namespace

std::string shape_text(const py::array& array) { return text_of(array.attr("shape")); }

void expect_layout(const py::array& array, const std::string& name, py::ssize_t dimensions,
                   const std::string& axes) {
  if (array.ndim() != dimensions) {
    fail("{}: shape {}, expected {} axes: {}", name, shape_text(array), dimensions, axes);
  }
  if ((array.flags() & py::array::c_style) == 0) {
    fail("{}: is not contiguous in memory, expected numpy.ascontiguousarray of it", name);
  }
}

Batch batch_of(const Model& model, const py::array& samples, uint32_t first_sample) {
  if (model.card().input.encoder.kind == EncoderKind::events) {
    return event_batch(model, samples, first_sample);
  }
  expect_layout(samples, "images", 4, "[image, y, x, channel]");
  if (py::isinstance<py::array_t<uint8_t>>(samples)) {
    const Images images{.pixels = {static_cast<const uint8_t*>(samples.data()),
                                   static_cast<std::size_t>(samples.size())},
                        .count = samples.shape(0),
                        .height = samples.shape(1),
                        .width = samples.shape(2),
                        .channels = samples.shape(3)};
    const py::gil_scoped_release release;
    return model.prepare(images, first_sample);
  }
  if (py::isinstance<py::array_t<float>>(samples)) {
    return float_batch<float>(model, samples, first_sample);
  }
  if (py::isinstance<py::array_t<double>>(samples)) {
    return float_batch<double>(model, samples, first_sample);
  }
  fail("images: dtype {}, expected uint8 (0 to 255) or float32 or float64 (0 to 1)",
       text_of(samples.dtype()));
}

py::object object_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::object: {
      py::dict result;
      for (const auto& [key, value] : json.items()) result[py::str(key)] = object_of(value);
      return result;
    }
    case Json::value_t::array:
      return list_of(json);
    case Json::value_t::string:
      return py::str(json.get<std::string>());
    case Json::value_t::boolean:
      return py::bool_(json.get<bool>());
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return py::int_(json.get<int64_t>());
    case Json::value_t::number_float:
      return py::float_(json.get<double>());
    default:
      return py::none();
  }
}

void warn(const std::string& sentence) {
  const py::gil_scoped_acquire lock;
  if (PyErr_WarnEx(PyExc_UserWarning, sentence.c_str(), 1) != 0) throw py::error_already_set();
}

void raise_if_interrupted() {
  const py::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace bntt::python
