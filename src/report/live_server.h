#pragma once

#include <cstdint>
#include <memory>

#include "base/json.h"

namespace bntt {

/// Serves the report page on this machine alone: it listens on 127.0.0.1, and answers only requests
/// that were addressed to it under that name, so that no other page can read along through a name
/// of its own (DNS rebinding). Answers from its own threads until destroyed.
class LiveServer {
 public:
  /// Port 0 takes any free one. Throws Error when the port cannot be had.
  explicit LiveServer(int port);
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;
  ~LiveServer();

  int port() const;
  /// From now on this is the document; pages that are open fetch it within seconds.
  void publish(Json document);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bntt
