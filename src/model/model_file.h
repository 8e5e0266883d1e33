#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/safetensors.h"
#include "bntt/model.h"

namespace bntt {

/// All parameters and running statistics in PyTorch's axis order, under their declared names.
TensorFile to_state_dict(const Network& network);

/// The state dict with a description of the model in the metadata. Equal models give equal bytes:
/// no time stamps, no thread counts.
TensorFile pack_model(const Network& network, const ModelCard& card);
/// Adds the description alone, to tensors that may have other names.
void describe_model(const Network& network, const ModelCard& card, TensorFile& file);
bool describes_model(const TensorFile& file);

// What follows throws Error, beginning with `origin`, for files that are not ours.

/// The network that a file describes.
NetworkSpec checkpoint_network(const TensorFile& file, const std::string& origin);
/// Nothing for files of version 0.1.
std::optional<ModelCard> card_in(const TensorFile& file, const std::string& origin);
/// None for files without, as all older ones.
LearnedWindows windows_in(const TensorFile& file, const std::string& origin,
                          const Network& network);
/// As bntt inspect shows it.
Json card_json(const ModelCard& card);
/// Fills a network that must be the one in the file.
void unpack_network(const TensorFile& file, const std::string& origin, Network& network);
Network network_in(const TensorFile& file, const std::string& origin);

const std::string& model_metadata(const TensorFile& file, const std::string& key,
                                  const std::string& origin);
Buffer<float> tensor_values(const TensorFile& file, const std::string& origin,
                            const std::string& name, const std::vector<int64_t>& shape);

}  // namespace bntt
