#pragma once

#include <string>
#include <vector>

#include "experiment/result.h"

namespace bntt {

/// Results with their pictures as one self-contained page without scripts. `pictures` holds, for
/// each result, the files of its drawings: SVG text or PNG bytes.
std::string result_page(const std::string& title, const std::vector<ExperimentResult>& results,
                        const std::vector<std::vector<std::string>>& pictures);

}  // namespace bntt
