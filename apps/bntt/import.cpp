#include <fmt/format.h>

#include <cmath>

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

/// The settings under which the authors' code would run this state dict.
RunConfig authors_settings(const ImportArguments& arguments, const AuthorsModelShape& shape) {
  RunConfig config;
  config.data.name = arguments.data;
  config.model.name = arguments.model;
  config.model.steps = shape.steps;
  config.model.leak = static_cast<float>(arguments.leak);
  const std::vector<StagePlan> full =
      plan_stages(zoo_network(arguments.model, {.steps = std::max<int64_t>(1, shape.steps)}));
  config.model.width = static_cast<double>(shape.first_channels) /
                       static_cast<double>(full.front().output.channels);
  config.encoder.kind = InputCoding::poisson_signed;
  return config;
}

int import_file(const ImportArguments& arguments) {
  const TensorFile file = read_tensors(arguments.file);
  const AuthorsModelShape shape = authors_model_shape(file, arguments.file);
  if (shape.steps == 0) {
    fail("{}: expected a tensor 'bntt1.0.weight', found none", arguments.file);
  }
  const RunConfig config = authors_settings(arguments, shape);
  Network network(network_of(config, {shape.input_channels, arguments.size, arguments.size},
                             shape.classes),
                  0);
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
      ->check(CLI::PositiveNumber);
  command->add_option("--leak", arguments->leak, "of the neurons; the file does not tell")
      ->check(CLI::Range(0.0, 1.0));
  command->footer(
      "Example:\n  bntt import vgg9.safetensors --model vgg9 --out runs/imported\n  bntt eval "
      "runs/imported --data cifar");
  command->callback(
      [arguments, &action] { action = [arguments] { return import_file(*arguments); }; });
}

}  // namespace bntt::cli
