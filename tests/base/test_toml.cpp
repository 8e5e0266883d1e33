#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "message.h"
#include "toml/toml.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using ::testing::StartsWith;

TEST(Toml, BecomesJsonInTheOrderOfTheText) {
  const Json json = parse_toml(R"(
z = 1
a = 0.5
[model]
name = "vgg9"
flip = true
drops = [0.5, 0.7]
[[stages]]
type = "conv3x3"
norm = { kind = "bntt" }
[[stages]]
type = "readout"
)",
                               "my.toml");
  EXPECT_EQ(json.dump(),
            R"({"z":1,"a":0.5,"model":{"name":"vgg9","flip":true,"drops":[0.5,0.7]},)"
            R"("stages":[{"type":"conv3x3","norm":{"kind":"bntt"}},{"type":"readout"}]})");
}

TEST(Toml, NamesThePlaceOfAMistake) {
  EXPECT_THAT(message_of([] { parse_toml("a = 1\nb = = 2\n", "my.toml"); }),
              StartsWith("my.toml: line 2, column 5: "));
  EXPECT_THAT(message_of([] { parse_toml("a = 1\na = 2\n", "my.toml"); }),
              StartsWith("my.toml: line 2, column "));
  EXPECT_THAT(message_of([] { parse_toml("a = [1, ", "my.toml"); }), StartsWith("my.toml: line 1"));
  EXPECT_THAT(message_of([] { parse_toml("a = \"\xff\"", "my.toml"); }),
              StartsWith("my.toml: line 1"));
}

TEST(Toml, RefusesDates) {
  for (const char* date : {"2021-01-01", "12:30:00", "2021-01-01T12:30:00Z"}) {
    EXPECT_EQ(message_of([&] { parse_toml("a = 1\n b = " + std::string(date), "my.toml"); }),
              "my.toml: line 2, column 6: is a date or time, which no setting takes");
  }
}

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

std::string complaint(const std::string& text) {
  return message_of([&] { parse_toml(text, "my.toml"); });
}

TEST(Toml, HostileNestingEndsInAMessage) {
  const std::string endless_key = repeated(".a", 100000);
  const std::string long_key = repeated(".a", 30);
  EXPECT_THAT(complaint(fmt::format("a = {}", repeated("[", 100000))),
              HasSubstr("nested value depth"));
  EXPECT_THAT(complaint(fmt::format("a = {}", repeated("{a=", 100000))),
              HasSubstr("nested value depth"));
  EXPECT_THAT(complaint(fmt::format("[a{}]", endless_key)), HasSubstr("dots"));
  EXPECT_THAT(complaint(fmt::format("a{} = 1", endless_key)), HasSubstr("dots"));
  EXPECT_THAT(complaint(fmt::format("[b{}]\na{} = 1", long_key, long_key)),
              HasSubstr("nested deeper than 32 levels"));
  const std::string opened = fmt::format("{{a{} = [\n", long_key);
  EXPECT_NE(complaint(fmt::format("a = [{}", repeated(opened, 1000))), "");
}

TEST(Toml, TextThatBreaksTheParsersAssumptionsIsRefused) {
  EXPECT_EQ(complaint("[=1]"), "my.toml: is not TOML");
}

TEST(Toml, CharactersBeyondAsciiBelongInStringsAndComments) {
  EXPECT_EQ(
      parse_toml("a = \"\xC3\xA9\" # \xC3\xA9 \" ''' \xE2\x80\xA8 = .\r\nb = 'x\\' # c", "my.toml"),
      (Json{{"a", "\xC3\xA9"}, {"b", "x\\"}}));
  EXPECT_EQ(parse_toml(R"(a = "#\"#" # "
b = 1)",
                       "my.toml"),
            (Json{{"a", "#\"#"}, {"b", 1}}));
  EXPECT_EQ(complaint("b = 1\na = \xC3\xA9"),
            "my.toml: line 2: a character beyond ASCII outside of a string");
  EXPECT_EQ(complaint("a = \"\"\"\\\n\xC3\xA9\"\"\""),
            "my.toml: line 1: strings over several lines are not supported");
}

TEST(Toml, ManyDotsThatAreNoKeyAreFine) {
  const std::string many = repeated("0.5, ", 500);
  EXPECT_EQ(parse_toml(fmt::format("a = [{}]", many), "my.toml")["a"].size(), 500U);
  EXPECT_NO_THROW(parse_toml(fmt::format("a = \"{}\"", repeated("../", 500)), "my.toml"));
}

TEST(Toml, RefusesEnormousTextAndReadsManyKeys) {
  EXPECT_THAT(complaint(std::string(2 << 20, '\n')), HasSubstr("expected at most 1048576"));
  std::string many;
  for (int i = 0; i < 60000; ++i) many += fmt::format("k{} = 1\n", i);
  EXPECT_EQ(parse_toml(many, "my.toml").size(), 60000U);
}

TEST(Toml, WritesWhatPeopleLikeToRead) {
  const Json json = {
      {"steps", 25},
      {"model",
       {{"inner", {{"deep", true}}}, {"leak", 0.95}, {"name", "vgg9"}, {"nothing", nullptr}}},
      {"drops", {0.5, 1.0}},
      {"stages",
       {{{"type", "conv3x3"}, {"norm", {{"kind", "bntt"}, {"epsilon", 1e-4}}}},
        {{"type", "readout"}}}}};
  EXPECT_EQ(format_toml(json), R"(steps = 25
drops = [0.5, 1.0]

[model]
leak = 0.95
name = "vgg9"

[model.inner]
deep = true

[[stages]]
type = "conv3x3"
norm = { kind = "bntt", epsilon = 1e-4 }

[[stages]]
type = "readout"
)");
}

TEST(Toml, RoundTripsAwkwardValues) {
  const Json json = {{"plain", -1},
                     {"with space", "a \"b\" \\ \n\t\x01\x7f \xC3\xBC"},
                     {"", "empty key"},
                     {"mixed", {1, "two", {{"three", 3.0}}}},
                     {"large", 9223372036854775807},
                     {"tiny", 4.9e-324},
                     {"e.g.", {{"x", Json::array()}, {"y", Json::object()}}}};
  EXPECT_EQ(parse_toml(format_toml(json), "again"), json);
}

}  // namespace
}  // namespace bntt
