#include "train/metrics.h"

#include <sstream>

#include "base/fail.h"
#include "base/files.h"

namespace bntt {

std::vector<Json> read_metrics(const RunPaths& paths, const std::string& kind) {
  std::vector<Json> lines;
  if (!std::filesystem::exists(paths.metrics())) return lines;
  constexpr uint64_t kLimit = uint64_t{1} << 30;
  std::istringstream text(read_text(paths.metrics(), kLimit));
  std::string line;
  for (int64_t number = 1; std::getline(text, line); ++number) {
    // A run that was killed may have left an incomplete line; resuming removes it.
    if (text.eof()) break;
    Json json = parse_json(line, fmt::format("{}:{}", paths.metrics().string(), number));
    if (!json.is_object() || !json.contains("kind")) {
      fail("{}:{}: expected an object with a kind", paths.metrics().string(), number);
    }
    if (json["kind"] == kind) lines.push_back(std::move(json));
  }
  return lines;
}

}  // namespace bntt
