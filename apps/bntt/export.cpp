#include <fmt/format.h>

#include "command.h"
#include "train/authors_format.h"
#include "train/model_card.h"
#include "train/run_settings.h"

namespace bntt::cli {
namespace {

struct ExportArguments {
  std::string run;
  std::string format;
  std::string file;
};

int export_run(const ExportArguments& arguments) {
  const RunPaths paths{arguments.run};
  const RunConfig config = read_run_settings(paths);
  const RunModel model = load_run_model(paths);
  TensorFile file = arguments.format == "state-dict" ? to_state_dict(model.network)
                                                     : to_authors_format(model.network);
  // Other programs read the tensors; bntt import finds the whole model again.
  describe_model(model.network, model.card ? *model.card : card_of_settings(config, model.network),
                 file);
  write_tensors(arguments.file, file, {.checksum = false});
  fmt::print("{}: {} tensors\n", arguments.file, file.tensors.size());
  return kDone;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("export", "Write a trained network for other programs");
  auto arguments = std::make_shared<ExportArguments>();
  command->add_option("run", arguments->run, "directory of the run")->required();
  command
      ->add_option("--format", arguments->format,
                   "state-dict: safetensors with every parameter and running statistic under its "
                   "own name; authors-pytorch: with the names of the authors' PyTorch models")
      ->required()
      ->check(CLI::IsMember({"state-dict", "authors-pytorch"}));
  command->add_option("file", arguments->file, "file to write")->required();
  command->footer("Example:\n  bntt export runs/vgg9 --format state-dict vgg9.safetensors");
  command->callback(
      [arguments, &action] { action = [arguments] { return export_run(*arguments); }; });
}

}  // namespace bntt::cli
