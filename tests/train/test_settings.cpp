#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/fields.h"
#include "bntt/encoder.h"
#include "bntt/error.h"
#include "bntt/zoo.h"
#include "kernels/surrogates.h"
#include "toml/toml.h"
#include "train/config.h"
#include "train/settings.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Setting setting(const std::string& key) {
  const auto found = find_settings(key);
  EXPECT_EQ(found.size(), 1U) << key;
  EXPECT_EQ(found.front().settings.size(), 1U) << key;
  return found.front().settings.front();
}

std::string complaint(const std::string& key) {
  try {
    find_settings(key);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Settings, EveryKeyHasAMeaning) {
  for (const SettingsTable& table : settings_reference()) {
    EXPECT_NE(table.meaning, "") << "src/train/settings.cpp says nothing about " << table.name;
    EXPECT_FALSE(table.settings.empty()) << table.name;
    for (const Setting& described : table.settings) {
      EXPECT_NE(described.meaning, "")
          << "src/train/settings.cpp says nothing about " << described.key;
    }
  }
  EXPECT_THAT(meanings_left_over(), IsEmpty());
}

// What to_toml writes comes from the same declarations by another way.
TEST(Settings, EveryKeyThatARunWritesIsThere) {
  RunConfig config;
  config.data.mean = {0.5F};
  config.data.deviation = {0.5F};
  config.model.floor = 0.0F;
  config.model.dense_dropout = 0.0F;
  config.train.window_threshold = 0.1;
  config.train.window_work = 0.5;
  const Json written = parse_toml(to_toml(config), "settings");
  std::set<std::string> sections;
  for (const SettingsTable& table : settings_reference()) {
    if (!table.section) continue;
    sections.insert(table.name);
    if (table.name == "network") continue;
    ASSERT_TRUE(written.contains(table.name)) << table.name;
    EXPECT_EQ(written[table.name].size(), table.settings.size()) << table.name;
    for (const Setting& described : table.settings) {
      EXPECT_TRUE(written[table.name].contains(described.leaf())) << described.key;
      if (described.usual.is_null()) continue;
      EXPECT_EQ(written[table.name][described.leaf()], described.usual) << described.key;
    }
  }
  EXPECT_THAT(sections,
              ElementsAre("data", "encoder", "method", "model", "network", "run", "train"));
}

/// Every key of the tables inside `json`, by the table that it stands in.
void collect(const Json& json, const std::string& table, std::set<std::string>& keys) {
  for (const auto& [key, value] : json.items()) {
    if (key != "type") keys.insert(table + "." + key);
    if (value.is_object()) collect(value, key, keys);
    if (!value.is_array()) continue;
    for (const Json& item : value) {
      if (item.is_object()) collect(item, item.contains("type") ? item["type"] : Json(key), keys);
    }
  }
}

TEST(Settings, EveryKeyOfANetworkIsThere) {
  std::set<std::string> known;
  for (const SettingsTable& table : settings_reference()) {
    for (const Setting& described : table.settings) known.insert(described.key);
  }
  std::set<std::string> keys;
  for (const std::string& name : zoo_names()) {
    collect(parse_json(to_json(zoo_network(name, {.steps = 20})), name), "network", keys);
  }
  EXPECT_TRUE(keys.contains("synapse.stride"));
  for (const std::string& key : keys) EXPECT_TRUE(known.contains(key)) << key;
}

TEST(Settings, SaysWhatTheParserDeclares) {
  EXPECT_EQ(setting("model.leak").type, "number");
  EXPECT_EQ(setting("model.leak").range, "above 0, at most 1");
  EXPECT_EQ(setting("model.leak").symbol, "λ");
  EXPECT_EQ(setting("model.leak").usual, Json(0.95));
  EXPECT_EQ(setting("model.steps").range, "1 to 65536");
  EXPECT_EQ(setting("data.validation").range, "at least 0, below 1");
  EXPECT_EQ(setting("train.drops").type, "list of numbers");
  EXPECT_EQ(setting("data.mean").usual, Json());
  EXPECT_EQ(setting("readout.norm").usual, (Json{{"kind", "none"}}));
  EXPECT_EQ(setting("conv3x3.norm").usual, Json());
}

TEST(Settings, KindsComeFromTheirTables) {
  const Setting norm = setting("norm.kind");
  ASSERT_EQ(norm.kinds.size(), norm_kinds().size());
  EXPECT_EQ(norm.kinds.front().meaning, norm_kinds().front().meaning);
  EXPECT_EQ(setting("model.neuron").kinds.size(), neuron_kinds().size());
  for (const char* key : {"model.surrogate", "surrogate.kind"}) {
    ASSERT_EQ(setting(key).kinds.size(), kSurrogates.size());
    EXPECT_EQ(setting(key).kinds.back().meaning, kSurrogates.back().meaning);
  }
  ASSERT_EQ(setting("encoder.kind").kinds.size(), kEncoders.size());
  EXPECT_EQ(setting("encoder.kind").kinds.back().meaning, kEncoders.back().meaning);
  EXPECT_EQ(setting("model.name").kinds.size(), zoo_names().size());
  EXPECT_EQ(setting("data.fit").kinds.size(), 2U);
}

TEST(Settings, AreFoundByTableKeyOrName) {
  EXPECT_GT(find_settings("train").front().settings.size(), 10U);
  EXPECT_GT(find_settings("network").size(), 10U);
  const auto leaks = find_settings("leak");
  ASSERT_EQ(leaks.size(), 3U);
  EXPECT_EQ(leaks[0].settings.front().key, "model.leak");
  EXPECT_EQ(leaks[1].settings.front().key, "readout.leak");
  EXPECT_EQ(leaks[2].settings.front().key, "neuron.leak");
}

TEST(Settings, UnknownOnesAreRefusedWithTheNearest) {
  EXPECT_EQ(complaint("model.leek"),
            "settings: unknown key 'model.leek', did you mean 'model.leak'?");
  EXPECT_EQ(complaint("train.width"),
            "settings: unknown key 'train.width', did you mean 'model.width'?");
  EXPECT_EQ(complaint("trian"), "settings: unknown key 'trian', did you mean 'train'?");
  EXPECT_EQ(complaint("qqqqqqqqqq"), "settings: unknown key 'qqqqqqqqqq'");
}

}  // namespace
}  // namespace bntt
