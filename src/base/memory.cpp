#include "base/memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

namespace bntt {

void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

int64_t available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  constexpr int64_t kUnit = 1024;  // "MemAvailable:   12345 kB"
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("MemAvailable:")) return std::stoll(line.substr(13)) * kUnit;
  }
  return std::numeric_limits<int64_t>::max();
}

int64_t held_memory_bytes() {
  std::ifstream file("/proc/self/statm");  // in pages: size, resident, ...
  int64_t size = 0;
  int64_t resident = 0;
  if (!(file >> size >> resident)) return 0;
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return (limited ? size : resident) * sysconf(_SC_PAGESIZE);
}

}  // namespace bntt
