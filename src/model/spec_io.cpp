#include "bntt/network_spec.h"
#include "model/spec_fields.h"

namespace bntt {

NetworkSpec read_network(const Json& json, const std::string& origin) {
  NetworkSpec spec;
  read_fields(json, spec, origin);
  try {
    plan_stages(spec);
  } catch (const Error& error) {
    fail("{}: {}", origin, error.what());
  }
  return spec;
}

std::string to_json(const NetworkSpec& spec) { return write_fields(spec).dump(2) + "\n"; }

NetworkSpec network_from_json(const std::string& text, const std::string& origin) {
  return read_network(parse_json(text, origin), origin);
}

}  // namespace bntt
