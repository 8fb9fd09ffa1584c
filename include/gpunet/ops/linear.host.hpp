// The affine map of floats on Host.
#pragma once

#include <gpunet/device/host/paths.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/interleave.host.hpp>
#include <gpunet/ops/linear.hpp>

#define GPUNET_KERNELS <gpunet/ops/linear_kernels.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet {

namespace detail {

// How the vectors of the tuned kernels run: over samples where a slice has many, over inputs where it has few.
enum class LinearKernel { over_samples, over_inputs, plain };

inline LinearKernel linear_kernel(index_t inner, index_t in) {
  if (in < 4) return LinearKernel::plain;
  if (inner == 16) return LinearKernel::over_samples;
  return inner == 4 || inner == 1 ? LinearKernel::over_inputs : LinearKernel::plain;
}

// One group of samples of a slice, [features][inner], as rows [inner][features], and back.
inline void to_rows(Host& device, index_t inner, index_t features, const float* x, float* rows) {
  deinterleave(device, Slice{inner, 1, inner}, features, x, rows);
}
inline void from_rows(Host& device, index_t inner, index_t features, const float* rows, float* x) {
  interleave(device, Slice{inner, 1, inner}, features, rows, x);
}

}  // namespace detail

inline index_t linear_scratch(const Host&, const Slice& slice, index_t in, index_t /*out*/, float) {
  return slice.inner * in;
}

inline void linear_forward(Host& device, const Slice& slice, index_t in, index_t out, const float* x,
                           const float* w, const float* b, float* y, float* scratch) {
  const auto kernel = detail::linear_kernel(slice.inner, in);
  if (kernel == detail::LinearKernel::plain)
    return linear_forward<Host, float>(device, slice, in, out, x, w, b, y, scratch);
  for (index_t outer = 0; outer < slice.outer; ++outer, x += in * slice.inner, y += out * slice.inner) {
    if (kernel == detail::LinearKernel::over_samples) {
      GPUNET_CALL_PATH(slice.inner, forward_lanes, in, out, slice.inner, x, w, b, y);
    } else if (slice.inner == 1) {
      GPUNET_CALL_PATH(in, forward_rows<1>, in, out, x, w, b, y);
    } else {
      detail::to_rows(device, slice.inner, in, x, scratch);
      GPUNET_CALL_PATH(in, forward_rows<4>, in, out, scratch, w, b, y);
    }
  }
}

inline void linear_backward_input(Host& device, const Slice& slice, index_t in, index_t out, const float* dy,
                                  const float* w, float* dx, float* scratch) {
  const auto kernel = detail::linear_kernel(slice.inner, in);
  if (kernel == detail::LinearKernel::plain)
    return linear_backward_input<Host, float>(device, slice, in, out, dy, w, dx, scratch);
  for (index_t outer = 0; outer < slice.outer; ++outer, dy += out * slice.inner, dx += in * slice.inner) {
    if (kernel == detail::LinearKernel::over_samples) {
      GPUNET_CALL_PATH(slice.inner, input_gradient_lanes, in, out, slice.inner, dy, w, dx);
    } else if (slice.inner == 1) {
      GPUNET_CALL_PATH(in, input_gradient_rows<1>, in, out, dy, w, dx);
    } else {
      GPUNET_CALL_PATH(in, input_gradient_rows<4>, in, out, dy, w, scratch);
      detail::from_rows(device, slice.inner, in, scratch, dx);
    }
  }
}

inline void linear_backward_parameters(Host& device, const Slice& slice, index_t in, index_t out, const float* x,
                                       const float* dy, float* dw, float* db, Accumulate accumulate,
                                       float* scratch) {
  if (in < 4)
    return linear_backward_parameters<Host, float>(device, slice, in, out, x, dy, dw, db, accumulate, scratch);
  for (index_t outer = 0; outer < slice.outer; ++outer, x += in * slice.inner, dy += out * slice.inner) {
    if (slice.inner > 1) detail::to_rows(device, slice.inner, in, x, scratch);
    GPUNET_CALL_PATH(in, linear_gradients, in, out, slice.inner, slice.inner > 1 ? scratch : x, dy, dw, db,
                     outer > 0 ? Accumulate::yes : accumulate);
  }
}

}  // namespace gpunet
