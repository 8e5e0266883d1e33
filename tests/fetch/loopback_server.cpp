#include "loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <stdexcept>

namespace bntt::testing {

bool HttpReply::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void HttpReply::hold() const {
  std::array<char, 256> ignored{};
  while (::recv(socket_, ignored.data(), ignored.size(), 0) > 0) {
  }
}

LoopbackServer::LoopbackServer(HttpHandler handler)
    : handler_(std::move(handler)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, any, length) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, any, &length) != 0) {
    throw std::runtime_error("no loopback server");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this] { serve(); });
}

LoopbackServer::~LoopbackServer() {
  ::shutdown(listener_, SHUT_RDWR);
  if (const int open = open_; open >= 0) ::shutdown(open, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

std::string LoopbackServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<HttpRequest> LoopbackServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void LoopbackServer::serve() {
  while (true) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    open_ = socket;
    answer(socket);
    open_ = -1;
    ::shutdown(socket, SHUT_WR);
    ::close(socket);
  }
}

void LoopbackServer::answer(int socket) {
  std::string text;
  std::array<char, 4096> piece{};
  while (text.find("\r\n\r\n") == std::string::npos) {
    const ssize_t got = ::recv(socket, piece.data(), piece.size(), 0);
    if (got <= 0) return;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  HttpRequest request;
  std::istringstream lines(text);
  std::string line;
  std::string method;
  lines >> method >> request.path;
  std::getline(lines, line);
  while (std::getline(lines, line) && line != "\r") {
    const std::size_t colon = line.find(':');
    std::string name = line.substr(0, colon);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.headers[name] = line.substr(colon + 2, line.size() - colon - 3);
  }
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  handler_(request, HttpReply(socket));
}

std::string http_head(const std::string& status, const std::vector<std::string>& headers) {
  std::string head = "HTTP/1.1 " + status + "\r\nConnection: close\r\n";
  for (const std::string& header : headers) head += header + "\r\n";
  return head + "\r\n";
}

HttpHandler serve_files(std::map<std::string, std::string> files, const std::string& etag) {
  return [files = std::move(files), etag](const HttpRequest& request, const HttpReply& reply) {
    const auto found = files.find(request.path);
    if (found == files.end()) {
      reply.send(http_head("404 Not Found", {"Content-Length: 5"}) + "none\n");
      return;
    }
    const std::string& body = found->second;
    const std::string range = request.header("range");
    const std::string condition = request.header("if-range");
    if (range.empty() || (!condition.empty() && condition != etag)) {
      reply.send(
          http_head("200 OK", {"ETag: " + etag, "Content-Length: " + std::to_string(body.size())}) +
          body);
      return;
    }
    const std::size_t first = std::stoul(range.substr(std::string("bytes=").size()));
    if (first >= body.size()) {
      reply.send(http_head("416 Range Not Satisfiable",
                           {"Content-Range: bytes */" + std::to_string(body.size())}));
      return;
    }
    reply.send(http_head("206 Partial Content",
                         {"ETag: " + etag,
                          "Content-Range: bytes " + std::to_string(first) + "-" +
                              std::to_string(body.size() - 1) + "/" + std::to_string(body.size()),
                          "Content-Length: " + std::to_string(body.size() - first)}) +
               body.substr(first));
  };
}

}  // namespace bntt::testing
