#pragma once

#include <string>
#include <vector>

#include "bntt/network.h"

namespace bntt {

enum class Encoding {
  signed_spikes,    ///< planes +1 and -1
  unsigned_spikes,  ///< one plane
  counts,           ///< planes 1, 2, 4
  direct,           ///< one real frame that stands for every step
  real_frames,      ///< a real frame per step
};

/// A chain with every kind of stage and awkward sizes: an odd map, channels that do not fill a
/// spike word and channels that need two.
struct SmallNetwork {
  NormSpec norm;
  NeuronSpec neuron;
  Propagation propagation = Propagation::instant;
  int64_t steps = 6;
  NormSpec readout_norm = {.kind = "none"};
  bool divide_by_steps = true;
  int64_t pool = 2;
  float readout_leak = 1.0F;
  int64_t readout_votes = 1;
};
NetworkSpec small_network(const SmallNetwork& options);

/// All draws depend on the seed alone.
Signal random_input(const NetworkSpec& spec, Encoding encoding, int64_t batch, uint64_t seed);
Buffer<float> random_values(int64_t size, float low, float high, uint64_t seed);
std::vector<int64_t> random_labels(int64_t batch, int64_t classes, uint64_t seed);

/// Moves every parameter but the weights, and the running statistics, off their start, so that none
/// can be forgotten unseen, and makes sure that every stage has something to say.
void make_unremarkable(Network& network, Encoding encoding, int64_t batch);

/// Walks every convolution of spikes (100) or computes it densely (-1), in all branches.
void set_break_even(Network& network, float break_even);

/// Every kind there is: a norm or neuron without an oracle makes the tests fail.
std::vector<std::string> norm_names();
/// Without `none`, which has no numbers.
std::vector<std::string> real_norm_names();
std::vector<std::string> spiking_neuron_names();
std::vector<SurrogateKind> surrogates();

/// A kind as part of a test's name.
std::string name_of(std::string kind);
std::string name_of(SurrogateKind kind);
std::string name_of(Encoding encoding);
std::string name_of(PoolKind kind);
std::string name_of(Propagation propagation);
std::string name_of(Reset reset);
std::string name_of(Fire fire);
std::string name_of(NormMode mode);

}  // namespace bntt
