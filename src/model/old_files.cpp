#include "model/old_files.h"

#include "base/fail.h"

namespace bntt {
namespace {

constinit OldCardReader the_reader = nullptr;

}  // namespace

bool set_old_card_reader(OldCardReader reader) {
  the_reader = reader;
  return true;
}

ModelCard old_card(const std::filesystem::path& file, const Network& network) {
  if (the_reader == nullptr) {
    fail(
        "{}: is a file of version 0.1, which does not say how its input is encoded; this build of "
        "the library cannot read the run.toml beside it",
        file.string());
  }
  return the_reader(file, network);
}

}  // namespace bntt
