#include <algorithm>

#include "sample_files.h"
#include "tiny_runs.h"

// Presets of the paper's data sets from files to a tested network, and hostile files.
namespace bntt {
namespace {

using testing::append_aedat2;
using testing::append_nmnist;
using testing::Bytes;
using ::testing::HasSubstr;
using testing::jpeg_file;
using testing::png_file;
using testing::ProcessEnd;
using testing::run_bntt;
using testing::TemporaryDirectory;
using testing::text_bytes;

class DataSets : public ::testing::Test {
 protected:
  /// Narrow networks and a dozen samples, so that each run takes a second.
  std::vector<std::string> arguments(const std::string& preset) const {
    return {"train",   "--preset",         preset,     "--data",   path("data"),
            "--cache", path("cache"),      "--epochs", "1",        "--limit-train",
            "12",      "--limit-test",     "4",        "--set",    "train.batch=4",
            "--set",   "model.width=0.02", "--out",    path("run")};
  }
  void trains_and_evaluates(const std::string& preset) const {
    const ProcessEnd train = run_bntt(arguments(preset));
    EXPECT_EQ(train.exit_code, 0) << train.error;
    EXPECT_THAT(train.out, HasSubstr("on 4 images"));
    const ProcessEnd eval = run_bntt(
        {"eval", path("run"), "--limit", "3", "--data", path("data"), "--cache", "none", "--json"});
    EXPECT_EQ(eval.exit_code, 0) << eval.error;
    EXPECT_THAT(eval.out, HasSubstr("\"images\": 3"));
  }
  std::string refused(const std::string& preset) const {
    const ProcessEnd end = run_bntt(arguments(preset));
    EXPECT_EQ(end.exit_code, 2) << end.out << end.error;
    EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
    EXPECT_FALSE(std::filesystem::exists(directory_.path() / "run"));
    return end.error;
  }
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  void write(const std::string& name, const Bytes& bytes) const {
    directory_.write("data/" + name, bytes);
  }

  void write_cifar100() const {
    Bytes records;
    for (int i = 0; i < 20; ++i) {
      records.insert(records.end(), {static_cast<uint8_t>(i % 20), static_cast<uint8_t>(5 * i)});
      for (int k = 0; k < 3072; ++k) records.push_back(static_cast<uint8_t>(i * k));
    }
    for (const auto& [file, count] : {std::pair{"train.bin", 50000}, {"test.bin", 10000}}) {
      write(file, records);
      std::filesystem::resize_file(path(std::string("data/") + file),
                                   static_cast<uintmax_t>(count) * 3074);  // sparse
    }
  }
  void write_tiny_imagenet() const {
    std::string annotations;
    for (int i = 0; i < 8; ++i) {
      for (const std::string wnid : {"n01", "n02"}) {
        write("train/" + wnid + "/images/" + wnid + "_" + std::to_string(i) + ".JPEG",
              jpeg_file(64, 64, Bytes(4096, static_cast<uint8_t>(20 * i)), true));
      }
      const std::string name = "val_" + std::to_string(i) + ".JPEG";
      write("val/images/" + name, jpeg_file(64, 64, Bytes(12288, 99)));
      annotations += name + "\tn02\t0\t0\t63\t63\n";
    }
    write("wnids.txt", text_bytes("n01\nn02\n"));
    write("val/val_annotations.txt", text_bytes(annotations));
  }
  void write_dvs_cifar10() const {
    const std::vector<std::string> classes = {"airplane", "automobile", "bird",  "cat",  "deer",
                                              "dog",      "frog",       "horse", "ship", "truck"};
    for (std::size_t label = 0; label < classes.size(); ++label) {
      for (int i = 0; i < 3; ++i) {
        Bytes bytes = text_bytes("#!AER-DAT2.0\r\n");
        for (int k = 0; k < 300; ++k) {
          append_aedat2((k * 7 + i) % 128, static_cast<int>(label) * 12 + k % 8, k % 3 == 0,
                        static_cast<uint32_t>(4000 * k), bytes);
        }
        write(classes[label] + "/cifar10_" + classes[label] + "_" + std::to_string(i) + ".aedat",
              bytes);
      }
    }
  }
  void write_nmnist() const {
    for (const std::string split : {"Train/", "Test/"}) {
      for (int digit = 0; digit < 10; ++digit) {
        for (int i = 0; i < 2; ++i) {
          Bytes bytes;
          for (int k = 0; k < 100; ++k) {
            append_nmnist(3 * digit + k % 4, k % 34, k % 2 == 0, static_cast<uint32_t>(1000 * k),
                          bytes);
          }
          write(split + std::to_string(digit) + "/" + std::to_string(i) + ".bin", bytes);
        }
      }
    }
  }

  TemporaryDirectory directory_;
};

TEST_F(DataSets, PaperCifar100) {
  write_cifar100();
  trains_and_evaluates("paper-cifar100");
}

TEST_F(DataSets, PaperTinyImagenet) {
  write_tiny_imagenet();
  trains_and_evaluates("paper-tiny-imagenet");
}

TEST_F(DataSets, PaperDvsCifar10) {
  write_dvs_cifar10();
  trains_and_evaluates("paper-dvs-cifar10");
}

TEST_F(DataSets, Nmnist) {
  write_nmnist();
  trains_and_evaluates("nmnist");
  EXPECT_THAT(run_bntt({"inspect", path("run")}).out,
              HasSubstr("frames    10 of equal lengths of time, counts of events\n"));
  const ProcessEnd half =
      run_bntt({"predict", path("run"), path("data/Test/3/0.bin"), "--sensor-width", "34"});
  EXPECT_EQ(half.exit_code, 2);
  EXPECT_THAT(half.error, HasSubstr("a sensor of 34x0 pixels was given, expected both sides"));
}

TEST_F(DataSets, ARunOnAFolderKeepsItsMeasuredStatistics) {
  for (int i = 0; i < 20; ++i) {
    write("cats/" + std::to_string(i) + ".png", png_file(20, 24, Bytes(1440, 51)));
    write("dogs/" + std::to_string(i) + ".png", png_file(20, 24, Bytes(1440, 204)));
  }
  std::vector<std::string> more = arguments("demo-fashion-mnist");
  more.insert(more.end(), {"--set", "data.name=folder", "--set", "data.size=16", "--set",
                           "data.limit_train=0"});
  const ProcessEnd train = run_bntt(more);
  EXPECT_EQ(train.exit_code, 0) << train.error;
  const std::string settings = testing::bytes_of(directory_.path() / "run/run.toml");
  EXPECT_THAT(settings, HasSubstr("mean = [0.5, 0.5, 0.5]"));
  EXPECT_THAT(settings, HasSubstr("deviation = [0.3, 0.3, 0.3]"));
  more.emplace_back("--resume");
  EXPECT_EQ(run_bntt(more).exit_code, 0);
  const std::vector<std::string> eval = {"eval", path("run"), "--cache", "none"};
  EXPECT_EQ(run_bntt(eval).exit_code, 0);
  for (int i = 0; i < 20; ++i) {
    write("birds/" + std::to_string(i) + ".png", png_file(20, 24, Bytes(1440, 99)));
  }
  EXPECT_THAT(run_bntt(eval).error,
              HasSubstr("it takes 3x16x16 in 2 classes, but the data are 3x16x16 in 3 classes; not "
                        "in the run: 'birds'\n"));
}

TEST_F(DataSets, OwnRecordingsOfAKnownSensor) {
  for (int i = 0; i < 8; ++i) {
    for (int label = 0; label < 2; ++label) {
      Bytes bytes;
      for (int k = 0; k < 100; ++k) {
        append_nmnist(120 * label + k, k, k % 2 == 0, static_cast<uint32_t>(1000 * k), bytes);
      }
      write((label == 0 ? "left/" : "right/") + std::to_string(i) + ".bin", bytes);
    }
  }
  std::vector<std::string> more = arguments("nmnist");
  more.insert(more.end(), {"--set", "data.name=event-folder", "--set", "data.size=16"});
  EXPECT_THAT(run_bntt(more).error, HasSubstr("does not say how large its sensor is"));
  more.insert(more.end(), {"--set", "data.sensor_width=240", "--set", "data.sensor_height=180"});
  const ProcessEnd train = run_bntt(more);
  EXPECT_EQ(train.exit_code, 0) << train.error;
  EXPECT_THAT(train.out, HasSubstr("on 2 images"));
  const ProcessEnd eval = run_bntt({"eval", path("run"), "--cache", "none", "--json"});
  EXPECT_EQ(eval.exit_code, 0) << eval.error;
  EXPECT_THAT(eval.out, HasSubstr("\"images\": 2"));
}

TEST_F(DataSets, TheEncoderMustFitTheData) {
  write_nmnist();
  std::vector<std::string> more = arguments("nmnist");
  more.insert(more.end(), {"--set", "encoder.kind=direct"});
  const ProcessEnd images = run_bntt(more);
  EXPECT_EQ(images.exit_code, 2);
  EXPECT_THAT(images.error, HasSubstr("encoder.kind is direct, but the data set nmnist holds "
                                      "event recordings"));
  more.back() = "data.frames=9";
  const ProcessEnd frames = run_bntt(more);
  EXPECT_EQ(frames.exit_code, 2);
  EXPECT_THAT(frames.error, HasSubstr("data.frames is 9, expected at least the 10 steps"));
}

TEST_F(DataSets, HostileFilesGetOneSentence) {
  write_nmnist();
  write("Train/3/0.bin", Bytes(7));
  write("Train/3/1.bin", Bytes(7));
  EXPECT_THAT(refused("nmnist"), HasSubstr("holds 7 bytes, expected a multiple of 5"));

  write_dvs_cifar10();
  for (int i = 0; i < 3; ++i) {
    write("cat/cifar10_cat_" + std::to_string(i) + ".aedat", text_bytes("#!AER-DAT2.0\r\nabc"));
  }
  EXPECT_THAT(refused("paper-dvs-cifar10"), HasSubstr("ends in the middle of an event"));

  write_tiny_imagenet();
  write("val/val_annotations.txt", text_bytes("../x\tn01\n"));
  EXPECT_THAT(refused("paper-tiny-imagenet"), HasSubstr("names the file '../x'"));

  write_cifar100();
  Bytes wrong = {0, 100};
  wrong.resize(10000 * std::size_t{3074});
  write("test.bin", wrong);
  EXPECT_THAT(refused("paper-cifar100"), HasSubstr("gives image 0 the label 100"));
}

}  // namespace
}  // namespace bntt
