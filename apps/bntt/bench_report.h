#pragma once

#include "base/json.h"
#include "bench/compare.h"

namespace bntt::cli {

Json json_report(const bench::Report& report);
void print_report(const bench::Report& report);

}  // namespace bntt::cli
