#include "report/explanation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "data/dataset.h"
#include "report/accumulation.h"
#include "report/page.h"
#include "report/png.h"
#include "report/sample_picture.h"

namespace bntt {
namespace {

constexpr int64_t kShownClasses = 5;
constexpr int64_t kShownNeurons = 256;

/// The sample as a data set of one.
ImageSet set_of(const Batch& sample) {
  const bool events = !sample.counts.empty();
  std::vector<uint8_t> bytes;
  if (events) {
    bytes.assign(sample.counts.begin(), sample.counts.end());
  } else {
    for (const float value : sample.images) {
      bytes.push_back(static_cast<uint8_t>(std::lround(255.0F * std::clamp(value, 0.0F, 1.0F))));
    }
  }
  return {.kind = events ? SampleKind::events : SampleKind::image,
          .shape = sample.shape,
          .frames = sample.frames,
          .classes = 1,
          .pixels = std::move(bytes),
          .labels = {0}};
}

int64_t spikes_in(const SpikeTrain& spikes) {
  int64_t count = 0;
  for (const SpikeWord word : spikes.words()) count += std::popcount(word);
  return count;
}

/// Which neurons fired when, for neurons that do not form a map: a row per step, a column per
/// neuron.
Json raster(const SpikeTrain& spikes) {
  const int64_t neurons = std::min(kShownNeurons, spikes.shape().channels);
  std::vector<uint8_t> pixels;
  for (int64_t step = 0; step < spikes.steps(); ++step) {
    for (int64_t neuron = 0; neuron < neurons; ++neuron) {
      pixels.push_back(spikes.value(step, 0, 0, 0, neuron) > 0.0F ? 255 : 0);
    }
  }
  return {{"neurons", neurons},
          {"image", png_data_uri(pixels, {.height = spikes.steps(), .width = neurons})}};
}

std::vector<int64_t> likeliest(const std::vector<float>& probabilities) {
  std::vector<int64_t> classes(probabilities.size());
  std::iota(classes.begin(), classes.end(), 0);
  std::ranges::stable_sort(
      classes, [&](int64_t a, int64_t b) { return probabilities[a] > probabilities[b]; });
  classes.resize(std::min<std::size_t>(classes.size(), kShownClasses));
  return classes;
}

}  // namespace

Explanation::Explanation(Model model, const Batch& sample)
    : model_(std::move(model)), sample_(sample), outputs_(model_.network().stages().size()) {}

AdvanceOptions Explanation::watch() {
  return {.observe = [this](std::size_t stage, int64_t, const std::vector<const Signal*>& inputs,
                            const Signal& output) {
    // The first stage reads the network's input.
    if (stage == 0) input_.push_back(*inputs.front());
    outputs_[stage].push_back(output);
  }};
}

void Explanation::add_answer(const Session& session) {
  answers_.push_back(session.probabilities());
}

int64_t Explanation::spikes_of_last_step() const {
  int64_t count = 0;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].empty() || model_.network().stages()[i].readout) continue;
    const auto* spikes = std::get_if<SpikeTrain>(&outputs_[i].back());
    if (spikes != nullptr) count += spikes_in(*spikes);
  }
  return count;
}

Json Explanation::input_pictures() const {
  if (!sample_.counts.empty()) {
    const ImageSet set = set_of(sample_);
    Json pictures = Json::array();
    for (const int64_t shown : shown_steps(steps())) {
      pictures.push_back({{"steps", shown}, {"image", sample_picture(set, 0, shown)}});
    }
    return pictures;
  }
  if (input_.empty() || !std::holds_alternative<SpikeTrain>(input_.front())) return Json::array();
  return accumulated_input(std::get<SpikeTrain>(join_steps(input_)));
}

Json Explanation::stage_document(std::size_t stage) const {
  const StagePlan& plan = model_.network().stages()[stage];
  Json spikes_per_step = Json::array();
  for (const Signal& output : outputs_[stage]) {
    spikes_per_step.push_back(spikes_in(std::get<SpikeTrain>(output)));
  }
  Json document{{"name", plan.name},
                {"neurons", plan.neurons},
                {"first_step", plan.first_step + 1},
                {"spikes_per_step", spikes_per_step}};
  if (outputs_[stage].empty()) return document;
  const Signal joined = join_steps(outputs_[stage]);
  const auto& spikes = std::get<SpikeTrain>(joined);
  if (spikes.shape().pixels() > 1) {
    document["maps"] = accumulated_stage(spikes);
  } else {
    document["raster"] = raster(spikes);
  }
  return document;
}

Json Explanation::document(const ExplanationText& text) const {
  const NetworkSpec& spec = model_.network().spec();
  Json stages = Json::array();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const bool spiking = std::ranges::all_of(outputs_[i], [](const Signal& output) {
      return std::holds_alternative<SpikeTrain>(output);
    });
    if (model_.network().stages()[i].spikes() && spiking) stages.push_back(stage_document(i));
  }
  Json answers = Json::array();
  for (const int64_t label :
       answers_.empty() ? std::vector<int64_t>{} : likeliest(answers_.back())) {
    Json probabilities = Json::array();
    for (const std::vector<float>& answer : answers_) {
      probabilities.push_back(readable_double(answer[label]));
    }
    answers.push_back({{"name", model_.class_name(label)}, {"probabilities", probabilities}});
  }
  const int64_t idle = spec.steps - active_steps(spec);
  Json document = report_document({});
  document["explanation"] = {
      {"name", text.name},         {"status", text.status},
      {"facts", text.facts},       {"data", model_.card().training.data},
      {"steps", spec.steps},       {"taken", answers_.empty() ? 0 : idle + steps()},
      {"first_answer", idle + 1},  {"picture", sample_picture(set_of(sample_), 0)},
      {"input", input_pictures()}, {"answers", answers},
      {"stages", stages}};
  return document;
}

}  // namespace bntt
