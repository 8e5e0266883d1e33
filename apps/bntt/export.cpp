#include <fmt/format.h>

#include "command.h"
#include "train/authors_format.h"
#include "train/run_settings.h"
#include "train/trainer.h"

namespace bntt::cli {
namespace {

struct ExportArguments {
  std::string run;
  std::string format;
  std::string file;
};

int export_run(const ExportArguments& arguments) {
  const RunPaths paths{arguments.run};
  read_run_settings(paths);
  const TensorFile file = to_authors_format(load_run_network(paths));
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
                   "authors-pytorch: safetensors with the names of the authors' PyTorch models")
      ->required()
      ->check(CLI::IsMember({"authors-pytorch"}));
  command->add_option("file", arguments->file, "file to write")->required();
  command->footer("Example:\n  bntt export runs/vgg9 --format authors-pytorch vgg9.safetensors");
  command->callback(
      [arguments, &action] { action = [arguments] { return export_run(*arguments); }; });
}

}  // namespace bntt::cli
