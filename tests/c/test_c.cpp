#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "bntt/data/recording.h"
#include "bntt/model.h"
#include "bntt/session.h"
#include "bntt/zoo.h"
#include "model/model_file.h"
#include "process.h"
#include "sample_files.h"
#include "small_networks.h"

namespace bntt {
namespace {

using testing::Bytes;
using testing::ProcessEnd;
using testing::run_bntt;

/// Makes a model, samples and the right answers, and has a C program use them.
class CInterface : public ::testing::Test {
 protected:
  static constexpr int64_t kSamples = 5;

  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }

  static Bytes bytes(int64_t count, int most) {
    Bytes result;
    for (int64_t i = 0; i < count; ++i) {
      result.push_back(static_cast<uint8_t>((i * 37 + i / 11 * 5) % (most + 1)));
    }
    return result;
  }
  void write_model(const Network& network, const ModelCard& card) const {
    write_tensors(path("model.safetensors"), pack_model(network, card));
  }
  static Bytes bytes_of(std::span<const float> values) {
    const auto* first = reinterpret_cast<const uint8_t*>(values.data());
    return {first, first + values.size_bytes()};
  }
  void write_logits(const std::vector<Prediction>& predictions) const {
    Bytes result;
    for (const Prediction& one : predictions) {
      const Bytes more = bytes_of(one.logits);
      result.insert(result.end(), more.begin(), more.end());
    }
    directory_.write("logits", result);
  }
  void use(const std::vector<std::string>& arguments) const {
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_EQ(end.error, "");
  }

  testing::TemporaryDirectory directory_;
};

TEST_F(CInterface, GivesTheAnswersOfTheLibrary) {
  Network network = testing::small_vgg5();
  const ModelCard card{
      .input = {.encoder = {EncoderKind::poisson_signed, {{0.4F}, {0.3F}}}, .seed = 7},
      .class_names = {"shirt", "coat", "boot", "bag", "hat", "sock", "belt", "scarf", "ring",
                      "tie"}};
  write_model(network, card);
  const Bytes pixels = bytes(kSamples * 64, 255);
  directory_.write("pixels", pixels);
  Bytes rgb;
  for (int i = 0; i < 64; ++i) rgb.insert(rgb.end(), 3, pixels[static_cast<std::size_t>(i)]);
  directory_.write("first.png", testing::png_file(8, 8, rgb));
  const Model model = Model::load(path("model.safetensors"));
  const Images images{.pixels = pixels, .count = kSamples, .height = 8, .width = 8, .channels = 1};
  write_logits(model.predict(images));
  Session session(model, kSamples);
  session.advance(model.encode(model.prepare(images, 0), 0, network.spec().steps));
  directory_.write("membranes", bytes_of(session.membranes("conv2").span()));
  use({"images", path("model.safetensors"), path("pixels"), path("logits"), path("first.png"),
       path("membranes")});
}

TEST_F(CInterface, TakesEventsFrameByFrame) {
  constexpr int64_t kSteps = 4;
  const MapShape shape{2, 8, 8};
  Network network(vgg5({.input = shape, .steps = kSteps, .width = 0.05}), 1);
  const FrameOptions frames{.frames = kSteps};
  // The sensor is known from the training alone: .bin files do not state theirs.
  write_model(network,
              {.input = {.encoder = {EncoderKind::events, {}}, .events = frames},
               .training = {.data = "event-folder",
                            .settings = "[data]\nsensor_width = 16\nsensor_height = 20\n"}});
  Batch batch{.shape = shape, .frames = kSteps};
  for (uint32_t i = 0; i < kSamples; ++i) batch.sample_ids.push_back(kFirstTestId + i);
  Bytes events;
  for (int k = 0; k < 60; ++k) {
    const int time_us = 900 * k;
    const int on_and_time = (k % 3 == 0 ? 0x80 : 0) | time_us >> 16;
    for (const int byte : {k * 7 % 16, k % 20, on_and_time, time_us >> 8, time_us}) {
      events.push_back(static_cast<uint8_t>(byte & 0xFF));
    }
  }
  directory_.write("first.bin", events);
  Bytes counts = bytes(kSamples * kSteps * shape.size(), 3);
  std::ranges::copy(frames_of(read_recording(path("first.bin"), {16, 20}), shape, frames).counts,
                    counts.begin());
  directory_.write("counts", counts);
  batch.counts = Buffer<uint8_t>(std::ssize(counts));
  std::ranges::copy(counts, batch.counts.data());
  write_logits(Model::load(path("model.safetensors")).predict(batch));
  use({"events", path("model.safetensors"), path("counts"), path("logits"), path("first.bin")});
}

// The version script: nothing but bntt_... is to be seen.
TEST(CLibrary, ShowsItsOwnNamesAlone) {
  const ProcessEnd end = run_bntt({"-D", "--defined-only", "--format=posix", BNTT_LIBRARY},
                                  {.program = "/usr/bin/nm"});
  ASSERT_EQ(end.exit_code, 0) << end.error;
  std::istringstream lines(end.out);
  int functions = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("BNTT_1")) continue;
    EXPECT_THAT(line, ::testing::StartsWith("bntt_"));
    EXPECT_THAT(line, ::testing::HasSubstr("@@BNTT_1"));
    ++functions;
  }
  EXPECT_EQ(functions, 28);
}

TEST(CLibrary, HasTheNameThatProgramsLoad) {
  const ProcessEnd end = run_bntt({"-p", BNTT_LIBRARY}, {.program = "/usr/bin/objdump"});
  ASSERT_EQ(end.exit_code, 0) << end.error;
  EXPECT_THAT(end.out, ::testing::ContainsRegex("SONAME +libbntt_c[.]so[.]1\n"));
}

}  // namespace
}  // namespace bntt
