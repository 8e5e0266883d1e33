#include "convert/convert.h"

#include <algorithm>
#include <numeric>

#include "base/fail.h"
#include "convert/activation_scales.h"
#include "convert/folding.h"
#include "convert/spiking_copy.h"
#include "convert/weighted_inputs.h"
#include "data/loader.h"
#include "train/break_even_table.h"
#include "train/evaluate.h"

namespace bntt {
namespace {

bool leaves_pixels(const ChannelStatistics& statistics) {
  return std::ranges::all_of(statistics.mean, [](float mean) { return mean == 0.0F; }) &&
         std::ranges::all_of(statistics.deviation, [](float d) { return d == 1.0F; });
}

/// One call of convert.
class ConversionRun {
 public:
  ConversionRun(const Network& ann, const EncoderSpec& encoder, const ConversionImages& images,
                const ConversionOptions& options, const std::string& origin)
      : method_(conversion_method(options.method)),
        options_(options),
        images_(images),
        origin_(origin),
        ann_encoder_(encoder) {
    expect_convertible(ann, origin);
    expect_fitting_options();
    ann_.emplace(without_norms(ann));
    encoder_ = {chosen_encoder(), encoder.normalisation};
    spiking_ = {.neuron = {.kind = "if",
                           .leak = 1.0F,
                           .fire = Fire::ge,
                           .reset = options.reset.value_or(method_.reset),
                           .floor = method_.floor},
                .steps = options.steps,
                .input_scale = encoder_.kind == EncoderKind::poisson_signed ? 2.0F : 1.0F,
                .pools_fire = method_.pools_fire,
                .scale_readout = !options.copy_readout && !method_.output_fires};
  }

  Conversion run() {
    const std::vector<float> thresholds = found_thresholds();
    double scale = options_.threshold_scale;
    std::vector<ScaleTrial> sweep;
    for (const double candidate : options_.sweep) {
      if (stopped_) break;
      sweep.push_back({candidate, validation_accuracy(thresholds, candidate)});
    }
    if (!sweep.empty()) {
      scale = std::ranges::max_element(sweep, {}, &ScaleTrial::accuracy)->threshold_scale;
    }
    Conversion result{.network = spiking(thresholds, scale),
                      .encoder = encoder_,
                      .threshold_scale = scale,
                      .sweep = std::move(sweep),
                      .stopped = stopped_};
    const std::vector<float> chosen = scaled(thresholds, scale);
    const std::vector<float> scales = scales_of(chosen, spiking_.input_scale);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      result.stages.push_back({ann_->stages()[i].name, chosen[i], scales[i + 1]});
    }
    return result;
  }

 private:
  void expect_fitting_options() const {
    if (ann_encoder_.kind != EncoderKind::direct) {
      fail("{}: cannot be converted: its encoder is {}, expected direct, the image itself", origin_,
           encoder_name(ann_encoder_.kind));
    }
    const bool calibrates = method_.rule != ThresholdRule::copied;
    if (calibrates &&
        (options_.calibration_images < 1 || options_.calibration_images > images_.train.size())) {
      fail("--calibration-images is {}, expected 1 to the {} training images",
           options_.calibration_images, images_.train.size());
    }
    const double percentile = options_.percentile.value_or(method_.percentile);
    if (!(percentile > 0.0 && percentile <= 100.0)) {
      fail("--percentile is {}, expected a number above 0 and at most 100", percentile);
    }
    if (!options_.sweep.empty() && images_.validation.size() == 0) {
      fail("{}: has no validation images, which --sweep needs", origin_);
    }
    for (const double scale : options_.sweep) expect_scale("--sweep", scale);
    expect_scale("--threshold-scale", options_.threshold_scale);
  }
  static void expect_scale(const char* option, double scale) {
    if (!(scale > 0.0 && scale <= 1e6)) {
      fail("{} has {}, expected a number above 0", option, scale);
    }
  }

  EncoderKind chosen_encoder() const {
    const bool pixels = leaves_pixels(ann_encoder_.normalisation);
    const EncoderKind poisson =
        pixels ? EncoderKind::poisson_unsigned : EncoderKind::poisson_signed;
    const EncoderKind kind =
        options_.encoder.value_or(method_.direct_input ? EncoderKind::direct : poisson);
    if (kind == EncoderKind::events) fail("--encoder is events, but the ANN reads images");
    if (kind == EncoderKind::poisson_unsigned && !pixels) {
      fail(
          "--encoder is poisson-unsigned, but the ANN reads normalised images: expected an ANN "
          "trained with data.mean 0 and data.deviation 1");
    }
    return kind;
  }

  std::vector<float> found_thresholds() {
    if (method_.rule == ThresholdRule::copied) {
      return std::vector<float>(ann_->stages().size() - 1, 1.0F);
    }
    constexpr int64_t kTogether = 32;
    Calibration calibration{
        .batches = calibration_batches(images_.images, images_.train, options_.calibration_images,
                                       options_.seed, kTogether),
        .encoder = encoder_,
        .seed = options_.seed,
        .percentile = options_.percentile.value_or(method_.percentile),
        .progress = [this](const std::string& what, int64_t done, int64_t of) {
          return tell(what, done, of);
        }};
    if (method_.rule == ThresholdRule::activations) {
      calibration.encoder = ann_encoder_;
      return thresholds_of_scales(activation_scales(*ann_, calibration, origin_),
                                  spiking_.input_scale);
    }
    SpikingOptions searched = spiking_;
    if (options_.calibration_steps > 0) searched.steps = options_.calibration_steps;
    const auto factor = static_cast<float>(options_.scaled_search ? options_.threshold_scale : 1.0);
    return balanced_thresholds(*ann_, searched, calibration, factor, origin_);
  }

  static std::vector<float> scaled(std::vector<float> thresholds, double scale) {
    for (float& threshold : thresholds) threshold *= static_cast<float>(scale);
    return thresholds;
  }

  Network spiking(const std::vector<float>& thresholds, double scale) const {
    SpikingOptions options = spiking_;
    if (method_.output_fires) options.output_threshold = static_cast<float>(scale);
    Network network = spiking_network(*ann_, options, scaled(thresholds, scale));
    network.set_break_even(formula_break_even(network.stages()));
    return network;
  }

  double validation_accuracy(const std::vector<float>& thresholds, double scale) {
    SampleRange range = images_.validation;
    range.end = std::min(range.end, range.begin + options_.calibration_images);
    const std::string what = fmt::format("thresholds times {:g}", scale);
    return evaluate(spiking(thresholds, scale), images_.images, range,
                    {.encoder = encoder_,
                     .seed = options_.seed,
                     .progress = [&](int64_t done) { return tell(what, done, range.size()); }})
        .accuracy();
  }

  bool tell(const std::string& what, int64_t done, int64_t of) {
    stopped_ = stopped_ || (options_.progress && options_.progress(what, done, of));
    return stopped_;
  }

  const ConversionMethod& method_;
  const ConversionOptions& options_;
  const ConversionImages& images_;
  const std::string& origin_;
  const EncoderSpec& ann_encoder_;
  std::optional<Network> ann_;  // without norms
  EncoderSpec encoder_;
  SpikingOptions spiking_;
  bool stopped_ = false;
};

}  // namespace

Conversion convert(const Network& ann, const EncoderSpec& encoder, const ConversionImages& images,
                   const ConversionOptions& options, const std::string& origin) {
  return ConversionRun(ann, encoder, images, options, origin).run();
}

}  // namespace bntt
