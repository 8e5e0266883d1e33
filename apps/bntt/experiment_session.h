#pragma once

#include <string>
#include <vector>

#include "data_options.h"
#include "experiment/plan.h"

namespace bntt::cli {

struct ExperimentArguments {
  std::string name;
  std::string scale = "small";
  int64_t seeds = 1;
  std::string data;
  std::string out;
  bool dry_run = false;
  int threads = 0;
  int jobs = 0;          ///< runs at once; 0: one per thread, as far as memory allows
  std::string only_run;  ///< of a process that makes this run for another one
  CacheArguments cache;
};

/// Makes the runs that are missing, measures what is not known, and writes tables, figures and the
/// page. The exit code of the command.
int run_experiments(const ExperimentArguments& arguments, std::vector<Experiment> experiments,
                    Plan plan);

}  // namespace bntt::cli
