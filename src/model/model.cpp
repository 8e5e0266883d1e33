#include "bntt/model.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/fail.h"
#include "base/threads.h"
#include "bntt/load.h"
#include "input/fit_image.h"
#include "input/whole_images.h"
#include "model/card_check.h"
#include "model/model_file.h"
#include "model/old_files.h"
#include "model/run_paths.h"
#include "model/step_work.h"
#include "model/stopping.h"

namespace bntt {
namespace fs = std::filesystem;

struct Model::Contents {
  Network network;
  ModelCard card;
  std::shared_ptr<const PreparedNetwork> prepared;
};

namespace {

fs::path model_file_at(const fs::path& path) {
  if (!fs::exists(path)) fail("{}: does not exist", path.string());
  if (!fs::is_directory(path)) return path;
  const RunPaths run{path};
  for (const fs::path& file : {run.best(), run.checkpoint()}) {
    if (fs::exists(file)) return file;
  }
  fail("{}: holds no run: expected the file {} or {}", path.string(),
       run.best().filename().string(), run.checkpoint().filename().string());
}

/// Colour becomes grey with the weights of ITU-R BT.601 for red, green and blue; grey becomes
/// colour as three equal channels.
std::vector<uint8_t> with_channels(std::span<const uint8_t> pixels, int64_t from, int64_t to) {
  const std::size_t count = pixels.size() / static_cast<std::size_t>(from);
  std::vector<uint8_t> result;
  result.reserve(count * static_cast<std::size_t>(to));
  for (std::size_t i = 0; i < count; ++i) {
    if (to == 3) {
      result.insert(result.end(), 3, pixels[i]);
    } else {
      const uint8_t* rgb = pixels.data() + 3 * i;
      result.push_back(
          static_cast<uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000));
    }
  }
  return result;
}

std::vector<uint32_t> test_ids(uint32_t first, int64_t count) {
  std::vector<uint32_t> ids;
  for (int64_t i = 0; i < count; ++i) {
    ids.push_back(kFirstTestId + first + static_cast<uint32_t>(i));
  }
  return ids;
}

/// Samples [first, first + count) of a batch, without their labels.
Batch part_of(const Batch& batch, int64_t first, int64_t count) {
  Batch part{.shape = batch.shape, .frames = batch.frames};
  part.sample_ids.assign(batch.sample_ids.begin() + first,
                         batch.sample_ids.begin() + first + count);
  const auto copy = [&](const auto& from, auto& to) {
    const int64_t size = from.size() / batch.size();
    to = std::decay_t<decltype(to)>(count * size);
    std::copy_n(from.data() + first * size, count * size, to.data());
  };
  copy(batch.images, part.images);
  copy(batch.counts, part.counts);
  return part;
}

Prediction prediction_of(std::span<const float> logits, int64_t steps) {
  return {.label = std::ranges::max_element(logits) - logits.begin(),
          .logits = {logits.begin(), logits.end()},
          .probabilities = probabilities_of(logits),
          .steps = steps};
}

int64_t all_spikes(const Activity& activity) {
  int64_t spikes = 0;
  for (const auto& stage : activity.spikes) {
    for (const int64_t of_step : stage) spikes += of_step;
  }
  return spikes;
}

}  // namespace

Model Model::load(const fs::path& path) {
  const fs::path file = model_file_at(path);
  const TensorFile tensors = read_tensors(file, {.require_checksum = true});
  Network network = network_in(tensors, file.string());
  std::optional<ModelCard> card = card_in(tensors, file.string());
  if (!card) card = old_card(file, network);
  try {
    return {std::move(network), std::move(*card)};
  } catch (const Error& error) {
    fail("{}: {}", file.string(), error.what());
  }
}

Network load_network(const fs::path& checkpoint) {
  return network_in(read_tensors(checkpoint, {.require_checksum = true}), checkpoint.string());
}

void Model::save(const fs::path& file) const { write_tensors(file, pack_model(network(), card())); }

Model::Model(Network network, ModelCard card) {
  expect_card_fits(card, network.spec());
  auto prepared = network.prepare();
  contents_ = std::make_shared<const Contents>(
      Contents{std::move(network), std::move(card), std::move(prepared)});
}

const Network& Model::network() const { return contents_->network; }
const ModelCard& Model::card() const { return contents_->card; }
int64_t Model::classes() const { return classes_of(network().spec()); }

std::string Model::class_name(int64_t label) const {
  if (label < 0 || label >= classes()) {
    fail("model: label {} is out of range, expected 0 to {}", label, classes() - 1);
  }
  return card().class_names.empty() ? std::to_string(label) : card().class_names[label];
}

ChainState Model::start(int64_t batch) const { return network().start(batch, contents_->prepared); }

Batch Model::prepare(const Images& images, uint32_t first_sample) const {
  expect_whole(images, "predict");
  if (images.channels != 1 && images.channels != 3) {
    fail("predict: images of {} channels, expected 1 or 3 channels", images.channels);
  }
  const MapShape& shape = network().spec().input;
  if (card().input.encoder.kind == EncoderKind::events) {
    fail("predict: the model reads event recordings, not images");
  }
  if (shape.channels != 1 && shape.channels != 3) {
    fail("predict: the model reads {} channels, which images do not have", shape.channels);
  }
  if (images.count > int64_t{kEvaluationEpoch - kFirstTestId} - first_sample) {
    fail("predict: {} images starting at sample {} exceed the largest sample number", images.count,
         first_sample);
  }
  Batch batch{.sample_ids = test_ids(first_sample, images.count),
              .shape = shape,
              .images = Buffer<float>(images.count * shape.size())};
  const int64_t size = images.height * images.width * images.channels;
  std::vector<uint8_t> fitted(static_cast<std::size_t>(shape.pixels() * images.channels));
  for (int64_t i = 0; i < images.count; ++i) {
    fit_image({images.width, images.height, images.channels, images.pixels.data() + i * size},
              {shape.width, shape.height}, card().input.fit, fitted.data());
    const auto values = images.channels == shape.channels
                            ? fitted
                            : with_channels(fitted, images.channels, shape.channels);
    std::ranges::transform(values, batch.images.data() + i * shape.size(), value_of_pixel);
  }
  return batch;
}

Signal Model::encode(const Batch& batch, int64_t first_step, int64_t steps) const {
  if (batch.shape != network().spec().input) {
    const MapShape& expected = network().spec().input;
    fail("model: samples of {}x{}x{}, expected {}x{}x{} (channels x height x width)",
         batch.shape.channels, batch.shape.height, batch.shape.width, expected.channels,
         expected.height, expected.width);
  }
  const InputSpec& input = card().input;
  return bntt::encode(batch, steps, input.encoder, input.seed, kEvaluationEpoch, first_step);
}

std::vector<Prediction> Model::predict(const Images& images, const PredictOptions& options) const {
  return predict(prepare(images, options.first_sample), options);
}

std::vector<Prediction> Model::predict(const Batch& batch, const PredictOptions& options) const {
  if (batch.size() < 1) fail("predict: the batch is empty");
  const double limit = options.exit_confidence.value_or(1.0);
  if (!(limit >= 0.0 && limit <= 1.0)) {
    fail("predict: exit_confidence is {}, expected 0 to 1", limit);
  }
  const bool alone = options.exit_confidence || options.count_spikes;
  const int64_t steps = active_steps_until(network().spec(), options.steps);
  const int64_t window = std::min(steps, kStepsPerWindow);
  // Each thread takes images of its own where there are enough of them, or where a step of one is
  // too little work to share.
  constexpr int64_t kImagesPerThread = 4;
  const bool apart = alone && (batch.size() >= threads() || !step_feeds_all_threads(network(), 1));
  const int64_t together = apart   ? kImagesPerThread * threads()
                           : alone ? 1
                                   : images_per_batch(network(), window);
  std::vector<Prediction> predictions;
  ChainState state = start(1);
  for (int64_t first = 0; first < batch.size(); first += together) {
    const int64_t count = std::min(together, batch.size() - first);
    if (apart) {
      predictions.resize(first + count);
      parallel_for(count, [&](int64_t i) {
        ChainState own = start(1);
        predictions[first + i] = predict_one(part_of(batch, first + i, 1), steps, options, own);
      });
    } else {
      const Batch part = part_of(batch, first, count);
      network().restart(state, count);
      if (alone) {
        predictions.push_back(predict_one(part, steps, options, state));
      } else {
        advance_until(part, steps, {}, state);
        std::ranges::move(predictions_of(state), std::back_inserter(predictions));
      }
    }
    if (options.progress && options.progress(std::ssize(predictions))) break;
  }
  return predictions;
}

void Model::advance_until(const Batch& batch, int64_t steps, const AdvanceOptions& options,
                          ChainState& state) const {
  while (state.steps_done < steps) {
    const int64_t window = std::min(steps - state.steps_done, kStepsPerWindow);
    network().advance(encode(batch, state.steps_done, window), state, options);
  }
}

Prediction Model::predict_one(const Batch& sample, int64_t steps, const PredictOptions& options,
                              ChainState& state) const {
  const NetworkSpec& spec = network().spec();
  const int64_t idle = spec.steps - active_steps(spec);
  const bool constant = card().input.encoder.kind == EncoderKind::direct;
  Activity activity;
  const AdvanceOptions advance{.activity = options.count_spikes ? &activity : nullptr,
                               .same_input = constant && options.exit_confidence};
  if (options.exit_confidence) {
    std::optional<Signal> input;
    double confidence = -1.0;
    while (state.steps_done < steps && confidence < *options.exit_confidence) {
      if (!input || !constant) input = encode(sample, state.steps_done, 1);
      network().advance(*input, state, advance);
      confidence = exit_confidence(network().logits(state).span(), spec, idle + state.steps_done);
    }
  } else {
    advance_until(sample, steps, advance, state);
  }
  Prediction prediction = std::move(predictions_of(state).front());
  prediction.spikes = all_spikes(activity);
  return prediction;
}

std::vector<Prediction> Model::predictions_of(const ChainState& state) const {
  const NetworkSpec& spec = network().spec();
  const int64_t taken = spec.steps - active_steps(spec) + state.steps_done;
  Buffer<float> logits = network().logits(state);
  const float rescale = stopped_logit_scale(spec, taken);
  for (float& logit : logits) logit *= rescale;
  const auto size = static_cast<std::size_t>(classes());
  std::vector<Prediction> predictions;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.batch); ++i) {
    predictions.push_back(prediction_of(logits.span().subspan(i * size, size), taken));
  }
  return predictions;
}

std::vector<float> probabilities_of(std::span<const float> logits) {
  if (logits.empty()) return {};
  const double largest = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  std::vector<float> probabilities;
  for (const float logit : logits) {
    probabilities.push_back(static_cast<float>(std::exp(logit - largest) / sum));
  }
  return probabilities;
}

}  // namespace bntt
