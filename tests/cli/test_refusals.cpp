#include <fmt/format.h>

#include <algorithm>

#include "tiny_runs.h"

// Wrong inputs: exit code 2, one line on the error output, nothing left half-written.
namespace bntt {
namespace {

using ::testing::AllOf;
using testing::Bytes;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::idx_file;
using testing::ProcessEnd;
using testing::ProcessOptions;
using testing::run_bntt;
using testing::TinyRuns;

class Refusals : public TinyRuns {
 protected:
  /// The one line, without its newline.
  static std::string refused(const std::vector<std::string>& arguments,
                             const ProcessOptions& options = {}) {
    const ProcessEnd end = run_bntt(arguments, options);
    EXPECT_EQ(end.exit_code, 2) << end.out << end.error;
    EXPECT_EQ(end.signal, 0);
    EXPECT_THAT(end.error, ::testing::StartsWith("bntt: "));
    EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
    EXPECT_TRUE(end.error.ends_with('\n'));
    return end.error.substr(0, end.error.find('\n'));
  }
  /// A training that must not even begin.
  std::string train_refused(const std::vector<std::string>& more = {}) const {
    const std::string line = refused(train_arguments("new", more));
    EXPECT_FALSE(std::filesystem::exists(root() / "new")) << line;
    return line;
  }
  std::string config_refused(const std::string& toml) const {
    write_text("tiny.toml", toml);
    return train_refused();
  }
  void damage(const std::filesystem::path& file) const {
    std::string bytes = bytes_of(file);
    bytes[bytes.size() - 100] ^= 0x10;
    std::ofstream(file, std::ios::binary) << bytes;
  }
};

TEST_F(Refusals, MissingData) {
  std::filesystem::rename(data(), root() / "moved");
  EXPECT_THAT(train_refused(), AllOf(HasSubstr("mnist: "), HasSubstr("is not a directory")));
  std::filesystem::create_directory(data());
  EXPECT_THAT(train_refused(), HasSubstr("train-images-idx3-ubyte"));
}

TEST_F(Refusals, NoDataDirectory) {
  EXPECT_THAT(refused({"train", "--config", path("tiny.toml"), "--out", path("new")}),
              HasSubstr("no data directory was given"));
  EXPECT_FALSE(std::filesystem::exists(root() / "new"));
}

TEST_F(Refusals, TruncatedAndOversizedData) {
  Bytes images = idx_file({kTrainImages, 12, 12}, pixels(kTrainImages));
  images.pop_back();
  write_data("train-images-idx3-ubyte", images);
  EXPECT_THAT(train_refused(), HasSubstr("train-images-idx3-ubyte"));
  images.push_back(0);
  images.push_back(0);
  write_data("train-images-idx3-ubyte", images);
  EXPECT_THAT(train_refused(), HasSubstr("train-images-idx3-ubyte"));
  write_data("train-images-idx3-ubyte", {0, 0, 8});
  EXPECT_THAT(train_refused(), HasSubstr("train-images-idx3-ubyte"));
}

TEST_F(Refusals, LabelsThatDoNotFit) {
  Bytes wrong = labels(kTrainImages);
  wrong[17] = 10;
  write_data("train-labels-idx1-ubyte", idx_file({kTrainImages}, wrong));
  EXPECT_THAT(train_refused(), AllOf(HasSubstr("train-labels-idx1-ubyte"),
                                     HasSubstr("image 17 the label 10, expected 0 to 9")));
  write_data("train-labels-idx1-ubyte", idx_file({10}, labels(10)));
  EXPECT_THAT(train_refused(), HasSubstr("holds 10 labels, expected 48"));
}

TEST_F(Refusals, UnknownKeysGetTheNearestRightOne) {
  EXPECT_THAT(train_refused({"--set", "model.widht=0.5"}),
              AllOf(HasSubstr("widht"), HasSubstr("did you mean 'model.width'")));
  EXPECT_THAT(
      config_refused("[train]\nlearning_rat = 0.1\n"),
      AllOf(HasSubstr("tiny.toml"), HasSubstr("learning_rat'"), HasSubstr("learning_rate")));
  EXPECT_THAT(config_refused("[modle]\nwidth = 0.1\n"), HasSubstr("model"));
}

TEST_F(Refusals, WrongTypesAndRanges) {
  EXPECT_THAT(config_refused("[train]\nbatch = \"many\"\n"), HasSubstr("train.batch"));
  EXPECT_THAT(config_refused("[train]\nbatch = 0\n"), HasSubstr("train.batch"));
  EXPECT_THAT(config_refused("[train]\nlearning_rate = nan\n"), HasSubstr("learning_rate"));
  EXPECT_THAT(config_refused("[model]\nsteps = 2.5\n"), HasSubstr("model.steps"));
  EXPECT_THAT(config_refused("model = 3\n"), HasSubstr("model"));
  EXPECT_THAT(config_refused("[model]\nnorm = \"bnt\"\n"), HasSubstr("bntt"));
}

TEST_F(Refusals, BrokenToml) {
  EXPECT_THAT(config_refused("[data\nname = 3"), HasSubstr("tiny.toml"));
  EXPECT_THAT(config_refused("a = 1\na = 2\n"), HasSubstr("tiny.toml"));
  EXPECT_THAT(config_refused(std::string("\xff\xfe\x00", 3)), HasSubstr("tiny.toml"));
}

TEST_F(Refusals, SettingsOfTheCommandLine) {
  EXPECT_THAT(train_refused({"--set", "model.width"}), HasSubstr("expected key=value"));
  EXPECT_THAT(train_refused({"--set", "model.width=wide"}), HasSubstr("model.width"));
  EXPECT_THAT(train_refused({"--epochs", "-1"}), HasSubstr("epochs"));
  EXPECT_THAT(train_refused({"--epochs", "few"}), HasSubstr("epochs"));
  EXPECT_THAT(train_refused({"--threads", "-2"}), HasSubstr("threads"));
  EXPECT_THAT(train_refused({"--limit-train", "-2"}), HasSubstr("limit_train"));
}

TEST_F(Refusals, NetworksThatCannotWork) {
  EXPECT_THAT(train_refused({"--set", "model.name=vgg16"}), HasSubstr("pool"));
  EXPECT_THAT(train_refused({"--set", "model.name=vgg8"}), HasSubstr("vgg"));
  EXPECT_THAT(train_refused({"--set", "model.propagation=delayed"}), HasSubstr("steps"));
  EXPECT_THAT(train_refused({"--set", "train.batch=37"}), HasSubstr("train.batch is 37"));
  EXPECT_THAT(train_refused({"--set", "encoder.kind=events"}), HasSubstr("events"));
  EXPECT_THAT(train_refused({"--set", "data.normalisation=cifar10"}), HasSubstr("channels"));
}

TEST_F(Refusals, UnknownNames) {
  EXPECT_THAT(train_refused({"--set", "data.name=mnits"}), HasSubstr("mnist"));
  EXPECT_THAT(refused({"train", "--preset", "paper-cifar11", "--out", path("new")}),
              HasSubstr("paper-cifar10"));
  EXPECT_THAT(refused({"train", "--config", path("none.toml"), "--out", path("new")}),
              HasSubstr("none.toml"));
  EXPECT_THAT(refused({"trian"}), HasSubstr("unknown command 'trian', did you mean 'train'?"));
  EXPECT_THAT(refused({}), HasSubstr("see bntt --help"));
  EXPECT_THAT(refused({"train", "--out", path("new")}), HasSubstr("--preset"));
  EXPECT_FALSE(std::filesystem::exists(root() / "new"));
}

TEST_F(Refusals, MistypedOptionsGetTheNearestRightOneAndTheRightHelp) {
  EXPECT_EQ(train_refused({"--epoch", "3"}),
            "bntt: bntt train has no option '--epoch' (see bntt train --help), did you mean "
            "'--epochs'?");
  EXPECT_THAT(train_refused({"--lr=0.1"}),
              HasSubstr(", did you mean '--set train.learning_rate=...'?"));
  EXPECT_THAT(refused({"eval", path("run"), "--limt", "3"}),
              AllOf(HasSubstr("did you mean '--limit'?"), HasSubstr("see bntt eval --help")));
  EXPECT_THAT(refused({"data", "get", "mnist", path("d"), "--qqqqqq"}),
              HasSubstr("bntt data get has no option '--qqqqqq' (see bntt data get --help)"));
}

TEST_F(Refusals, NumbersOfOptionsInFewWords) {
  EXPECT_EQ(train_refused({"--threads", "-1"}),
            "bntt: --threads: '-1' is not a number of at least 0; see bntt train --help");
  EXPECT_THAT(train_refused({"--max-minutes", "soon"}),
              HasSubstr("--max-minutes: 'soon' is not a number of at least 0"));
}

TEST_F(Refusals, ADirectoryThatHoldsSomethingElse) {
  std::filesystem::create_directory(root() / "thesis");
  write_text("thesis/chapter.tex", "x");
  EXPECT_THAT(refused(train_arguments("thesis")),
              AllOf(HasSubstr("thesis: holds 'chapter.tex'"), HasSubstr("new or empty")));
  EXPECT_EQ(files_of("thesis"), std::vector<std::string>{"chapter.tex"});
}

TEST_F(Refusals, SettingsOfTheZooBesideANetworkOfOnesOwn) {
  write_text("own.toml",
             "[data]\nname = \"mnist\"\n[train]\nepochs = 1\nbatch = 6\n"
             "[network]\nsteps = 2\ninput = { channels = 1, height = 12, width = 12 }\n"
             "[[network.stages]]\ntype = \"dense\"\nfeatures = 4\n"
             "[[network.stages]]\ntype = \"readout\"\nclasses = 10\n");
  const std::vector<std::string> own = {"train",         "--config", path("own.toml"), "--data",
                                        data().string(), "--out",    path("own")};
  std::vector<std::string> with_width = own;
  with_width.insert(with_width.end(), {"--set", "model.width=0.5"});
  EXPECT_THAT(refused(with_width), HasSubstr("'model.width' would have no effect"));
  EXPECT_FALSE(std::filesystem::exists(root() / "own"));
  succeed(own);
  EXPECT_THAT(bytes_of(root() / "own" / "run.toml"), ::testing::Not(HasSubstr("vgg9")));
  succeed({"train", "--resume", path("own")});
}

TEST_F(Refusals, SettingsThatWereEdited) {
  train("run", {"--epochs", "1"});
  const std::string settings = bytes_of(root() / "run" / "run.toml");
  const auto edit = [&](const std::string& from, const std::string& to) {
    std::string edited = settings;
    ASSERT_NE(edited.find(from), std::string::npos);
    edited.replace(edited.find(from), from.size(), to);
    write_text("run/run.toml", edited);
  };
  edit("steps = 3", "steps = 4");
  const auto edited_network = HasSubstr(
      "run.toml: describes a different network from the one that was trained: steps is 4");
  EXPECT_THAT(refused({"train", "--resume", path("run")}), edited_network);
  for (const char* command : {"eval", "exit"}) {
    EXPECT_THAT(refused({command, path("run")}), edited_network);
  }
  edit("momentum = 0.9", "momentum = 0.5");
  EXPECT_THAT(refused({"train", "--resume", path("run")}),
              HasSubstr("was changed after the run began: train.momentum is 0.5, expected 0.9"));
}

TEST_F(Refusals, ACheckpointThatWasCutShort) {
  train("run", {"--epochs", "1"});
  const std::filesystem::path best = root() / "run" / "best.safetensors";
  const auto size = std::filesystem::file_size(best);
  std::filesystem::resize_file(best, size - 10);
  EXPECT_THAT(refused({"eval", path("run")}),
              HasSubstr(fmt::format("best.safetensors: was cut short: holds {} bytes, expected {}",
                                    size - 10, size)));
}

TEST_F(Refusals, TooLittleMemoryWithAnEstimate) {
  const ProcessOptions small_machine{.most_memory = uint64_t{1} << 30};
  EXPECT_THAT(
      refused(train_arguments("large", {"--set", "model.steps=2000", "--set", "model.width=1",
                                        "--set", "model.norm=none", "--set", "encoder.kind=direct",
                                        "--set", "train.batch=36", "--set",
                                        "train.break_even=[0.1,0.1]", "--threads", "1"}),
              small_machine),
      AllOf(HasSubstr("not enough memory: training 36 images at once over 2000 steps takes about"),
            HasSubstr("GB; a smaller train.batch")));
}

// From too little for anything to just too little: the estimate must not lie below a limit at which
// it failed. The program alone takes 100 MB of addresses or more.
TEST_F(Refusals, TooLittleMemoryForAnEvaluation) {
  write_split("t10k", 60'000);
  train("run", {"--epochs", "1", "--set", "model.width=0.3", "--limit-test", "6"});
  const std::vector<std::string> eval = {"eval", path("run"), "--threads", "1"};
  constexpr uint64_t kStep = uint64_t{8} << 20;
  int refusals = 0;
  for (uint64_t limit = 10 * kStep; limit < 100 * kStep; limit += kStep) {
    const ProcessEnd end = run_bntt(eval, {.most_memory = limit});
    if (end.exit_code == 0) break;
    const std::string before = "in all\n";
    if (!end.error.ends_with(before)) continue;  // the program itself did not fit
    ++refusals;
    EXPECT_THAT(end.error,
                AllOf(HasSubstr("not enough memory: the program takes "),
                      HasSubstr("reading the images about "), HasSubstr("images at once about ")));
    const std::size_t at = end.error.rfind("about ");
    ASSERT_NE(at, std::string::npos);
    const double estimate = 1e6 * std::stod(end.error.substr(at + 6));
    EXPECT_GT(estimate, 0.9 * static_cast<double>(limit)) << end.error;
    EXPECT_LT(estimate, 2.0 * static_cast<double>(limit)) << end.error;
  }
  EXPECT_GE(refusals, 1);
}

TEST_F(Refusals, UnknownKernels) {
  const std::string line =
      refused(train_arguments("new"), {.environment = {"BNTT_KERNELS=abacus"}});
  EXPECT_THAT(line, AllOf(HasSubstr("abacus"), HasSubstr("reference")));
}

TEST_F(Refusals, ARunThatIsThereOrNotThere) {
  train("run", {"--epochs", "1"});
  const std::string before = bytes_of(root() / "run" / "checkpoint.safetensors");
  EXPECT_THAT(refused(train_arguments("run")), HasSubstr("already holds a run"));
  EXPECT_EQ(bytes_of(root() / "run" / "checkpoint.safetensors"), before);
  EXPECT_THAT(refused({"train", "--out", path("none"), "--resume"}), HasSubstr("no run"));
  EXPECT_THAT(refused({"eval", path("none")}), HasSubstr("none: holds no run"));
  EXPECT_THAT(refused({"inspect", path("none")}), HasSubstr("none: does not exist"));
  EXPECT_FALSE(std::filesystem::exists(root() / "none"));
  EXPECT_THAT(refused(train_arguments("tiny.toml")), HasSubstr("tiny.toml"));
}

TEST_F(Refusals, AResumedRunKeepsItsSettings) {
  train("run", {"--epochs", "1"});
  EXPECT_THAT(refused(train_arguments("run", {"--resume"})), HasSubstr("train.epochs is 3"));
  EXPECT_THAT(refused({"train", "--out", path("run"), "--resume", "--set", "model.leak=0.5"}),
              HasSubstr("model.leak"));
}

TEST_F(Refusals, ARunWhoseDataShrank) {
  train("run", {"--epochs", "1"});
  write_split("train", 12);
  EXPECT_THAT(refused({"train", "--out", path("run"), "--resume"}),
              HasSubstr("trained with 48 training samples of mnist, but there are 12 now"));
}

TEST_F(Refusals, ARunThatDiverges) {
  EXPECT_THAT(refused(train_arguments("run", {"--set", "train.learning_rate=1e39"})),
              AllOf(HasSubstr("training has diverged"), HasSubstr("in epoch 1, step 1;"),
                    HasSubstr("smaller train.learning_rate")));
  EXPECT_FALSE(std::filesystem::exists(root() / "run" / "checkpoint.safetensors"));
}

TEST_F(Refusals, ACheckpointOfAnotherNetwork) {
  train("run", {"--epochs", "1"});
  train("other", {"--epochs", "1", "--set", "model.steps=4"});
  std::filesystem::copy_file(root() / "other" / "checkpoint.safetensors",
                             root() / "run" / "checkpoint.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(refused({"train", "--out", path("run"), "--resume"}),
              AllOf(HasSubstr("describes a different network from the one that was trained"),
                    HasSubstr("steps is 3, expected 4")));
}

TEST_F(Refusals, DamagedCheckpoints) {
  train("run");
  damage(root() / "run" / "checkpoint.safetensors");
  const std::vector<std::vector<std::string>> commands = {
      {"train", "--out", path("run"), "--resume"},
      {"eval", path("run"), "--data", data().string(), "--weights", "last"}};
  for (const auto& arguments : commands) {
    EXPECT_THAT(refused(arguments), AllOf(HasSubstr("checkpoint.safetensors: damaged"),
                                          HasSubstr("previous.safetensors, is intact")));
  }
  // What the sentence advises does work.
  std::filesystem::rename(root() / "run" / "previous.safetensors",
                          root() / "run" / "checkpoint.safetensors");
  succeed({"train", "--out", path("run"), "--resume"});

  damage(root() / "run" / "best.safetensors");
  EXPECT_THAT(refused({"inspect", path("run")}), HasSubstr("best.safetensors: damaged"));
  std::ofstream(root() / "run" / "best.safetensors") << "PK\003\004 a zip file of PyTorch's";
  EXPECT_THAT(refused({"inspect", path("run")}), HasSubstr("best.safetensors: "));
}

TEST_F(Refusals, EvalOutOfRange) {
  train("run", {"--epochs", "1"});
  const auto eval = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"eval", path("run"), "--data", data().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return refused(arguments);
  };
  EXPECT_THAT(eval({"--steps", "4"}), HasSubstr("4 is out of range, expected 1 to 3"));
  EXPECT_THAT(eval({"--steps", "-1"}), HasSubstr("--steps"));
  EXPECT_THAT(eval({"--split", "validation"}), HasSubstr("--split"));
  EXPECT_THAT(eval({"--limit", "-1"}), HasSubstr("--limit"));
  write_data("t10k-images-idx3-ubyte", idx_file({2, 2, 2}, Bytes(8)));
  write_data("t10k-labels-idx1-ubyte", idx_file({2}, Bytes(2)));
  EXPECT_THAT(eval({}),
              HasSubstr("does not fit the data set mnist: it takes 1x12x12 in 10 classes, "
                        "but the data are 1x2x2 in 10 classes"));
}

TEST_F(Refusals, ExportOfANormThatTheAuthorsLack) {
  train("run", {"--epochs", "1", "--set", "model.norm=layer"});
  EXPECT_THAT(refused({"export", path("run"), "--format", "authors-pytorch", path("out")}),
              HasSubstr("BNTT"));
  EXPECT_THAT(refused({"export", path("run"), "--format", "onnx", path("out")}), HasSubstr("onnx"));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(Refusals, ImportOfOtherFiles) {
  train("run", {"--epochs", "0"});
  succeed({"export", path("run"), "--format", "authors-pytorch", path("out")});
  std::filesystem::copy_file(path("out"), path("described"));
  forget_description("out");
  const auto import = [&](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"import", path(file), "--data",
                                          "mnist",  "--out",    path("new")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string line = refused(arguments);
    EXPECT_FALSE(std::filesystem::exists(root() / "new")) << line;
    return line;
  };
  EXPECT_THAT(import("tiny.toml", {"--model", "vgg5"}), HasSubstr("tiny.toml"));
  EXPECT_THAT(import("described", {}), HasSubstr("leave out --model, --data"));
  EXPECT_THAT(import("out", {}), HasSubstr("--model vgg9"));
  EXPECT_THAT(import("out", {"--model", "vgg9", "--size", "12"}), HasSubstr("width"));
  EXPECT_THAT(import("out", {"--model", "vgg5", "--size", "16"}), HasSubstr("out: "));
  EXPECT_THAT(import("out", {"--model", "vgg5", "--size", "8"}), HasSubstr("fc1.weight"));
  EXPECT_THAT(import("out", {"--model", "vgg4", "--size", "12"}), HasSubstr("vgg5"));
  EXPECT_THAT(import("out", {"--model", "vgg5", "--size", "1000"}), HasSubstr("out: "));
}

}  // namespace
}  // namespace bntt
