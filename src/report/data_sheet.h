#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "report/contact_sheet.h"

namespace bntt {

/// Up to `count` samples, class by class: the first of each class, then the second of each, and so
/// on, after skipping `skip` of each.
std::vector<int64_t> spread_over_classes(const ImageSet& set, int64_t count, int64_t skip);

/// Images with their class names.
GridSheet image_sheet(const ImageSet& set, const std::vector<int64_t>& samples,
                      const std::string& title);

/// The frames of event recordings over time.
StripSheet event_sheet(const ImageSet& set, const std::vector<int64_t>& samples,
                       const std::string& title);

struct SpikeSheetOptions {
  int64_t steps = 100;
  uint64_t seed = 0;
};

/// Each image beside the sum of its Poisson spikes after increasing numbers of steps (the paper's
/// Appendix B): spikes / steps; white is a spike at every step.
StripSheet spike_sheet(const ImageSet& set, const std::vector<int64_t>& samples,
                       const std::string& title, const SpikeSheetOptions& options = {});

}  // namespace bntt
