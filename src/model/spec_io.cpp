#include "base/toml.h"
#include "bntt/network_spec.h"
#include "model/spec_fields.h"

namespace bntt {
namespace {

NetworkSpec network_from(const Json& json, const std::string& origin) {
  NetworkSpec spec;
  read_fields(json, spec, origin);
  try {
    plan_stages(spec);
  } catch (const Error& error) {
    fail("{}: {}", origin, error.what());
  }
  return spec;
}

}  // namespace

std::string to_json(const NetworkSpec& spec) { return write_fields(spec).dump(2) + "\n"; }

NetworkSpec network_from_json(const std::string& text, const std::string& origin) {
  return network_from(parse_json(text, origin), origin);
}

std::string to_toml(const NetworkSpec& spec) { return format_toml(write_fields(spec)); }

NetworkSpec network_from_toml(const std::string& text, const std::string& origin) {
  return network_from(parse_toml(text, origin), origin);
}

}  // namespace bntt
