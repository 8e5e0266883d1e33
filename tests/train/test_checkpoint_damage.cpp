#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "base/json.h"
#include "bntt/load.h"
#include "fixtures.h"
#include "learn/sgd.h"
#include "small_networks.h"
#include "train/checkpoint.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using testing::bytes_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::refusal;
using testing::small_vgg5;
using ::testing::StartsWith;
using testing::TemporaryDirectory;

class DamagedCheckpoint : public ::testing::Test {
 protected:
  DamagedCheckpoint() : network_(small_vgg5()), sgd_(network_, {}) {
    whole_ = format_tensors(pack_checkpoint(network_, {}, &sgd_, &position_));
  }
  void write(const std::vector<uint8_t>& bytes) const {
    directory_.write("checkpoint.safetensors", bytes);
  }
  std::string refused() const {
    return refusal([&] { load_checkpoint(paths_, paths_.checkpoint()); });
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryDirectory directory_;
  RunPaths paths_{directory_.path()};
  Network network_;
  Sgd sgd_;
  TrainPosition position_;
  std::vector<uint8_t> whole_;
};

TEST_F(DamagedCheckpoint, CutShortIsRefusedByName) {
  for (std::size_t size = 0; size < whole_.size(); size += 1 + whole_.size() / 97) {
    write({whole_.begin(), whole_.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_THAT(refused(), StartsWith(paths_.checkpoint().string() + ": ")) << size << " bytes";
  }
}

TEST_F(DamagedCheckpoint, WithBytesTooManyIsRefused) {
  whole_.push_back(0);
  write(whole_);
  EXPECT_THAT(refused(), StartsWith(paths_.checkpoint().string() + ": "));
}

// Every bit of the length and of the header's first part, then a bit every few bytes. Only padding
// may change unseen.
TEST_F(DamagedCheckpoint, AFlippedBitIsNoticed) {
  const TensorFile expected = parse_tensors(whole_, "whole");
  const std::size_t last = whole_.size();
  int64_t unseen = 0;
  int64_t tried = 0;
  for (std::size_t bit = 0; bit < 8 * last; bit += bit < 8 * 512 ? 1 : 137) {
    std::vector<uint8_t> bytes = whole_;
    bytes[bit / 8] ^= static_cast<uint8_t>(1U << (bit % 8));
    ++tried;
    try {
      const TensorFile file = parse_tensors(bytes, "flipped", {.require_checksum = true});
      ++unseen;
      EXPECT_EQ(file.metadata, expected.metadata) << "bit " << bit;
      EXPECT_EQ(format_tensors(file), whole_) << "bit " << bit;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), StartsWith("flipped: "));
    }
  }
  EXPECT_GT(tried, 4000);
  EXPECT_LE(unseen, 8);
}

TEST_F(DamagedCheckpoint, ForeignFilesAreRefusedByName) {
  const std::vector<float> values = {1.0F, 2.0F};
  TensorFile foreign;
  foreign.tensors.push_back(float_tensor("conv1.weight", {2}, values));
  write(format_tensors(foreign, {.checksum = false}));
  EXPECT_EQ(refused(),
            paths_.checkpoint().string() + ": has no checksum: not a checkpoint of bntt");

  EXPECT_THAT(refusal([&] { checkpoint_network(foreign, "f"); }),
              StartsWith("f: is not a bntt checkpoint"));
  foreign.metadata["bntt.format"] = "2";
  EXPECT_EQ(refusal([&] { checkpoint_network(foreign, "f"); }),
            "f: is a bntt checkpoint of format '2', expected '1'");
  foreign.metadata["bntt.format"] = "1";
  foreign.metadata["bntt.network"] = "{\"input\": 3}";
  EXPECT_THAT(refusal([&] { checkpoint_network(foreign, "f"); }), StartsWith("f: network"));

  const std::string text = "not tensors at all, only some text";
  write({text.begin(), text.end()});
  EXPECT_THAT(refused(), StartsWith(paths_.checkpoint().string() + ": "));
}

TEST_F(DamagedCheckpoint, BrokenPositionIsRefused) {
  for (const char* text : {"", "[]", "{}", "{\"epoch\": \"one\"}"}) {
    TensorFile file = parse_tensors(whole_, "whole");
    file.metadata["bntt.position"] = text;
    EXPECT_THAT(refusal([&] { unpack_training(file, "c", network_, sgd_); }), StartsWith("c: "));
  }
}

TEST_F(DamagedCheckpoint, NegativePositionIsRefused) {
  for (const char* key : {"epoch", "batch", "step"}) {
    TensorFile file = parse_tensors(whole_, "whole");
    Json position = Json::parse(file.metadata["bntt.position"]);
    position[key] = -1;
    file.metadata["bntt.position"] = position.dump();
    EXPECT_EQ(refusal([&] { unpack_training(file, "c", network_, sgd_); }),
              "c: its training position is invalid");
  }
}

int64_t peak_memory_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// A header can describe a network of gigabytes; its tensors are looked at first.
TEST_F(DamagedCheckpoint, WithoutTheTensorsOfItsNetworkTakesNoMemory) {
  const NetworkSpec large{.input = {1, 16, 16}, .steps = 2, .stages = {Dense{1 << 20}, Readout{4}}};
  TensorFile file = parse_tensors(whole_, "whole");
  file.metadata["bntt.network"] = to_json(large);
  write(format_tensors(file));
  const int64_t before = peak_memory_kilobytes();
  EXPECT_EQ(
      refusal([&] { load_network(paths_.checkpoint()); }),
      paths_.checkpoint().string() +
          ": tensor 'fc1.weight' has 4896 bytes, expected 1073741824 for the network in the file");
  EXPECT_EQ(refusal([&] { load_run_network(paths_); }),
            refusal([&] { load_network(paths_.checkpoint()); }));
  EXPECT_LT(peak_memory_kilobytes() - before, 1 << 16);
  file.tensors.clear();
  write(format_tensors(file));
  EXPECT_EQ(refusal([&] { load_network(paths_.checkpoint()); }),
            paths_.checkpoint().string() + ": expected a tensor 'fc1.weight', found none");
  EXPECT_LT(peak_memory_kilobytes() - before, 1 << 16);
}

TEST_F(DamagedCheckpoint, WithoutTheGainsOfItsNetworkTakesNoMemory) {
  NetworkSpec many_steps = network_.spec();
  many_steps.steps = 1 << 16;
  TensorFile file = parse_tensors(whole_, "whole");
  file.metadata["bntt.network"] = to_json(many_steps);
  write(format_tensors(file));
  EXPECT_THAT(refusal([&] { load_network(paths_.checkpoint()); }),
              HasSubstr("tensor 'conv1.norm.weight' has"));
}

TEST_F(DamagedCheckpoint, NamesAnIntactPreviousOne) {
  write(std::vector<uint8_t>(whole_.begin(), whole_.end() - 9));
  EXPECT_THAT(refused(), Not(HasSubstr("previous")));
  directory_.write("previous.safetensors", whole_);
  EXPECT_THAT(refused(), AllOf(StartsWith(paths_.checkpoint().string() + ": "),
                               HasSubstr(paths_.previous().string() + ", is intact")));
  directory_.write("previous.safetensors", std::vector<uint8_t>(100, 1));
  EXPECT_THAT(refused(), Not(HasSubstr("intact")));
}

/// A disk on which no file may grow beyond some bytes.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limited);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  void (*signal_)(int);
  rlimit before_{};
};

TEST_F(DamagedCheckpoint, AFullDiskLeavesTheOldOne) {
  const TensorFile first = pack_checkpoint(network_, {}, &sgd_, &position_);
  save_checkpoint(paths_, first);
  network_.parameters()[0].value[0] += 1.0F;
  const TensorFile second = pack_checkpoint(network_, {}, &sgd_, &position_);
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{100}, rlim_t{whole_.size() - 1}}) {
    {
      const FullDisk disk(bytes);
      EXPECT_THAT(refusal([&] { save_checkpoint(paths_, second); }),
                  StartsWith(paths_.checkpoint().string() + ": cannot be written: "));
    }
    EXPECT_EQ(bytes_of(paths_.checkpoint()), std::string(whole_.begin(), whole_.end()));
    EXPECT_THAT(files(), ::testing::Each(Not(HasSubstr("tmp"))));
    EXPECT_NO_THROW(load_checkpoint(paths_, paths_.checkpoint()));
  }
  save_checkpoint(paths_, second);
  EXPECT_NE(bytes_of(paths_.checkpoint()), std::string(whole_.begin(), whole_.end()));
}

}  // namespace
}  // namespace bntt
