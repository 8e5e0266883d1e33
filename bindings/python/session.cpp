#include "bntt/session.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>

#include "arrays.h"
#include "base/fail.h"
#include "parts.h"

namespace bntt::python {
namespace {

/// A session that keeps the images it shows.
class ShowingSession {
 public:
  ShowingSession(Model model, int64_t batch)
      : model_(std::move(model)), batch_(batch), session_(model_, batch) {}

  void restart() { session_.restart(); }

  void show(const py::array& samples, uint32_t first_sample) {
    Batch shown = batch_of(model_, samples, first_sample);
    if (shown.size() != batch_) {
      fail("samples: {} were given, expected {} for this session", shown.size(), batch_);
    }
    shown_ = std::move(shown);
    session_.restart();
  }

  void advance(int64_t steps) {
    if (!shown_) fail("session: no samples to advance, call show first");
    if (steps < 1) fail("session: {} steps, expected at least 1", steps);
    const py::gil_scoped_release release;
    session_.advance(model_.encode(*shown_, session_.steps_done(), steps));
  }

  void advance_spikes(const SpikeTrain& spikes) {
    const py::gil_scoped_release release;
    session_.advance(Signal(spikes));
  }

  /// Takes one step with a frame of counts for each recording.
  void advance_events(const py::array& counts) {
    if (!py::isinstance<py::array_t<uint8_t>>(counts)) {
      fail("counts: dtype {}, expected uint8", py::str(counts.dtype()).cast<std::string>());
    }
    expect_layout(counts, "counts", 4, "[recording, y, x, polarity]");
    const Batch frame = batch_of(model_,
                                 counts.attr("reshape")(counts.shape(0), 1, counts.shape(1),
                                                        counts.shape(2), counts.shape(3)),
                                 0);
    const py::gil_scoped_release release;
    session_.advance(model_.encode(frame, 0, 1));
  }

  int64_t steps_done() const { return session_.steps_done(); }
  bool done() const { return session_.done(); }

  py::array_t<float> logits() const {
    return array_of(session_.logits(), {batch_, model_.classes()});
  }
  py::array_t<float> probabilities() const {
    Buffer<float> all(batch_ * model_.classes());
    for (int64_t i = 0; i < batch_; ++i) {
      std::ranges::copy(session_.probabilities(i), all.data() + i * model_.classes());
    }
    return array_of(std::move(all), {batch_, model_.classes()});
  }
  /// [sample, y, x, channel]
  py::array_t<float> membranes(const std::string& stage) const {
    Buffer<float> voltages = session_.membranes(stage);
    const auto& stages = model_.network().stages();
    const MapShape& map = std::ranges::find(stages, stage, &StagePlan::name)->output;
    if (voltages.size() != batch_ * map.size()) {
      fail("session: the neurons of '{}' have no voltage that lasts from step to step", stage);
    }
    return array_of(std::move(voltages), {batch_, map.height, map.width, map.channels});
  }

 private:
  Model model_;
  int64_t batch_;
  Session session_;
  std::optional<Batch> shown_;
};

}  // namespace

void add_session(py::module_& module) {
  py::class_<ShowingSession>(module, "Session")
      .def(py::init<Model, int64_t>())
      .def("restart", &ShowingSession::restart)
      .def("show", &ShowingSession::show)
      .def("advance", &ShowingSession::advance)
      .def("advance_spikes", &ShowingSession::advance_spikes)
      .def("advance_events", &ShowingSession::advance_events)
      .def("membranes", &ShowingSession::membranes)
      .def_property_readonly("steps_done", &ShowingSession::steps_done)
      .def_property_readonly("done", &ShowingSession::done)
      .def_property_readonly("logits", &ShowingSession::logits)
      .def_property_readonly("probabilities", &ShowingSession::probabilities);
}

}  // namespace bntt::python
