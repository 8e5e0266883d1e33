#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "arrays.h"
#include "base/fail.h"
#include "model/model_file.h"
#include "model/stopping.h"
#include "parts.h"

namespace bntt::python {
namespace {

struct Options {
  int64_t steps = 0;
  std::optional<double> exit_confidence;
  uint32_t first_sample = 0;
  bool count_spikes = false;
};

py::dict predict(const Model& model, const py::array& samples, const Options& options) {
  const Batch batch = batch_of(model, samples, options.first_sample);
  std::vector<Prediction> predictions;
  {
    const py::gil_scoped_release release;
    predictions = model.predict(batch, {.steps = options.steps,
                                        .exit_confidence = options.exit_confidence,
                                        .count_spikes = options.count_spikes,
                                        .progress = [](int64_t) {
                                          raise_if_interrupted();
                                          return false;
                                        }});
  }
  const auto count = static_cast<py::ssize_t>(predictions.size());
  py::array_t<int64_t> labels(count);
  py::array_t<int64_t> steps(count);
  py::array_t<int64_t> spikes(count);
  py::array_t<float> logits({count, static_cast<py::ssize_t>(model.classes())});
  py::array_t<float> probabilities({count, static_cast<py::ssize_t>(model.classes())});
  for (py::ssize_t i = 0; i < count; ++i) {
    const Prediction& one = predictions[static_cast<std::size_t>(i)];
    *labels.mutable_data(i) = one.label;
    *steps.mutable_data(i) = one.steps;
    *spikes.mutable_data(i) = one.spikes;
    std::ranges::copy(one.logits, logits.mutable_data(i, 0));
    std::ranges::copy(one.probabilities, probabilities.mutable_data(i, 0));
  }
  py::dict result;
  result["labels"] = labels;
  result["logits"] = logits;
  result["probabilities"] = probabilities;
  result["steps"] = steps;
  if (options.count_spikes) result["spikes"] = spikes;
  return result;
}

py::object object_of_signal(Signal signal) {
  if (auto* spikes = std::get_if<SpikeTrain>(&signal)) return py::cast(std::move(*spikes));
  DenseTrain& dense = std::get<DenseTrain>(signal);
  const Shape shape = {dense.stored_steps(), dense.batch, dense.shape.height, dense.shape.width,
                       dense.shape.channels};
  return array_of(std::move(dense.values), shape);
}

/// The output of every stage, over all steps.
py::dict outputs(const Model& model, const py::array& samples, uint32_t first_sample,
                 int64_t run_steps) {
  const Batch batch = batch_of(model, samples, first_sample);
  const Network& network = model.network();
  const int64_t steps = active_steps_until(network.spec(), run_steps);
  std::vector<Signal> seen(network.stages().size());
  {
    const py::gil_scoped_release release;
    ChainState state = network.start(batch.size());
    network.advance(
        model.encode(batch, 0, steps), state,
        AdvanceOptions{.observe = [&](std::size_t stage, int64_t, const std::vector<const Signal*>&,
                                      const Signal& output) { seen[stage] = output; }});
  }
  py::dict result;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (network.stages()[i].readout) continue;
    result[py::str(network.stages()[i].name)] = object_of_signal(std::move(seen[i]));
  }
  return result;
}

py::dict state_dict(const Model& model) {
  py::dict result;
  for (const Parameter& parameter : model.network().parameters()) {
    result[py::str(parameter.name)] =
        array_of(to_pytorch_order(parameter, parameter.value),
                 Shape(parameter.pytorch_shape.begin(), parameter.pytorch_shape.end()));
  }
  for (const Statistic& statistic : model.network().statistics()) {
    result[py::str(statistic.name)] = array_of(
        statistic.value, Shape(statistic.pytorch_shape.begin(), statistic.pytorch_shape.end()));
  }
  return result;
}

/// The numbers of an array in `state`, which must have this shape.
Buffer<float> values_of(const py::dict& state, const std::string& name,
                        const std::vector<int64_t>& shape) {
  if (!state.contains(name)) fail("state: has no '{}'", name);
  const py::object given = state[py::str(name)];
  if (!py::isinstance<py::array_t<float>>(given)) {
    fail("state: '{}' is {}, expected an array of float32", name,
         py::str(py::getattr(given, "dtype", py::type::of(given))).cast<std::string>());
  }
  const auto array = given.cast<py::array_t<float>>();
  if (!std::equal(shape.begin(), shape.end(), array.shape(), array.shape() + array.ndim())) {
    fail("state: '{}' has the shape {}, expected {}", name, shape_text(array),
         py::str(py::tuple(py::cast(shape))).cast<std::string>());
  }
  expect_layout(array, "state: '" + name + "'", array.ndim(), "");
  Buffer<float> values(array.size());
  std::copy_n(array.data(), array.size(), values.data());
  return values;
}

Model with_state_dict(const Model& model, const py::dict& state) {
  Network network = Network::unfilled(model.network().spec());
  network.set_break_even(model.network().break_even());
  network.set_precision(model.network().precision());
  std::size_t used = 0;
  for (Parameter& parameter : network.parameters()) {
    parameter.value =
        from_pytorch_order(parameter, values_of(state, parameter.name, parameter.pytorch_shape));
    ++used;
  }
  for (Statistic& statistic : network.statistics()) {
    statistic.value = values_of(state, statistic.name, statistic.pytorch_shape);
    ++used;
  }
  if (used != state.size()) {
    for (const auto& [key, value] : state) {
      const auto name = py::str(key).cast<std::string>();
      const auto named = [&](const auto& numbers) { return numbers.name == name; };
      if (std::ranges::none_of(network.parameters(), named) &&
          std::ranges::none_of(network.statistics(), named)) {
        fail("state: '{}' is not a parameter or statistic of this network", name);
      }
    }
  }
  const py::gil_scoped_release release;
  network.set_windows(model.network().windows());
  return {std::move(network), model.card()};
}

void save(const Model& model, const std::filesystem::path& file) {
  const py::gil_scoped_release release;
  write_tensors(file, pack_model(model.network(), model.card()));
}

}  // namespace

void add_model(py::module_& module) {
  py::class_<Model>(module, "Model")
      .def_static(
          "load",
          [](const std::filesystem::path& path) {
            const py::gil_scoped_release release;
            return Model::load(path);
          },
          py::arg("path"))
      .def("predict",
           [](const Model& model, const py::array& samples, int64_t steps,
              std::optional<double> exit_confidence, uint32_t first_sample, bool count_spikes) {
             return predict(model, samples, {steps, exit_confidence, first_sample, count_spikes});
           })
      .def("encode",
           [](const Model& model, const py::array& samples, int64_t first_step, int64_t steps,
              uint32_t first_sample) {
             const Batch batch = batch_of(model, samples, first_sample);
             Signal signal;
             {
               const py::gil_scoped_release release;
               signal = model.encode(batch, first_step, steps);
             }
             return object_of_signal(std::move(signal));
           })
      .def("outputs", &outputs)
      .def("state_dict", &state_dict)
      .def("with_state_dict", &with_state_dict)
      .def("save", &save)
      .def("class_name", &Model::class_name)
      .def_property_readonly("classes", &Model::classes)
      .def_property_readonly("steps",
                             [](const Model& model) { return model.network().spec().steps; })
      .def_property_readonly(
          "active_steps", [](const Model& model) { return active_steps(model.network().spec()); })
      .def_property_readonly("input_shape",
                             [](const Model& model) {
                               const MapShape& shape = model.network().spec().input;
                               return py::make_tuple(shape.height, shape.width, shape.channels);
                             })
      .def_property_readonly(
          "reads_events",
          [](const Model& model) { return model.card().input.encoder.kind == EncoderKind::events; })
      .def_property_readonly("card",
                             [](const Model& model) { return object_of(card_json(model.card())); })
      .def_property_readonly("network", [](const Model& model) {
        return object_of(parse_json(to_json(model.network().spec()), "network"));
      });
}

}  // namespace bntt::python
