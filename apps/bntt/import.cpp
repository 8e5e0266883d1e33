#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/fail.h"
#include "bntt/zoo.h"
#include "command.h"
#include "train/authors_format.h"
#include "train/run_settings.h"
#include "train/trainer.h"

namespace bntt::cli {
namespace {

struct ImportArguments {
  std::string file;
  std::string model;
  std::string out;
  std::string data = "cifar10";
  int64_t size = 32;
  double leak = 0.95;
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
    fail("{}: its channel counts are not those of this model at any width", origin);
  }
  // Most networks have the zoo's own channels.
  return narrowest < 1.0 && 1.0 < widest ? 1.0 : 0.5 * (narrowest + widest);
}

/// The settings under which the authors' code would run this state dict.
RunConfig authors_settings(const ImportArguments& arguments, const TensorFile& file,
                           const AuthorsModelShape& shape) {
  RunConfig config;
  config.data.name = arguments.data;
  config.model.name = arguments.model;
  config.model.steps = shape.steps;
  config.model.leak = static_cast<float>(arguments.leak);
  const std::vector<StagePlan> full = plan_stages(zoo_network(arguments.model, {}));
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

int import_file(const ImportArguments& arguments) {
  const TensorFile file = read_tensors(arguments.file);
  const AuthorsModelShape shape = authors_model_shape(file, arguments.file);
  if (shape.steps == 0) {
    fail("{}: expected a tensor 'bntt1.0.weight', found none", arguments.file);
  }
  const RunConfig config = authors_settings(arguments, file, shape);
  const NetworkSpec spec =
      network_of(config, {shape.input_channels, arguments.size, arguments.size}, shape.classes);
  expect_room(file, arguments.file, plan_stages(spec));
  Network network(spec, 0);
  from_authors_format(file, arguments.file, network);
  const RunPaths paths{arguments.out};
  begin_run_directory(paths, config, false);
  save_checkpoint(paths, pack_checkpoint(network, nullptr, nullptr));
  fmt::print("{}: {} with {} steps\n", arguments.out, arguments.model, shape.steps);
  return kDone;
}

}  // namespace

void add_import(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("import", "Make a run from a state dict of the authors' PyTorch models");
  auto arguments = std::make_shared<ImportArguments>();
  command->add_option("file", arguments->file, "safetensors file")->required();
  command->add_option("--model", arguments->model, "name in the zoo, as vgg9")->required();
  command->add_option("--out", arguments->out, "directory of the run")->required();
  command->add_option("--data", arguments->data, "name of the data set, for bntt eval");
  command->add_option("--size", arguments->size, "height and width of the images")
      ->check(positive());
  command->add_option("--leak", arguments->leak, "of the neurons; the file does not tell")
      ->check(CLI::Range(0.0, 1.0));
  command->footer(
      "Example:\n  bntt import vgg9.safetensors --model vgg9 --out runs/imported\n  bntt eval "
      "runs/imported --data cifar");
  command->callback(
      [arguments, &action] { action = [arguments] { return import_file(*arguments); }; });
}

}  // namespace bntt::cli
