#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "bntt/batch.h"
#include "bntt/buffer.h"
#include "bntt/model.h"
#include "bntt/signal.h"

namespace bntt::python {

namespace py = pybind11;

using Shape = std::vector<py::ssize_t>;

/// An array that owns the buffer: nothing is copied.
template <typename T>
py::array_t<T> array_of(Buffer<T> values, const Shape& shape) {
  auto* owned = new Buffer<T>(std::move(values));
  const py::capsule owner(owned, [](void* memory) { delete static_cast<Buffer<T>*>(memory); });
  return py::array_t<T>(shape, owned->data(), owner);
}

/// "(4, 28, 28, 1)"
std::string shape_text(const py::array& array);

/// Throws an Error that begins with `name` unless the array is contiguous in C order and has one of
/// these numbers of axes; `axes` names them.
void expect_layout(const py::array& array, const std::string& name, py::ssize_t dimensions,
                   const std::string& axes);

/// Samples in the form that a model takes: images [image, y, x, channel] as bytes of any size or as
/// floats 0 to 1 of the model's own size, or for a model of event recordings counts [recording,
/// frame, y, x, polarity]. Throws Error for anything else.
Batch batch_of(const Model& model, const py::array& samples, uint32_t first_sample);

/// Lists of numbers as arrays, everything else as plain Python objects.
py::object object_of(const Json& json);

/// Issues a UserWarning. Acquires the interpreter's lock for this.
void warn(const std::string& sentence);

/// Throws Python's exception if Ctrl-C was pressed. Acquires the interpreter's lock for this.
void raise_if_interrupted();

}  // namespace bntt::python
