#include "toml/toml.h"

#include <algorithm>

#include "base/check.h"
#include "base/fail.h"
#include "base/text.h"

namespace {
struct BrokenAssumption {};
constexpr void assume(bool holds) {
  if (!holds) throw BrokenAssumption();
}
}  // namespace

// toml++ 3.3 has assertions that hostile text can violate: "[=" aborts a debug build, and under
// NDEBUG clang is told to assume the opposite. Here, in every build, a failed assertion means that
// the text is not TOML.
#undef NDEBUG
#define TOML_ASSERT(expression) assume(static_cast<bool>(expression))
// Hostile nesting must end in a message, not in a stack overflow.
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

namespace bntt {
namespace {

constexpr std::size_t kMaxBytes = 1U << 20;
constexpr int64_t kMaxDotsPerKey = kMaxNesting;

/// A copy of the text that is safe for toml++ 3.3. Of the things that it cannot handle, comments
/// are blanked; the rest, which no settings file needs, is rejected:
///  - it bounds nested brackets, but not the tables that one key opens (a.b.c...), and destroys
///  them recursively;
///  - its test for white space is undefined for most characters beyond ASCII, which belong in
///  strings and comments only;
///  - it applies that test inside multi-line strings too.
class Guard {
 public:
  Guard(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

  std::string safe_text() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        blank_comment();
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else {
        check(c);
        ++at_;
      }
    }
    return std::move(text_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    fail("{}: line {}: {}", origin_, line_, what);
  }

  void blank_comment() {
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] != '\r') text_[at_] = ' ';
    }
  }

  // Stops at the end of the line at the latest; toml++ rejects a string that is still open there.
  void skip_string(char quote) {
    if (text_.compare(at_, 3, std::string(3, quote)) == 0) {
      refuse("strings over several lines are not supported");
    }
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      const bool escape = quote == '"' && text_[at_] == '\\';
      if (escape && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  void check(char c) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      refuse("a character beyond ASCII outside of a string");
    }
    if (c == '.') {
      if (++dots_ > kMaxDotsPerKey)
        refuse(fmt::format("a key of more than {} dots", kMaxDotsPerKey));
    } else if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) {
      dots_ = 0;
    }
    if (c == '\n') ++line_;
  }

  std::string text_;
  const std::string& origin_;
  std::size_t at_ = 0;
  int64_t line_ = 1;
  int64_t dots_ = 0;
};

std::string place(const toml::source_position& position) {
  return fmt::format("line {}, column {}", position.line, position.column);
}

Json converted(const toml::node& node, const std::string& origin, int depth);

Json converted_table(const toml::table& table, const std::string& origin, int depth) {
  struct Entry {
    const toml::key* key;
    const toml::node* value;
  };
  std::vector<Entry> entries;
  for (const auto& [key, value] : table) entries.push_back({&key, &value});
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.key->source().begin < b.key->source().begin;
  });
  Json object = Json::object();
  // Keys are unique already; inserting through Json would search for each one.
  auto& members = object.get_ref<Json::object_t&>();
  members.reserve(entries.size());
  for (const Entry& entry : entries) {
    members.emplace_back(std::string(entry.key->str()), converted(*entry.value, origin, depth + 1));
  }
  return object;
}

Json converted(const toml::node& node, const std::string& origin, int depth) {
  if (depth > kMaxNesting) {
    fail("{}: {}: tables are nested deeper than {} levels", origin, place(node.source().begin),
         kMaxNesting);
  }
  switch (node.type()) {
    case toml::node_type::table:
      return converted_table(*node.as_table(), origin, depth);
    case toml::node_type::array: {
      Json list = Json::array();
      for (const toml::node& element : *node.as_array()) {
        list.push_back(converted(element, origin, depth + 1));
      }
      return list;
    }
    case toml::node_type::string:
      return node.as_string()->get();
    case toml::node_type::integer:
      return node.as_integer()->get();
    case toml::node_type::floating_point:
      return node.as_floating_point()->get();
    case toml::node_type::boolean:
      return node.as_boolean()->get();
    default:
      fail("{}: {}: is a date or time, which no setting takes", origin, place(node.source().begin));
  }
}

bool is_bare_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::string quoted_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\u{:04X}", byte);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string key_text(const std::string& key) { return is_bare_key(key) ? key : quoted_text(key); }

bool is_list_of_tables(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_object(); });
}

std::string inline_value(const Json& value) {
  std::vector<std::string> parts;
  switch (value.type()) {
    case Json::value_t::string:
      return quoted_text(value.get_ref<const std::string&>());
    case Json::value_t::boolean:
      return value.get<bool>() ? "true" : "false";
    case Json::value_t::number_float:
      return shortest(value.get<double>());
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return value.dump();
    case Json::value_t::array:
      for (const Json& item : value) parts.push_back(inline_value(item));
      return fmt::format("[{}]", fmt::join(parts, ", "));
    case Json::value_t::object:
      for (const auto& [key, item] : value.items()) {
        if (!item.is_null()) parts.push_back(key_text(key) + " = " + inline_value(item));
      }
      return parts.empty() ? "{}" : fmt::format("{{ {} }}", fmt::join(parts, ", "));
    default:
      break;
  }
  BNTT_CHECK(false && "TOML has no word for this value");
  return {};
}

void write_header(std::string& out, const char* open, const std::string& path, const char* close) {
  if (!out.empty()) out += '\n';
  out += open + path + close + '\n';
}

void write_table(std::string& out, const Json& table, const std::string& path) {
  const auto below = [&](const std::string& key) {
    return path.empty() ? key_text(key) : path + "." + key_text(key);
  };
  for (const auto& [key, value] : table.items()) {
    if (value.is_null() || value.is_object() || is_list_of_tables(value)) continue;
    out += key_text(key) + " = " + inline_value(value) + "\n";
  }
  for (const auto& [key, value] : table.items()) {
    if (value.is_object()) {
      write_header(out, "[", below(key), "]");
      write_table(out, value, below(key));
    } else if (is_list_of_tables(value)) {
      for (const Json& entry : value) {
        write_header(out, "[[", below(key), "]]");
        for (const auto& [name, item] : entry.items()) {
          if (!item.is_null()) out += key_text(name) + " = " + inline_value(item) + "\n";
        }
      }
    }
  }
}

}  // namespace

Json parse_toml(std::string_view text, const std::string& origin) {
  if (text.size() > kMaxBytes) {
    fail("{}: holds {} bytes, expected at most {}", origin, text.size(), kMaxBytes);
  }
  const std::string safe_text = Guard(text, origin).safe_text();
  try {
    return converted_table(toml::parse(safe_text), origin, 0);
  } catch (const toml::parse_error& error) {
    fail("{}: {}: {}", origin, place(error.source().begin), excerpt(error.description()));
  } catch (const BrokenAssumption&) {
    fail("{}: is not TOML", origin);
  }
}

std::string format_toml(const Json& object) {
  BNTT_CHECK(object.is_object());
  std::string out;
  write_table(out, object, "");
  return out;
}

std::string format_toml_value(const Json& value) { return inline_value(value); }

}  // namespace bntt
