#include "browser.h"

#include <httplib.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <thread>

namespace bntt::testing {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string decoded(const std::string& base64) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : base64) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 255U);
    }
  }
  return bytes;
}

}  // namespace

Browser::Browser(const std::filesystem::path& directory) {
  const std::filesystem::path log = directory / "chromedriver.log";
  std::ofstream(log).close();
  driver_ = std::make_unique<Process>(
      std::vector<std::string>{"--port=0"},
      ProcessOptions{.output = log.string(), .program = BNTT_CHROMEDRIVER});
  std::smatch found;
  std::string told;
  const bool started = wait_until(*driver_, [&] {
    told = text_of(log);
    return std::regex_search(told, found, std::regex("successfully on port ([0-9]+)"));
  });
  if (!started) throw std::runtime_error("chromedriver did not start: " + told);
  client_ = std::make_unique<httplib::Client>("127.0.0.1", std::stoi(found[1]));
  client_->set_read_timeout(120);
  const Json options{
      {"args",
       {"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", "--hide-scrollbars",
        "--user-data-dir=" + (directory / "profile").string()}}};
  const Json answer = post("/session", {{"capabilities",
                                         {{"alwaysMatch",
                                           {{"browserName", "chrome"},
                                            {"goog:chromeOptions", options},
                                            {"goog:loggingPrefs", {{"browser", "ALL"}}}}}}}});
  session_ = "/session/" + answer.at("sessionId").get<std::string>();
}

Browser::~Browser() {
  if (!session_.empty()) client_->Delete(session_);
}

Json Browser::post(const std::string& path, const Json& body) {
  const auto answer = client_->Post(path, body.dump(), "application/json");
  if (!answer) throw std::runtime_error("chromedriver does not answer " + path);
  Json value = parse_json(answer->body, "chromedriver").at("value");
  if (answer->status != 200) throw std::runtime_error(value.dump());
  return value;
}

Json Browser::chrome_command(const std::string& name, const Json& parameters) {
  return post(session_ + "/goog/cdp/execute", {{"cmd", name}, {"params", parameters}});
}

void Browser::open(const std::string& address) { post(session_ + "/url", {{"url", address}}); }

Json Browser::run(const std::string& script) {
  return post(session_ + "/execute/sync", {{"script", script}, {"args", Json::array()}});
}

void Browser::set_size(int width, int height) {
  chrome_command(
      "Emulation.setDeviceMetricsOverride",
      {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", width < 600}});
}

void Browser::set_dark(bool dark) {
  const Json feature{{"name", "prefers-color-scheme"}, {"value", dark ? "dark" : "light"}};
  chrome_command("Emulation.setEmulatedMedia", {{"features", Json::array({feature})}});
}

void Browser::screenshot(const std::filesystem::path& file) {
  const Json picture = chrome_command("Page.captureScreenshot", {{"captureBeyondViewport", true}});
  std::ofstream(file, std::ios::binary) << decoded(picture.at("data").get<std::string>());
}

std::vector<std::string> Browser::console() {
  std::vector<std::string> lines;
  for (const Json& entry : post(session_ + "/se/log", {{"type", "browser"}})) {
    lines.push_back(entry.at("message").get<std::string>());
  }
  return lines;
}

bool Browser::wait_for(const std::string& script) {
  for (int i = 0; i < 600; ++i) {
    if (run(script) == true) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

}  // namespace bntt::testing
