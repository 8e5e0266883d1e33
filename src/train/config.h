#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/field_descriptions.h"
#include "bntt/encoder.h"
#include "bntt/network_spec.h"
#include "bntt/precision.h"
#include "data/dataset.h"

namespace bntt {

struct DataConfig {
  std::string name;
  std::string dir;  ///< empty: the usual directory of the data set
  Labels labels = Labels::fine;
  int64_t size = 0;  ///< side of the square that the network sees; 0: as in the data set
  Fit fit = Fit::crop;
  int64_t frames = 0;  ///< per event recording; 0: one per step
  Interval interval = Interval::time;
  int64_t bin_us = 0;        ///< instead, microseconds per frame; 0: not used
  bool clip = false;         ///< limit event counts to one spike
  int64_t sensor_width = 0;  ///< for event-folder; 0: as given in the recordings
  int64_t sensor_height = 0;
  double validation = 0.1;
  int64_t limit_train = 0;  ///< 0: all
  int64_t limit_test = 0;
  int64_t augment_pad = 4;
  bool augment_flip = true;
  int64_t augment_cutout = 0;  ///< side of the blackened square; 0: none
  std::string normalisation;   ///< the data set whose mean and deviation to use; empty: its own
  /// Per channel, instead of the data set's. Measured values are stored here, so that the run can
  /// be repeated.
  std::optional<std::vector<float>> mean;
  std::optional<std::vector<float>> deviation;
  bool operator==(const DataConfig&) const = default;
};

/// A network of the zoo.
struct ModelConfig {
  std::string name = "vgg9";
  int64_t steps = 25;
  double width = 1.0;
  std::string norm = "bntt";
  float norm_epsilon = 1e-4F;
  float norm_momentum = 0.1F;
  bool norm_shift = false;
  float norm_gain_start = 1.0F;
  float norm_alpha = 0.0F;  ///< for tdbn; 0: 1/√ of the number of the stage's branches
  std::string readout_norm = "none";
  bool divide_by_steps = true;
  float readout_leak = 1.0F;
  bool readout_leak_newest = false;
  bool readout_leak_gradient = true;
  int64_t readout_votes = 1;    ///< outputs per class, whose mean is its logit
  bool zero_residual = false;   ///< the last norm of every residual block starts with gain 0
  float pool_threshold = 0.0F;  ///< of the neurons of average pools; 0: no neurons
  Init init = Init::xavier;
  std::string neuron = "lif";
  float leak = 0.95F;
  float threshold = 1.0F;
  std::vector<float> thresholds;  ///< replaces it: one for each stage with neurons
  Fire fire = Fire::gt;
  Reset reset = Reset::soft;
  bool detach_reset = true;
  std::optional<float> floor;  ///< lower limit of the membrane, in volts
  Propagation propagation = Propagation::instant;
  SurrogateKind surrogate = SurrogateKind::triangle;
  float surrogate_alpha = 0.3F;
  float surrogate_width = 0.0F;  ///< volts; 0: the threshold
  bool surrogate_per_threshold = false;
  float surrogate_decay = 0.01F;  ///< of stdb, per step
  float neunorm_decay = 0.9F;     ///< of neurons neunorm
  float dropout = 0.0F;           ///< share of every stage's neurons, in training
  bool dropout_per_step = false;
  std::optional<float> dense_dropout;  ///< of fully connected stages, instead of `dropout`
  bool dropout_before_pools = true;    ///< if false, none in stages followed by a pool
  bool operator==(const ModelConfig&) const = default;
};

/// How a sample becomes the input of every step.
struct EncoderConfig {
  EncoderKind kind = EncoderKind::poisson_signed;
  bool operator==(const EncoderConfig&) const = default;
};

/// The source of break-even densities that the settings do not give.
enum class BreakEvenSource {
  formula,  ///< from the synapse's shape: the same on every machine with one instruction set
  timed,    ///< timings on this machine
};
constexpr auto enum_names(BreakEvenSource) {
  return std::array{std::pair{BreakEvenSource::formula, "formula"},
                    std::pair{BreakEvenSource::timed, "timed"}};
}
using BreakEvenSetting = std::variant<BreakEvenSource, std::vector<double>>;

struct TrainConfig {
  int64_t epochs = 100;
  int64_t batch = 128;
  std::string optimizer = "sgd";  ///< a name of optimizer_table()
  double learning_rate = 0.3;
  double dense_rate_factor = 1.0;  ///< on the learning rate of fully connected stages
  double momentum = 0.9;           ///< for sgd
  double beta1 = 0.9;              ///< for adam, like the next three
  double beta2 = 0.999;
  double epsilon = 1e-8;
  bool amsgrad = false;
  double weight_decay = 5e-4;
  bool decay_gamma = true;
  std::string schedule = "steps";               ///< a name of schedule_table()
  std::vector<double> drops = {0.5, 0.7, 0.9};  ///< of `steps`: fractions of the epochs, ascending
  double drop_factor = 0.1;
  double final_learning_rate = 0.0;  ///< of `cosine`
  double cosine_epochs = 0.0;        ///< half a period of `cosine`; 0: all remaining epochs
  double one_cycle_rise = 0.3;       ///< fraction of the epochs
  double one_cycle_start_divisor = 25.0;
  double one_cycle_end_divisor = 1e4;  ///< first rate divided by last rate
  double warmup_epochs = 0.0;
  std::string loss = "cross-entropy";  ///< a name of loss_table()
  double label_smoothing = 0.0;
  double tet_share = 0.05;                 ///< of loss `tet`: η
  double tet_target = 1.0;                 ///< of loss `tet`: φ
  double clip_norm = 0.0;                  ///< 0: off
  std::optional<double> window_threshold;  ///< steps with a smaller mean |γ| are switched off
  std::optional<double> window_work;       ///< instead: share of the synapse work to be left
  double window_from = 0.33;               ///< fractions of the epochs between which that happens
  double window_until = 0.5;
  int64_t seed = 1;
  Precision precision = Precision::mixed;
  /// Densities above which convolutions use a dense way, see BreakEven: forward and weight gradient
  /// for each synapse, or one pair for all; or the source to take them from. run.toml has the
  /// numbers. An empty list, as in older files, means the formula.
  BreakEvenSetting break_even = BreakEvenSource::formula;
  std::string from;  ///< run or checkpoint whose weights the run starts with; empty: random
  bool from_thresholds = false;  ///< take the thresholds of `from` too
  bool operator==(const TrainConfig&) const = default;
};

struct OutputConfig {
  int64_t log_steps = 50;
  int64_t checkpoint_steps = 200;
  bool operator==(const OutputConfig&) const = default;
};

/// The method of which the run is an instance, for comparing runs. It has no other effect.
struct MethodConfig {
  std::string name;      ///< e.g. rmp; empty: a training without a name
  std::string source;    ///< the publication
  std::string settings;  ///< not covered by other settings, e.g. how a network was converted
  bool operator==(const MethodConfig&) const = default;
};

/// Every setting of a run, as in run.toml: enough to repeat it.
struct RunConfig {
  MethodConfig method;
  DataConfig data;
  ModelConfig model;
  EncoderConfig encoder;
  TrainConfig train;
  OutputConfig run;
  std::optional<NetworkSpec> network;  ///< replaces `model` if given
  bool operator==(const RunConfig&) const = default;
};

/// Settings missing from the text keep their defaults. Throws an Error that begins with `origin`.
RunConfig config_from_toml(std::string_view text, const std::string& origin);
std::string to_toml(const RunConfig& config);

/// A network on its own, as in [network].
NetworkSpec network_from_toml(const std::string& text, const std::string& origin);
std::string to_toml(const NetworkSpec& spec);

/// One `--set`, such as "model.width=0.25". The value is a TOML value; a bare word is a string.
void apply_setting(RunConfig& config, std::string_view setting,
                   const std::string& origin = "--set");

/// Every key that a settings file may have, as declared for the parser: the sections, and the
/// tables inside [network].
std::vector<TableDescription> described_settings();

/// Which part of the data set the run uses, and in which form.
DatasetOptions dataset_options(const RunConfig& config);

int64_t steps_of(const RunConfig& config);
void set_steps(RunConfig& config, int64_t steps);
/// With data.bin_us: the number of bins of the longest recording of all splits. Reads all of them.
int64_t steps_of_bins(const RunConfig& config);

/// Stores mean and deviation in the settings if they were measured on the training images: a later
/// evaluation may not have these.
void keep_measured_statistics(const DatasetSplits& data, RunConfig& config);

/// Sets the thresholds of the stages with neurons, in order; an empty list changes nothing. Throws
/// Error if their number differs.
void set_thresholds(const std::vector<float>& thresholds, NetworkSpec& spec);

/// The network for data of this shape, validated.
NetworkSpec network_of(const RunConfig& config, const MapShape& input, int64_t classes);

}  // namespace bntt
