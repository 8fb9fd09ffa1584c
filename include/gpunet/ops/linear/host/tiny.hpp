// The affine map of floats on Host: declarations, and the kernels of tiny maps, which every unit
// compiles for its sizes.
#pragma once

#include <limits>

#include <gpunet/core/shape.hpp>
#include <gpunet/device/host/isa_paths.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/linear/plain.hpp>

#define GPUNET_KERNELS <gpunet/ops/linear/host/tiny.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet {

// Maps of any size: by the kernels for small ones, as a matrix product, or by the plain version.
index_t linear_scratch(const Host& device, const Slice& slice, index_t in, index_t out, float,
                       bool whole_batch = false);
void linear_forward(Host& device, const LinearForwardArgs<float>& a);
void linear_backward_input(Host& device, const LinearBackwardArgs<float>& a);
void linear_backward_parameters(Host& device, const LinearBackwardArgs<float>& a);

// Small ones, whose W stays in the L2 cache.
inline index_t linear_scratch(const Host&, SmallSizes, const Slice& slice, index_t in,
                              index_t /*out*/, float, bool /*whole_batch*/ = false) {
  return slice.samples() * in;
}
void linear_forward(Host& device, SmallSizes, const LinearForwardArgs<float>& a);
void linear_backward_input(Host& device, SmallSizes, const LinearBackwardArgs<float>& a);
void linear_backward_parameters(Host& device, SmallSizes, const LinearBackwardArgs<float>& a);

// Tiny ones.
template <index_t In, index_t Out>
void linear_forward(Host& device, TinySizes<In, Out>, const LinearForwardArgs<float>& a) {
  if (a.slice.inner != 16) return linear_forward(device, a);
  const float lowest =
      a.activation == Activation::relu ? 0.0f : -std::numeric_limits<float>::infinity();
  GPUNET_CALL_PATH(16, forward_tiny, Dim<In>{}, Dim<Out>{}, a.slice.outer, a.x, a.w, a.b, lowest,
                   a.y);
}
template <index_t In, index_t Out>
void linear_backward_input(Host& device, TinySizes<In, Out>, const LinearBackwardArgs<float>& a) {
  if (a.slice.inner != 16) return linear_backward_input(device, a);
  GPUNET_CALL_PATH(16, input_gradient_tiny, Dim<In>{}, Dim<Out>{}, a.slice.outer, a.dy, a.w, a.dx);
}
template <index_t In, index_t Out>
void linear_backward_parameters(Host& device, TinySizes<In, Out>,
                                const LinearBackwardArgs<float>& a) {
  if (a.slice.inner != 16) return linear_backward_parameters(device, a);
  for (index_t group = 0; group < a.slice.outer; group += sum_run) {  // sums of lanes are short
    const index_t groups = std::min(index_t{sum_run}, a.slice.outer - group);
    GPUNET_CALL_PATH(16, gradients_tiny, Dim<In>{}, Dim<Out>{}, groups, a.x + group * In * 16,
                     a.dy + group * Out * 16, a.dw, a.db,
                     group > 0 ? Accumulate::yes : a.accumulate);
  }
}

}  // namespace gpunet
