#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bntt {

struct FigurePoint {
  double x = 0.0;
  double y = 0.0;
};

struct FigureSeries {
  std::string label;
  std::string colour;  ///< "#rrggbb"
  std::vector<FigurePoint> points;
  bool dashed = false;
  bool marks = true;    ///< a dot at every point
  bool right = false;   ///< uses the right-hand scale
  bool stairs = false;  ///< keeps its value until the next point
};

/// Lines in a frame.
struct LineFigure {
  std::string x_label;
  std::string y_label;
  std::string right_label;  ///< empty: no right-hand scale
  bool from_zero = true;    ///< the left scale begins at 0
  bool logarithmic_x = false;
  bool logarithmic_y = false;
  std::vector<std::string> x_names;  ///< for x = 1, 2, ...; empty: numbers
  std::vector<FigureSeries> series;
  std::optional<double> shaded_from;  ///< to the right end: the steps that are skipped
};

struct FigureBar {
  std::string label;
  std::string colour;
  double value = 0.0;
};

/// One bar per name on a logarithmic scale.
struct BarFigure {
  std::string x_label;
  std::string y_label;
  std::vector<FigureBar> bars;
};

/// Curves one behind the other, the first at the top.
struct RidgeFigure {
  std::string x_label;
  std::string y_label;
  std::vector<FigureSeries> ridges;  ///< heights relative to 0; the label is at the base
};

enum class PictureFormat { svg, png };

/// gnuplot scripts whose output is the picture. The text of a label is drawn, never executed.
std::string plot_script(const LineFigure& figure, PictureFormat format);
std::string plot_script(const BarFigure& figure, PictureFormat format);
std::string plot_script(const RidgeFigure& figure, PictureFormat format);

}  // namespace bntt
