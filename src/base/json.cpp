#include "base/json.h"

#include <set>
#include <vector>

#include "base/fail.h"
#include "base/text.h"

namespace bntt {
namespace {

template <typename AnyJson>
AnyJson parse(std::string_view text, const std::string& origin, std::size_t max_keys) {
  using Event = typename AnyJson::parse_event_t;
  std::vector<std::set<std::string>> keys_of_open_objects;
  const auto guard = [&](int depth, Event event, AnyJson& parsed) {
    if (depth > kMaxNesting) fail("{}: is nested deeper than {} levels", origin, kMaxNesting);
    if (event == Event::object_start) keys_of_open_objects.emplace_back();
    if (event == Event::object_end) keys_of_open_objects.pop_back();
    if (event == Event::key) {
      const auto& key = parsed.template get_ref<const std::string&>();
      if (!keys_of_open_objects.back().insert(key).second) {
        fail("{}: the key '{}' occurs twice", origin, excerpt(key));
      }
      if (keys_of_open_objects.back().size() > max_keys) {
        fail("{}: an object holds more than {} keys", origin, max_keys);
      }
    }
    return true;
  };
  // nlohmann treats a zero byte as the end of the text.
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) fail("{}: is not JSON: wrong at byte {}", origin, zero + 1);
  try {
    return AnyJson::parse(text, guard);
  } catch (const nlohmann::json::parse_error& error) {
    fail("{}: is not JSON: wrong at byte {}", origin, error.byte);
  } catch (const nlohmann::json::out_of_range&) {
    fail("{}: holds a number that is too large", origin);
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::string& origin) {
  return parse<Json>(text, origin, 4096);
}

nlohmann::json parse_sorted_json(std::string_view text, const std::string& origin) {
  return parse<nlohmann::json>(text, origin, std::size_t{1} << 20);
}

}  // namespace bntt
