#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/json.h"

namespace bntt {

/// Whether the Host header of a request names a server on this port of this machine. Browsers omit
/// the port if it is 80.
bool names_this_server(const std::string& host, int port);

/// Serves the report page on this machine only: it listens on 127.0.0.1 and answers only requests
/// addressed to it under that name, so that no other page can read it through a name of its own
/// (DNS rebinding). Answers on its own threads until destroyed.
class LiveServer {
 public:
  /// Port 0 chooses any free port. Throws Error if the port is in use or not permitted.
  explicit LiveServer(int port);
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;
  ~LiveServer();

  int port() const;
  /// Replaces the document; open pages fetch it within seconds.
  void publish(Json document);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bntt
