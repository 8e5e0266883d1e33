#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "bntt/error.h"
#include "exchange/nir_file.h"
#include "exchange/nir_import.h"
#include "exchange/nir_own.h"

// A graph that can be read can be written and read again; one that can run makes a network.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  try {
    const bntt::NirGraph graph = bntt::parse_nir({data, size}, "fuzz");
    bntt::from_nir(graph, "fuzz", {.steps = 2, .as_others = true});
    const bntt::NirGraph again = bntt::parse_nir(bntt::format_nir(graph), "again");
    BNTT_CHECK(again.nodes.size() == graph.nodes.size() && again.edges == graph.edges);
    if (graph.metadata.texts.contains(bntt::kNirNetwork)) bntt::from_nir(graph, "fuzz");
  } catch (const bntt::Error&) {
  }
  return 0;
}
