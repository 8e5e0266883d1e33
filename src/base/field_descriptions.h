#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

/// What visit_fields declares about the fields of structs, in readable form.
namespace bntt {

struct FieldDescription {
  std::string key;
  std::string type;                ///< "whole number", "list of numbers", ...
  std::string range;               ///< "above 0, at most 1"; empty: any
  std::vector<std::string> names;  ///< allowed names, or the types of a list of tables
  /// The value of a field that a file omits; for a table, what differs from the defaults of its own
  /// fields. Null: none.
  Json usual;
};

struct TableDescription {
  std::string name;  ///< its key, or its `type`
  std::vector<FieldDescription> fields;
};

/// "above 0, at most 1", "0 to 1024", "at least 1"; empty without limits.
std::string range_text(const Limits& limits);

/// The part of `value` that differs from `usual`, both tables; null if nothing does.
Json difference_from(const Json& value, const Json& usual);

namespace fields {

template <typename T>
std::string type_text() {
  if constexpr (std::same_as<T, bool>) {
    return "true or false";
  } else if constexpr (std::integral<T>) {
    return "whole number";
  } else if constexpr (std::floating_point<T>) {
    return "number";
  } else if constexpr (std::same_as<T, std::string>) {
    return "text";
  } else if constexpr (NamedEnum<T>) {
    return "name";
  } else if constexpr (is_vector<T>) {
    return "list of " + type_text<typename T::value_type>() + "s";
  } else if constexpr (is_optional<T>) {
    return type_text<typename T::value_type>();
  } else if constexpr (is_name_or_list<T>) {
    return "name or " + type_text<std::variant_alternative_t<1, T>>();
  } else {
    return "table";
  }
}

template <typename T>
inline constexpr bool is_plain =
    std::is_arithmetic_v<T> || std::same_as<T, std::string> || NamedEnum<T>;

/// Describes the fields of one struct, and adds the tables that they hold to a queue.
class Describer {
 public:
  using Queue = std::vector<std::function<void(std::vector<TableDescription>&)>>;

  Describer(TableDescription& table, Queue& queue) : table_(table), queue_(queue) {}

  template <typename T>
  void operator()(std::string_view key, const T& value, const Limits& limits = {}) {
    FieldDescription field{.key = std::string(key),
                           .type = type_text<T>(),
                           .range = range_text(limits),
                           .usual = write(value)};
    describe<T>(key, field);
    table_.fields.push_back(std::move(field));
  }

  template <typename T>
  void optional(std::string_view key, const T& value, const std::type_identity_t<T>& /*usual*/,
                const Limits& limits = {}) {
    (*this)(key, value, limits);
  }

  void name(std::string_view key, const std::string& value, const std::vector<std::string>& names) {
    table_.fields.push_back(
        {.key = std::string(key), .type = "name", .names = names, .usual = value});
  }

 private:
  template <typename T>
  void describe(std::string_view key, FieldDescription& field) {
    if constexpr (is_optional<T> || is_vector<T>) {
      describe<typename T::value_type>(key, field);
    } else if constexpr (NamedEnum<T>) {
      field.names = names_of<T>();
    } else if constexpr (is_name_or_list<T>) {
      field.names = names_of<std::variant_alternative_t<0, T>>();
    } else if constexpr (is_variant<T>) {
      for (const auto& name : variant_names(T{})) field.names.emplace_back(name);
      describe_alternatives(T{});
    } else if constexpr (!is_plain<T>) {
      if (field.usual.is_object()) field.usual = difference_from(field.usual, write(T{}));
      enqueue<T>(key);
    }
  }

  template <typename... Alternatives>
  void describe_alternatives(const std::variant<Alternatives...>& of) {
    std::size_t next = 0;
    const auto names = variant_names(of);
    (enqueue<Alternatives>(names[next++]), ...);
  }

  template <typename T>
  void enqueue(std::string_view name);

  TableDescription& table_;
  Queue& queue_;
};

/// A table held by several others is described once.
template <typename T>
void describe_table(const std::string& name, std::vector<TableDescription>& tables,
                    Describer::Queue& queue) {
  for (const TableDescription& known : tables) {
    if (known.name == name) return;
  }
  TableDescription table{.name = name};
  Describer describer(table, queue);
  T usual;
  visit_fields(describer, usual);
  tables.push_back(std::move(table));
}

template <typename T>
void Describer::enqueue(std::string_view name) {
  queue_.push_back([name = std::string(name), &queue = queue_](auto& tables) {
    describe_table<T>(name, tables, queue);
  });
}

}  // namespace fields

/// The tables in T and those inside them, outer ones first; each named by its key, or by its
/// `type`.
template <typename T>
std::vector<TableDescription> describe_tables() {
  std::vector<TableDescription> tables;
  TableDescription outermost;
  fields::Describer::Queue queue;
  fields::Describer describer(outermost, queue);
  T usual;
  visit_fields(describer, usual);
  // NOLINTNEXTLINE(modernize-loop-convert): describing a table may add to the queue.
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto describe = queue[i];
    describe(tables);
  }
  return tables;
}

}  // namespace bntt
