#pragma once

#include "base/json.h"

namespace bntt::bench {

/// Work that can be timed repeatedly.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void warm_up() = 0;
  virtual void run_unit() = 0;
  /// What was measured meanwhile; a JSON object.
  virtual Json report() const = 0;
};

/// The worker's side of the protocol with bntt bench: after warming up it sends {"ready": true}; it
/// answers each line of input with {"seconds": ..., "processor_seconds": ...} of one unit, and the
/// end of input with the report, to which it adds "peak_memory_bytes" of its process.
void serve(Engine& engine);

/// Sent instead if something fails: {"error": sentence}.
void answer_error(const std::string& sentence);

}  // namespace bntt::bench
