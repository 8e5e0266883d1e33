#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"

namespace bntt::bench {

/// Bytes that a worker can open as a file, without a place on disk.
class SharedFile {
 public:
  explicit SharedFile(std::span<const uint8_t> bytes);
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile();

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

struct WorkerCommand {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  const SharedFile* network = nullptr;  ///< the worker opens kNetworkFile
  const SharedFile* images = nullptr;   ///< and kImagesFile
  /// OpenMP's default way of waiting, not the one that bntt chooses for itself.
  bool default_waiting = false;
};

inline constexpr const char* kNetworkFile = "/proc/self/fd/3";
inline constexpr const char* kImagesFile = "/proc/self/fd/4";

/// What one unit of work took.
struct UnitTime {
  double seconds = 0.0;
  double processor_seconds = 0.0;  ///< of all threads
};

/// A process that serves (bench/worker.h). It is killed if it is left behind.
class WorkerProcess {
 public:
  explicit WorkerProcess(const WorkerCommand& command);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  /// Each returns nothing when the answer takes longer than `limit` seconds, and throws Error when
  /// the worker failed.
  bool ready(double limit);
  std::optional<UnitTime> time_unit(double limit);
  /// Ends the input and waits for the report.
  std::optional<Json> report(double limit);

 private:
  std::optional<Json> answer(double limit);

  std::string name_;
  int socket_ = -1;
  pid_t child_ = -1;
  std::string received_;
};

}  // namespace bntt::bench
