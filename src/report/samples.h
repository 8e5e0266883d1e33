#pragma once

#include <vector>

#include "analyse/run.h"
#include "base/json.h"
#include "bntt/network.h"

namespace bntt {

/// Some test images and how their spikes accumulate step by step (Appendix B): {source, samples:
/// [{truth, predicted, image, accumulated: [{steps, image}]}]}. For a direct-encoded image, which
/// has no input spikes, those of the first stage are shown. `predictions` are those of the sample's
/// images; the network's numbers do not change.
Json samples_document(Network& network, const Sample& sample,
                      const std::vector<int64_t>& predictions, int64_t most = 6);

}  // namespace bntt
