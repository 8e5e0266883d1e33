#pragma once

#include "base/json.h"

namespace bntt::bench {

/// Work that can be timed again and again.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void warm_up() = 0;
  virtual void run_unit() = 0;
  /// What was seen meanwhile; an object.
  virtual Json report() const = 0;
};

/// A worker's side of the talk with bntt bench: after warming up it says {"ready": true}; each line
/// that comes in is answered by {"seconds": ..., "processor_seconds": ...} of one unit, the end of
/// input by the report, to which it adds "peak_memory_bytes" of its process.
void serve(Engine& engine);

/// Instead of all that: {"error": sentence}.
void answer_error(const std::string& sentence);

}  // namespace bntt::bench
