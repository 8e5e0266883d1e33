#include "train/break_even_table.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "base/cache_directory.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/json.h"
#include "base/threads.h"
#include "kernels/kernel_set.h"
#include "layers/synapses/break_even_formula.h"
#include "layers/synapses/measure_break_even.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

std::string key_of(const BranchPlan& plan) {
  std::string key =
      fmt::format("{}, {} kernels {}, {} threads, {}x{}x{} pooled {}x{} to {}", processor_name(),
                  kernels::kernels().name, kBreakEvenRevision, threads(), plan.source.channels,
                  plan.source.height, plan.source.width, plan.pool_height, plan.pool_width,
                  plan.output.channels);
  if (!plan.geometry.is_same_3x3()) {
    key += fmt::format(", kernel {} stride {} padding {}", plan.geometry.kernel,
                       plan.geometry.stride, plan.geometry.padding);
  }
  return key;
}

/// Locks the file for this process while it is read and written.
class FileLock {
 public:
  FileLock(const fs::path& path, const std::function<void()>& waiting)
      : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0 || flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    if (errno == EWOULDBLOCK && waiting) waiting();
    flock(descriptor_, LOCK_EX);
  }
  ~FileLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

Json read_table(const fs::path& file) {
  try {
    const Json table = fs::exists(file) ? parse_json(read_text(file), file.string()) : Json();
    return table.is_object() ? table : Json::object();
  } catch (const Error&) {
    return Json::object();
  }
}

std::optional<BreakEven> entry_of(const Json& table, const std::string& key) {
  const auto found = table.find(key);
  if (found == table.end() || !found->is_array() || found->size() != 2 ||
      !(*found)[0].is_number() || !(*found)[1].is_number()) {
    return std::nullopt;
  }
  return BreakEven{(*found)[0].get<float>(), (*found)[1].get<float>()};
}

}  // namespace

fs::path break_even_file() {
  const fs::path directory = user_cache_directory();
  return directory.empty() ? directory : directory / "break-even.json";
}

std::vector<BreakEven> chosen_break_even(const BreakEvenSetting& setting,
                                         const std::vector<StagePlan>& stages) {
  std::size_t synapses = 0;
  for (const StagePlan& stage : stages) synapses += stage.branches.size();
  if (const auto* values = std::get_if<std::vector<double>>(&setting)) {
    return values->empty() ? formula_break_even(stages) : break_even_from(*values, synapses);
  }
  return std::get<BreakEvenSource>(setting) == BreakEvenSource::timed
             ? machine_break_even(stages, break_even_file())
             : formula_break_even(stages);
}

std::vector<BreakEven> formula_break_even(const std::vector<StagePlan>& stages) {
  std::vector<BreakEven> result;
  for (const StagePlan& stage : stages) {
    for (const BranchPlan& plan : stage.branches) {
      result.push_back(depends_on_density(plan)
                           ? break_even_by_formula(plan, kernels::kernels().name)
                           : BreakEven{});
    }
  }
  return result;
}

std::vector<BreakEven> machine_break_even(const std::vector<StagePlan>& stages,
                                          const fs::path& file,
                                          const std::function<void()>& waiting) {
  std::optional<FileLock> lock;
  if (!file.empty()) {
    std::error_code ignored;
    fs::create_directories(file.parent_path(), ignored);
    lock.emplace(fs::path(file) += ".lock", waiting);
  }
  Json table = file.empty() ? Json::object() : read_table(file);
  std::vector<BreakEven> result;
  bool grown = false;
  for (const StagePlan& stage : stages) {
    for (const BranchPlan& plan : stage.branches) {
      if (!depends_on_density(plan)) {
        result.push_back({});
        continue;
      }
      const std::string key = key_of(plan);
      std::optional<BreakEven> entry = entry_of(table, key);
      if (!entry) {
        entry = measure_break_even(plan);
        if (entry) {
          table[key] = break_even_values({*entry});
          grown = true;
        }
      }
      result.push_back(entry.value_or(BreakEven{}));
    }
  }
  if (grown && !file.empty()) {
    try {
      write_text_atomically(file, table.dump(1) + "\n");
    } catch (const Error&) {
      // The home directory is read-only: the run still stores its values in run.toml.
    }
  }
  return result;
}

std::string dense_above_text(const Network& network) {
  std::string text;
  auto entry = network.break_even().begin();
  for (const StagePlan& stage : network.stages()) {
    for (const BranchPlan& branch : stage.branches) {
      const BreakEven& break_even = *entry++;
      if (!depends_on_density(branch)) continue;
      text += fmt::format(" {} {:.2f}/{:.2f}", branch.name, break_even.forward,
                          break_even.weight_gradient);
    }
  }
  if (text.empty()) return text;
  text = "dense above (spikes per input, forward/weight gradient):" + text;
  if (network.precision() == Precision::bf16) {
    text += fmt::format("; while training in bf16, {:g} times that", kBf16DenseCost);
  }
  return text;
}

}  // namespace bntt
