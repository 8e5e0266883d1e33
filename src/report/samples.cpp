#include "report/samples.h"

#include <set>

#include "data/loader.h"
#include "report/accumulation.h"
#include "report/class_name.h"
#include "report/sample_picture.h"

namespace bntt {
namespace {

// One image per class while there are classes, in the order of the set.
std::vector<int64_t> chosen_images(const Sample& sample, int64_t most) {
  std::vector<int64_t> chosen;
  std::set<int64_t> seen;
  for (int64_t i = sample.range.begin; i < sample.range.end; ++i) {
    if (static_cast<int64_t>(chosen.size()) == most) break;
    if (seen.insert(sample.images.labels[i]).second) chosen.push_back(i);
  }
  return chosen;
}

Json recorded_events(const Sample& sample, int64_t image, int64_t steps) {
  Json pictures = Json::array();
  for (const int64_t shown : shown_steps(steps)) {
    pictures.push_back({{"steps", shown}, {"image", sample_picture(sample.images, image, shown)}});
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
  if (const auto* spikes = std::get_if<SpikeTrain>(&input)) return accumulated_input(*spikes);
  const Trace trace = network.forward(std::move(input), NormMode::running);
  const auto* spikes = std::get_if<SpikeTrain>(&trace.stages.front().output);
  const bool map = spikes != nullptr && spikes->shape().pixels() > 1;
  return map ? accumulated_stage(*spikes) : Json::array();
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
