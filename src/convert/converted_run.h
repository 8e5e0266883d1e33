#pragma once

#include "convert/convert.h"
#include "train/checkpoint.h"
#include "train/config.h"

namespace bntt {

/// The settings of a converted run: those of the ANN, with the spiking network, its encoder, and a
/// record of the conversion. `ann` names the run of the ANN.
RunConfig converted_settings(RunConfig config, const Conversion& conversion,
                             const ConversionOptions& options, const std::string& ann);

/// Writes a conversion as a run: run.toml, and one checkpoint. `card` is the ANN's. Throws Error if
/// no run can begin there.
void write_converted_run(const RunPaths& paths, const RunConfig& config,
                         const Conversion& conversion, const ModelCard& card);

}  // namespace bntt
