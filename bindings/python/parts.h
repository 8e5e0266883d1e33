#pragma once

#include <pybind11/pybind11.h>

// The parts of the module; each adds its names.
namespace bntt::python {

void add_spikes(pybind11::module_& module);
void add_model(pybind11::module_& module);
void add_session(pybind11::module_& module);
void add_training(pybind11::module_& module);
void add_analyses(pybind11::module_& module);
void add_data(pybind11::module_& module);

}  // namespace bntt::python
