#include "report/contact_sheet.h"

#include <cairo.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "base/fail.h"

namespace bntt {
namespace {

constexpr double kMargin = 16;
constexpr double kGap = 8;
constexpr double kTitleSize = 15;
constexpr double kTextSize = 11;
constexpr double kTitleHeight = 30;
constexpr double kLineHeight = 18;
constexpr double kLabelWidth = 96;
constexpr int64_t kPictureSide = 84;  // pictures are enlarged to about this size
constexpr double kLargestSide = 30000;

enum class Align { left, centre, right };

/// Labels come from file and folder names, and cairo rejects text that is not UTF-8.
std::string valid_text(std::string_view text) {
  std::string valid;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    bool whole = length > 0 && i + length <= text.size() && lead >= 0x20 && lead != 0x7F;
    for (std::size_t k = 1; whole && k < length; ++k) {
      whole = (static_cast<unsigned char>(text[i + k]) & 0xC0) == 0x80;
    }
    // Overlong forms, surrogates and code points beyond Unicode.
    const auto second = static_cast<unsigned char>(whole && length > 2 ? text[i + 1] : '\0');
    if (whole && ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                  (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))) {
      whole = false;
    }
    valid += whole ? text.substr(i, length) : "?";
    i += whole ? length : 1;
  }
  return valid;
}

class Canvas {
 public:
  Canvas(double width, double height)
      : surface_(nullptr, cairo_surface_destroy), context_(nullptr, cairo_destroy) {
    if (width > kLargestSide || height > kLargestSide) {
      fail(
          "a sheet of {:.0f}x{:.0f} pixels is too large, expected at most {:.0f} on each side; "
          "show fewer samples",
          width, height, kLargestSide);
    }
    surface_.reset(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width),
                                              static_cast<int>(height)));
    context_.reset(cairo_create(surface_.get()));
    cairo_set_source_rgb(context_.get(), 1, 1, 1);
    cairo_paint(context_.get());
    cairo_select_font_face(context_.get(), "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           CAIRO_FONT_WEIGHT_NORMAL);
  }

  /// One line, its baseline at `y`, cut to `width` if it is longer.
  void text(double x, double y, double width, std::string_view words, double size,
            Align align = Align::left, double grey = 0.1) {
    cairo_set_font_size(context_.get(), size);
    cairo_set_source_rgb(context_.get(), grey, grey, grey);
    std::string line = valid_text(words);
    if (advance(line) > width) {
      while (!line.empty() && advance(line + "…") > width) {
        while ((static_cast<unsigned char>(line.back()) & 0xC0) == 0x80) line.pop_back();
        line.pop_back();
      }
      line += "…";
    }
    const double spare = width - advance(line);
    const double shift = align == Align::left ? 0 : align == Align::centre ? spare / 2 : spare;
    cairo_move_to(context_.get(), x + shift, y);
    cairo_show_text(context_.get(), line.c_str());
  }

  void picture(int64_t left, int64_t top, const Picture& picture, int64_t scale) {
    const int64_t width = picture.width * scale;
    const int64_t height = picture.height * scale;
    cairo_surface_flush(surface_.get());
    unsigned char* pixels = cairo_image_surface_get_data(surface_.get());
    const int64_t stride = cairo_image_surface_get_stride(surface_.get());
    for (int64_t y = 0; y < height; ++y) {
      auto* row = reinterpret_cast<uint32_t*>(pixels + (top + y) * stride) + left;
      for (int64_t x = 0; x < width; ++x) {
        const uint8_t* rgb = picture.pixels.data() + 3 * ((y / scale) * picture.width + x / scale);
        row[x] = static_cast<uint32_t>(rgb[0]) << 16 | static_cast<uint32_t>(rgb[1]) << 8 | rgb[2];
      }
    }
    cairo_surface_mark_dirty(surface_.get());
    // A frame, without which a white picture would have no edge.
    cairo_set_source_rgb(context_.get(), 0.75, 0.75, 0.75);
    cairo_set_line_width(context_.get(), 1);
    cairo_rectangle(context_.get(), static_cast<double>(left) - 0.5, static_cast<double>(top) - 0.5,
                    static_cast<double>(width) + 1, static_cast<double>(height) + 1);
    cairo_stroke(context_.get());
  }

  std::vector<uint8_t> png() {
    BNTT_CHECK(cairo_status(context_.get()) == CAIRO_STATUS_SUCCESS);
    std::vector<uint8_t> bytes;
    const auto append = [](void* out, const unsigned char* data, unsigned int size) {
      auto* target = static_cast<std::vector<uint8_t>*>(out);
      target->insert(target->end(), data, data + size);
      return CAIRO_STATUS_SUCCESS;
    };
    BNTT_CHECK(cairo_surface_write_to_png_stream(surface_.get(), append, &bytes) ==
               CAIRO_STATUS_SUCCESS);
    return bytes;
  }

 private:
  double advance(const std::string& line) {
    cairo_text_extents_t extents{};
    cairo_text_extents(context_.get(), line.c_str(), &extents);
    return extents.x_advance;
  }

  std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface_;
  std::unique_ptr<cairo_t, decltype(&cairo_destroy)> context_;
};

int64_t scale_of(const Picture& picture) {
  const int64_t side = std::max<int64_t>({1, picture.width, picture.height});
  return std::max<int64_t>(1, (kPictureSide + side / 2) / side);
}

int64_t place(double position) { return static_cast<int64_t>(position); }

}  // namespace

std::vector<uint8_t> draw_png(const GridSheet& sheet) {
  BNTT_CHECK(!sheet.cells.empty() && sheet.columns > 0);
  const Picture& first = sheet.cells.front().picture;
  const int64_t scale = scale_of(first);
  const auto width = static_cast<double>(first.width * scale);
  const auto height = static_cast<double>(first.height * scale);
  const auto cells = static_cast<int64_t>(sheet.cells.size());
  const int64_t columns = std::min(sheet.columns, cells);
  const int64_t rows = (cells + columns - 1) / columns;
  const double step_x = width + kGap;
  const double step_y = height + kLineHeight + kGap;
  Canvas canvas(2 * kMargin + static_cast<double>(columns) * step_x - kGap,
                kMargin + kTitleHeight + static_cast<double>(rows) * step_y - kGap + kMargin);
  canvas.text(kMargin, kMargin + kTitleSize, static_cast<double>(columns) * step_x - kGap,
              sheet.title, kTitleSize);
  for (int64_t i = 0; i < cells; ++i) {
    const GridSheet::Cell& cell = sheet.cells[static_cast<std::size_t>(i)];
    BNTT_CHECK(cell.picture.width == first.width && cell.picture.height == first.height);
    const double x = kMargin + static_cast<double>(i % columns) * step_x;
    const double y = kMargin + kTitleHeight + static_cast<double>(i / columns) * step_y;
    canvas.picture(place(x), place(y), cell.picture, scale);
    canvas.text(x - kGap / 2, y + height + kTextSize + 3, width + kGap, cell.caption, kTextSize,
                Align::centre, 0.25);
  }
  return canvas.png();
}

std::vector<uint8_t> draw_png(const StripSheet& sheet) {
  BNTT_CHECK(!sheet.rows.empty() && !sheet.headings.empty());
  const Picture& first = sheet.rows.front().pictures.front();
  const int64_t scale = scale_of(first);
  const auto width = static_cast<double>(first.width * scale);
  const auto height = static_cast<double>(first.height * scale);
  const auto columns = static_cast<double>(sheet.headings.size());
  const auto rows = static_cast<double>(sheet.rows.size());
  const double step_x = width + kGap;
  const double step_y = height + kGap;
  const double left = kMargin + kLabelWidth;
  const double note_height = sheet.note.empty() ? 0 : kLineHeight;
  const double headings_y = kMargin + kTitleHeight + note_height;
  const double top = headings_y + kLineHeight;
  const double text_width = kLabelWidth + columns * step_x - kGap;
  Canvas canvas(left + columns * step_x - kGap + kMargin, top + rows * step_y - kGap + kMargin);
  canvas.text(kMargin, kMargin + kTitleSize, text_width, sheet.title, kTitleSize);
  canvas.text(kMargin, kMargin + kTitleHeight + kTextSize - 2, text_width, sheet.note, kTextSize,
              Align::left, 0.35);
  for (std::size_t column = 0; column < sheet.headings.size(); ++column) {
    canvas.text(left + static_cast<double>(column) * step_x - kGap / 2, headings_y + kTextSize,
                width + kGap, sheet.headings[column], kTextSize, Align::centre, 0.25);
  }
  double y = top;
  for (const StripSheet::Row& row : sheet.rows) {
    BNTT_CHECK(row.pictures.size() == sheet.headings.size());
    canvas.text(kMargin, y + (height + kTextSize) / 2 - 1, kLabelWidth - kGap, row.label, kTextSize,
                Align::right);
    double x = left;
    for (const Picture& picture : row.pictures) {
      BNTT_CHECK(picture.width == first.width && picture.height == first.height);
      canvas.picture(place(x), place(y), picture, scale);
      x += step_x;
    }
    y += step_y;
  }
  return canvas.png();
}

}  // namespace bntt
