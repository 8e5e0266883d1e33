#include <sstream>

#include "base/json.h"
#include "sample_files.h"
#include "tiny_runs.h"
#include "train/metrics.h"

namespace bntt {
namespace {

using testing::Bytes;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::png_file;
using testing::ProcessEnd;
using testing::run_bntt;
using testing::TinyRuns;

class Predictions : public TinyRuns {
 protected:
  using Row = std::vector<std::string>;

  /// Fields without quotes.
  std::vector<Row> rows_of(const std::string& file) const {
    std::vector<Row> rows;
    std::istringstream text(bytes_of(root() / file));
    for (std::string line; std::getline(text, line);) {
      Row row;
      std::istringstream fields(line);
      for (std::string field; std::getline(fields, field, ',');) row.push_back(field);
      rows.push_back(row);
    }
    return rows;
  }
};

TEST_F(Predictions, HaveARowPerImageThatAddsUpToTheAccuracy) {
  train("run");
  const Json report = parse_json(
      succeed({"eval", path("run"), "--predictions", path("made/new/out.csv"), "--json"}), "eval");
  EXPECT_EQ(report.at("accuracy"),
            parse_json(succeed({"eval", path("run"), "--json"}), "eval").at("accuracy"));
  const std::vector<Row> rows = rows_of("made/new/out.csv");
  ASSERT_EQ(rows.size(), 1U + kTestImages);
  EXPECT_THAT(bytes_of(root() / "made/new/out.csv"),
              ::testing::StartsWith("index,file,label,prediction,probability,steps,p:0,p:1,"));
  int correct = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].size(), 6U + 10U);
    EXPECT_EQ(rows[i][0], std::to_string(i - 1));
    EXPECT_EQ(rows[i][1], "");
    EXPECT_EQ(rows[i][2], std::to_string((i - 1) % 8));
    correct += rows[i][2] == rows[i][3] ? 1 : 0;
    EXPECT_EQ(rows[i][4], rows[i][6 + std::stoul(rows[i][3])]);
    EXPECT_EQ(rows[i][5], "3");
    double sum = 0.0;
    for (std::size_t k = 6; k < rows[i].size(); ++k) sum += std::stod(rows[i][k]);
    EXPECT_NEAR(sum, 1.0, 1e-5);
  }
  EXPECT_DOUBLE_EQ(100.0 * correct / kTestImages, report.at("accuracy").get<double>());
}

TEST_F(Predictions, TellTheStepsThatAnImageTook) {
  train("run", {"--epochs", "1"});
  succeed({"eval", path("run"), "--exit-margin", "0", "--predictions", path("out.csv")});
  const std::vector<Row> rows = rows_of("out.csv");
  ASSERT_EQ(rows.size(), 1U + kTestImages);
  for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_EQ(rows[i][5], "1");
}

TEST_F(Predictions, NameTheFilesAndClassesOfAFolder) {
  for (const std::string name : {"cat", "dog"}) {
    for (int i = 0; i < 20; ++i) {
      const Bytes picture =
          png_file(8, 8, Bytes(192, static_cast<uint8_t>(name == "cat" ? i : 200 + i)));
      std::filesystem::create_directories(root() / "pictures" / name);
      std::ofstream(root() / "pictures" / name / fmt::format("{}.png", i), std::ios::binary)
          .write(reinterpret_cast<const char*>(picture.data()),
                 static_cast<std::streamsize>(picture.size()));
    }
  }
  succeed({"train", "--config", path("tiny.toml"), "--data", path("pictures"), "--set",
           "data.name=folder", "--set", "data.size=8", "--cache", "none", "--epochs", "1", "--out",
           path("run")});
  succeed({"eval", path("run"), "--cache", "none", "--predictions", path("out.csv")});
  const std::vector<Row> rows = rows_of("out.csv");
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0][6], "p:cat");
  EXPECT_EQ(rows[0][7], "p:dog");
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_TRUE(std::filesystem::is_regular_file(rows[i][1])) << rows[i][1];
    EXPECT_EQ(std::filesystem::path(rows[i][1]).parent_path().filename(), rows[i][2]);
  }
}

TEST_F(Predictions, ThatCannotBeWrittenAreRefusedBeforeTheWork) {
  train("run", {"--epochs", "1"});
  const ProcessEnd end = run_bntt({"eval", path("run"), "--predictions", path("run")});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.error, HasSubstr("is a directory, expected a file to write"));
}

// examples/read_run.py reads what a run leaves, with Python's standard library alone.
TEST_F(Predictions, ThePythonExampleReadsARun) {
  train("run");
  const std::string told = succeed({BNTT_READ_RUN, path("run")}, {.program = BNTT_PYTHON});
  const RunPaths paths{root() / "run"};
  Json best;
  for (const Json& line : read_metrics(paths, "epoch")) {
    if (line.at("best").get<bool>()) best = line;
  }
  EXPECT_THAT(told, HasSubstr(fmt::format("epoch {}: train loss {:.4f}, validation {:.2f} %\n",
                                          best.at("epoch").get<int64_t>(),
                                          best.at("train_loss").get<double>(),
                                          best.at("validation_accuracy").get<double>())));
  EXPECT_THAT(told, HasSubstr(fmt::format(
                        "test: {:.2f} % of 21 images\n",
                        read_metrics(paths, "test").front().at("accuracy").get<double>())));
  EXPECT_THAT(told, HasSubstr("network: 3 steps, "));
  const auto gamma = best.at("gamma").at("conv1").get<std::vector<double>>();
  EXPECT_THAT(told, HasSubstr(fmt::format("  mean gamma of each step: {:.2f} {:.2f} {:.2f}\n",
                                          gamma[0], gamma[1], gamma[2])));
}

}  // namespace
}  // namespace bntt
