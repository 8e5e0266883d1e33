#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "analyse/json.h"
#include "analyse/run.h"
#include "arrays.h"
#include "base/cache_directory.h"
#include "base/fail.h"
#include "parts.h"
#include "report/figures.h"
#include "report/gnuplot.h"

namespace bntt::python {
namespace {

struct Arguments {
  std::filesystem::path run;
  std::optional<std::string> data;
  int64_t limit = 0;
};

OpenRun opened(const Arguments& arguments, bool need_validation) {
  return open_run(arguments.run, {.data = arguments.data,
                                  .need_validation = need_validation,
                                  .limit = arguments.limit,
                                  .cache = {.directory = user_cache_directory()}});
}

bool go_on(int64_t) {
  raise_if_interrupted();
  return false;
}
bool go_on_with(const std::string&, int64_t, int64_t) {
  raise_if_interrupted();
  return false;
}

/// Runs `study` without the interpreter's lock, and returns its numbers.
template <typename Study>
py::object numbers_of(const Study& study) {
  Json json;
  {
    const py::gil_scoped_release release;
    json = to_json(study());
  }
  return object_of(json);
}

py::object exit_study(const Arguments& arguments, double max_loss) {
  return numbers_of([&] {
    OpenRun run = opened(arguments, true);
    return study_exit(run.network, test_sample(run), validation_sample(run),
                      {.max_loss = max_loss, .progress = go_on_with});
  });
}

py::object activity_study(const Arguments& arguments, double exit_threshold) {
  return numbers_of([&] {
    OpenRun run = opened(arguments, false);
    return study_activity(run.network, test_sample(run),
                          {.exit_threshold = exit_threshold, .progress = go_on});
  });
}

py::object energy_study(const Arguments& arguments, int64_t steps) {
  return numbers_of([&] {
    OpenRun run = opened(arguments, false);
    return study_energy(run.network, test_sample(run), {.steps = steps, .progress = go_on});
  });
}

py::object robustness_study(const Arguments& arguments, const std::vector<double>& noise,
                            const std::vector<double>& fgsm, const std::vector<double>& pgd) {
  return numbers_of([&] {
    OpenRun run = opened(arguments, false);
    return study_robustness(run.network, test_sample(run),
                            {.noise = noise,
                             .fgsm = fgsm,
                             .pgd = pgd,
                             .clip_events = run.config.data.clip,
                             .progress = go_on_with});
  });
}

std::string figure(const Arguments& arguments, const std::string& name, const std::string& layer) {
  const py::gil_scoped_release release;
  const FigureEntry& entry = figure_entry(name);
  Json run = run_outline(arguments.run);
  if (entry.needs != AnalysisParts::none()) {
    bntt::add_analyses(run, arguments.run,
                       {.data = arguments.data,
                        .images = arguments.limit,
                        .parts = entry.needs,
                        .progress = go_on_with});
  }
  return run_gnuplot(figure_script(entry.name, run, layer, PictureFormat::svg));
}

}  // namespace

void add_analyses(py::module_& module) {
  using Path = std::filesystem::path;
  using Data = std::optional<std::string>;
  using Strengths = std::vector<double>;
  module.def("exit", [](const Path& run, const Data& data, int64_t limit, double max_loss) {
    return exit_study({run, data, limit}, max_loss);
  });
  module.def("activity",
             [](const Path& run, const Data& data, int64_t limit, double exit_threshold) {
               return activity_study({run, data, limit}, exit_threshold);
             });
  module.def("energy", [](const Path& run, const Data& data, int64_t limit, int64_t steps) {
    return energy_study({run, data, limit}, steps);
  });
  module.def("robustness", [](const Path& run, const Data& data, int64_t limit,
                              const Strengths& noise, const Strengths& fgsm, const Strengths& pgd) {
    return robustness_study({run, data, limit}, noise, fgsm, pgd);
  });
  module.def("figure", [](const Path& run, const std::string& name, const std::string& layer,
                          const Data& data, int64_t limit) {
    return figure({run, data, limit}, name, layer);
  });
  module.def("figures", [] {
    py::dict result;
    for (const FigureEntry& entry : figure_entries()) {
      result[py::str(entry.name)] = entry.content;
    }
    return result;
  });
}

}  // namespace bntt::python
