#include "train/settings.h"

#include <algorithm>
#include <span>

#include "base/fail.h"
#include "base/kinds.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bntt/encoder.h"
#include "bntt/learning_rate.h"
#include "bntt/loss.h"
#include "bntt/optimizer.h"
#include "bntt/zoo.h"
#include "data/dataset.h"
#include "kernels/surrogates.h"
#include "train/config.h"
#include "train/foreign_names.h"

namespace bntt {
namespace {

struct Meaning {
  std::string_view key;  // of a setting, or of a table
  std::string_view meaning;
  std::string_view symbol = {};
};

// One plain sentence for each key; a test fails if one is missing or left over.
constexpr Meaning kMeanings[] = {
    {"method", "Describes the method of the run for people who compare runs; it changes nothing."},
    {"method.name", "Name of the method, such as rmp; empty: none."},
    {"method.source", "Publication of the method."},
    {"method.settings", "What no other setting records, such as how a network was converted."},

    {"data", "The data set, which part of it is used, and how training images are augmented."},
    {"data.name", "Name of the data set."},
    {"data.dir", "Directory of its files; empty: the usual place of the data set."},
    {"data.labels", "Which labels to learn, for a data set with two kinds (cifar100)."},
    {"data.size", "Height and width of the network's square input; 0: the data set's own."},
    {"data.fit",
     "How an image of another shape becomes square: crop scales it until it covers the square and "
     "cuts out the middle, squeeze scales both sides to fit."},
    {"data.frames", "Number of frames that an event recording is divided into; 0: one per step."},
    {"data.interval",
     "How a recording is divided: into frames of equal time, or of equal event count."},
    {"data.bin_us",
     "Length of a frame in microseconds, counted from the first event, instead of a number of "
     "frames; the longest recording determines the number of steps. Not for norms with parameters "
     "for every step. 0: off."},
    {"data.clip", "Whether several events at one pixel in one frame count as one spike."},
    {"data.sensor_width", "Width of the sensor in pixels (event-folder); 0: from the files."},
    {"data.sensor_height", "Height of the sensor in pixels (event-folder); 0: from the files."},
    {"data.validation",
     "Share of the training samples that is kept for validation, taken from the end."},
    {"data.limit_train", "Number of training samples to use, from the start; 0: all."},
    {"data.limit_test", "Number of test samples to use, from the start; 0: all."},
    {"data.augment_pad", "Largest random shift of training images in pixels; 0: none."},
    {"data.augment_flip", "Whether half of the training images are mirrored left to right."},
    {"data.augment_cutout",
     "Side of a square that is blacked out at a random place in training images; 0: none."},
    {"data.normalisation",
     "Data set whose channel means and deviations normalise the images; empty: data.name."},
    {"data.mean", "Mean of each channel for pixels in 0..1, instead of the data set's."},
    {"data.deviation",
     "Standard deviation of each channel for pixels in 0..1, instead of the data set's."},

    {"model", "A network of the zoo, used if there is no [network]."},
    {"model.name", "Name of the network."},
    {"model.steps", "Number of time steps.", "T"},
    {"model.width", "Factor on the channels and features of every hidden stage."},
    {"model.norm", "Norm of every hidden stage."},
    {"model.norm_epsilon", "Added to the variance before the square root is taken.", "ε"},
    {"model.norm_momentum", "Weight of the latest batch in the running mean and variance."},
    {"model.norm_shift", "Whether the norm also has a trained shift.", "β"},
    {"model.norm_gain_start", "Initial value of the norm's gain.", "γ"},
    {"model.norm_alpha", "Factor of tdbn on the threshold; 0: 1/√n in a stage of n branches."},
    {"model.readout_norm", "Norm of the readout."},
    {"model.readout_leak", "Share of the readout's voltage that is kept until the next step.", "λ"},
    {"model.readout_leak_newest",
     "Whether the current of a step already leaks in that step: m = λ (m + y) instead of λ m + y."},
    {"model.readout_leak_gradient", "Whether the readout's leak also applies to the gradient."},
    {"model.readout_votes", "Number of outputs per class; their mean is the logit."},
    {"model.divide_by_steps",
     "Whether the logits are the readout's accumulated voltage divided by the number of steps."},
    {"model.zero_residual",
     "Whether the last norm of every residual block starts with gain 0, so that the block "
     "initially passes on its shortcut alone."},
    {"model.pool_threshold",
     "Threshold of the neurons (without leak) after every average pool, which turn its output into "
     "spikes; 0: pools have no neurons."},
    {"model.init",
     "Distribution of the initial weights: xavier is uniform with gain 2 (the paper's), he-fan-in "
     "and he-fan-out are normal with variance 2/fan, vgg is he-fan-out with N(0, 0.01²) in fully "
     "connected stages, pytorch is uniform within ±1/√fan_in."},
    {"model.neuron", "Neurons of every hidden stage."},
    {"model.leak", "Share of the membrane potential that is kept until the next step.", "λ"},
    {"model.threshold", "Membrane potential above which a neuron fires.", "θ"},
    {"model.thresholds", "Threshold of each stage, in order; empty: model.threshold for all.", "θ"},
    {"model.fire", "When a neuron fires: gt above the threshold, ge at or above it."},
    {"model.reset",
     "What firing does to the membrane: soft subtracts the threshold, hard sets it to 0."},
    {"model.detach_reset", "Whether the gradient ignores the reset."},
    {"model.floor",
     "Lower limit of the membrane potential in volts, at most 0; left out: no limit."},
    {"model.propagation",
     "When a spike arrives at the next stage: in the same step, or one step later."},
    {"model.surrogate",
     "Shape of the surrogate slope, used as the derivative of a spike; d = (v − θ)/width."},
    {"model.surrogate_alpha", "Height of the surrogate slope at the threshold.", "α"},
    {"model.surrogate_width",
     "Distance from the threshold in volts at which a triangle reaches 0, and the unit of the "
     "other shapes; 0: equal to the threshold."},

    {"model.surrogate_per_threshold", "Whether the surrogate slope is divided by the threshold.",
     "1/θ"},
    {"model.neunorm_decay",
     "Share of a neunorm neuron's spike trace that is kept until the next step."},
    {"model.surrogate_decay",
     "For the surrogate stdb: how fast the slope decays with the steps since the last spike.", "β"},
    {"model.dense_dropout",
     "Dropout probability in fully connected stages; left out: model.dropout."},
    {"model.dropout_before_pools", "Whether stages followed by a pool also have dropout."},
    {"model.dropout", "Probability that a neuron is silenced in training."},
    {"model.dropout_per_step",
     "Whether dropout is drawn again at every step; otherwise the same neurons are silent at all "
     "steps."},

    {"encoder", "How a sample is turned into the input of each step."},
    {"encoder.kind", "Kind of encoder."},

    {"train", "The optimiser, its learning rate and the loss."},
    {"train.epochs", "Number of passes over the training samples."},
    {"train.batch", "Number of samples per optimiser step.", "m"},
    {"train.learning_rate", "Largest learning rate of the schedule.", "η"},
    {"train.dense_rate_factor",
     "Factor on the learning rate of fully connected stages; 0: they keep their values."},
    {"train.momentum", "Momentum of sgd: share of the last update that is added to the next one."},
    {"train.weight_decay", "Weight decay (L2): this times the value is added to every gradient."},
    {"train.decay_gamma", "Whether weight decay also applies to the norms' gains.", "γ"},
    {"train.drops", "Fractions of the run, ascending, at which the learning rate drops."},
    {"train.drop_factor", "Factor on the learning rate at each drop."},
    {"train.warmup_epochs",
     "Epochs during which the learning rate rises from 0; may be a fraction."},
    {"train.from", "Run or checkpoint whose weights the run starts with; empty: random weights."},
    {"train.from_thresholds",
     "Whether to take the thresholds of the run in train.from as well, as in hybrid training."},
    {"train.optimizer", "The optimiser."},
    {"train.beta1", "For adam: decay rate of the running mean of the gradient.", "β₁"},
    {"train.beta2", "For adam: decay rate of the running mean of the squared gradient.", "β₂"},
    {"train.epsilon", "For adam: added to the root of the mean squared gradient.", "ε"},
    {"train.amsgrad",
     "For adam: whether to divide by the root of the largest mean squared gradient so far."},
    {"train.schedule", "How the learning rate changes during the run."},
    {"train.final_learning_rate", "For cosine: learning rate at the end."},
    {"train.cosine_epochs",
     "For cosine: epochs of half a period; 0: all epochs after the warm-up."},
    {"train.one_cycle_rise",
     "For one-cycle: fraction of the run in which the learning rate rises."},
    {"train.one_cycle_start_divisor",
     "For one-cycle: the first learning rate is train.learning_rate divided by this."},
    {"train.one_cycle_end_divisor",
     "For one-cycle: the last learning rate is the first one divided by this."},
    {"train.loss", "The loss that training minimises."},
    {"train.label_smoothing", "Share of a label that is spread over all classes."},
    {"train.tet_share", "For the loss tet: weight of the squared distance from the target.", "η"},
    {"train.tet_target", "For the loss tet: target that the outputs should stay close to.", "φ"},
    {"train.clip_norm",
     "Largest norm of the gradient over all parameters; longer gradients are scaled down; 0: no "
     "limit."},
    {"train.window_threshold",
     "Where the mean magnitude of a layer's γ at a step falls below this value, the step is "
     "switched off for good and its work is skipped (docs/training.md). Left out: never.",
     "h"},
    {"train.window_work",
     "The same, with the threshold chosen so that this share of the synapse work remains. Left "
     "out: never."},
    {"train.window_from", "Fraction of the epochs after which steps are first switched off."},
    {"train.window_until", "Fraction of the epochs after which no more steps are switched off."},
    {"train.precision",
     "How currents are stored for the backward pass, and multiplied: fp32 stores floats; mixed "
     "stores bf16, in half the memory; bf16 also stores gradients between stages that way and "
     "multiplies in bf16 in dense computations, which is slow on processors without "
     "AVX512_BF16."},
    {"train.break_even",
     "Spikes per input above which a dense convolution is used: from a formula of its shape, timed "
     "on this machine (the result then depends on the machine), or given as numbers: forward and "
     "weight gradient of every synapse, or one such pair for all."},
    {"train.seed", "Seed of all random numbers: weights, order, crops and input spikes."},

    {"run", "What a run writes, and when."},
    {"run.log_steps", "Number of optimiser steps between two lines of metrics.jsonl."},
    {"run.checkpoint_steps", "Number of optimiser steps between two checkpoints within an epoch."},

    {"network", "A network of your own, instead of [model]: see networks.md."},
    {"network.steps", "Number of time steps.", "T"},
    {"network.propagation",
     "When a spike arrives at the next stage: in the same step, or one step later (chains only)."},
    {"network.init", "Distribution of the initial weights, as in model.init."},
    {"network.input", "Shape of the samples; it must match the data."},
    {"network.stages", "The stages in the order in which they run, each a table with its type."},

    {"input", "Shape of one frame of a sample."},
    {"input.channels",
     "Number of channels: 3 for colour, 1 for grey, 2 for the polarities of events."},
    {"input.height", "Height in pixels."},
    {"input.width", "Width in pixels."},

    {"conv3x3", "Stage: 3x3 convolution with stride 1 and padding 1, norm, neurons."},
    {"conv3x3.channels", "Number of output channels."},
    {"conv3x3.norm", "Norm of the stage."},
    {"conv3x3.neuron", "Neurons of the stage."},

    {"dense", "Stage: fully connected synapse, norm, neurons."},
    {"dense.features", "Number of output neurons."},
    {"dense.norm", "Norm of the stage."},
    {"dense.neuron", "Neurons of the stage."},
    {"dense.bias", "Whether the synapse has a trained bias."},

    {"avg-pool", "Average of size x size pixels, before the stage that follows."},
    {"avg-pool.size", "Side of the square; 0: the whole map."},
    {"sum-pool", "Sum of size x size pixels, before the stage that follows."},
    {"sum-pool.size", "Side of the square; 0: the whole map."},
    {"max-pool", "Maximum of size x size pixels, before the stage that follows."},
    {"max-pool.size", "Side of the square; 0: the whole map."},

    {"readout", "The last stage: fully connected; it accumulates voltage and never fires."},
    {"readout.classes", "Number of classes of the data set.", "C"},
    {"readout.votes", "Number of outputs per class; their mean is the logit."},
    {"readout.synapse", "dense, or identity: the outputs are those of the stage before."},
    {"readout.leak", "Share of the voltage that is kept until the next step.", "λ"},
    {"readout.leak_newest",
     "Whether the current of a step already leaks in that step: m = λ (m + y) instead of λ m + y."},
    {"readout.leak_gradient", "Whether the leak also applies to the gradient."},
    {"readout.norm", "Norm of the readout."},
    {"readout.divide_by_steps",
     "Whether the logits are the accumulated voltage divided by the number of steps."},
    {"readout.bias", "Whether the synapse has a trained bias."},
    {"readout.source", "Names of earlier stages, whose spikes are added; empty: the stage before."},

    {"conv", "Stage: convolution of any kernel, stride and padding, norm, neurons."},
    {"conv.channels", "Number of output channels."},
    {"conv.kernel", "Side of the square kernel."},
    {"conv.stride", "Stride of the kernel in pixels."},
    {"conv.padding", "Width of the border of zeros in pixels."},
    {"conv.bias", "Whether the synapse has a trained bias."},
    {"conv.norm", "Norm of the stage."},
    {"conv.neuron", "Neurons of the stage."},

    {"stage",
     "Stage of branches: their normalised currents are summed and drive one set of neurons."},
    {"stage.name", "Name of the stage; empty: conv1, conv2, ... or fc1, fc2, ..."},
    {"stage.neuron", "Neurons of the stage."},
    {"stage.branches", "Its branches, which must give maps of the same shape."},

    {"norm", "A norm, in a stage or a branch."},
    {"norm.kind", "Kind of norm."},
    {"norm.epsilon", "Added to the variance before the square root is taken.", "ε"},
    {"norm.momentum", "Weight of the latest batch in the running mean and variance."},
    {"norm.shift", "Whether the norm also has a trained shift.", "β"},
    {"norm.gain_start", "Initial value of the norm's gain.", "γ"},
    {"norm.alpha", "Factor of tdbn on the threshold; 0: 1/√n in a stage of n branches."},

    {"neuron", "The neurons of a stage."},
    {"neuron.kind", "Kind of neuron."},
    {"neuron.leak",
     "Share of the membrane potential that is kept until the next step, above 0 and at most 1; the "
     "initial value of plif, ignored by if.",
     "λ"},
    {"neuron.threshold", "Membrane potential above which a neuron fires, above 0.", "θ"},
    {"neuron.fire", "When a neuron fires: gt above the threshold, ge at or above it."},
    {"neuron.reset",
     "What firing does to the membrane: soft subtracts the threshold, hard sets it to 0."},
    {"neuron.detach_reset", "Whether the gradient ignores the reset."},
    {"neuron.neunorm_decay",
     "Share of neunorm's spike trace that is kept until the next step, at least 0, below 1."},
    {"neuron.floor",
     "Lower limit of the membrane potential in volts, at most 0; left out: no limit."},
    {"neuron.dropout", "Probability that a neuron of the stage is silenced in training."},
    {"neuron.dropout_per_step",
     "Whether dropout is drawn again at every step; otherwise the same neurons are silent at all "
     "steps."},
    {"neuron.surrogate", "Surrogate slope, used as the derivative of a spike."},

    {"surrogate", "Surrogate slope of a neuron, used as the derivative of a spike."},
    {"surrogate.kind", "Shape of the slope; d = (v − θ)/width."},
    {"surrogate.alpha", "Height of the slope at the threshold, above 0.", "α"},
    {"surrogate.decay", "For stdb: how fast the slope decays with the steps since the last spike.",
     "β"},
    {"surrogate.per_threshold", "Whether the slope is divided by the threshold.", "1/θ"},
    {"surrogate.width",
     "Distance from the threshold in volts at which a triangle reaches 0, and the unit of the "
     "other shapes, at least 0; 0: equal to the threshold."},

    {"branches", "A branch of a stage: source, pool, synapse, norm."},
    {"branches.source",
     "Names of earlier stages, or input; the spikes of several sources are added; empty: the stage "
     "before."},
    {"branches.pool", "Pool between the sources and the synapse."},
    {"branches.synapse", "Synapse of the branch."},
    {"branches.norm", "Norm of the branch."},

    {"pool", "The pool of a branch."},
    {"pool.kind", "How the pixels of a square are combined."},
    {"pool.size", "Side of the square; 1: no pool, 0: the whole map."},

    {"synapse", "The synapse of a branch."},
    {"synapse.kind", "conv, dense (fully connected), or identity (a shortcut without weights)."},
    {"synapse.outputs",
     "Number of output channels or features, at least 1; identity has those of its source."},
    {"synapse.kernel", "Side of a convolution's square kernel, 1 to 63."},
    {"synapse.stride", "Stride of a convolution's kernel in pixels, 1 to 63."},
    {"synapse.padding", "Width of a convolution's border of zeros in pixels, 0 to 63."},
    {"synapse.bias", "Whether the synapse has a trained bias."},
};

const Meaning* meaning_of(std::string_view key) {
  const auto* found = std::ranges::find(kMeanings, key, &Meaning::key);
  return found == std::end(kMeanings) ? nullptr : found;
}

std::vector<KindInfo> without_meanings(const std::vector<std::string>& names) {
  std::vector<KindInfo> kinds;
  for (const std::string& name : names) kinds.push_back({name, ""});
  return kinds;
}

// The tables that list a setting's names, if they explain more than the name or if the parser
// leaves the check to the code that looks the name up.
std::vector<KindInfo> kinds_for(const std::string& key, const std::vector<std::string>& names) {
  if (key == "model.norm" || key == "model.readout_norm" || key == "norm.kind") return norm_kinds();
  if (key == "model.neuron" || key == "neuron.kind") return neuron_kinds();
  if (key == "model.surrogate" || key == "surrogate.kind") {
    return kinds_of<EnumEntry<SurrogateKind>>(kSurrogates);
  }
  if (key == "encoder.kind") return kinds_of<EnumEntry<EncoderKind>>(kEncoders);
  if (key == "train.optimizer") return optimizer_kinds();
  if (key == "train.schedule") return schedule_kinds();
  if (key == "train.loss") return loss_kinds();
  if (key == "model.name") return without_meanings(zoo_names());
  if (key == "data.name") return without_meanings(dataset_names());
  return without_meanings(names);
}

Setting setting_of(const std::string& table, const FieldDescription& field) {
  const std::string key = table + "." + field.key;
  Setting setting{.key = key,
                  .type = field.type,
                  .range = field.range,
                  .kinds = kinds_for(key, field.names),
                  .usual = field.usual};
  if (const Meaning* found = meaning_of(key)) {
    setting.meaning = found->meaning;
    setting.symbol = found->symbol;
  }
  return setting;
}

bool asks_for(std::string_view wanted, const Setting& setting) {
  return wanted == setting.key || wanted == setting.leaf();
}

}  // namespace

std::vector<SettingsTable> settings_reference() {
  std::vector<SettingsTable> tables;
  bool section = true;
  for (const TableDescription& described : described_settings()) {
    const Meaning* found = meaning_of(described.name);
    SettingsTable table{.name = described.name,
                        .meaning = found == nullptr ? "" : std::string(found->meaning),
                        .section = section};
    for (const FieldDescription& field : described.fields) {
      table.settings.push_back(setting_of(described.name, field));
    }
    // [network] is the last section; the tables inside it follow.
    if (described.name == "network") section = false;
    tables.push_back(std::move(table));
  }
  return tables;
}

namespace {

/// The settings that may have this value, such as model.norm for "bn-time".
std::vector<SettingsTable> settings_with_kind(std::string_view name) {
  std::vector<SettingsTable> found;
  for (SettingsTable& table : settings_reference()) {
    std::erase_if(table.settings, [&](const Setting& setting) {
      return std::ranges::find(setting.kinds, name, &KindInfo::name) == setting.kinds.end();
    });
    if (table.section && !table.settings.empty()) found.push_back(std::move(table));
  }
  return found;
}

}  // namespace

std::vector<SettingsTable> find_settings(std::string_view key) {
  std::vector<SettingsTable> found;
  std::vector<std::string> known;
  for (SettingsTable& table : settings_reference()) {
    known.push_back(table.name);
    for (const Setting& setting : table.settings) known.push_back(setting.key);
    const bool whole = key == table.name || (key == "network" && !table.section);
    if (!whole) {
      std::erase_if(table.settings,
                    [&](const Setting& setting) { return !asks_for(key, setting); });
    }
    if (!table.settings.empty()) found.push_back(std::move(table));
  }
  if (found.empty()) found = settings_with_kind(key);
  if (!found.empty()) return found;
  const std::string leaf(key.substr(key.rfind('.') + 1));
  const auto same_leaf = std::ranges::find_if(
      known, [&](const std::string& candidate) { return candidate.ends_with("." + leaf); });
  std::string suggestion = meant_by_foreign_name(leaf);
  if (same_leaf != known.end()) {
    suggestion = ", did you mean '" + *same_leaf + "'?";
  } else if (suggestion.empty()) {
    suggestion = did_you_mean(key, known);
  }
  fail("settings: unknown key '{}'{}", excerpt(key), suggestion);
}

std::vector<std::string> meanings_left_over() {
  std::vector<std::string> unused;
  const std::vector<SettingsTable> tables = settings_reference();
  for (const Meaning& meaning : kMeanings) {
    const bool used = std::ranges::any_of(tables, [&](const SettingsTable& table) {
      return table.name == meaning.key ||
             std::ranges::find(table.settings, meaning.key, &Setting::key) != table.settings.end();
    });
    if (!used) unused.emplace_back(meaning.key);
  }
  return unused;
}

}  // namespace bntt
