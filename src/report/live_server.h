#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/json.h"

namespace bntt {

/// Whether the Host header of a request names a server on this port of this machine. Browsers leave
/// the port out when it is 80.
bool names_this_server(const std::string& host, int port);

/// Serves the report page on this machine alone: it listens on 127.0.0.1, and answers only requests
/// that were addressed to it under that name, so that no other page can read along through a name
/// of its own (DNS rebinding). Answers from its own threads until destroyed.
class LiveServer {
 public:
  /// Port 0 takes any free one. Throws Error when the port is in use or not permitted.
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
