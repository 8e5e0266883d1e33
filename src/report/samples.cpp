#include "report/samples.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "data/loader.h"
#include "report/class_name.h"
#include "report/png.h"
#include "report/sample_picture.h"

namespace bntt {
namespace {

// One image of each class as long as there are classes, in the order of the set.
std::vector<int64_t> chosen_images(const Sample& sample, int64_t most) {
  std::vector<int64_t> chosen;
  std::set<int64_t> seen;
  for (int64_t i = sample.range.begin; i < sample.range.end; ++i) {
    if (static_cast<int64_t>(chosen.size()) == most) break;
    if (seen.insert(sample.images.labels[i]).second) chosen.push_back(i);
  }
  return chosen;
}

// 1, 2, 4, ... and all.
std::vector<int64_t> shown_steps(int64_t steps) {
  std::vector<int64_t> shown;
  for (int64_t count = 1; count < steps; count *= 2) shown.push_back(count);
  shown.push_back(steps);
  return shown;
}

uint8_t brightness(double value) {
  return static_cast<uint8_t>(std::lround(255.0 * std::clamp(value, 0.0, 1.0)));
}

/// Spikes of one image added up over the steps so far: [y, x, channel].
class Accumulation {
 public:
  Accumulation(const SpikeTrain& spikes, bool sum_channels)
      : spikes_(spikes),
        shape_{.channels = sum_channels ? 1 : spikes.shape().channels,
               .height = spikes.shape().height,
               .width = spikes.shape().width},
        sums_(shape_.size()) {}

  const MapShape& shape() const { return shape_; }
  const std::vector<double>& sums() const { return sums_; }
  double largest() const { return *std::max_element(sums_.begin(), sums_.end()); }

  void advance_to(int64_t step) {
    const MapShape& map = spikes_.shape();
    for (; step_ < step; ++step_) {
      for (int64_t y = 0; y < map.height; ++y) {
        for (int64_t x = 0; x < map.width; ++x) {
          for (int64_t c = 0; c < map.channels; ++c) {
            const int64_t channel = shape_.channels == 1 ? 0 : c;
            sums_[(y * map.width + x) * shape_.channels + channel] +=
                spikes_.value(step_, 0, y, x, c);
          }
        }
      }
    }
  }

 private:
  const SpikeTrain& spikes_;
  MapShape shape_;
  std::vector<double> sums_;
  int64_t step_ = 0;
};

Json drawn(const Accumulation& sum, int64_t steps, double low, double high) {
  std::vector<uint8_t> pixels;
  pixels.reserve(sum.sums().size());
  for (const double value : sum.sums()) pixels.push_back(brightness((value - low) / (high - low)));
  return {{"steps", steps}, {"image", png_data_uri(pixels, sum.shape())}};
}

Json recorded_events(const Sample& sample, int64_t image, int64_t steps) {
  Json pictures = Json::array();
  for (const int64_t shown : shown_steps(steps)) {
    pictures.push_back({{"steps", shown}, {"image", sample_picture(sample.images, image, shown)}});
  }
  return pictures;
}

// Mean spikes per step, which approach the image; signed ones from -1 (black) to +1 (white).
Json input_spikes(const SpikeTrain& spikes) {
  const bool with_sign = spikes.planes() > 1;
  Json pictures = Json::array();
  Accumulation sum(spikes, false);
  for (const int64_t steps : shown_steps(spikes.steps())) {
    sum.advance_to(steps);
    const auto most = static_cast<double>(steps);
    pictures.push_back(drawn(sum, steps, with_sign ? -most : 0.0, most));
  }
  return pictures;
}

// All channels of the first stage together; white is the busiest pixel after the last step.
Json stage_spikes(const SpikeTrain& spikes) {
  Accumulation all(spikes, true);
  all.advance_to(spikes.steps());
  const double most = std::max(1.0, all.largest());
  Json pictures = Json::array();
  Accumulation sum(spikes, true);
  for (const int64_t steps : shown_steps(spikes.steps())) {
    sum.advance_to(steps);
    pictures.push_back(drawn(sum, steps, 0.0, most));
  }
  return pictures;
}

Json accumulated(Network& network, const Sample& sample, int64_t image) {
  if (sample.encoder.kind == EncoderKind::events) {
    return recorded_events(sample, image, active_steps(network.spec()));
  }
  const EvalLoader loader(sample.images, {image, image + 1}, 1);
  Signal input = encode(loader.batch(0), active_steps(network.spec()), sample.encoder, sample.seed,
                        kEvaluationEpoch);
  if (const auto* spikes = std::get_if<SpikeTrain>(&input)) return input_spikes(*spikes);
  const Trace trace = network.forward(std::move(input), NormMode::running);
  const auto* spikes = std::get_if<SpikeTrain>(&trace.stages.front().output);
  const bool map = spikes != nullptr && spikes->shape().pixels() > 1;
  return map ? stage_spikes(*spikes) : Json::array();
}

std::string source_text(const Network& network, const Sample& sample) {
  switch (sample.encoder.kind) {
    case EncoderKind::poisson_unsigned:
      return "input spikes per step so far";
    case EncoderKind::poisson_signed:
      return "input spikes per step so far, from −1 (black) to +1 (white)";
    case EncoderKind::events:
      return "events so far, red where it became brighter, blue where it became darker";
    case EncoderKind::direct:
      break;
  }
  return fmt::format("spikes of {} so far, all channels together (the input itself is not spikes)",
                     network.stages().front().name);
}

}  // namespace

Json samples_document(Network& network, const Sample& sample,
                      const std::vector<int64_t>& predictions, int64_t most) {
  Json samples = Json::array();
  for (const int64_t i : chosen_images(sample, most)) {
    samples.push_back(
        {{"truth", class_name(sample.images, sample.images.labels[i])},
         {"predicted", class_name(sample.images, predictions.at(i - sample.range.begin))},
         {"image", sample_picture(sample.images, i)},
         {"accumulated", accumulated(network, sample, i)}});
  }
  return {{"source", source_text(network, sample)}, {"samples", samples}};
}

}  // namespace bntt
