#pragma once

#include <optional>
#include <string>

#include "bntt/model.h"
#include "exchange/nir_graph.h"

/// The metadata in files written by bntt.
namespace bntt {

inline constexpr const char* kNirSteps = "steps";
inline constexpr const char* kNirDt = "dt";
inline constexpr const char* kNirReset = "reset";
inline constexpr const char* kNirSubtract = "subtract";
inline constexpr const char* kNirFloor = "v_floor";  ///< of a node's neurons
inline constexpr const char* kNirVotes = "votes";
inline constexpr const char* kNirDivide = "divide_by_steps";
inline constexpr const char* kNirPrefix = "bntt.prefix";  ///< of a node's parameters
inline constexpr const char* kNirRawWeight = "raw_weight";
inline constexpr const char* kNirTensor = "bntt.tensor.";   ///< followed by its name
inline constexpr const char* kNirNetwork = "bntt.network";  ///< as in our own files

/// The card of a file that bntt wrote.
std::optional<ModelCard> nir_card(const NirGraph& graph, const std::string& origin);

/// The number of steps in the metadata; 0: none.
int64_t nir_steps(const NirGraph& graph);

std::optional<float> nir_number(const NirMetadata& metadata, const char* name);

/// The network of a file whose graph only approximates it: the metadata hold every tensor.
Network exact_network(const NirGraph& graph, const std::string& origin);

}  // namespace bntt
