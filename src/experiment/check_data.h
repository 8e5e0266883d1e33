#pragma once

#include "experiment/plan.h"

namespace bntt {

/// Opens every data set that the plan needs, once for each directory, and reads one sample of each
/// split. Runs whose data set cannot be opened, and runs that start from those, get the reason as
/// their problem.
void check_data(Plan& plan);

}  // namespace bntt
