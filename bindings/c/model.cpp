#include "model.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "bntt/data/picture.h"
#include "bntt/data/recording.h"
#include "guard.h"

namespace bntt::c {
namespace {

bool reads_events(const Model& model) {
  return model.card().input.encoder.kind == EncoderKind::events;
}

/// The number of values in `count` samples.
int64_t expect_count(int64_t count, int64_t size, const char* what) {
  int64_t values = 0;
  if (count < 1 || count > std::numeric_limits<int32_t>::max() ||
      __builtin_mul_overflow(count, size, &values)) {
    throw Error(std::string(what) + ": " + std::to_string(count) + ", expected 1 to " +
                std::to_string(std::numeric_limits<int32_t>::max()));
  }
  return values;
}

std::vector<uint32_t> test_ids(int64_t count, uint32_t first_sample) {
  std::vector<uint32_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), kFirstTestId + first_sample);
  return ids;
}

/// Writes the answers that the caller wants.
void hand_over(const std::vector<Prediction>& predictions, const bntt_results& results) {
  const auto write = [](const auto& values, auto* to, std::size_t sample) {
    if (to != nullptr) std::ranges::copy(values, to + sample * values.size());
  };
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const Prediction& answer = predictions[i];
    write(std::span(&answer.label, 1), results.labels, i);
    write(answer.logits, results.logits, i);
    write(answer.probabilities, results.probabilities, i);
    write(std::span(&answer.steps, 1), results.steps, i);
    write(std::span(&answer.spikes, 1), results.spikes, i);
  }
}

/// The common part of all predictions; `samples` creates the batch.
int predict(const bntt_model* model, const bntt_options* given_options, bntt_results* given_results,
            const std::function<Batch(const Model& model, uint32_t first_sample)>& samples) {
  return guarded([&] {
    expect_given(model, "bntt_model");
    const bntt_options options = known_options(given_options);
    const bntt_results results = known_results(given_results);
    const ThreadsOfCall threads(options.threads);
    bool cancelled = false;
    PredictOptions wanted{.steps = options.steps,
                          .first_sample = options.first_sample,
                          .count_spikes = results.spikes != nullptr};
    if (options.exit_confidence != -1.0) wanted.exit_confidence = options.exit_confidence;
    if (options.progress != nullptr) {
      wanted.progress = [&](int64_t done) {
        cancelled = options.progress(done, options.user_data) != 0;
        return cancelled;
      };
    }
    const Batch batch = samples(model->model, options.first_sample);
    hand_over(model->model.predict(batch, wanted), results);
    return cancelled ? failed(BNTT_CANCELLED, "cancelled by the progress callback") : BNTT_OK;
  });
}

}  // namespace

Images images_at(const uint8_t* pixels, int64_t images, int64_t height, int64_t width,
                 int64_t channels) {
  expect_given(pixels, "pixels");
  int64_t size = 1;
  for (const int64_t extent : {images, height, width, channels}) {
    if (extent < 1 || __builtin_mul_overflow(size, extent, &size)) {
      throw Error("predict: " + std::to_string(images) + " images of " + std::to_string(height) +
                  "x" + std::to_string(width) + " pixels and " + std::to_string(channels) +
                  " channels, expected sizes of at least 1");
    }
  }
  return {.pixels = {pixels, static_cast<std::size_t>(size)},
          .count = images,
          .height = height,
          .width = width,
          .channels = channels};
}

Batch counts_at(const Model& model, const uint8_t* counts, int64_t recordings, int64_t frames,
                uint32_t first_sample) {
  expect_given(counts, "counts");
  if (!reads_events(model)) throw Error("predict: the model reads images, not event recordings");
  const MapShape& shape = model.network().spec().input;
  const int64_t size = expect_count(recordings, frames * shape.size(), "recordings");
  Batch batch{.sample_ids = test_ids(recordings, first_sample),
              .shape = shape,
              .frames = frames,
              .counts = Buffer<uint8_t>(size)};
  std::copy_n(counts, size, batch.counts.data());
  return batch;
}

Batch values_at(const Model& model, const float* values, int64_t images, uint32_t first_sample) {
  expect_given(values, "values");
  const MapShape& shape = model.network().spec().input;
  const int64_t size = expect_count(images, shape.size(), "images");
  const float* wrong = std::find_if(values, values + size, [](float value) {
    return !(value >= 0.0F && value <= 1.0F);  // nan, too
  });
  if (wrong != values + size) {
    throw Error("values: hold " + std::to_string(*wrong) + ", expected 0 to 1");
  }
  Batch batch{
      .sample_ids = test_ids(images, first_sample), .shape = shape, .images = Buffer<float>(size)};
  std::copy_n(values, size, batch.images.data());
  return batch;
}

}  // namespace bntt::c

using bntt::c::expect_given;
using bntt::c::guarded;

namespace {

int64_t value_of(const bntt_model* model, int64_t (*get)(const bntt::Model& model)) {
  return bntt::c::value_or_zero(model, "bntt_model",
                                [&](const bntt_model& given) { return get(given.model); });
}

}  // namespace

extern "C" {

int bntt_model_load(const char* path, bntt_model** model) {
  return guarded([&] {
    expect_given(path, "path");
    expect_given(model, "model");
    bntt::Model loaded = bntt::Model::load(path);
    std::vector<std::string> names;
    for (int64_t label = 0; label < loaded.classes(); ++label) {
      names.push_back(loaded.class_name(label));
    }
    *model = new bntt_model{std::move(loaded), std::move(names)};
    return BNTT_OK;
  });
}

void bntt_model_free(bntt_model* model) { delete model; }

int64_t bntt_model_classes(const bntt_model* model) {
  return value_of(model, [](const bntt::Model& of) { return of.classes(); });
}
int64_t bntt_model_steps(const bntt_model* model) {
  return value_of(model, [](const bntt::Model& of) { return of.network().spec().steps; });
}
int64_t bntt_model_channels(const bntt_model* model) {
  return value_of(model, [](const bntt::Model& of) { return of.network().spec().input.channels; });
}
int64_t bntt_model_height(const bntt_model* model) {
  return value_of(model, [](const bntt::Model& of) { return of.network().spec().input.height; });
}
int64_t bntt_model_width(const bntt_model* model) {
  return value_of(model, [](const bntt::Model& of) { return of.network().spec().input.width; });
}
int64_t bntt_model_frames(const bntt_model* model) {
  return value_of(model, [](const bntt::Model& of) {
    return bntt::c::reads_events(of) ? of.card().input.events.frames : 0;
  });
}

const char* bntt_model_class_name(const bntt_model* model, int64_t label) {
  const char* name = nullptr;
  guarded([&] {
    expect_given(model, "bntt_model");
    (void)model->model.class_name(label);  // throws for a label out of range
    name = model->class_names[static_cast<std::size_t>(label)].c_str();
    return BNTT_OK;
  });
  return name;
}

int bntt_predict(const bntt_model* model, const uint8_t* pixels, int64_t images, int64_t height,
                 int64_t width, int64_t channels, const bntt_options* options,
                 bntt_results* results) {
  return bntt::c::predict(model, options, results, [&](const bntt::Model& of, uint32_t first) {
    return of.prepare(bntt::c::images_at(pixels, images, height, width, channels), first);
  });
}

int bntt_predict_values(const bntt_model* model, const float* values, int64_t images,
                        const bntt_options* options, bntt_results* results) {
  return bntt::c::predict(model, options, results, [&](const bntt::Model& of, uint32_t first) {
    return bntt::c::values_at(of, values, images, first);
  });
}

int bntt_predict_events(const bntt_model* model, const uint8_t* counts, int64_t recordings,
                        const bntt_options* options, bntt_results* results) {
  return bntt::c::predict(model, options, results, [&](const bntt::Model& of, uint32_t first) {
    return bntt::c::counts_at(of, counts, recordings, of.card().input.events.frames, first);
  });
}

int bntt_predict_file(const bntt_model* model, const char* path, const bntt_options* options,
                      bntt_results* results) {
  return bntt::c::predict(model, options, results, [&](const bntt::Model& of, uint32_t first) {
    expect_given(path, "path");
    if (!bntt::c::reads_events(of)) return of.prepare(bntt::read_picture(path).images(), first);
    bntt::Batch batch = bntt::frames_of(bntt::read_recording_for(of.card(), path),
                                        of.network().spec().input, of.card().input.events);
    batch.sample_ids = {bntt::kFirstTestId + first};
    return batch;
  });
}
}
