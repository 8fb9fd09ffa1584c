// Affine maps of floats on Host whose sizes are constants so small that all loops over features are unrolled.
#pragma once

#include <limits>

#include <gpunet/core/shape.hpp>
#include <gpunet/device/host/paths.hpp>
#include <gpunet/ops/linear/host/linear.hpp>

#define GPUNET_KERNELS <gpunet/ops/linear/host/tiny.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet {

namespace detail {

// Whether a map from In to Out features has so few weights that code for each of them pays.
template <index_t In, index_t Out>
concept TinyLinear = In >
0 && Out > 0 && In* Out <= 128;

}  // namespace detail

template <index_t In, index_t Out>
requires detail::TinyLinear<In, Out>
void linear_forward(Host& device, const Slice& slice, Dim<In> in, Dim<Out> out, const float* x, const float* w,
                    const float* b, float* y, float* scratch, Activation activation = Activation::none) {
  if (slice.inner != 16)
    return linear_forward(device, slice, index_t{in}, index_t{out}, x, w, b, y, scratch, activation);
  const float lowest = activation == Activation::relu ? 0.0f : -std::numeric_limits<float>::infinity();
  GPUNET_CALL_PATH(16, forward_tiny, in, out, slice.outer, x, w, b, lowest, y);
}

template <index_t In, index_t Out>
requires detail::TinyLinear<In, Out>
void linear_backward_input(Host& device, const Slice& slice, Dim<In> in, Dim<Out> out, const float* dy,
                           const float* w, float* dx, float* scratch) {
  if (slice.inner != 16) return linear_backward_input(device, slice, index_t{in}, index_t{out}, dy, w, dx, scratch);
  GPUNET_CALL_PATH(16, input_gradient_tiny, in, out, slice.outer, dy, w, dx);
}

template <index_t In, index_t Out>
requires detail::TinyLinear<In, Out>
void linear_backward_parameters(Host& device, const Slice& slice, Dim<In> in, Dim<Out> out, const float* x,
                                const float* dy, float* dw, float* db, Accumulate accumulate, float* scratch) {
  if (slice.inner != 16)
    return linear_backward_parameters(device, slice, index_t{in}, index_t{out}, x, dy, dw, db, accumulate, scratch);
  GPUNET_CALL_PATH(16, gradients_tiny, in, out, slice.outer, x, dy, dw, db, accumulate);
}

}  // namespace gpunet
