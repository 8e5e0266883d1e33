#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace bntt::testing {

struct HttpRequest {
  std::string path;
  std::map<std::string, std::string> headers;  ///< names in lower case

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

/// The way back to the client; the connection closes when the handler returns.
class HttpReply {
 public:
  explicit HttpReply(int socket) : socket_(socket) {}
  /// Raw bytes, head and body alike, so that a test can break every rule. False when the client is
  /// gone.
  bool send(std::string_view bytes) const;
  /// Says nothing until the client goes away.
  void hold() const;

 private:
  int socket_;
};

using HttpHandler = std::function<void(const HttpRequest&, const HttpReply&)>;

/// A web server on the loopback interface, one connection after the other.
class LoopbackServer {
 public:
  explicit LoopbackServer(HttpHandler handler);
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer();

  std::string url(const std::string& path = "") const;
  std::vector<HttpRequest> requests() const;

 private:
  void serve();
  void answer(int socket);

  HttpHandler handler_;
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::atomic<int> open_{-1};
  std::jthread thread_;
};

/// "HTTP/1.1 STATUS", the headers, an empty line.
std::string http_head(const std::string& status, const std::vector<std::string>& headers);

/// A well-behaved server of files by path, ranges and If-Range included.
HttpHandler serve_files(std::map<std::string, std::string> files,
                        const std::string& etag = "\"v1\"");

}  // namespace bntt::testing
