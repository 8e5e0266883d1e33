#include <fmt/format.h>

#include <memory>

#include "bench_kernels.h"
#include "kernels/kernel_set.h"
#include "layers/neurons/blocks.h"

namespace bntt::cli {
namespace {

using kernels::KernelSet;
using kernels::PixelBlock;

/// One image of VGG9's first stage over all steps; for the plain reference a smaller map.
struct NeuronCase {
  explicit NeuronCase(int64_t side)
      : map{64, side, side},
        shape{25, 1, map.pixels(), map.channels},
        current(random_floats(shape.steps * shape.frame())),
        gradient(random_floats(shape.steps * shape.frame())),
        half_gradient(gradient.size()),
        carry(Buffer<float>::zeros(shape.frame())),
        spikes(shape.steps * map.pixels() * shape.words_per_pixel()),
        rows(Buffer<float>::zeros(shape.steps * map.channels)),
        ones(shape.steps * map.channels),
        sums(Buffer<float>::zeros(2 * shape.steps * map.channels)),
        dynamics(kernels::dynamics_of({.leak = 0.95F}, Propagation::instant)),
        scratch(kernels::backward_scratch(shape, dynamics, pixels_per_block(shape))) {
    ones.fill(1.0F);
    gradients(true).write(gradient.data(), gradient.size());
  }

  MapShape map;
  kernels::NeuronShape shape;
  Buffer<float> current;
  Buffer<float> gradient;
  Buffer<kernels::BFloat16> half_gradient;
  Buffer<float> carry;
  Buffer<SpikeWord> spikes;
  Buffer<float> rows;
  Buffer<float> ones;
  Buffer<float> sums;
  kernels::Dynamics dynamics;
  Buffer<float> scratch;

  kernels::Affine affine() const {
    return {.scale = ones.data(),
            .shift = rows.data(),
            .mean = rows.data(),
            .inverse_deviation = ones.data()};
  }
  kernels::Currents currents() const { return {current.data(), shape.frame()}; }
  kernels::GradientPlace gradients(bool halves) {
    return halves ? kernels::GradientPlace{nullptr, half_gradient.data()}
                  : kernels::GradientPlace{gradient.data(), nullptr};
  }
  kernels::GradientSums gradient_sums() {
    return {sums.data(), sums.data() + shape.steps * map.channels};
  }
  double floats() const { return static_cast<double>(shape.steps * shape.frame()); }

  template <typename Body>
  void for_blocks(const Body& body) const {
    const int64_t size = pixels_per_block(shape);
    for (int64_t begin = 0; begin < shape.pixels; begin += size) {
      body(PixelBlock{0, begin, std::min(begin + size, shape.pixels)});
    }
  }
};

}  // namespace

void add_neuron_benchmarks() {
  constexpr double kFloat = 4.0;
  for (const KernelSet& set : kernels::kernel_sets()) {
    auto c = std::make_shared<NeuronCase>(set.name == "reference" ? 8 : 32);
    const auto name = [&](const std::string& kernel) {
      return fmt::format("{}/{}", kernel, set.name);
    };
    add_benchmark(name("moments"), {.bytes = kFloat * c->floats()}, [c, &set] {
      for (int64_t step = 0; step < c->shape.steps; ++step) {
        set.channel_moments(c->current.data() + step * c->shape.frame(), c->shape.pixels,
                            c->map.channels, c->sums.data(), c->sums.data() + c->map.channels);
      }
    });
    add_benchmark(
        name("neurons-forward"), {.bytes = (kFloat + 1.0 / 8.0) * c->floats()}, [c, &set] {
          c->for_blocks([&](const PixelBlock& block) {
            kernels::spiking_forward(set, c->shape, c->dynamics, c->affine(), c->currents(), block,
                                     c->carry.data(), c->spikes.data());
          });
        });
    for (const bool halves : {false, true}) {
      const std::string suffix = halves ? "-bf16" : "";
      const double bytes = kFloat * c->floats() * (halves ? 2.0 : 3.0);
      add_benchmark(name("neurons-backward" + suffix), {.bytes = bytes}, [c, &set, halves] {
        c->for_blocks([&](const PixelBlock& block) {
          const kernels::GradientPlace gradient = c->gradients(halves);
          set.spiking_backward(c->shape, c->dynamics, c->affine(), c->currents(),
                               {gradient.view(), {c->map}}, block, c->scratch.data(), gradient,
                               c->gradient_sums());
        });
      });
      add_benchmark(name("norm-backward" + suffix), {.bytes = bytes}, [c, &set, halves] {
        c->for_blocks([&](const PixelBlock& block) {
          set.norm_backward(c->shape, c->affine(), {c->ones.data(), c->rows.data(), c->rows.data()},
                            c->currents(), block, c->gradients(halves), nullptr);
        });
      });
    }
  }
}

}  // namespace bntt::cli
