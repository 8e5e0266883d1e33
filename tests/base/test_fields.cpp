#include <gtest/gtest.h>

#include "base/field_descriptions.h"
#include "base/fields.h"
#include "message.h"
#include "toml/toml.h"

namespace bntt {

enum class Colour { red, dark_blue };
constexpr auto enum_names(Colour) {
  return std::array{std::pair{Colour::red, "red"}, std::pair{Colour::dark_blue, "dark-blue"}};
}

struct Circle {
  double radius = 1.0;
  bool operator==(const Circle&) const = default;
};
struct Box {
  int64_t sides = 4;
  bool operator==(const Box&) const = default;
};
using Figure = std::variant<Circle, Box>;
constexpr auto variant_names(const Figure&) { return std::array{"circle", "box"}; }

struct Inner {
  float leak = 0.95F;
  Colour colour = Colour::red;
  bool operator==(const Inner&) const = default;
};
struct Outer {
  int64_t batch = 64;
  bool flip = true;
  std::string name = "x";
  std::vector<double> drops = {0.5};
  Inner inner;
  std::optional<Inner> spare;
  std::vector<Figure> figures;
  bool operator==(const Outer&) const = default;
};

template <class V>
void visit_fields(V& visit, Circle& circle) {
  visit("radius", circle.radius, above(0));
}
template <class V>
void visit_fields(V& visit, Box& box) {
  visit("sides", box.sides, at_least(3));
}
template <class V>
void visit_fields(V& visit, Inner& inner) {
  visit("leak", inner.leak, above_up_to(0, 1));
  visit("colour", inner.colour);
}
template <class V>
void visit_fields(V& visit, Outer& outer) {
  visit("batch", outer.batch, between(1, 1000));
  visit("flip", outer.flip);
  visit("name", outer.name);
  visit("drops", outer.drops, inside(0, 1));
  visit("inner", outer.inner);
  visit("spare", outer.spare);
  visit("figures", outer.figures);
}

namespace {

using testing::message_of;

Outer outer_from(const std::string& toml) {
  Outer outer;
  read_fields(parse_toml(toml, "my.toml"), outer, "my.toml");
  return outer;
}

std::string complaint(const std::string& toml) {
  return message_of([&] { outer_from(toml); });
}

TEST(Fields, MissingKeysKeepTheirDefaults) {
  const Outer outer = outer_from("batch = 8\n[inner]\ncolour = \"dark-blue\"");
  EXPECT_EQ(outer.batch, 8);
  EXPECT_EQ(outer.inner.colour, Colour::dark_blue);
  EXPECT_EQ(outer.inner.leak, 0.95F);
  EXPECT_FALSE(outer.spare);
}

TEST(Fields, WritesFloatsReadably) {
  EXPECT_EQ(write_fields(Outer{}).dump(), R"({"batch":64,"flip":true,"name":"x","drops":[0.5],)"
                                          R"("inner":{"leak":0.95,"colour":"red"},"figures":[]})");
}

TEST(Fields, RoundTrips) {
  Outer outer{.batch = 3, .flip = false, .name = "ä", .drops = {0.1, 0.9}};
  outer.inner = {0.3F, Colour::dark_blue};
  outer.spare = Inner{0.123456789F, Colour::red};
  outer.figures = {Circle{0.1}, Box{5}, Circle{}};
  EXPECT_EQ(outer_from(format_toml(write_fields(outer))), outer);
}

TEST(FieldDescriptions, SayWhatWasDeclared) {
  const std::vector<TableDescription> tables = describe_tables<Outer>();
  ASSERT_EQ(tables.size(), 4U);
  EXPECT_EQ(tables[0].name, "inner");
  ASSERT_EQ(tables[0].fields.size(), 2U);
  EXPECT_EQ(tables[0].fields[0].type, "number");
  EXPECT_EQ(tables[0].fields[0].range, "above 0, at most 1");
  EXPECT_EQ(tables[0].fields[0].usual, Json(0.95));
  EXPECT_EQ(tables[0].fields[1].names, (std::vector<std::string>{"red", "dark-blue"}));
  EXPECT_EQ(tables[1].name, "spare");
  EXPECT_EQ(tables[2].name, "circle");
  EXPECT_EQ(tables[3].name, "box");
  EXPECT_EQ(tables[3].fields[0].range, "at least 3");
}

TEST(FieldDescriptions, WriteRangesAsPeopleDo) {
  EXPECT_EQ(range_text({}), "");
  EXPECT_EQ(range_text(between(0, 1e6)), "0 to 1000000");
  EXPECT_EQ(range_text(from_below(0, 1)), "at least 0, below 1");
  EXPECT_EQ(range_text(inside(0.5, 1)), "above 0.5, below 1");
}

TEST(Fields, UnknownKeysAreRefusedWithTheNearest) {
  EXPECT_EQ(complaint("[inner]\nlaek = 1.0"),
            "my.toml: unknown key 'inner.laek', did you mean 'inner.leak'?");
  EXPECT_EQ(complaint("temperature = 1"), "my.toml: unknown key 'temperature'");
  EXPECT_EQ(complaint("figures = [{ type = \"box\" }, { type = \"box\", side = 4 }]"),
            "my.toml: unknown key 'figures[1].side', did you mean 'figures[1].sides'?");
}

TEST(Fields, WrongTypesAreNamed) {
  EXPECT_EQ(complaint("batch = \"many\""),
            "my.toml: batch is the string \"many\", expected a whole number of at least 1 and at "
            "most 1000");
  EXPECT_EQ(complaint("batch = 2.5"),
            "my.toml: batch is 2.5, expected a whole number of at least 1 and at most 1000");
  EXPECT_EQ(complaint("flip = 1"), "my.toml: flip is 1, expected true or false");
  EXPECT_EQ(complaint("name = true"), "my.toml: name is true, expected a string");
  EXPECT_EQ(complaint("drops = 0.5"), "my.toml: drops is 0.5, expected a list");
  EXPECT_EQ(complaint("drops = [0.5, \"x\"]"),
            "my.toml: drops[1] is the string \"x\", expected a number");
  EXPECT_EQ(complaint("inner = 1"), "my.toml: inner is 1, expected a table");
  EXPECT_EQ(complaint("name = { a = 1 }"), "my.toml: name is a table, expected a string");
}

TEST(Fields, NumbersOutOfTheirLimitsAreRefused) {
  EXPECT_EQ(complaint("batch = 0"),
            "my.toml: batch is 0, expected a whole number of at least 1 and at most 1000");
  EXPECT_EQ(complaint("drops = [1.0]"),
            "my.toml: drops[0] is 1.0, expected a number above 0 and below 1");
  EXPECT_EQ(complaint("[inner]\nleak = nan"),
            "my.toml: inner.leak is nan, expected a number above 0 and at most 1");
  EXPECT_EQ(complaint("[inner]\nleak = inf"),
            "my.toml: inner.leak is inf, expected a number above 0 and at most 1");
  EXPECT_EQ(complaint("[inner]\nleak = 1e-60"),
            "my.toml: inner.leak is 1e-60, expected a number above 0 and at most 1");
  EXPECT_EQ(complaint("figures = [{ type = \"circle\", radius = inf }]"),
            "my.toml: figures[0].radius is inf, expected a number above 0");
}

TEST(Fields, WholeNumbersBeyondInt64AreRefused) {
  Outer outer;
  EXPECT_NE(message_of([&] {
              read_fields(parse_json(R"({"batch": 18446744073709551615})", "x"), outer, "x");
            }),
            "");
}

TEST(Fields, UnknownNamesAreRefusedWithTheList) {
  EXPECT_EQ(complaint("[inner]\ncolour = \"dark_blue\""),
            "my.toml: inner.colour is the string \"dark_blue\", expected one of red, dark-blue, "
            "did you mean "
            "'dark-blue'?");
  EXPECT_EQ(complaint("[inner]\ncolour = 3"),
            "my.toml: inner.colour is 3, expected one of red, dark-blue");
  EXPECT_EQ(complaint("figures = [{ radius = 1.0 }]"),
            "my.toml: figures[0].type is missing, expected one of circle, box");
}

}  // namespace
}  // namespace bntt
