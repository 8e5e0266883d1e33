#include "experiment/rate_coding.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "bntt/encoder.h"
#include "data/loader.h"
#include "report/class_name.h"
#include "report/contact_sheet.h"
#include "train/model_card.h"

namespace bntt {
namespace {

constexpr int64_t kImages = 4;

// 1, 2, 4, ... and the last.
std::vector<int64_t> shown_steps(int64_t steps) {
  std::vector<int64_t> shown;
  for (int64_t count = 1; count < steps; count *= 2) shown.push_back(count);
  shown.push_back(steps);
  return shown;
}

/// Mean spikes per step over the first `steps`; signed ones from -1 (black) to +1 (white).
Picture sum_picture(const SpikeTrain& spikes, int64_t image, int64_t steps) {
  const MapShape& shape = spikes.shape();
  const bool with_sign = spikes.planes() > 1;
  std::vector<uint8_t> pixels;
  for (int64_t y = 0; y < shape.height; ++y) {
    for (int64_t x = 0; x < shape.width; ++x) {
      for (int64_t c = 0; c < shape.channels; ++c) {
        double sum = 0.0;
        for (int64_t step = 0; step < steps; ++step) sum += spikes.value(step, image, y, x, c);
        const double mean = sum / static_cast<double>(steps);
        const double bright = with_sign ? 0.5 * (mean + 1.0) : mean;
        pixels.push_back(static_cast<uint8_t>(std::lround(255.0 * std::clamp(bright, 0.0, 1.0))));
      }
    }
  }
  return image_picture(pixels, shape);
}

}  // namespace

std::vector<uint8_t> rate_coding_sheet(const RunConfig& config) {
  DatasetOptions options = dataset_options(config);
  options.need_train = false;
  options.limit_test = kImages;
  const DatasetSplits data = open_dataset(config.data.name, config.data.dir, options);
  const int64_t steps = config.network ? config.network->steps : config.model.steps;
  const EvalLoader loader(data.test, data.test.size());
  const Batch batch = loader.batch(0);
  const Signal input = encode(batch, steps, encoder_for(config, data),
                              static_cast<uint64_t>(config.train.seed), kEvaluationEpoch);
  const auto* spikes = std::get_if<SpikeTrain>(&input);
  if (spikes == nullptr || data.test.kind == SampleKind::events) {
    fail("rate-coding: the input of {} by the encoder {} is not rate-coded", config.data.name,
         encoder_name(config.encoder.kind));
  }
  StripSheet sheet{.title = fmt::format("Rate coding, {}", encoder_name(config.encoder.kind)),
                   .note = "Mean of the input spikes after 1, 2, 4, ... steps.",
                   .headings = {"image"},
                   .rows = {}};
  for (const int64_t count : shown_steps(steps)) sheet.headings.push_back(fmt::format("{}", count));
  std::vector<uint8_t> scratch;
  for (int64_t image = 0; image < data.test.size(); ++image) {
    StripSheet::Row row{.label = class_name(data.test, data.test.labels[image]), .pictures = {}};
    row.pictures.push_back(image_picture(data.test.sample(image, scratch), data.test.shape));
    for (const int64_t count : shown_steps(steps)) {
      row.pictures.push_back(sum_picture(*spikes, image, count));
    }
    sheet.rows.push_back(std::move(row));
  }
  return draw_png(sheet);
}

}  // namespace bntt
