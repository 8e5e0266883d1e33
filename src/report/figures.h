#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "report/figure.h"
#include "report/run_document.h"

namespace bntt {

/// A figure that can be drawn from a run's document.
struct FigureEntry {
  std::string name;
  std::string content;
  /// The measurements it needs; all false: the run itself is enough.
  AnalysisParts needs;
};
const std::vector<FigureEntry>& figure_entries();
/// Throws Error for an unknown name and suggests the nearest known one.
const FigureEntry& figure_entry(const std::string& name);

/// The gnuplot script of a figure. `layer` is for the figures of one layer; empty: the first.
/// Throws Error if the run lacks what the figure shows.
std::string figure_script(const std::string& name, const Json& run, const std::string& layer,
                          PictureFormat format);

}  // namespace bntt
