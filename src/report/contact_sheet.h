#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/pictures.h"

namespace bntt {

/// Pictures side by side, each with its caption below.
struct GridSheet {
  struct Cell {
    Picture picture;
    std::string caption;
  };

  std::string title;
  int64_t columns = 10;
  std::vector<Cell> cells;
};

/// One row per sample: its label, then related pictures under common headings.
struct StripSheet {
  struct Row {
    std::string label;
    std::vector<Picture> pictures;
  };

  std::string title;
  std::string note;  ///< how to read the sheet
  std::vector<std::string> headings;
  std::vector<Row> rows;
};

/// The sheet as a PNG file. Small pictures are enlarged by integer factors, so that each of their
/// pixels stays a square. All pictures of a sheet have the same size. Throws Error for a sheet that
/// is too large to draw.
std::vector<uint8_t> draw_png(const GridSheet& sheet);
std::vector<uint8_t> draw_png(const StripSheet& sheet);

}  // namespace bntt
