#include "bntt/model.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "bntt/load.h"
#include "input/fit_image.h"
#include "model/model_file.h"
#include "model/old_files.h"
#include "model/run_paths.h"
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
  if (!fs::exists(path)) fail("{}: holds no run: it does not exist", path.string());
  if (!fs::is_directory(path)) return path;
  const RunPaths run{path};
  for (const fs::path& file : {run.best(), run.checkpoint()}) {
    if (fs::exists(file)) return file;
  }
  fail("{}: holds no run: expected the file {} or {}", path.string(),
       run.best().filename().string(), run.checkpoint().filename().string());
}

void expect_card_fits(const ModelCard& card, const NetworkSpec& spec) {
  const int64_t classes = classes_of(spec);
  if (!card.class_names.empty() && std::ssize(card.class_names) != classes) {
    fail("model: {} class names for a network of {} classes", card.class_names.size(), classes);
  }
  const EncoderSpec& encoder = card.input.encoder;
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
        encoder_name(encoder.kind), spec.input.channels, encoder.normalisation.mean.size(),
        encoder.normalisation.deviation.size());
  }
}

void expect_whole(const Images& images) {
  if (images.count < 1 || images.height < 1 || images.width < 1 ||
      (images.channels != 1 && images.channels != 3)) {
    fail(
        "predict: {} images of {}x{} pixels and {} channels, expected at least one of at least "
        "1x1 with 1 or 3 channels",
        images.count, images.height, images.width, images.channels);
  }
  int64_t size = images.count;
  bool overflow = false;
  for (const int64_t extent : {images.height, images.width, images.channels}) {
    overflow = overflow || __builtin_mul_overflow(size, extent, &size);
  }
  if (overflow || std::ssize(images.pixels) != size) {
    fail("predict: {} bytes for {} images of {}x{} pixels and {} channels", images.pixels.size(),
         images.count, images.height, images.width, images.channels);
  }
}

/// Grey by the weights of ITU-R BT.601 for red, green and blue; colour as three equal channels.
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

Prediction prediction_of(std::span<const float> logits) {
  return {.label = std::ranges::max_element(logits) - logits.begin(),
          .logits = {logits.begin(), logits.end()},
          .probabilities = probabilities_of(logits)};
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
  expect_whole(images);
  const MapShape& shape = network().spec().input;
  if (card().input.encoder.kind == EncoderKind::events) {
    fail("predict: the model reads event recordings, not images");
  }
  if (shape.channels != 1 && shape.channels != 3) {
    fail("predict: the model reads {} channels, which images do not have", shape.channels);
  }
  if (images.count > int64_t{kEvaluationEpoch - kFirstTestId} - first_sample) {
    fail("predict: {} images from sample {} on are more than there are numbers for", images.count,
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
  const NetworkSpec& spec = network().spec();
  const int64_t run_steps = options.steps == 0 ? spec.steps : options.steps;
  const int64_t steps = active_steps_until(spec, options.steps);
  const float rescale = stopped_logit_scale(spec, run_steps);
  const int64_t together = images_per_batch(network(), steps);
  std::vector<Prediction> predictions;
  ChainState state = start(1);
  for (int64_t first = 0; first < batch.size(); first += together) {
    const Batch part = part_of(batch, first, std::min(together, batch.size() - first));
    network().restart(state, part.size());
    network().advance(encode(part, 0, steps), state);
    Buffer<float> logits = network().logits(state);
    for (float& logit : logits) logit *= rescale;
    for (int64_t i = 0; i < part.size(); ++i) {
      predictions.push_back(prediction_of(
          std::span(logits.data() + i * classes(), static_cast<std::size_t>(classes()))));
    }
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
