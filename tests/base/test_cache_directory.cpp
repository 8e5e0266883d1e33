#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>
#include <string>

#include "base/cache_directory.h"

namespace bntt {
namespace {

void set(const char* variable, const std::optional<std::string>& value) {
  if (value) {
    setenv(variable, value->c_str(), 1);
  } else {
    unsetenv(variable);
  }
}

/// Gives both variables their values back.
class UserCacheDirectory : public ::testing::Test {
 protected:
  ~UserCacheDirectory() override {
    set("XDG_CACHE_HOME", cache_);
    set("HOME", home_);
  }

  static std::filesystem::path with(const std::optional<std::string>& cache,
                                    const std::optional<std::string>& home) {
    set("XDG_CACHE_HOME", cache);
    set("HOME", home);
    return user_cache_directory();
  }

 private:
  static std::optional<std::string> now(const char* variable) {
    const char* value = getenv(variable);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }
  std::optional<std::string> cache_ = now("XDG_CACHE_HOME");
  std::optional<std::string> home_ = now("HOME");
};

TEST_F(UserCacheDirectory, PrefersTheVariableMadeForIt) {
  EXPECT_EQ(with("/cache", "/home/me"), "/cache/bntt");
  EXPECT_EQ(with(std::nullopt, "/home/me"), "/home/me/.cache/bntt");
}

TEST_F(UserCacheDirectory, RelativeAndEmptyPathsDoNotCount) {
  EXPECT_EQ(with("cache", "/home/me"), "/home/me/.cache/bntt");
  EXPECT_EQ(with("", "/home/me"), "/home/me/.cache/bntt");
  EXPECT_EQ(with("", "me"), "");
}

TEST_F(UserCacheDirectory, IsEmptyWithoutEither) {
  EXPECT_EQ(with(std::nullopt, std::nullopt), "");
  EXPECT_EQ(with("", ""), "");
}

}  // namespace
}  // namespace bntt
