#include <fmt/format.h>

#include "base/fail.h"
#include "command.h"
#include "nir.h"
#include "train/authors_format.h"
#include "train/model_card.h"
#include "train/run_settings.h"

namespace bntt::cli {
namespace {

struct ExportArguments {
  std::string run;
  std::string format;
  std::string file;
  NirExportArguments nir;
};

int export_run(const ExportArguments& arguments) {
  if (arguments.format == "nir") return export_nir(arguments.run, arguments.file, arguments.nir);
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
                   "state-dict: safetensors file with every parameter and running statistic under "
                   "its own name; authors-pytorch: the same with the names of the authors' PyTorch "
                   "models; nir: a graph for other simulators and for hardware")
      ->required()
      ->check(CLI::IsMember({"state-dict", "authors-pytorch", "nir"}));
  command->add_option("file", arguments->file, "file to write")->required();
  constexpr const char* kNir = "With --format nir";
  NirExportArguments& nir = arguments->nir;
  std::vector<CLI::Option*> of_nir = {
      command->add_option("--dt", nir.dt, "seconds per step; default: 1e-4")->check(positive()),
      command->add_flag("--allow-lossy", nir.allow_lossy,
                        "write soft resets and lower limits of voltages although most readers "
                        "ignore them"),
      command
          ->add_option(
              "--bntt", nir.bntt,
              "what to do with norms that have parameters for every step: refuse, or mean, which "
              "writes their mean over time and keeps the exact values as metadata; default: refuse")
          ->check(CLI::IsMember({"refuse", "mean"})),
      command->add_option("--data", nir.data,
                          "directory of the data set, to measure what --bntt mean costs; default: "
                          "the run's"),
      command->add_option("--limit", nir.limit, "measure on the first N test samples")
          ->check(not_negative())};
  for (CLI::Option* option : of_nir) option->group(kNir);
  command->footer(
      "Example:\n  bntt export runs/vgg9 --format state-dict vgg9.safetensors\n  bntt export "
      "runs/hard --format nir hard.nir\n  bntt export runs/vgg9 --format nir vgg9.nir "
      "--allow-lossy --bntt mean --limit 1000");
  command->callback([arguments, of_nir, &action] {
    action = [arguments, of_nir] {
      for (const CLI::Option* option : of_nir) {
        if (option->count() > 0 && arguments->format != "nir") {
          fail("{} is only for --format nir, not for {}", option->get_name(), arguments->format);
        }
      }
      return export_run(*arguments);
    };
  });
}

}  // namespace bntt::cli
