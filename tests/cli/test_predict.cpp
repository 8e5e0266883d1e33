#include <chrono>
#include <cstdlib>
#include <map>
#include <sstream>

#include "base/json.h"
#include "bntt/model.h"
#include "sample_files.h"
#include "tiny_runs.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using testing::Bytes;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::jpeg_file;
using testing::png_file;
using testing::ProcessEnd;
using testing::run_bntt;
using testing::TinyRuns;

class Predict : public TinyRuns {
 protected:
  void write(const std::string& name, const Bytes& bytes) const {
    std::filesystem::create_directories((root() / name).parent_path());
    std::ofstream(root() / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  /// The test images as grey PNG files, in the order of the set.
  void write_pictures(const std::string& folder) const {
    const Bytes all = pixels(kTestImages);
    for (int64_t i = 0; i < kTestImages; ++i) {
      Bytes rgb;
      for (int64_t p = 0; p < 144; ++p) rgb.insert(rgb.end(), 3, all[i * 144 + p]);
      write(fmt::format("{}/{:02}.png", folder, i), png_file(12, 12, rgb));
    }
  }
  static std::vector<Json> lines_of(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(parse_json(line, "line"));
    return lines;
  }
  std::vector<Json> predicted(std::vector<std::string> arguments,
                              const testing::ProcessOptions& options = {}) const {
    arguments.insert(arguments.begin(), "predict");
    arguments.emplace_back("--json");
    return lines_of(succeed(arguments, options));
  }
  /// From `bntt eval`: probabilities of each image, under its file's name or its index; with the
  /// steps in front.
  std::map<std::string, std::vector<float>> evaluated(
      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"eval", path("run"),     "--cache",
                                          "none", "--predictions", path("all.csv")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    succeed(arguments);
    std::map<std::string, std::vector<float>> images;
    std::istringstream text(bytes_of(root() / "all.csv"));
    std::string line;
    std::getline(text, line);
    while (std::getline(text, line)) {
      std::vector<std::string> fields;
      std::istringstream row(line);
      for (std::string field; std::getline(row, field, ',');) fields.push_back(field);
      std::vector<float>& values = images[fields.at(1).empty() ? fields.at(0) : fields.at(1)];
      for (std::size_t i = 5; i < fields.size(); ++i) {
        values.push_back(std::strtof(fields[i].c_str(), nullptr));
      }
    }
    return images;
  }
  static std::vector<float> steps_and_probabilities(const Json& line) {
    std::vector<float> values = {line.at("steps").get<float>()};
    for (const Json& p : line.at("probabilities")) values.push_back(p.get<float>());
    return values;
  }
};

TEST_F(Predict, GivesPicturesTheAnswersOfEvalBitForBit) {
  train("run");
  write_pictures("pictures");
  const auto expected = evaluated();
  const Model model = Model::load(root() / "run");
  const Bytes all = pixels(kTestImages);
  const std::vector<Prediction> in_cpp = model.predict(
      {.pixels = all, .count = kTestImages, .height = 12, .width = 12, .channels = 1});
  const std::vector<Json> lines = predicted({path("run"), path("pictures")});
  ASSERT_EQ(lines.size(), static_cast<std::size_t>(kTestImages));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].at("name"), path(fmt::format("pictures/{:02}.png", i)));
    EXPECT_EQ(steps_and_probabilities(lines[i]), expected.at(std::to_string(i)));
    EXPECT_EQ(lines[i].at("logits").get<std::vector<float>>(), in_cpp[i].logits);
    EXPECT_GT(lines[i].at("spikes"), 0);
  }
  // One picture alone has the number 0, unless it is told its place.
  const std::vector<Json> ninth =
      predicted({path("run"), path("pictures/09.png"), "--first-sample", "9"});
  EXPECT_EQ(ninth.at(0).at("logits"), lines[9].at("logits"));
  EXPECT_NE(predicted({path("run"), path("pictures/09.png")}).at(0).at("logits"),
            lines[9].at("logits"));
}

TEST_F(Predict, StopsEarlyWhereEvalDoes) {
  train("run");
  write_pictures("pictures");
  for (const char* limit : {"0", "0.2", "1"}) {
    const auto expected = evaluated({"--exit-confidence", limit});
    const auto lines = predicted({path("run"), path("pictures"), "--exit-confidence", limit});
    ASSERT_EQ(lines.size(), expected.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(steps_and_probabilities(lines[i]), expected.at(std::to_string(i))) << limit;
    }
  }
}

TEST_F(Predict, ReadsFramesFromStandardInput) {
  train("run", {"--epochs", "1"});
  write_pictures("pictures");
  write("frames", pixels(kTestImages));
  const std::vector<Json> of_files = predicted({path("run"), path("pictures")});
  const std::vector<Json> of_frames = predicted({path("run"), "-"}, {.input = path("frames")});
  ASSERT_EQ(of_frames.size(), of_files.size());
  for (std::size_t i = 0; i < of_files.size(); ++i) {
    EXPECT_EQ(of_frames[i].at("logits"), of_files[i].at("logits"));
  }
  write("short", Bytes(150));
  const ProcessEnd end = run_bntt({"predict", path("run"), "-"}, {.input = path("short")});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.error, HasSubstr("ends after 6 bytes of sample 2, expected 144"));
  EXPECT_THAT(end.out, HasSubstr("sample 1: "));
}

TEST_F(Predict, TakesOneFileAsAModelAndPicturesOfAnySize) {
  train("run", {"--epochs", "1"});
  write("large.jpg", jpeg_file(40, 30, Bytes(40 * 30 * 3, 90)));
  const std::string text =
      succeed({"predict", path("run/best.safetensors"), path("large.jpg"), "--top", "2"});
  EXPECT_THAT(text, ::testing::ContainsRegex(
                        "large.jpg: [0-9] [0-9.]+ %, [0-9] [0-9.]+ %; 3 steps, [0-9]+ spikes, "
                        "[0-9.]+ ms\n"));
}

TEST_F(Predict, GivesRecordingsTheAnswersOfEval) {
  write_recordings();
  train_on_recordings("run");
  const auto expected = evaluated();
  const std::vector<Json> lines = predicted({path("run"), path("events/Test")});
  ASSERT_EQ(lines.size(), expected.size());
  for (const Json& line : lines) {
    EXPECT_EQ(steps_and_probabilities(line), expected.at(line.at("name").get<std::string>()));
  }
}

TEST_F(Predict, ExplainsOneSample) {
  train("run", {"--epochs", "1"});
  write_pictures("pictures");
  succeed({"predict", path("run"), path("pictures/03.png"), "--explain", path("made/03.html")});
  EXPECT_THAT(bytes_of(root() / "made/03.html"), HasSubstr("\"explanation\":{\"name\":\"03.png\""));
  const ProcessEnd end =
      run_bntt({"predict", path("run"), path("pictures"), "--explain", path("all.html")});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.error, HasSubstr("expected one file, not 21"));
}

TEST_F(Predict, ReplaysARecordingAtItsOwnSpeed) {
  write_recordings();  // of 99 ms
  train_on_recordings("run");
  const std::string sample = path("events/Test/3/0.bin");
  const Json answer = predicted({path("run"), sample}).at(0);
  const auto start = std::chrono::steady_clock::now();
  const std::string text = succeed({"predict", path("run"), "--events", sample, "--live"});
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(99));
  EXPECT_THAT(text, ::testing::ContainsRegex("step +4/4 .* spikes, [0-9.]+ ms\n"));
  EXPECT_THAT(
      text, HasSubstr(fmt::format("0.bin: {} {:.1f} % after 4 of 4 steps; a step takes ",
                                  answer.at("class").get<std::string>(),
                                  100.0 * answer.at("top").at(0).at("probability").get<double>())));
  EXPECT_THAT(text, ::testing::ContainsRegex("(keeps up|does not keep up)\n$"));
  const std::string stopped =
      succeed({"predict", path("run"), "--events", sample, "--live", "--exit-confidence", "0"});
  EXPECT_THAT(stopped, HasSubstr("after 1 of 4 steps"));
  const std::string half =
      succeed({"predict", path("run"), "--events", sample, "--live", "--steps", "2"});
  EXPECT_THAT(half, HasSubstr("after 2 of 4 steps"));

  // Events are not drawn at random: the number of a sample would have no effect.
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--first-sample", "3"}, {"--top", "2"}, {"--json"}}) {
    std::vector<std::string> arguments = {"predict", path("run"), "--events", sample, "--live"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessEnd refused = run_bntt(arguments);
    EXPECT_EQ(refused.exit_code, 2) << more.front();
    EXPECT_THAT(refused.error, AllOf(HasSubstr(more.front()), HasSubstr("--live")));
  }

  train("images", {"--epochs", "1"});
  const ProcessEnd end = run_bntt({"predict", path("images"), "--events", sample, "--live"});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.error, HasSubstr("the model reads images"));
}

// The script behind the table of docs/edge.md.
TEST_F(Predict, EdgeNumbersAreThoseOfTheFileThatIsRead) {
  train("run", {"--epochs", "1"});
  write_pictures("pictures");
  const std::string picture = path("pictures/03.png");
  const std::string file = path("run/best.safetensors");
  const ProcessEnd end = run_bntt({"-E", "-s", BNTT_EDGE_NUMBERS, "--program", BNTT_PROGRAM,
                                   path("run") + "=" + picture, file + "=" + picture},
                                  {.program = BNTT_PYTHON});
  ASSERT_EQ(end.exit_code, 0) << end.error;
  const double megabytes = 1e-6 * static_cast<double>(std::filesystem::file_size(file));
  ASSERT_GT(megabytes, 0.01);
  for (const std::string& model : {path("run"), file}) {
    EXPECT_THAT(end.out, ::testing::ContainsRegex(fmt::format(
                             "\n. {} . [0-9,]+ . {:.2f} MB . [0-9,]+ . [0-9.]+ M . 3 . [0-9,]+ . "
                             "[0-9]+ MiB .\n",
                             model, megabytes)));
  }
}

TEST_F(Predict, RefusesWhatTheModelCannotRead) {
  train("run", {"--epochs", "1"});
  write("text.png", Bytes(10, 'a'));
  std::filesystem::create_directory(root() / "empty");
  const auto refused = [&](const std::string& input) {
    const ProcessEnd end = run_bntt({"predict", path("run"), path(input)});
    EXPECT_EQ(end.exit_code, 2) << input;
    EXPECT_EQ(end.out, "") << input;
    return end.error;
  };
  EXPECT_THAT(refused("none.png"), HasSubstr("does not exist"));
  EXPECT_THAT(refused("empty"), HasSubstr("holds no PNG or JPEG pictures"));
  EXPECT_THAT(refused("text.png"), HasSubstr("text.png"));
}

}  // namespace
}  // namespace bntt
