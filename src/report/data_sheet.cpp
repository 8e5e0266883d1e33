#include "report/data_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "bntt/encoder.h"
#include "data/loader.h"
#include "report/class_name.h"

namespace bntt {
namespace {

std::string label_of(const ImageSet& set, int64_t sample) {
  return class_name(set, set.labels[static_cast<std::size_t>(sample)]);
}

/// counts: [frame, y, x, polarity]
std::span<const uint8_t> frame_of(std::span<const uint8_t> counts, const MapShape& shape,
                                  int64_t frame) {
  const auto size = static_cast<std::size_t>(shape.size());
  return counts.subspan(static_cast<std::size_t>(frame) * size, size);
}

/// Close to the largest count of a recording: a few constantly active pixels would hide all others.
uint8_t peak_of(std::span<const uint8_t> counts) {
  std::array<int64_t, 256> pixels{};
  for (const uint8_t count : counts) ++pixels[count];
  int64_t active = 0;
  for (std::size_t count = 1; count < pixels.size(); ++count) active += pixels[count];
  int64_t above = active / 100;
  for (std::size_t count = 255; count > 1; --count) {
    above -= pixels[count];
    if (above < 0) return static_cast<uint8_t>(count);
  }
  return 1;
}

std::vector<int64_t> milestones(int64_t steps) {
  std::vector<int64_t> result;
  for (const int64_t milestone : {1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500}) {
    if (milestone < steps) result.push_back(milestone);
  }
  result.push_back(steps);
  return result;
}

Picture accumulated_picture(const std::vector<int32_t>& sums, int64_t steps,
                            const MapShape& shape) {
  std::vector<uint8_t> rates;
  rates.reserve(sums.size());
  for (const int32_t sum : sums) {
    rates.push_back(static_cast<uint8_t>((255L * sum + steps / 2) / steps));
  }
  return image_picture(rates, shape);
}

}  // namespace

std::vector<int64_t> spread_over_classes(const ImageSet& set, int64_t count, int64_t skip) {
  std::vector<std::vector<int64_t>> of_class(static_cast<std::size_t>(set.classes));
  for (int64_t sample = 0; sample < set.size(); ++sample) {
    of_class[static_cast<std::size_t>(set.labels[static_cast<std::size_t>(sample)])].push_back(
        sample);
  }
  std::vector<int64_t> samples;
  for (auto round = static_cast<std::size_t>(skip); static_cast<int64_t>(samples.size()) < count;
       ++round) {
    const std::size_t before = samples.size();
    for (const std::vector<int64_t>& members : of_class) {
      if (round < members.size() && static_cast<int64_t>(samples.size()) < count) {
        samples.push_back(members[round]);
      }
    }
    if (samples.size() == before) break;
  }
  return samples;
}

GridSheet image_sheet(const ImageSet& set, const std::vector<int64_t>& samples,
                      const std::string& title) {
  GridSheet sheet{.title = title, .cells = {}};
  std::vector<uint8_t> scratch;
  for (const int64_t sample : samples) {
    sheet.cells.push_back(
        {image_picture(set.sample(sample, scratch), set.shape), label_of(set, sample)});
  }
  return sheet;
}

StripSheet event_sheet(const ImageSet& set, const std::vector<int64_t>& samples,
                       const std::string& title) {
  StripSheet sheet{.title = title,
                   .note =
                       "events of each interval: red where it became brighter, blue where it "
                       "became darker",
                   .headings = {},
                   .rows = {}};
  for (int64_t frame = 1; frame <= set.frames; ++frame) {
    sheet.headings.push_back(std::to_string(frame));
  }
  std::vector<uint8_t> scratch;
  for (const int64_t sample : samples) {
    StripSheet::Row row{.label = label_of(set, sample), .pictures = {}};
    const std::span<const uint8_t> counts = set.sample(sample, scratch);
    const uint8_t peak = peak_of(counts);
    for (int64_t frame = 0; frame < set.frames; ++frame) {
      row.pictures.push_back(event_picture(frame_of(counts, set.shape, frame), set.shape, peak));
    }
    sheet.rows.push_back(std::move(row));
  }
  return sheet;
}

StripSheet spike_sheet(const ImageSet& set, const std::vector<int64_t>& samples,
                       const std::string& title, const SpikeSheetOptions& options) {
  const std::vector<int64_t> shown = milestones(options.steps);
  StripSheet sheet{.title = title,
                   .note = "Poisson spikes added up over the steps, divided by their number",
                   .headings = {"image"},
                   .rows = {}};
  for (const int64_t steps : shown) {
    sheet.headings.push_back(fmt::format("{} step{}", steps, steps == 1 ? "" : "s"));
  }
  std::vector<uint8_t> scratch;
  for (const int64_t sample : samples) {
    StripSheet::Row row{.label = label_of(set, sample), .pictures = {}};
    row.pictures.push_back(image_picture(set.sample(sample, scratch), set.shape));
    const Batch batch = EvalLoader(set, {sample, sample + 1}, 1).batch(0);
    std::vector<int32_t> sums(static_cast<std::size_t>(set.shape.size()));
    int64_t done = 0;
    for (const int64_t steps : shown) {
      const auto spikes =
          std::get<SpikeTrain>(encode(batch, steps - done, {.kind = EncoderKind::poisson_unsigned},
                                      options.seed, kEvaluationEpoch, done));
      for (int64_t step = 0; step < spikes.steps(); ++step) {
        for (int64_t i = 0; i < set.shape.size(); ++i) {
          const int64_t pixel = i / set.shape.channels;
          sums[static_cast<std::size_t>(i)] += static_cast<int32_t>(spikes.value(
              step, 0, pixel / set.shape.width, pixel % set.shape.width, i % set.shape.channels));
        }
      }
      done = steps;
      row.pictures.push_back(accumulated_picture(sums, steps, set.shape));
    }
    sheet.rows.push_back(std::move(row));
  }
  return sheet;
}

}  // namespace bntt
