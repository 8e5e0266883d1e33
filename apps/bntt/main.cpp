#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <new>

#include "bntt/error.h"
#include "command.h"

namespace {

int complain(const std::string& sentence) {
  fmt::print(stderr, "bntt: {}\n", sentence);
  return bntt::cli::kBadInput;
}

// Every training step asks for the same large buffers again: keep their pages instead of giving them back to the kernel,
// which would zero them anew each time (a fifth of the training time otherwise).
void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  CLI::App app(
      "bntt trains, explains and deploys deep spiking networks with Batch Normalization Through "
      "Time.",
      "bntt");
  app.set_version_flag("--version", "bntt " BNTT_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Example:\n  bntt train --preset demo-fashion-mnist --out runs/demo\n  bntt eval runs/demo\n"
      "Each command has its own --help with an example.");
  bntt::cli::Action action;
  bntt::cli::add_train(app, action);
  bntt::cli::add_eval(app, action);
  bntt::cli::add_inspect(app, action);
  bntt::cli::add_export(app, action);
  bntt::cli::add_import(app, action);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    return complain(message + "; see bntt --help");
  }
  try {
    return action();
  } catch (const bntt::Error& error) {
    return complain(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::bad_alloc&) {
    return complain("the machine has not enough memory for this");
  }
}
