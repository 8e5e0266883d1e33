#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "bntt/error.h"
#include "train/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const bntt::RunConfig config = bntt::config_from_toml(text, "fuzz");
    BNTT_CHECK(bntt::config_from_toml(bntt::to_toml(config), "again") == config);
    bntt::network_of(config, {3, 32, 32}, 10);
  } catch (const bntt::Error&) {
  }
  try {
    bntt::RunConfig config;
    bntt::apply_setting(config, text);
  } catch (const bntt::Error&) {
  }
  return 0;
}
