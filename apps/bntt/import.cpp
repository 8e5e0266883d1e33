#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include "base/fail.h"
#include "bntt/zoo.h"
#include "command.h"
#include "nir.h"
#include "train/authors_format.h"
#include "train/model_card.h"
#include "train/run_settings.h"

namespace bntt::cli {
namespace {

struct ImportArguments {
  std::string file;
  std::string out;
  std::vector<std::string> settings;
  // What a file of others does not tell.
  std::optional<std::string> model;
  std::optional<std::string> data;
  std::optional<int64_t> size;
  std::optional<double> leak;
  NirImportArguments nir;  // its settings are those above
};

/// A width multiplier under which the zoo's rounded channel counts are those of the file. Each
/// stage leaves an interval of widths; their common part is what the network was made with, as
/// closely as the file tells.
double width_of(const TensorFile& file, const std::string& origin,
                const std::vector<StagePlan>& full) {
  double narrowest = 0.0;
  double widest = std::numeric_limits<double>::infinity();
  for (const StagePlan& plan : full) {
    const Tensor* weight = file.find(plan.name + ".weight");
    if (plan.readout || weight == nullptr || weight->shape.empty()) continue;
    const auto channels = static_cast<double>(weight->shape.front());
    const auto full_channels = static_cast<double>(plan.output.channels);
    // The zoo leaves at least one channel, however narrow the network.
    if (channels > 1.0) narrowest = std::max(narrowest, (channels - 0.5) / full_channels);
    widest = std::min(widest, (channels + 0.5) / full_channels);
  }
  if (narrowest >= widest) {
    fail("{}: its channel counts do not fit this model at any width", origin);
  }
  // Most networks have the zoo's own channels.
  return narrowest < 1.0 && 1.0 < widest ? 1.0 : 0.5 * (narrowest + widest);
}

/// The settings under which the authors' code would run this state dict.
RunConfig authors_settings(const ImportArguments& arguments, const TensorFile& file,
                           const AuthorsModelShape& shape) {
  RunConfig config;
  config.data.name = arguments.data.value_or("cifar10");
  config.model.name = *arguments.model;
  config.model.steps = shape.steps;
  config.model.leak = static_cast<float>(arguments.leak.value_or(0.95));
  const std::vector<StagePlan> full = plan_stages(zoo_network(*arguments.model, {}));
  config.model.width = width_of(file, arguments.file, full);
  config.encoder.kind = EncoderKind::poisson_signed;
  return config;
}

/// Shapes in a stranger's file may describe a network far larger than the file: memory stays
/// bounded by the latter.
void expect_room(const TensorFile& file, const std::string& origin,
                 const std::vector<StagePlan>& plans) {
  int64_t found = 0;
  for (const Tensor& tensor : file.tensors) found += tensor.bytes.size();
  int64_t expected = 0;
  for (const StagePlan& plan : plans) {
    expected += plan.parameters * static_cast<int64_t>(sizeof(float));
  }
  if (found < expected) {
    fail("{}: holds {} bytes of tensors, expected at least {} for this model and image size",
         origin, found, expected);
  }
}

struct ImportedRun {
  RunConfig config;
  Network network;
};

ImportedRun authors_run(const ImportArguments& arguments, const TensorFile& file) {
  if (!arguments.model) {
    fail("{}: does not describe its network: name it with --model, as in --model vgg9",
         arguments.file);
  }
  const AuthorsModelShape shape = authors_model_shape(file, arguments.file);
  if (shape.steps == 0) {
    fail("{}: expected a tensor 'bntt1.0.weight', found none", arguments.file);
  }
  RunConfig config = authors_settings(arguments, file, shape);
  for (const std::string& setting : arguments.settings) apply_setting(config, setting);
  const int64_t size = arguments.size.value_or(32);
  const NetworkSpec spec = network_of(config, {shape.input_channels, size, size}, shape.classes);
  expect_room(file, arguments.file, plan_stages(spec));
  Network network = Network::unfilled(spec);
  from_authors_format(file, arguments.file, network);
  return {std::move(config), std::move(network)};
}

/// A file that bntt exported says itself what it holds.
ImportedRun described_run(const ImportArguments& arguments, const TensorFile& file,
                          const ModelCard& card) {
  if (arguments.model || arguments.data || arguments.size || arguments.leak) {
    fail(
        "{}: describes its own network and data set: leave out --model, --data, --size and "
        "--leak",
        arguments.file);
  }
  RunConfig config = config_from_toml(card.training.settings, arguments.file + ": settings");
  for (const std::string& setting : arguments.settings) apply_setting(config, setting);
  const NetworkSpec spec = checkpoint_network(file, arguments.file);
  if (network_of(config, spec.input, classes_of(spec)) != spec) config.network = spec;
  if (!has_authors_names(file)) return {std::move(config), network_in(file, arguments.file)};
  expect_room(file, arguments.file, plan_stages(spec));
  Network network = Network::unfilled(spec);
  from_authors_format(file, arguments.file, network);
  network.set_windows(windows_in(file, arguments.file, network));
  return {std::move(config), std::move(network)};
}

int import_nir_file(const ImportArguments& arguments) {
  if (arguments.model || arguments.data || arguments.size || arguments.leak) {
    fail("{}: a NIR file holds its network: leave out --model, --data, --size and --leak",
         arguments.file);
  }
  NirImportArguments nir = arguments.nir;
  nir.settings = arguments.settings;
  return import_nir(arguments.file, arguments.out, nir);
}

bool is_hdf5(const std::string& file) {
  constexpr std::string_view kBegin = "\x89HDF\r\n\x1a\n";
  std::array<char, kBegin.size()> begin{};
  std::ifstream(file, std::ios::binary).read(begin.data(), begin.size());
  return std::string_view(begin.data(), begin.size()) == kBegin;
}

int import_file(const ImportArguments& arguments) {
  if (is_hdf5(arguments.file)) return import_nir_file(arguments);
  if (arguments.nir.dt || arguments.nir.reset || arguments.nir.steps) {
    fail("{}: is not a NIR file: leave out --dt, --reset and --steps", arguments.file);
  }
  const TensorFile file = read_tensors(arguments.file);
  std::optional<ModelCard> card = card_in(file, arguments.file);
  const ImportedRun run =
      card ? described_run(arguments, file, *card) : authors_run(arguments, file);
  if (!card) card = card_of_settings(run.config, run.network);
  const RunPaths paths{arguments.out};
  begin_run_directory(paths, run.config, false);
  save_checkpoint(paths, pack_model(run.network, *card));
  fmt::print("{}: {} steps, {} classes, encoder {}\n", arguments.out, run.network.spec().steps,
             classes_of(run.network.spec()), encoder_name(card->input.encoder.kind));
  return kDone;
}

}  // namespace

void add_import(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("import",
                                     "Make a run from an exported file, a NIR file, or a state "
                                     "dict of the authors' PyTorch models");
  auto arguments = std::make_shared<ImportArguments>();
  command->add_option("file", arguments->file, "safetensors or NIR file")->required();
  command->add_option("--out", arguments->out, "directory of the run")->required();
  command->add_option(
      "--set", arguments->settings,
      "change one setting of the run, such as encoder.kind=direct or data.mean=[0.5] (repeatable)");
  constexpr const char* kForeign = "What the authors' files do not contain";
  command->add_option("--model", arguments->model, "network of the zoo, such as vgg9")
      ->group(kForeign);
  command->add_option("--data", arguments->data, "name of the data set; default: cifar10")
      ->group(kForeign);
  command->add_option("--size", arguments->size, "height and width of the images; default: 32")
      ->check(positive())
      ->group(kForeign);
  command->add_option("--leak", arguments->leak, "leak of the neurons; default: 0.95")
      ->check(CLI::Range(0.0, 1.0))
      ->group(kForeign);
  constexpr const char* kNir = "What NIR files do not contain";
  command
      ->add_option("--dt", arguments->nir.dt,
                   "seconds per step; default: from the file's metadata, otherwise 1e-4")
      ->check(positive())
      ->group(kNir);
  command
      ->add_option("--reset", arguments->nir.reset,
                   "hard or soft; default: from the file's metadata, otherwise hard")
      ->check(CLI::IsMember({"hard", "soft"}))
      ->group(kNir);
  command
      ->add_option("--steps", arguments->nir.steps,
                   "number of time steps; default: from the file's metadata, otherwise the bins of "
                   "data.bin_us in the longest recording")
      ->check(CLI::Range(1, 1 << 16))
      ->group(kNir);
  command->footer(
      "Example:\n  bntt import exported.safetensors --out runs/again\n  bntt import "
      "authors.safetensors --model vgg9 --out runs/imported\n  bntt eval runs/imported --data "
      "cifar\n  bntt import net.nir --set data.name=nmnist --set data.dir=DIR --set "
      "data.bin_us=1000 --out runs/net");
  command->callback(
      [arguments, &action] { action = [arguments] { return import_file(*arguments); }; });
}

}  // namespace bntt::cli
