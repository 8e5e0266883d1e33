#include "train/settings.h"

#include <algorithm>
#include <span>

#include "base/fail.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bntt/learning_rate.h"
#include "bntt/loss.h"
#include "bntt/optimizer.h"
#include "bntt/zoo.h"
#include "data/dataset.h"
#include "train/config.h"

namespace bntt {
namespace {

struct Meaning {
  std::string_view key;  // of a setting, or of a table
  std::string_view meaning;
  std::string_view symbol = {};
};

// One plain sentence for each key; a test fails when one is missing, or left over.
constexpr Meaning kMeanings[] = {
    {"method",
     "What the run is an instance of, for those who compare runs; nothing follows from it."},
    {"method.name", "Name of the method, as rmp; empty: a training without a name."},
    {"method.source", "The publication that it comes from."},
    {"method.settings", "What no other setting says, as how a network was converted."},

    {"data", "The data set, what of it is used, and how images are changed for training."},
    {"data.name", "Name of the data set."},
    {"data.dir", "Directory of its files; empty: where the data set usually is."},
    {"data.labels", "Which labels to learn, for a set that has two kinds (cifar100)."},
    {"data.size", "Height and width of the square that the network sees; 0: the data set's own."},
    {"data.fit",
     "How an image of another shape becomes square: crop scales it until it covers the square and "
     "cuts out the middle, squeeze scales both sides to fit."},
    {"data.frames", "Frames that an event recording is divided into; 0: one per step."},
    {"data.interval",
     "How a recording is divided: into equal lengths of time, or equal counts of events."},
    {"data.bin_us",
     "Length of a frame in microseconds, from the first event on, instead of a number of frames; "
     "the longest recording says the steps. Not for norms with numbers for every step. 0: none."},
    {"data.clip", "Whether several events at one place and frame count as one spike."},
    {"data.sensor_width", "Pixels per row of the sensor (event-folder); 0: as the files say."},
    {"data.sensor_height", "Rows of the sensor (event-folder); 0: as the files say."},
    {"data.validation", "Share of the training samples, the last ones, kept for validation."},
    {"data.limit_train", "Uses the first so many training samples; 0: all."},
    {"data.limit_test", "Uses the first so many test samples; 0: all."},
    {"data.augment_pad",
     "Pixels by which training images are shifted at random, at most; 0: none."},
    {"data.augment_flip", "Whether half of the training images are mirrored left to right."},
    {"data.augment_cutout", "Side of a square that is blacked out at a random place; 0: none."},
    {"data.normalisation",
     "Data set whose channel means and deviations normalise the images; empty: its own."},
    {"data.mean", "Mean of every channel, of pixels in 0..1, instead of the data set's."},
    {"data.deviation",
     "Standard deviation of every channel, of pixels in 0..1, instead of the data set's."},

    {"model", "A network of the zoo, unless there is a [network]."},
    {"model.name", "Which network."},
    {"model.steps", "Time steps of every sample.", "T"},
    {"model.width", "Multiplies the channels and features of every hidden stage."},
    {"model.norm", "Norm of every hidden stage."},
    {"model.norm_epsilon", "Added to a variance before its square root is taken.", "ε"},
    {"model.norm_momentum", "Weight of the newest batch in the running mean and variance."},
    {"model.norm_shift", "Whether the norm also has a trained shift.", "β"},
    {"model.norm_gain_start", "First value of the norm's gain.", "γ"},
    {"model.norm_alpha", "Factor of tdbn; 0: 1/√n in a stage of n branches."},
    {"model.readout_norm", "Norm of the readout."},
    {"model.readout_leak", "Share of the readout's voltage that lasts until the next step.", "λ"},
    {"model.readout_leak_newest",
     "Whether the current of a step leaks in that step already: m = λ (m + y) instead of λ m + y."},
    {"model.readout_leak_gradient", "Whether the readout's leak damps the gradient too."},
    {"model.readout_votes", "Outputs of each class, whose mean is its logit."},
    {"model.divide_by_steps",
     "Whether the loss sees the readout's accumulated voltage divided by the number of steps."},
    {"model.zero_residual",
     "Whether the last norm of every residual block starts with gain 0, so that the block starts "
     "as its shortcut."},
    {"model.pool_threshold",
     "Threshold of neurons without leak behind every average pool, whose output is spikes again; "
     "0: pools have no neurons."},
    {"model.init",
     "Distribution of the first weights: xavier is uniform with gain 2 (the paper's), he-fan-in "
     "and he-fan-out are normal with variance 2/fan, vgg is he-fan-out but N(0, 0.01²) where fully "
     "connected, pytorch is uniform up to 1/√fan_in."},
    {"model.neuron", "Neurons of every hidden stage."},
    {"model.leak", "Share of the membrane potential that lasts until the next step.", "λ"},
    {"model.threshold", "Membrane potential above which a neuron fires.", "θ"},
    {"model.thresholds",
     "Thresholds of the single stages, in their order, instead of one for all; empty: one for "
     "all.",
     "θ"},
    {"model.fire", "When a neuron fires: gt above the threshold, ge from the threshold on."},
    {"model.reset",
     "What firing does to the membrane: soft subtracts the threshold, hard sets it to 0."},
    {"model.detach_reset", "Whether the gradient ignores the reset."},
    {"model.floor",
     "Volts, at most 0, that the membrane never falls below; left out: it may fall to any depth."},
    {"model.propagation",
     "When a spike arrives at the next stage: in the same step, or one step later."},
    {"model.surrogate",
     "Shape of the slope that stands for the derivative of a spike: triangle is the paper's."},
    {"model.surrogate_alpha", "Height of that slope at the threshold.", "α"},
    {"model.surrogate_width",
     "Volts above and below the threshold where a triangle reaches 0, and the unit of the other "
     "shapes; 0: as many as the threshold."},

    {"model.surrogate_per_threshold", "Whether the slope is divided by the threshold.", "1/θ"},
    {"model.neunorm_decay",
     "Share of a neunorm neuron's trace of spikes that lasts until the next step."},
    {"model.surrogate_decay",
     "Of the surrogate stdb: how fast the slope falls with the steps since the last spike.", "β"},
    {"model.dense_dropout",
     "The same share in fully connected stages alone; left out: model.dropout."},
    {"model.dropout_before_pools", "Whether stages that a pool follows have dropout too."},
    {"model.dropout", "Share of every stage's neurons that are silent in training."},
    {"model.dropout_per_step",
     "Whether other neurons are dropped at every step; otherwise the same ones at all steps."},

    {"encoder", "How a sample becomes the input of every step."},
    {"encoder.kind",
     "poisson-unsigned: a spike where a random number is below the pixel; poisson-signed: spikes "
     "of "
     "+1 and -1 from the normalised image; direct: the normalised image itself at every step; "
     "events: the event counts of each interval."},

    {"train", "The optimiser, its learning rate and the loss."},
    {"train.epochs", "Passes over the training samples."},
    {"train.batch", "Samples per optimiser step.", "m"},
    {"train.learning_rate", "Learning rate before the first drop.", "η"},
    {"train.momentum", "Share of the last update that goes into the next one."},
    {"train.weight_decay", "Pull of every trained number towards 0, as a factor in its gradient."},
    {"train.decay_gamma", "Whether weight decay acts on the norms' gains too.", "γ"},
    {"train.drops", "Fractions of the epochs, ascending, after which the learning rate drops."},
    {"train.drop_factor", "What each drop multiplies the learning rate by."},
    {"train.warmup_epochs", "Epochs in which the learning rate rises from 0; parts of one count."},
    {"train.from",
     "Run or checkpoint whose weights the run starts with; empty: weights are drawn anew."},
    {"train.from_thresholds",
     "Whether the thresholds are those of the run in train.from too, as in a hybrid training."},
    {"train.optimizer", "How parameters follow their gradients."},
    {"train.beta1", "Share of the mean gradient that adam keeps from step to step.", "β₁"},
    {"train.beta2", "Share of the mean squared gradient that adam keeps.", "β₂"},
    {"train.epsilon", "Added to adam's root of the mean squared gradient.", "ε"},
    {"train.amsgrad", "Whether adam divides by the largest mean squared gradient so far."},
    {"train.schedule", "How the learning rate changes during the run."},
    {"train.final_learning_rate", "Learning rate at the end of a cosine."},
    {"train.cosine_epochs", "Epochs of half a period of the cosine; 0: all that are left."},
    {"train.one_cycle_rise", "Fraction of the run in which a one-cycle rate rises."},
    {"train.one_cycle_start_divisor",
     "A one-cycle rate begins with train.learning_rate divided by this."},
    {"train.one_cycle_end_divisor", "A one-cycle rate ends with its first rate divided by this."},
    {"train.loss", "What training makes small."},
    {"train.label_smoothing", "Share of a label that is spread over all classes."},
    {"train.tet_share", "Of the loss tet: share of the squared distance from its target.", "η"},
    {"train.tet_target", "Of the loss tet: value that outputs should not leave far.", "φ"},
    {"train.clip_norm", "Longest gradient, as the norm over all parameters; 0: any."},
    {"train.window_threshold",
     "Switches steps of a layer off for good where the mean magnitude of its γ is smaller, and "
     "leaves their work out (docs/training.md). Left out: none.",
     "h"},
    {"train.window_work",
     "The same with a threshold chosen so that this share of the synapse work is left. Left out: "
     "none."},
    {"train.window_from", "Fraction of the epochs from which on steps are switched off."},
    {"train.window_until", "Fraction of the epochs up to which steps are switched off."},
    {"train.precision",
     "What is kept of currents for the backward pass, and multiplied: mixed keeps bf16, half the "
     "memory; bf16 also multiplies in bf16 where it computes densely, which is slow on processors "
     "without AVX512_BF16."},
    {"train.break_even",
     "Spikes per input above which a convolution goes dense: by a formula of its shape, timed on "
     "this machine (which makes the result depend on it), or as numbers, forward and weight "
     "gradient of every synapse or one such pair for all."},
    {"train.seed", "Start of every random number: weights, order, crops and input spikes."},

    {"run", "What a run writes, and when."},
    {"run.log_steps", "Optimiser steps between two lines of metrics.jsonl."},
    {"run.checkpoint_steps", "Optimiser steps between two checkpoints inside an epoch."},

    {"network", "A network of your own, instead of [model]: see networks.md."},
    {"network.steps", "Time steps of every sample.", "T"},
    {"network.propagation",
     "When a spike arrives at the next stage: in the same step, or one step later (chains only)."},
    {"network.init", "Distribution of the first weights, as model.init."},
    {"network.input", "Shape of the samples; it must be that of the data."},
    {"network.stages", "The stages in the order in which they run, each a table with its type."},

    {"input", "Shape of one frame of a sample."},
    {"input.channels", "Channels: 3 for colours, 1 for grey, 2 for the polarities of events."},
    {"input.height", "Rows of pixels."},
    {"input.width", "Pixels per row."},

    {"conv3x3", "Stage: 3x3 convolution with stride 1 and padding 1, norm, neurons."},
    {"conv3x3.channels", "Output channels."},
    {"conv3x3.norm", "Norm of the stage."},
    {"conv3x3.neuron", "Neurons of the stage."},

    {"dense", "Stage: fully connected synapse, norm, neurons."},
    {"dense.features", "Output neurons."},
    {"dense.norm", "Norm of the stage."},
    {"dense.neuron", "Neurons of the stage."},
    {"dense.bias", "Whether the synapse has a trained bias."},

    {"avg-pool", "Average of size x size pixels, before the stage that follows."},
    {"avg-pool.size", "Side of the square; 0: the whole map."},
    {"sum-pool", "Sum of size x size pixels, before the stage that follows."},
    {"sum-pool.size", "Side of the square; 0: the whole map."},
    {"max-pool", "Maximum of size x size pixels, before the stage that follows."},
    {"max-pool.size", "Side of the square; 0: the whole map."},

    {"readout", "The last stage: fully connected, accumulates voltage and never fires."},
    {"readout.classes", "Output neurons: the classes of the data set.", "C"},
    {"readout.votes", "Outputs of each class, whose mean is its logit."},
    {"readout.synapse", "Weights, or identity: then the stage before has the outputs."},
    {"readout.leak", "Share of the voltage that lasts until the next step.", "λ"},
    {"readout.leak_newest",
     "Whether the current of a step leaks in that step already: m = λ (m + y) instead of λ m + y."},
    {"readout.leak_gradient", "Whether the leak damps the gradient too."},
    {"readout.norm", "Norm of the readout."},
    {"readout.divide_by_steps",
     "Whether the loss sees the accumulated voltage divided by the number of steps."},
    {"readout.bias", "Whether the synapse has a trained bias."},
    {"readout.source",
     "Names of earlier stages whose spikes are added up; empty: the stage before."},

    {"conv", "Stage: convolution of any kernel, stride and padding, norm, neurons."},
    {"conv.channels", "Output channels."},
    {"conv.kernel", "Side of the square kernel."},
    {"conv.stride", "Pixels between two places of the kernel."},
    {"conv.padding", "Pixels of zeros around the map."},
    {"conv.bias", "Whether the synapse has a trained bias."},
    {"conv.norm", "Norm of the stage."},
    {"conv.neuron", "Neurons of the stage."},

    {"stage",
     "Stage of branches: their normalised currents are summed and drive one set of neurons."},
    {"stage.name", "What other stages call it; empty: conv1, conv2, ... or fc1, fc2, ..."},
    {"stage.neuron", "Neurons of the stage."},
    {"stage.branches", "Its branches, which must give maps of one shape."},

    {"norm", "A norm, in a stage or a branch."},
    {"norm.kind", "Which norm."},
    {"norm.epsilon", "Added to a variance before its square root is taken.", "ε"},
    {"norm.momentum", "Weight of the newest batch in the running mean and variance."},
    {"norm.shift", "Whether the norm also has a trained shift.", "β"},
    {"norm.gain_start", "First value of the norm's gain.", "γ"},
    {"norm.alpha", "Factor of tdbn; 0: 1/√n in a stage of n branches."},

    {"neuron", "The neurons of a stage."},
    {"neuron.kind", "Which neurons."},
    {"neuron.leak",
     "Share of the membrane potential that lasts until the next step, above 0 and at most 1; plif "
     "begins there, if has none.",
     "λ"},
    {"neuron.threshold", "Membrane potential above which a neuron fires, above 0.", "θ"},
    {"neuron.fire", "When a neuron fires: gt above the threshold, ge from the threshold on."},
    {"neuron.reset",
     "What firing does to the membrane: soft subtracts the threshold, hard sets it to 0."},
    {"neuron.detach_reset", "Whether the gradient ignores the reset."},
    {"neuron.neunorm_decay",
     "Share of neunorm's trace of spikes that lasts until the next step, at least 0, below 1."},
    {"neuron.floor",
     "Volts, at most 0, that the membrane never falls below; left out: it may fall to any depth."},
    {"neuron.dropout", "Share of the stage's neurons that are silent in training."},
    {"neuron.dropout_per_step",
     "Whether other neurons are dropped at every step; otherwise the same ones at all steps."},
    {"neuron.surrogate", "The slope that stands for the derivative of a spike."},

    {"surrogate", "The slope that stands for the derivative of a spike, in a neuron."},
    {"surrogate.kind", "Its shape: triangle is the paper's."},
    {"surrogate.alpha", "Its height at the threshold, above 0.", "α"},
    {"surrogate.decay", "Of stdb: how fast the slope falls with the steps since the last spike.",
     "β"},
    {"surrogate.per_threshold", "Whether the slope is divided by the threshold.", "1/θ"},
    {"surrogate.width",
     "Volts above and below the threshold where a triangle reaches 0, and the unit of the other "
     "shapes, at least 0; 0: as many as the threshold."},

    {"branches", "A branch of a stage: source, pool, synapse, norm."},
    {"branches.source",
     "Names of earlier stages, or input; the spikes of several are added up; empty: the stage "
     "before."},
    {"branches.pool", "Pool between source and synapse."},
    {"branches.synapse", "Its synapse."},
    {"branches.norm", "Its norm."},

    {"pool", "The pool of a branch."},
    {"pool.kind", "How the pixels of a square become one."},
    {"pool.size", "Side of the square; 1: no pool, 0: the whole map."},

    {"synapse", "The synapse of a branch."},
    {"synapse.kind", "Convolution, fully connected, or identity: the shortcut without weights."},
    {"synapse.outputs", "Output channels or features, at least 1; identity has its source's."},
    {"synapse.kernel", "Side of a convolution's square kernel, 1 to 63."},
    {"synapse.stride", "Pixels between two places of a convolution's kernel, 1 to 63."},
    {"synapse.padding", "Pixels of zeros around a convolution's map, 0 to 63."},
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

// The tables that the names of a setting come from, where they say more than the name or where the
// parser leaves the check to those who look the name up.
std::vector<KindInfo> kinds_of(const std::string& key, const std::vector<std::string>& names) {
  if (key == "model.norm" || key == "model.readout_norm" || key == "norm.kind") return norm_kinds();
  if (key == "model.neuron" || key == "neuron.kind") return neuron_kinds();
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
                  .kinds = kinds_of(key, field.names),
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
  if (!found.empty()) return found;
  const std::string leaf(key.substr(key.rfind('.') + 1));
  const auto same_leaf = std::ranges::find_if(
      known, [&](const std::string& candidate) { return candidate.ends_with("." + leaf); });
  fail(
      "settings: unknown key '{}'{}", excerpt(key),
      same_leaf != known.end() ? ", did you mean '" + *same_leaf + "'?" : did_you_mean(key, known));
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
