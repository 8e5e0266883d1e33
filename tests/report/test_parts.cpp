#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <png.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "bntt/error.h"
#include "fixtures.h"
#include "report/base64.h"
#include "report/confusions.h"
#include "report/figure.h"
#include "report/gnuplot.h"
#include "report/learning.h"
#include "report/live_server.h"
#include "report/pictures.h"
#include "report/png.h"
#include "report/sample_picture.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string base64_of(const std::string& text) {
  return base64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

TEST(Base64, GivesTheVectorsOfTheStandard) {
  EXPECT_EQ(base64_of(""), "");
  EXPECT_EQ(base64_of("f"), "Zg==");
  EXPECT_EQ(base64_of("fo"), "Zm8=");
  EXPECT_EQ(base64_of("foo"), "Zm9v");
  EXPECT_EQ(base64_of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_of("\xff\xfe\xfd"), "//79");
}

TEST(Png, PicturesHaveOneSizeAndAreMarkedAsData) {
  const std::vector<uint8_t> pixels(2 * 3 * 3, 200);
  for (const int64_t channels : {1, 2, 3}) {
    const MapShape shape{.channels = channels, .height = 2, .width = 3};
    const std::string uri =
        png_data_uri({pixels.data(), static_cast<std::size_t>(shape.size())}, shape);
    EXPECT_THAT(uri, ::testing::StartsWith("data:image/png;base64,iVBORw0KGgo"));
  }
}

TEST(SamplePicture, OfARecordingIsTheSumOfItsFrames) {
  const MapShape shape{.channels = 2, .height = 1, .width = 2};
  // Two frames [x, polarity]: on at the left, then twice off at the right.
  const ImageSet set{.kind = SampleKind::events,
                     .shape = shape,
                     .frames = 2,
                     .classes = 1,
                     .pixels = std::vector<uint8_t>{0, 1, 0, 0, 0, 0, 2, 0},
                     .labels = {0}};
  const auto drawn = [&](const std::vector<uint8_t>& counts) {
    return png_data_uri(event_picture(counts, shape, 1).pixels,
                        {.channels = 3, .height = 1, .width = 2});
  };
  EXPECT_EQ(sample_picture(set, 0, 1), drawn({0, 1, 0, 0}));
  EXPECT_EQ(sample_picture(set, 0), drawn({0, 1, 2, 0}));
  EXPECT_NE(sample_picture(set, 0), sample_picture(set, 0, 1));
}

TEST(Learning, KeepsNumbersAndDropsTheRest) {
  const testing::TemporaryDirectory directory;
  const RunPaths paths{directory.path()};
  std::ofstream(paths.metrics())
      << R"({"kind":"step","step":1,"epoch":1,"loss":2.5,"accuracy":"<b>","density":[0.25,"x"]})"
      << "\n"
      << R"({"kind":"epoch","epoch":1,"step":9,"validation_accuracy":80,"gamma":{"conv1":[1,null]}})"
      << "\n"
      << R"({"kind":"step","st)";
  RunConfig config;
  config.train.epochs = 2;
  const Json learning = learning_document(paths, config);
  ASSERT_EQ(learning.at("steps").size(), 1U);
  EXPECT_EQ(learning.at("steps")[0].at("loss"), 2.5);
  EXPECT_TRUE(learning.at("steps")[0].at("accuracy").is_null());
  EXPECT_EQ(learning.at("steps")[0].at("density"), Json::parse("[0.25,null]"));
  EXPECT_EQ(learning.at("epochs")[0].at("gamma").at("conv1"), Json::parse("[1,null]"));
  EXPECT_EQ(learning.at("finished"), false);
  EXPECT_FALSE(learning.at("epochs")[0].contains("seconds"));
  std::ofstream(paths.times())
      << R"({"kind":"checkpoint","epoch":1,"step":4,"seconds":0.5,"processor_seconds":1.0})"
      << "\n"
      << R"({"kind":"epoch","epoch":1,"step":9,"seconds":1.25,"processor_seconds":2.5})"
      << "\n";
  EXPECT_EQ(learning_document(paths, config).at("epochs")[0].at("seconds"), 1.25);
  config.train.epochs = 1;
  EXPECT_EQ(learning_document(paths, config).at("finished"), true);
}

TEST(Learning, LongRunsAreThinnedToTheirEnds) {
  const testing::TemporaryDirectory directory;
  const RunPaths paths{directory.path()};
  std::ofstream file(paths.metrics());
  for (int step = 1; step <= 1001; ++step) {
    file << R"({"kind":"step","step":)" << step << "}\n";
  }
  file.close();
  const Json steps = learning_document(paths, {}, 11).at("steps");
  ASSERT_EQ(steps.size(), 11U);
  EXPECT_EQ(steps.front().at("step"), 1);
  EXPECT_EQ(steps[5].at("step"), 501);
  EXPECT_EQ(steps.back().at("step"), 1001);
}

TEST(Confusions, TheMostFrequentPairIsFirstAndItsSurestMistakeToo) {
  ImageSet images{.shape = {.channels = 1, .height = 1, .width = 1},
                  .classes = 3,
                  .pixels = std::vector<uint8_t>{0, 1, 2, 3, 4, 5},
                  .labels = {0, 1, 1, 1, 2, 2},
                  .class_names = {"a", "b"}};
  const EncoderSpec encoder;
  const Sample sample{images, {0, 6}, encoder};
  const std::vector<int64_t> said = {0, 0, 0, 1, 1, 2};
  const std::vector<float> confidence = {0.9F, 0.5F, 0.75F, 0.9F, 0.9F, 0.9F};
  const Json document =
      confusions_document(sample, {.predictions = said, .confidence = confidence});
  EXPECT_EQ(document.at("matrix"), Json::parse("[[1,0,0],[2,1,0],[0,1,1]]"));
  EXPECT_EQ(document.at("classes"), Json::parse(R"(["a","b","2"])"));
  const Json& worst = document.at("confusions")[0];
  EXPECT_EQ(worst.at("truth"), "b");
  EXPECT_EQ(worst.at("predicted"), "a");
  EXPECT_EQ(worst.at("count"), 2);
  EXPECT_DOUBLE_EQ(worst.at("share").get<double>(), 2.0 / 3.0);
  EXPECT_EQ(worst.at("examples")[0].at("confidence"), 0.75);
  EXPECT_EQ(worst.at("examples")[0].at("image"), png_data_uri({images.image(2), 1}, images.shape));
}

LineFigure figure_with_label(const std::string& label) {
  return {.x_label = label,
          .y_label = "y",
          .series = {{.label = label, .colour = "#000000", .points = {{1.0, 1.0}, {2.0, 3.0}}}}};
}

TEST(Figure, LabelsAreDrawnNotObeyed) {
  const testing::TemporaryDirectory directory;
  const std::string victim = (directory.path() / "made").string();
  for (const std::string& attempt : std::vector<std::string>{
           "`touch " + victim + "`", "'; system('touch " + victim + "') #",
           "x\nsystem(\"touch " + victim + "\")\n", "\" . system('touch " + victim + "') . \"",
           "@HOME %s \\n {/Bold x}"}) {
    const std::string svg =
        run_gnuplot(plot_script(figure_with_label(attempt), PictureFormat::svg));
    EXPECT_THAT(svg, HasSubstr("</svg>"));
    EXPECT_FALSE(std::filesystem::exists(victim)) << attempt;
  }
}

TEST(Figure, WhatGnuplotRefusesIsAnError) { EXPECT_THROW(run_gnuplot("plot nonsense(\n"), Error); }

TEST(LiveServer, AnswersItsOwnNameOnly) {
  LiveServer server(0);
  server.publish({{"runs", Json::array()}});
  httplib::Client client("127.0.0.1", server.port());
  const auto page = client.Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_THAT(page->body, HasSubstr("connect-src 'self'"));
  const auto foreign = client.Get("/document.json", {{"Host", "evil.example"}});
  ASSERT_TRUE(foreign);
  EXPECT_EQ(foreign->status, 403);
  EXPECT_THAT(foreign->body, Not(HasSubstr("runs")));
}

// As browsers write the Host header: with the port, unless it is that of HTTP.
TEST(LiveServer, IsNamedWithoutThePortOnlyIfThatIs80) {
  for (const std::string name : {"127.0.0.1", "localhost"}) {
    EXPECT_TRUE(names_this_server(name + ":8080", 8080));
    EXPECT_TRUE(names_this_server(name + ":80", 80));
    EXPECT_TRUE(names_this_server(name, 80));
    EXPECT_FALSE(names_this_server(name, 8080));
    EXPECT_FALSE(names_this_server(name + ":80", 8080));
    EXPECT_FALSE(names_this_server(name + ".evil.example", 80));
  }
  EXPECT_FALSE(names_this_server("", 80));
  EXPECT_FALSE(names_this_server("evil.example", 80));
  EXPECT_FALSE(names_this_server("evil.example:80", 80));
}

TEST(LiveServer, SendsOnlyNews) {
  LiveServer server(0);
  server.publish({{"runs", Json::array()}});
  httplib::Client client("127.0.0.1", server.port());
  const auto first = client.Get("/document.json?since=");
  ASSERT_TRUE(first);
  const std::string version = Json::parse(first->body).at("version");
  EXPECT_EQ(client.Get("/document.json?since=" + version)->status, 204);
  server.publish({{"runs", {1}}});
  const auto second = client.Get("/document.json?since=" + version);
  ASSERT_EQ(second->status, 200);
  EXPECT_EQ(Json::parse(second->body).at("runs").size(), 1U);
}

TEST(LiveServer, RefusesAPortThatIsTaken) {
  const LiveServer first(0);
  EXPECT_THROW(LiveServer second(first.port()), Error);
}

}  // namespace
}  // namespace bntt
