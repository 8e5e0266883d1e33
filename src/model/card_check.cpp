#include "model/card_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/enums.h"
#include "base/fail.h"
#include "model/model_file.h"

namespace bntt {
namespace {

void expect_events(const FrameOptions& events, bool used) {
  expect_enum("model", "events.interval", events.interval, "Interval");
  const int64_t fewest = used ? 1 : 0;
  if (events.frames < fewest || events.frames > kMostEventFrames) {
    fail("model: events.frames is {}, expected {} to {}", events.frames, fewest, kMostEventFrames);
  }
  if (events.bin_us < 0) {
    fail("model: events.bin_us is {}, expected at least 0", events.bin_us);
  }
}

void expect_training(const TrainingRecord& training) {
  if (training.epochs < 0 || training.validation_images < 0) {
    fail("model: trained {} epochs and validated with {} images, expected at least 0 of each",
         training.epochs, training.validation_images);
  }
  const double accuracy = training.validation_accuracy.value_or(0.0);
  if (!(accuracy >= 0.0 && accuracy <= 100.0)) {
    fail("model: the validation accuracy is {}, expected 0 to 100 per cent", accuracy);
  }
}

}  // namespace

void expect_input_fits(const InputSpec& input, const NetworkSpec& spec) {
  const EncoderSpec& encoder = input.encoder;
  const std::string_view name = encoder_name(encoder.kind);  // throws for an unknown encoder
  const bool normalises =
      encoder.kind == EncoderKind::direct || encoder.kind == EncoderKind::poisson_signed;
  const auto complete = [&](const std::vector<float>& values) {
    return std::ssize(values) == spec.input.channels;
  };
  if (normalises &&
      !(complete(encoder.normalisation.mean) && complete(encoder.normalisation.deviation))) {
    fail(
        "model: the encoder {} takes a mean and a deviation for each of {} channels, but has {} "
        "and {}",
        name, spec.input.channels, encoder.normalisation.mean.size(),
        encoder.normalisation.deviation.size());
  }
  for (const float mean : encoder.normalisation.mean) {
    if (!std::isfinite(mean)) fail("model: a mean is {}, expected a finite number", mean);
  }
  for (const float deviation : encoder.normalisation.deviation) {
    if (!std::isfinite(deviation) || (normalises && deviation <= 0.0F)) {
      fail("model: a deviation is {}, expected a number above 0", deviation);
    }
  }
  if (input.seed > uint64_t{std::numeric_limits<int64_t>::max()}) {
    fail("model: the seed is {}, expected less than 2^63", input.seed);
  }
  expect_enum("model", "fit", input.fit, "Fit");
  expect_events(input.events, encoder.kind == EncoderKind::events);
}

void expect_card_fits(const ModelCard& card, const NetworkSpec& spec) {
  const int64_t classes = classes_of(spec);
  if (!card.class_names.empty() && std::ssize(card.class_names) != classes) {
    fail("model: {} class names for a network of {} classes", card.class_names.size(), classes);
  }
  expect_input_fits(card.input, spec);
  expect_training(card.training);
  try {
    (void)card_json(card).dump();
  } catch (const nlohmann::json::exception&) {
    fail("model: a class name or another text of the card is not valid UTF-8");
  }
}

}  // namespace bntt
