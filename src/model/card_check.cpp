#include "model/card_check.h"

#include "base/fail.h"

namespace bntt {

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
}

void expect_card_fits(const ModelCard& card, const NetworkSpec& spec) {
  const int64_t classes = classes_of(spec);
  if (!card.class_names.empty() && std::ssize(card.class_names) != classes) {
    fail("model: {} class names for a network of {} classes", card.class_names.size(), classes);
  }
  expect_input_fits(card.input, spec);
}

}  // namespace bntt
