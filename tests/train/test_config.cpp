#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bntt/error.h"
#include "bntt/zoo.h"
#include "train/config.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

template <typename Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::string complaint(const std::string& toml) {
  return message_of([&] { config_from_toml(toml, "my.toml"); });
}

std::string set_complaint(const std::string& setting) {
  RunConfig config;
  const std::string message = message_of([&] { apply_setting(config, setting); });
  if (!message.empty()) {
    EXPECT_EQ(config, RunConfig{}) << "a refused setting left traces";
  }
  return message;
}

TEST(Config, DefaultsRoundTrip) {
  EXPECT_EQ(config_from_toml("", "empty"), RunConfig{});
  EXPECT_EQ(config_from_toml(to_toml(RunConfig{}), "again"), RunConfig{});
}

TEST(Config, EverySettingRoundTrips) {
  RunConfig config;
  config.data = {.name = "cifar10",
                 .dir = "/a \"b\"/ü",
                 .labels = Labels::coarse,
                 .size = 48,
                 .fit = Fit::squeeze,
                 .frames = 13,
                 .interval = Interval::count,
                 .clip = true,
                 .sensor_width = 640,
                 .sensor_height = 480,
                 .validation = 0.25,
                 .limit_train = 1,
                 .limit_test = 2,
                 .augment_pad = 3,
                 .augment_flip = false,
                 .augment_cutout = 5,
                 .normalisation = "cifar100",
                 .mean = std::vector<float>{0.1F, 0.5F},
                 .deviation = std::vector<float>{0.2F, 0.25F}};
  config.model = {.name = "vgg5",
                  .steps = 7,
                  .width = 0.1,
                  .norm = "bn-time",
                  .norm_epsilon = 1e-5F,
                  .norm_momentum = 0.2F,
                  .readout_norm = "layer",
                  .divide_by_steps = false,
                  .readout_leak = 0.5F,
                  .readout_votes = 10,
                  .neuron = "if",
                  .leak = 0.123456789F,
                  .threshold = 2.5F,
                  .thresholds = {1.0F, 0.5F},
                  .reset = Reset::hard,
                  .detach_reset = false,
                  .floor = -0.25F,
                  .propagation = Propagation::delayed,
                  .surrogate = SurrogateKind::arctan,
                  .surrogate_alpha = 0.7F,
                  .surrogate_per_threshold = true,
                  .surrogate_decay = 0.5F,
                  .dropout = 0.25F,
                  .dropout_per_step = true,
                  .dense_dropout = 0.5F,
                  .dropout_before_pools = false};
  config.encoder.kind = EncoderKind::events;
  config.train = {.epochs = 0,
                  .batch = 1,
                  .optimizer = "adam",
                  .learning_rate = 1e-7,
                  .dense_rate_factor = 0.25,
                  .momentum = 0.0,
                  .beta1 = 0.5,
                  .beta2 = 0.75,
                  .epsilon = 1e-3,
                  .amsgrad = true,
                  .weight_decay = 0.0,
                  .decay_gamma = false,
                  .schedule = "cosine",
                  .drops = {},
                  .drop_factor = 1.0,
                  .final_learning_rate = 1e-9,
                  .cosine_epochs = 2.5,
                  .one_cycle_rise = 0.5,
                  .one_cycle_start_divisor = 3.0,
                  .one_cycle_end_divisor = 7.0,
                  .warmup_epochs = 0.5,
                  .loss = "tet",
                  .label_smoothing = 0.1,
                  .tet_share = 0.2,
                  .tet_target = 2.0,
                  .clip_norm = 3.0,
                  .seed = 9223372036854775807,
                  .from = "/runs/other",
                  .from_thresholds = true};
  config.method = {.name = "rmp", .source = "a paper", .settings = "how"};
  config.run = {.log_steps = 1, .checkpoint_steps = 2};
  EXPECT_EQ(config_from_toml(to_toml(config), "again"), config);
  config.model = {};
  config.network = cao_net({.steps = 4});
  EXPECT_EQ(config_from_toml(to_toml(config), "again"), config);
}

TEST(Config, ANetworkOfOnesOwnLeavesNoModelInTheSettings) {
  RunConfig config;
  config.network = cao_net({.steps = 4});
  EXPECT_THAT(to_toml(config), Not(HasSubstr("[model]")));
  EXPECT_THAT(to_toml(config), HasSubstr("[network]"));
  const RunConfig before = config;
  EXPECT_EQ(message_of([&] { apply_setting(config, "model.width=0.25"); }),
            "--set: 'model.width' would have no effect because the settings describe the network "
            "in [network]");
  EXPECT_EQ(config, before);
  const std::string both = to_toml(config) + "\n[model]\nwidth = 0.5\n";
  EXPECT_EQ(complaint(both), "my.toml: has both [model] and [network], expected one of them");
  // As runs wrote it before.
  EXPECT_EQ(complaint(to_toml(config) + "\n[model]\nname = \"vgg9\"\n"), "");
}

TEST(Config, NamesOfOtherToolsAreUnderstood) {
  EXPECT_EQ(set_complaint("model.tau=2"),
            "--set: unknown key 'model.tau', did you mean 'model.leak' (1 - 1/tau)?");
  EXPECT_EQ(complaint("[model]\ntau = 2.0\n"),
            "my.toml: unknown key 'model.tau', did you mean 'model.leak' (1 - 1/tau)?");
  EXPECT_EQ(complaint("[train]\nlr = 0.1\n"),
            "my.toml: unknown key 'train.lr', did you mean 'train.learning_rate'?");
  for (const auto& [name, key] :
       std::vector<std::pair<std::string, std::string>>{{"model.beta", "model.leak"},
                                                        {"decay", "model.leak"},
                                                        {"model.v_threshold", "model.threshold"},
                                                        {"thresh", "model.threshold"},
                                                        {"model.T", "model.steps"},
                                                        {"model.timesteps", "model.steps"},
                                                        {"model.time-steps", "model.steps"},
                                                        {"train.batch_size", "train.batch"},
                                                        {"train.wd", "train.weight_decay"},
                                                        {"data.root", "data.dir"}}) {
    EXPECT_THAT(set_complaint(name + "=1"), HasSubstr("did you mean '" + key + "'"));
  }
}

TEST(Config, UnknownKeysAreRefusedWithTheNearest) {
  EXPECT_EQ(complaint("[train]\nlerning_rate = 0.1"),
            "my.toml: unknown key 'train.lerning_rate', did you mean 'train.learning_rate'?");
  EXPECT_EQ(complaint("[modell]\nname = \"vgg9\""),
            "my.toml: unknown key 'modell', did you mean 'model'?");
}

TEST(Config, WrongTypesAreRefused) {
  EXPECT_THAT(complaint("[train]\nbatch = \"many\""),
              StartsWith("my.toml: train.batch is the string \"many\", expected a whole number"));
  EXPECT_EQ(complaint("[model]\nname = 9"), "my.toml: model.name is 9, expected a string");
  EXPECT_EQ(complaint("train = 3"), "my.toml: train is 3, expected a table");
  EXPECT_THAT(complaint("[model]\nnorm = \"batch\""),
              HasSubstr("expected one of none, bntt, bn, bn-time, layer"));
}

TEST(Config, NumbersOutOfRangeAreRefused) {
  for (const char* bad : {"[train]\nepochs = -1",
                          "[train]\nbatch = 0",
                          "[data]\nvalidation = 1.0",
                          "[data]\nvalidation = -0.1",
                          "[data]\nlimit_train = -1",
                          "[data]\naugment_pad = -1",
                          "[model]\nsteps = 0",
                          "[model]\nwidth = 0",
                          "[model]\nwidth = nan",
                          "[model]\nleak = 1.1",
                          "[model]\nthreshold = 0",
                          "[model]\nnorm_epsilon = 0",
                          "[model]\nnorm_momentum = 0",
                          "[model]\nsurrogate_alpha = -1",
                          "[train]\nlearning_rate = 0",
                          "[train]\nlearning_rate = inf",
                          "[train]\nmomentum = 1",
                          "[train]\nweight_decay = -1",
                          "[train]\ndrop_factor = 0",
                          "[train]\nwarmup_epochs = -1",
                          "[train]\nclip_norm = -1",
                          "[train]\nseed = -1",
                          "[train]\ndense_rate_factor = -1",
                          "[train]\ndense_rate_factor = inf",
                          "[run]\nlog_steps = 0",
                          "[run]\ncheckpoint_steps = 0",
                          "[train]\ndrops = [0.0, 0.5]",
                          "[train]\ndrops = [0.5, 1.0]"}) {
    EXPECT_THAT(complaint(bad), HasSubstr(", expected ")) << bad;
  }
  EXPECT_EQ(complaint("[train]\nschedule = \"one-cycle\"\nwarmup_epochs = 2"),
            "my.toml: train.warmup_epochs is 2, expected 0, since the schedule 'one-cycle' has its "
            "own warm-up");
  EXPECT_THAT(complaint("[train]\noptimizer = \"adamm\""), HasSubstr("did you mean 'adam'?"));
  EXPECT_EQ(complaint("[train]\ndrops = [0.5, 0.9, 0.7]"),
            "my.toml: train.drops has 0.9 before 0.7, expected ascending fractions");
  EXPECT_NE(complaint("[train]\ndrops = [0.5, 0.5]"), "");
}

TEST(Config, SettingsTakeTomlValuesAndBareWords) {
  RunConfig config;
  apply_setting(config, "model.width=0.25");
  apply_setting(config, "model.steps = 10");
  apply_setting(config, "model.norm=bn-time");
  apply_setting(config, "model.name=cao-net");
  apply_setting(config, "data.dir=/data/a=b c");
  apply_setting(config, "data.normalisation=\"cifar10\"");
  apply_setting(config, "train.drops=[0.1, 0.2]");
  apply_setting(config, "train.decay_gamma=false");
  apply_setting(config, "train.learning_rate=1");
  apply_setting(config, "run={ log_steps = 7 }");
  EXPECT_EQ(config.model.width, 0.25);
  EXPECT_EQ(config.model.steps, 10);
  EXPECT_EQ(config.model.norm, "bn-time");
  EXPECT_EQ(config.model.name, "cao-net");
  EXPECT_EQ(config.data.dir, "/data/a=b c");
  EXPECT_EQ(config.data.normalisation, "cifar10");
  EXPECT_THAT(config.train.drops, ElementsAre(0.1, 0.2));
  EXPECT_FALSE(config.train.decay_gamma);
  EXPECT_EQ(config.train.learning_rate, 1.0);
  EXPECT_EQ(config.run.log_steps, 7);
  apply_setting(config, "data.dir=");
  EXPECT_EQ(config.data.dir, "");
  config.network = cao_net({});
  apply_setting(config, "network.steps=5");
  EXPECT_EQ(config.network->steps, 5);
  EXPECT_EQ(config.network->stages.size(), 8U);
}

TEST(Config, WrongSettingsAreRefused) {
  EXPECT_EQ(set_complaint("model.widht=0.25"),
            "--set: unknown key 'model.widht', did you mean 'model.width'?");
  EXPECT_EQ(set_complaint("width=0.25"), "--set: unknown key 'width', did you mean 'model.width'?");
  EXPECT_EQ(set_complaint("train.width=1"),
            "--set: unknown key 'train.width', did you mean 'model.width'?");
  EXPECT_EQ(set_complaint("model.width"), "--set: 'model.width' has no value, expected key=value");
  EXPECT_EQ(set_complaint("model.width=wide"),
            "--set: model.width is the string \"wide\", expected a number");
  EXPECT_EQ(set_complaint("model.width=-1"),
            "--set: model.width is -1, expected a number above 0 and at most 64");
  EXPECT_EQ(set_complaint("=1"), "--set: unknown key ''");
  EXPECT_EQ(set_complaint("network.steps=4"),
            "--set: 'network.steps' would have no effect because the settings describe the network "
            "in [model], did you mean 'model.steps'?");
  EXPECT_EQ(set_complaint("model=1"), "--set: model is 1, expected a table");
  EXPECT_NE(set_complaint("model.width=1\nmodel.steps=3"), "");
  EXPECT_NE(set_complaint("model..width=1"), "");
  EXPECT_NE(set_complaint("train.drops=[0.9,0.1]"), "");
  EXPECT_NE(set_complaint("network." + std::string(100000, '.') + "=1"), "");
}

TEST(Config, BreakEvenIsAWordOrNumbers) {
  RunConfig config;
  EXPECT_EQ(std::get<BreakEvenSource>(config.train.break_even), BreakEvenSource::formula);
  apply_setting(config, "train.break_even=timed");
  EXPECT_EQ(std::get<BreakEvenSource>(config.train.break_even), BreakEvenSource::timed);
  EXPECT_EQ(config_from_toml(to_toml(config), "again"), config);
  apply_setting(config, "train.break_even=[0.1, 0.2]");
  EXPECT_THAT(std::get<std::vector<double>>(config.train.break_even), ElementsAre(0.1, 0.2));
  EXPECT_EQ(config_from_toml(to_toml(config), "again"), config);
  EXPECT_EQ(set_complaint("train.break_even=time"),
            "--set: train.break_even is the string \"time\", expected one of formula, timed or a "
            "list, did you mean 'timed'?");
  EXPECT_EQ(set_complaint("train.break_even=0.1"),
            "--set: train.break_even is 0.1, expected one of formula, timed or a list");
  EXPECT_EQ(set_complaint("train.break_even=[-1]"),
            "--set: train.break_even[0] is -1, expected a number of at least 0");
}

TEST(Config, ModelBecomesANetworkOfTheZoo) {
  RunConfig config;
  config.model = {.name = "vgg5",
                  .steps = 6,
                  .width = 0.5,
                  .norm = "bn",
                  .norm_epsilon = 1e-3F,
                  .leak = 0.9F,
                  .surrogate = SurrogateKind::sigmoid};
  const NetworkSpec spec = network_of(config, {1, 28, 28}, 7);
  const NormSpec norm = {.kind = "bn", .epsilon = 1e-3F};
  const NeuronSpec neuron = {.leak = 0.9F, .surrogate = {.kind = SurrogateKind::sigmoid}};
  EXPECT_EQ(spec, vgg5({.input = {1, 28, 28},
                        .classes = 7,
                        .steps = 6,
                        .width = 0.5,
                        .norm = norm,
                        .neuron = neuron,
                        .readout_norm = {.kind = "none", .epsilon = 1e-3F}}));
  config.model.thresholds = {0.5F, 1.0F, 1.5F, 2.0F};
  const auto plans = plan_stages(network_of(config, {1, 28, 28}, 7));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(plans[i].neuron.threshold, config.model.thresholds[i]);
  }
  config.model.thresholds = {0.5F};
  EXPECT_EQ(message_of([&] {
              network_of(config, {1, 28, 28}, 7);
            }),
            "model.thresholds has 1 numbers, expected 4, one for each stage of neurons");
  config.model.thresholds = {};
  config.model.name = "vgg7";
  EXPECT_THAT(message_of([&] {
                network_of(config, {1, 28, 28}, 7);
              }),
              HasSubstr("unknown network"));
  config.model.name = "vgg16";
  EXPECT_THAT(message_of([&] { network_of(config, {1, 28, 28}, 7); }), HasSubstr("pool after"));
}

TEST(Config, NetworkTableReplacesTheModelAndMustFitTheData) {
  RunConfig config;
  config.network = cao_net({.input = {1, 28, 28}, .classes = 10});
  EXPECT_EQ(network_of(config, {1, 28, 28}, 10), *config.network);
  EXPECT_EQ(message_of([&] {
              network_of(config, {3, 32, 32}, 10);
            }),
            "network.input is 1x28x28, but the data are 3x32x32");
  EXPECT_EQ(message_of([&] {
              network_of(config, {1, 28, 28}, 100);
            }),
            "the network's readout has 10 classes, but the data have 100");
}

TEST(Config, EncodersAreThoseOfTheDataModule) {
  RunConfig config;
  for (const char* name : {"poisson-unsigned", "poisson-signed", "direct", "events"}) {
    apply_setting(config, std::string("encoder.kind=") + name);
    EXPECT_EQ(encoder_name(config.encoder.kind), name);
  }
}

}  // namespace
}  // namespace bntt
