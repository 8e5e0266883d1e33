#include "report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bntt {
namespace {

// In single quotes gnuplot interprets no escapes and runs no commands; a quote that could end them
// is drawn as an apostrophe.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) continue;
    if (c == '\'') {
      result += "’";
    } else {
      result += c;
    }
  }
  return result + "'";
}

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string("NaN");
}

std::string terminal(PictureFormat format) {
  return format == PictureFormat::svg
             ? "set terminal svg noenhanced size 720,400 font 'sans-serif,13' background "
               "'#ffffff'\n"
             : "set terminal pngcairo noenhanced size 1440,800 font 'sans,13' fontscale 1.5 "
               "linewidth 1.8 pointscale 1.6 background '#ffffff'\n";
}

std::string frame(const std::string& x_label, const std::string& y_label, PictureFormat format) {
  return terminal(format) +
         "set border 3 linecolor '#8a93a3'\n"
         "set tics nomirror textcolor '#5b6474'\n"
         "set grid linecolor '#e2e5ea' linetype 1\n"
         "set key outside right top reverse Left samplen 2 spacing 1.25 textcolor '#1b2230'\n"
         "set style fill solid noborder\n" +
         fmt::format("set xlabel {} textcolor '#5b6474'\nset ylabel {} textcolor '#5b6474'\n",
                     quoted(x_label), quoted(y_label));
}

std::string data_block(std::size_t index, const std::vector<FigurePoint>& points) {
  std::string text = fmt::format("$data{} << END\n", index);
  for (const FigurePoint& point : points) {
    text += fmt::format("{} {}\n", number(point.x), number(point.y));
  }
  return text + "END\n";
}

std::string line_style(const FigureSeries& series) {
  const char* kind = series.stairs ? "steps" : (series.marks ? "linespoints" : "lines");
  return fmt::format("with {} linecolor rgb {} linewidth {} dashtype {}{}", kind,
                     quoted(series.colour), series.dashed ? 1.5 : 2, series.dashed ? 2 : 1,
                     series.marks && !series.stairs ? " pointtype 7 pointsize 0.5" : "");
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

double largest_x(const LineFigure& figure) {
  double largest = 0.0;
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) largest = std::max(largest, point.x);
  }
  return largest;
}

}  // namespace

std::string plot_script(const LineFigure& figure, PictureFormat format) {
  std::string script = frame(figure.x_label, figure.y_label, format);
  if (figure.from_zero) script += "set yrange [0:*]\n";
  script += "set autoscale xfix\n";
  if (figure.logarithmic_x) script += "set logscale x\n";
  if (figure.logarithmic_y) script += "set logscale y\nset format y '%g'\n";
  if (!figure.x_names.empty()) {
    std::vector<std::string> ticks;
    for (const std::string& name : figure.x_names) {
      ticks.push_back(fmt::format("{} {}", quoted(name), ticks.size() + 1));
    }
    script += fmt::format("set xtics ({})\n", joined(ticks));
  }
  if (!figure.right_label.empty()) {
    script += fmt::format(
        "set border 11\nset y2tics\nset y2range [0:*]\nset y2label {} textcolor '#5b6474'\n",
        quoted(figure.right_label));
  }
  if (figure.shaded_from) {
    script += fmt::format(
        "set object 1 rectangle from {}, graph 0 to {}, graph 1 fillcolor rgb '#2457c5' "
        "fillstyle transparent solid 0.12 noborder behind\n",
        number(*figure.shaded_from), number(largest_x(figure)));
  }
  std::vector<std::string> plots;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const FigureSeries& series = figure.series[i];
    script += data_block(i, series.points);
    plots.push_back(fmt::format("$data{} using 1:2 axes {} {} title {}", i,
                                series.right ? "x1y2" : "x1y1", line_style(series),
                                quoted(series.label)));
  }
  return script + "plot " + joined(plots) + "\n";
}

std::string plot_script(const BarFigure& figure, PictureFormat format) {
  std::string script = frame(figure.x_label, figure.y_label, format);
  double smallest = 1.0;
  double largest = 0.0;
  std::vector<std::string> ticks;
  std::vector<std::string> plots;
  for (std::size_t i = 0; i < figure.bars.size(); ++i) {
    const FigureBar& bar = figure.bars[i];
    if (bar.value > 0.0) smallest = std::min(smallest, bar.value);
    ticks.push_back(fmt::format("{} {}", quoted(bar.label), i));
    script += data_block(i, {{static_cast<double>(i), bar.value}});
    plots.push_back(
        fmt::format("$data{0} using 1:2 with boxes linecolor rgb {1}, $data{0} using "
                    "1:2:(sprintf('%.2g', $2)) with labels offset 0,0.6 textcolor '#1b2230'",
                    i, quoted(bar.colour)));
    largest = std::max(largest, bar.value);
  }
  // Ticks at 1, 2, 5 of every power of ten: ticks at powers alone would not show where a bar ends.
  const double bottom = std::pow(10.0, std::floor(std::log10(smallest / 1.5)));
  std::vector<std::string> value_ticks;
  for (double power = bottom; power <= largest; power *= 10.0) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      value_ticks.push_back(fmt::format("'{0:.6g}' {0:.6g}", digit * power));
    }
  }
  script += fmt::format(
      "set logscale y\nset yrange [{}:{}]\nset xrange [-0.6:{}]\nset boxwidth 0.6\nunset key\n"
      "set xtics ({})\nset ytics ({})\n",
      number(bottom), number(std::max(largest, smallest) * 1.6),
      static_cast<double>(figure.bars.size()) - 0.4, joined(ticks), joined(value_ticks));
  return script + "plot " + joined(plots) + "\n";
}

std::string plot_script(const RidgeFigure& figure, PictureFormat format) {
  constexpr double kHighest = 2.6;  // how far the highest peak extends over its neighbours
  std::string script = frame(figure.x_label, figure.y_label, format);
  double peak = 1e-9;
  for (const FigureSeries& ridge : figure.ridges) {
    for (const FigurePoint& point : ridge.points) peak = std::max(peak, point.y);
  }
  std::vector<std::string> ticks;
  std::vector<std::string> plots;
  for (std::size_t i = 0; i < figure.ridges.size(); ++i) {
    const FigureSeries& ridge = figure.ridges[i];
    const auto foot = static_cast<double>(figure.ridges.size() - 1 - i);
    ticks.push_back(fmt::format("{} {}", quoted(ridge.label), number(foot)));
    std::vector<FigurePoint> raised = ridge.points;
    for (FigurePoint& point : raised) point.y = foot + kHighest * point.y / peak;
    script += data_block(i, raised);
    plots.push_back(
        fmt::format("$data{0} using 1:2:({1}) with filledcurves fillcolor rgb {2} fillstyle "
                    "transparent solid 0.45 noborder, $data{0} using 1:2 with lines linecolor rgb "
                    "{2} linewidth 1.3",
                    i, number(foot), quoted(ridge.colour)));
  }
  script += fmt::format(
      "unset key\nset autoscale xfix\nset ytics ({})\nset yrange [0:{}]\nset grid noytics\n",
      joined(ticks), number(static_cast<double>(figure.ridges.size()) - 1.0 + kHighest + 0.1));
  return script + "plot " + joined(plots) + "\n";
}

}  // namespace bntt
