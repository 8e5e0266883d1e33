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
/// it contains no time stamps and no thread counts.
TensorFile pack_model(const Network& network, const ModelCard& card);
/// Adds only the description, to tensors that may have other names.
void describe_model(const Network& network, const ModelCard& card, TensorFile& file);
bool describes_model(const TensorFile& file);

// The functions below throw an Error that begins with `origin` if the file is not one of ours.

/// The network that a file describes.
NetworkSpec checkpoint_network(const TensorFile& file, const std::string& origin);
/// Empty for files of version 0.1.
std::optional<ModelCard> card_in(const TensorFile& file, const std::string& origin);
/// Empty for files that have none, such as those of older versions.
LearnedWindows windows_in(const TensorFile& file, const std::string& origin,
                          const Network& network);
/// In the form that bntt inspect shows.
Json card_json(const ModelCard& card);
/// Fills a network, which must be the one described in the file.
void unpack_network(const TensorFile& file, const std::string& origin, Network& network);
Network network_in(const TensorFile& file, const std::string& origin);

const std::string& model_metadata(const TensorFile& file, const std::string& key,
                                  const std::string& origin);
Buffer<float> tensor_values(const TensorFile& file, const std::string& origin,
                            const std::string& name, const std::vector<int64_t>& shape);

}  // namespace bntt
