#include "kernels/dense_convolution.h"

#include <omp.h>

#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "base/fail.h"
#include "base/threads.h"

namespace bntt::kernels {
namespace {

using dnnl::memory;

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& this_threads_stream() {
  thread_local dnnl::stream stream(cpu());
  return stream;
}

// oneDNN fixes a primitive's thread count when the primitive is created.
class SingleThreadScope {
 public:
  SingleThreadScope() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SingleThreadScope() { omp_set_num_threads(before_); }
  SingleThreadScope(const SingleThreadScope&) = delete;
  SingleThreadScope& operator=(const SingleThreadScope&) = delete;

 private:
  int before_;
};

// oneDNN throws exceptions of its own type, which callers of this file do not handle.
template <typename Work>
auto in_our_errors(const Work& work) {
  try {
    return work();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    fail("oneDNN rejects a convolution: {}", error.what());
  }
}

memory view(const memory::desc& layout, const float* data) {
  return {layout, cpu(),
          const_cast<float*>(data)};  // oneDNN's arguments are untyped about constness
}

int64_t floats(const memory::desc& layout) {
  return static_cast<int64_t>((layout.get_size() + sizeof(float) - 1) / sizeof(float));
}

memory scratchpad(const memory::desc& layout) {
  return view(layout, thread_scratch(ScratchSlot::workspace, floats(layout)));
}

}  // namespace

struct DenseConvolution::Primitives {
  memory::desc plain_weights, input, output;
  dnnl::convolution_forward::primitive_desc forward_descriptor;
  dnnl::convolution_backward_data::primitive_desc input_descriptor;
  dnnl::convolution_backward_weights::primitive_desc weight_descriptor;
  dnnl::convolution_forward forward;
  dnnl::convolution_backward_data input_gradient;
  dnnl::convolution_backward_weights weight_gradient;
  dnnl::reorder pack_forward, pack_input, unpack_weights;

  Primitives(const MapShape& map, int64_t channels, int64_t frames, const ConvGeometry& geometry) {
    const SingleThreadScope guard;
    const auto f32 = memory::data_type::f32;
    const auto nhwc = memory::format_tag::nhwc;
    const auto any = memory::format_tag::any;
    input = {{frames, map.channels, map.height, map.width}, f32, nhwc};
    const MapShape out = geometry.output(map, channels);
    output = {{frames, channels, out.height, out.width}, f32, nhwc};
    const memory::dims kernel = {channels, map.channels, geometry.kernel, geometry.kernel};
    plain_weights = {kernel, f32, memory::format_tag::hwio};
    const memory::desc any_weights(kernel, f32, any);
    const memory::dims strides = {geometry.stride, geometry.stride};
    const memory::dims padding = {geometry.padding, geometry.padding};
    const auto algorithm = dnnl::algorithm::convolution_direct;

    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);

    forward_descriptor = {{dnnl::prop_kind::forward_training, algorithm, input, any_weights, output,
                           strides, padding, padding},
                          attributes,
                          cpu()};
    input_descriptor = {{algorithm, input, any_weights, output, strides, padding, padding},
                        attributes,
                        cpu(),
                        forward_descriptor};
    weight_descriptor = {{algorithm, input, any_weights, output, strides, padding, padding},
                         attributes,
                         cpu(),
                         forward_descriptor};
    forward = dnnl::convolution_forward(forward_descriptor);
    input_gradient = dnnl::convolution_backward_data(input_descriptor);
    weight_gradient = dnnl::convolution_backward_weights(weight_descriptor);

    const auto reorder = [](const memory::desc& from, const memory::desc& to) {
      return dnnl::reorder(dnnl::reorder::primitive_desc(cpu(), from, cpu(), to));
    };
    pack_forward = reorder(plain_weights, forward_descriptor.weights_desc());
    pack_input = reorder(plain_weights, input_descriptor.weights_desc());
    unpack_weights = reorder(weight_descriptor.diff_weights_desc(), plain_weights);
  }
};

DenseConvolution::DenseConvolution(MapShape input, int64_t output_channels, int64_t frames,
                                   const ConvGeometry& geometry)
    : frames_(frames), primitives_(in_our_errors([&] {
        return std::make_unique<Primitives>(input, output_channels, frames, geometry);
      })) {}

DenseConvolution::~DenseConvolution() = default;

namespace {

using Arguments = std::unordered_map<int, memory>;

void run(const dnnl::primitive& primitive, const Arguments& arguments) {
  in_our_errors([&] { primitive.execute(this_threads_stream(), arguments); });
}

Buffer<float> reordered(const dnnl::reorder& reorder, const memory::desc& from,
                        const memory::desc& to, const float* values) {
  Buffer<float> result(floats(to));
  run(reorder, {{DNNL_ARG_FROM, view(from, values)}, {DNNL_ARG_TO, view(to, result.data())}});
  return result;
}

}  // namespace

Buffer<float> DenseConvolution::pack_for_forward(const float* weights) const {
  return reordered(primitives_->pack_forward, primitives_->plain_weights,
                   primitives_->forward_descriptor.weights_desc(), weights);
}

Buffer<float> DenseConvolution::pack_for_input_gradient(const float* weights) const {
  return reordered(primitives_->pack_input, primitives_->plain_weights,
                   primitives_->input_descriptor.weights_desc(), weights);
}

int64_t DenseConvolution::packed_gradient_size() const {
  return floats(primitives_->weight_descriptor.diff_weights_desc());
}

void DenseConvolution::unpack_gradient(const float* packed, float* weights) const {
  run(primitives_->unpack_weights,
      {{DNNL_ARG_FROM, view(primitives_->weight_descriptor.diff_weights_desc(), packed)},
       {DNNL_ARG_TO, view(primitives_->plain_weights, weights)}});
}

void DenseConvolution::forward(const float* input, const float* packed_weights,
                               float* output) const {
  const Primitives& p = *primitives_;
  run(p.forward, {{DNNL_ARG_SRC, view(p.input, input)},
                  {DNNL_ARG_WEIGHTS, view(p.forward_descriptor.weights_desc(), packed_weights)},
                  {DNNL_ARG_DST, view(p.output, output)},
                  {DNNL_ARG_SCRATCHPAD, scratchpad(p.forward_descriptor.scratchpad_desc())}});
}

void DenseConvolution::input_gradient(const float* output_gradient, const float* packed_weights,
                                      float* input_gradient) const {
  const Primitives& p = *primitives_;
  run(p.input_gradient,
      {{DNNL_ARG_DIFF_DST, view(p.output, output_gradient)},
       {DNNL_ARG_WEIGHTS, view(p.input_descriptor.weights_desc(), packed_weights)},
       {DNNL_ARG_DIFF_SRC, view(p.input, input_gradient)},
       {DNNL_ARG_SCRATCHPAD, scratchpad(p.input_descriptor.scratchpad_desc())}});
}

void DenseConvolution::weight_gradient(const float* input, const float* output_gradient,
                                       float* packed_gradient) const {
  const Primitives& p = *primitives_;
  run(p.weight_gradient,
      {{DNNL_ARG_SRC, view(p.input, input)},
       {DNNL_ARG_DIFF_DST, view(p.output, output_gradient)},
       {DNNL_ARG_DIFF_WEIGHTS, view(p.weight_descriptor.diff_weights_desc(), packed_gradient)},
       {DNNL_ARG_SCRATCHPAD, scratchpad(p.weight_descriptor.scratchpad_desc())}});
}

}  // namespace bntt::kernels
