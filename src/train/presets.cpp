#include "train/presets.h"

#include "base/embedded_files.h"

namespace bntt {

EmbeddedFiles embedded_presets();

std::vector<std::string> preset_names() { return file_names(embedded_presets()); }

std::string_view preset_text(std::string_view name) {
  return file_text(embedded_presets(), "preset", name);
}

}  // namespace bntt
