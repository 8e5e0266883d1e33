#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "process.h"

namespace httplib {
class Client;
}

namespace bntt::testing {

/// Debian's Chromium without a window, driven through ChromeDriver's WebDriver protocol.
class Browser {
 public:
  /// `directory` is for its profile and logs. Throws std::runtime_error when it does not start.
  explicit Browser(const std::filesystem::path& directory);
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser();

  void open(const std::string& address);
  /// The result of a function body: run("return document.title").
  Json run(const std::string& script);
  void set_size(int width, int height);
  void set_dark(bool dark);
  /// A picture of the whole page, not only of what fits into the window.
  void screenshot(const std::filesystem::path& file);
  /// What the console said since the last call, errors of the network and the policy included.
  std::vector<std::string> console();
  /// Asks again and again, for a minute at most, until the function body returns true.
  bool wait_for(const std::string& script);

 private:
  Json post(const std::string& path, const Json& body);
  Json chrome_command(const std::string& name, const Json& parameters);

  std::unique_ptr<Process> driver_;
  std::unique_ptr<httplib::Client> client_;
  std::string session_;
};

}  // namespace bntt::testing
