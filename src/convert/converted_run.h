#pragma once

#include "convert/convert.h"
#include "train/checkpoint.h"
#include "train/config.h"

namespace bntt {

/// The settings of a converted run: the ANN's, with the spiking network, its encoder, and what was
/// done to get there. `ann` names the run of the ANN.
RunConfig converted_settings(RunConfig config, const Conversion& conversion,
                             const ConversionOptions& options, const std::string& ann);

/// Makes a run of a conversion: run.toml, and one checkpoint. `card` is the ANN's. Throws Error
/// where no run can begin.
void write_converted_run(const RunPaths& paths, const RunConfig& config,
                         const Conversion& conversion, const ModelCard& card);

}  // namespace bntt
