#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "message.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

TEST(Json, KeepsTheOrderOfKeys) {
  EXPECT_EQ(parse_json(R"({"b": 1, "a": [2, {"c": null}]})", "x.json").dump(),
            R"({"b":1,"a":[2,{"c":null}]})");
}

TEST(Json, RefusesWhatIsBroken) {
  EXPECT_THAT(message_of([] { parse_json("{\"a\": ", "x.json"); }),
              HasSubstr("x.json: is not JSON"));
  EXPECT_THAT(message_of([] { parse_json("", "x.json"); }), HasSubstr("x.json: is not JSON"));
  EXPECT_THAT(message_of([] { parse_json("{} {}", "x.json"); }), HasSubstr("x.json: is not JSON"));
  EXPECT_THAT(message_of([] { parse_json(std::string("{}\0", 3), "x.json"); }),
              HasSubstr("x.json: is not JSON"));
  EXPECT_THAT(message_of([] { parse_json("[1e999]", "x.json"); }), HasSubstr("too large"));
  EXPECT_THAT(message_of([] { parse_json("[\"\xff\"]", "x.json"); }), HasSubstr("is not JSON"));
}

TEST(Json, RefusesKeysThatOccurTwiceInOneObject) {
  EXPECT_EQ(message_of([] { parse_json(R"({"a": {"b": 1, "b": 2}})", "x.json"); }),
            "x.json: the key 'b' occurs twice");
  EXPECT_NO_THROW(parse_json(R"({"a": {"a": 1}, "b": {"a": 2}})", "x.json"));
}

TEST(Json, RefusesDeepNesting) {
  const std::string deep = std::string(1 << 20, '[') + std::string(1 << 20, ']');
  EXPECT_EQ(message_of([&] { parse_json(deep, "x.json"); }),
            "x.json: is nested deeper than 32 levels");
  EXPECT_NO_THROW(parse_json(std::string(32, '[') + std::string(32, ']'), "x.json"));
}

TEST(Json, RefusesObjectsThatWouldTakeForever) {
  std::string many = "{\"k\": 0";
  for (int i = 0; i < 5000; ++i) many += ", \"" + std::to_string(i) + "\": 0";
  many += "}";
  EXPECT_THAT(message_of([&] { parse_json(many, "x.json"); }), HasSubstr("more than 4096 keys"));
  EXPECT_EQ(parse_sorted_json(many, "x.json").size(), 5001U);
}

}  // namespace
}  // namespace bntt
