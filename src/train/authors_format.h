#pragma once

#include "base/safetensors.h"
#include "bntt/network.h"

namespace bntt {

/// The state dict of the authors' PyTorch models: conv1.weight, bntt1.0.weight,
/// bntt1.0.running_mean, ..., fc1.weight, bntt_fc.0.weight, ..., fc2.weight. Further hidden fully
/// connected layers, which their models lack, get bntt_fc2, .... Throws Error for networks that
/// their models cannot express (a norm other than BNTT, a normalised readout).
TensorFile to_authors_format(const Network& network);

/// The reverse: fills a network of the same shapes. Throws an Error that begins with `origin` for
/// missing, unexpected and misshapen tensors.
void from_authors_format(const TensorFile& file, const std::string& origin, Network& network);

/// Whether the tensors have the authors' names instead of ours.
bool has_authors_names(const TensorFile& file);

/// What the tensors reveal about the network they belong to.
struct AuthorsModelShape {
  int64_t input_channels = 0;
  int64_t first_channels = 0;  ///< of conv1
  int64_t classes = 0;
  int64_t steps = 0;
  int64_t hidden_inputs = 0;  ///< of fc1
};
AuthorsModelShape authors_model_shape(const TensorFile& file, const std::string& origin);

}  // namespace bntt
