#include "report/live_server.h"

#include <httplib.h>

#include <mutex>
#include <string>
#include <thread>

#include "base/fail.h"
#include "report/page.h"

namespace bntt {
namespace {

constexpr const char* kHost = "127.0.0.1";

// cpp-httplib's default also sets SO_REUSEPORT, with which two servers could share a port
// unnoticed.
void reuse_address_only(int socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
}

}  // namespace

bool names_this_server(const std::string& host, int port) {
  constexpr int kPortOfHttp = 80;
  for (const std::string name : {kHost, "localhost"}) {
    if (host == fmt::format("{}:{}", name, port)) return true;
    if (host == name && port == kPortOfHttp) return true;
  }
  return false;
}

struct LiveServer::Parts {
  httplib::Server server;
  std::thread thread;
  int port = 0;
  std::mutex mutex;  // guards the next two members
  int64_t version = 0;
  Json document;

  void answer_page(httplib::Response& response) {
    const std::lock_guard lock(mutex);
    response.set_content(report_page(document, true), "text/html; charset=utf-8");
  }

  void answer_document(const httplib::Request& request, httplib::Response& response) {
    const std::lock_guard lock(mutex);
    if (request.get_param_value("since") == std::to_string(version)) {
      response.status = 204;
      return;
    }
    response.set_content(document_text(document), "application/json");
  }

  void set_routes() {
    server.set_default_headers({{"Cache-Control", "no-store"},
                                {"X-Content-Type-Options", "nosniff"},
                                {"Cross-Origin-Resource-Policy", "same-origin"},
                                {"Content-Security-Policy", "frame-ancestors 'none'"}});
    server.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          if (names_this_server(request.get_header_value("Host"), port))
            return httplib::Server::HandlerResponse::Unhandled;
          response.status = 403;
          return httplib::Server::HandlerResponse::Handled;
        });
    server.Get("/", [this](const httplib::Request&, httplib::Response& response) {
      answer_page(response);
    });
    server.Get("/document.json",
               [this](const httplib::Request& request, httplib::Response& response) {
                 answer_document(request, response);
               });
    // Browsers request it unprompted; if it is missing, the console shows an error.
    server.Get("/favicon.ico",
               [](const httplib::Request&, httplib::Response& response) { response.status = 204; });
  }
};

LiveServer::LiveServer(int port) : parts_(std::make_unique<Parts>()) {
  httplib::Server& server = parts_->server;
  server.set_socket_options(reuse_address_only);
  parts_->set_routes();
  if (port == 0) {
    parts_->port = server.bind_to_any_port(kHost);
  } else if (server.bind_to_port(kHost, port)) {
    parts_->port = port;
  }
  if (parts_->port <= 0) fail("port {} of {} is in use or not permitted", port, kHost);
  parts_->thread = std::thread([this] { parts_->server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
}

LiveServer::~LiveServer() {
  parts_->server.stop();
  if (parts_->thread.joinable()) parts_->thread.join();
}

int LiveServer::port() const { return parts_->port; }

void LiveServer::publish(Json document) {
  const std::lock_guard lock(parts_->mutex);
  document["live"] = true;
  document["version"] = std::to_string(++parts_->version);
  parts_->document = std::move(document);
}

}  // namespace bntt
