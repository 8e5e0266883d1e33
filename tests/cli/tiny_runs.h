#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/safetensors.h"
#include "fixtures.h"
#include "process.h"

namespace bntt::testing {

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A directory with a tiny data set in the format of MNIST (48 training and 21 test images of 12x12
/// pixels) and a settings file for it: 36 training images make 6 steps per epoch, 18 in all.
class TinyRuns : public ::testing::Test {
 protected:
  static constexpr int64_t kTrainImages = 48;
  static constexpr int64_t kTestImages = 21;

  TinyRuns() {
    std::filesystem::create_directory(data());
    write_split("train", kTrainImages);
    write_split("t10k", kTestImages);
    write_text("tiny.toml",
               "[data]\nname = \"mnist\"\nvalidation = 0.25\naugment_pad = 1\n"
               "[model]\nname = \"vgg5\"\nsteps = 3\nwidth = 0.05\n"
               "[train]\nepochs = 3\nbatch = 6\n"
               "[run]\nlog_steps = 2\ncheckpoint_steps = 2\n");
  }

  std::filesystem::path root() const { return directory_.path(); }
  std::filesystem::path data() const { return root() / "data"; }
  std::string path(const std::string& name) const { return (root() / name).string(); }

  void write_text(const std::string& name, const std::string& text) const {
    std::ofstream(root() / name) << text;
  }
  /// Leaves the tensors of an exported file alone, as others write them.
  void forget_description(const std::string& name) const {
    TensorFile file = read_tensors(root() / name);
    file.metadata.clear();
    write_tensors(root() / name, file, {.checksum = false});
  }
  void write_data(const std::string& name, const Bytes& bytes) const {
    directory_.write("data/" + name, bytes);
  }
  /// Class k is a bright 3x6 field at the place k.
  static Bytes pixels(int64_t images) {
    Bytes result;
    for (int64_t image = 0; image < images; ++image) {
      const int64_t label = image % 8;
      for (int64_t y = 0; y < 12; ++y) {
        for (int64_t x = 0; x < 12; ++x) {
          const bool bright = y / 3 == label / 2 && x / 6 == label % 2;
          result.push_back(
              static_cast<uint8_t>((bright ? 210 : 10) + (image * 5 + y * 3 + x) % 40));
        }
      }
    }
    return result;
  }
  static Bytes labels(int64_t images) {
    Bytes result;
    for (int64_t image = 0; image < images; ++image) {
      result.push_back(static_cast<uint8_t>(image % 8));
    }
    return result;
  }
  void write_split(const std::string& prefix, int64_t images) const {
    const auto count = static_cast<uint32_t>(images);
    write_data(prefix + "-images-idx3-ubyte", idx_file({count, 12, 12}, pixels(images)));
    write_data(prefix + "-labels-idx1-ubyte", idx_file({count}, labels(images)));
  }

  /// Recordings in the format of N-MNIST, 3 for training and 2 for testing of each digit: digit k
  /// is a column of events.
  void write_recordings() const {
    for (int digit = 0; digit < 10; ++digit) {
      Bytes bytes;
      for (int k = 0; k < 100; ++k) {
        const int time_us = 1000 * k;
        for (const int byte : {3 * digit + k % 4, k % 34, (k % 2 == 0 ? 0x80 : 0) | time_us >> 16,
                               time_us >> 8, time_us}) {
          bytes.push_back(static_cast<uint8_t>(byte));
        }
      }
      for (const char* name : {"Train/{}/0.bin", "Train/{}/1.bin", "Train/{}/2.bin",
                               "Test/{}/0.bin", "Test/{}/1.bin"}) {
        directory_.write("events/" + fmt::format(fmt::runtime(name), digit), bytes);
      }
    }
  }
  void train_on_recordings(const std::string& run) const {
    succeed({"train", "--preset", "nmnist", "--data", path("events"), "--cache", "none", "--epochs",
             "1", "--set", "train.batch=4", "--set", "model.width=0.02", "--set", "model.steps=4",
             "--out", path(run)});
  }

  std::vector<std::string> train_arguments(const std::string& run,
                                           const std::vector<std::string>& more = {}) const {
    std::vector<std::string> result = {"train",         "--config", path("tiny.toml"), "--data",
                                       data().string(), "--out",    path(run)};
    result.insert(result.end(), more.begin(), more.end());
    return result;
  }
  /// Trains to the end; the program's output.
  std::string train(const std::string& run, const std::vector<std::string>& more = {},
                    const ProcessOptions& options = {}) const {
    return succeed(train_arguments(run, more), options);
  }
  static std::string succeed(const std::vector<std::string>& arguments,
                             const ProcessOptions& options = {}) {
    const ProcessEnd end = run_bntt(arguments, options);
    EXPECT_EQ(end.exit_code, 0) << end.error;
    EXPECT_EQ(end.error, "");
    return end.out;
  }

  void expect_same_runs(const std::string& a, const std::string& b) const {
    for (const char* file : {"checkpoint.safetensors", "metrics.jsonl", "best.safetensors"}) {
      const std::string bytes = bytes_of(root() / a / file);
      EXPECT_FALSE(bytes.empty()) << a << "/" << file;
      EXPECT_TRUE(bytes == bytes_of(root() / b / file))
          << file << " of " << a << " and " << b << " differ";
    }
  }
  std::vector<std::string> files_of(const std::string& run) const {
    std::vector<std::string> names;
    if (!std::filesystem::exists(root() / run)) return names;
    for (const auto& entry : std::filesystem::directory_iterator(root() / run)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace bntt::testing
