// The compiled half of the Python package: checks, conversions and calls. Names, defaults and
// documentation for users are in bntt/__init__.py.
#include <pybind11/pybind11.h>

#include "bntt/error.h"
#include "bntt/threads.h"
#include "bntt/version.h"
#include "parts.h"

PYBIND11_MODULE(_bntt, module) {
  namespace py = pybind11;
  py::register_exception<bntt::Error>(module, "Error", PyExc_ValueError);
  module.attr("__version__") = std::string(bntt::version());
  module.def("set_threads", &bntt::set_threads);
  module.def("threads", &bntt::threads);
  bntt::python::add_spikes(module);
  bntt::python::add_model(module);
  bntt::python::add_session(module);
  bntt::python::add_training(module);
  bntt::python::add_analyses(module);
  bntt::python::add_data(module);
}
