// The affine map of floats on Host.
#pragma once

#include <gpunet/device/host/gemm.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/interleave.host.hpp>
#include <gpunet/ops/linear.hpp>

#define GPUNET_KERNELS <gpunet/ops/linear_kernels.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet {

namespace detail {

// Which kernels serve a slice: vectors over the samples of one group, directly or as a matrix product, or vectors over
// inputs where samples are few.
enum class LinearKernel { group, product, over_inputs, plain };

inline LinearKernel linear_kernel(const Slice& slice, index_t in, index_t out) {
  constexpr index_t small = index_t{1} << 16;  // weights that stay in the second cache
  if (slice.inner == 16)
    return slice.outer == 1 && in >= 8 && out >= 8 && in * out <= small ? LinearKernel::group
                                                                        : LinearKernel::product;
  return in >= 4 && (slice.inner == 4 || slice.inner == 1) ? LinearKernel::over_inputs : LinearKernel::plain;
}

// `features` of a slice of groups of 16 samples as a matrix [features, samples].
template <class T>
GroupedMatrix<T> slice_matrix(T* data, index_t features) {
  return {data, 16, 16 * features};
}

// The three products of a layer: y = W x + b, dx = W^T dy, dW = dy x^T.
inline Product forward_product(const Slice& slice, index_t in, index_t out, const float* x, const float* w,
                               const float* b, float* y, bool relu) {
  const auto no = Transpose::no;
  return {out, slice.samples(), in, no, no, {w, in}, slice_matrix(x, in), slice_matrix(y, out), 0, b, relu};
}
inline Product input_gradient(const Slice& slice, index_t in, index_t out, const float* dy, const float* w,
                              float* dx) {
  const auto no = Transpose::no, yes = Transpose::yes;
  return {in, slice.samples(), out, yes, no, {w, in}, slice_matrix(dy, out), slice_matrix(dx, in)};
}
inline Product weight_gradient(const Slice& slice, index_t in, index_t out, const float* x, const float* dy,
                               float* dw, Accumulate accumulate) {
  const auto no = Transpose::no, yes = Transpose::yes;
  const float beta = accumulate == Accumulate::yes ? 1 : 0;
  return {out, in, slice.samples(), no, yes, slice_matrix(dy, out), slice_matrix(x, in), {dw, in}, beta};
}

// A product in `scratch` where the slice is one group of samples, else in the memory of the device: such a slice is the
// whole batch, and all threads work on it.
inline void multiply(Host& device, const Slice& slice, const Product& p, float* scratch) {
  if (slice.outer > 1) return multiply(device, p);
  multiply(device, p, GemmPlan(p, device.threads()), scratch);
}

// One group of samples of a slice, [features][inner], as rows [inner][features], and back.
inline void to_rows(Host& device, index_t inner, index_t features, const float* x, float* rows) {
  deinterleave(device, Slice{inner, 1, inner}, features, x, rows);
}
inline void from_rows(Host& device, index_t inner, index_t features, const float* rows, float* x) {
  interleave(device, Slice{inner, 1, inner}, features, rows, x);
}

// y = x W^T + b of one sample. Its time is that of reading W: threads share a W that takes longer than to wake them.
inline void forward_sample(Host& device, index_t in, index_t out, const float* x, const float* w, const float* b,
                           float* y, bool relu) {
  constexpr index_t large = index_t{1} << 17;  // weights for a thread
  const index_t tasks = std::clamp<index_t>(in * out / large, 1, device.threads());
  const index_t outputs = round_up(ceil_div(out, tasks), 8);
  device.run(ceil_div(out, outputs), [&](index_t task, int) {
    const index_t o = task * outputs;
    GPUNET_CALL_PATH(in, forward_rows<1>, in, std::min(outputs, out - o), x, w + o * in, b + o, y + o, relu);
  });
}

}  // namespace detail

inline index_t linear_scratch(const Host& device, const Slice& slice, index_t in, index_t out, float) {
  if (detail::linear_kernel(slice, in, out) != detail::LinearKernel::product) return slice.inner * in;
  if (slice.outer > 1) return 0;
  const float* none = nullptr;
  float* result = nullptr;
  const auto scratch = [&](const detail::Product& p) {
    return detail::GemmPlan(p, device.threads()).scratch();
  };
  return std::max({scratch(detail::forward_product(slice, in, out, none, none, none, result, false)),
                   scratch(detail::input_gradient(slice, in, out, none, none, result)),
                   scratch(detail::weight_gradient(slice, in, out, none, none, result, Accumulate::no))});
}

inline void linear_forward(Host& device, const Slice& slice, index_t in, index_t out, const float* x,
                           const float* w, const float* b, float* y, float* scratch,
                           Activation activation = Activation::none) {
  const auto kernel = detail::linear_kernel(slice, in, out);
  if (kernel == detail::LinearKernel::plain)
    return linear_forward<Host, float>(device, slice, in, out, x, w, b, y, scratch, activation);
  const bool relu = activation == Activation::relu;
  if (kernel == detail::LinearKernel::group) {
    GPUNET_CALL_PATH(16, forward_group, in, out, x, w, b, y, relu);
    return;
  }
  if (kernel == detail::LinearKernel::product)
    return detail::multiply(device, slice, detail::forward_product(slice, in, out, x, w, b, y, relu), scratch);
  for (index_t outer = 0; outer < slice.outer; ++outer, x += in * slice.inner, y += out * slice.inner) {
    if (slice.inner == 1) {
      detail::forward_sample(device, in, out, x, w, b, y, relu);
    } else {
      detail::to_rows(device, slice.inner, in, x, scratch);
      GPUNET_CALL_PATH(in, forward_rows<4>, in, out, scratch, w, b, y, relu);
    }
  }
}

inline void linear_backward_input(Host& device, const Slice& slice, index_t in, index_t out, const float* dy,
                                  const float* w, float* dx, float* scratch) {
  const auto kernel = detail::linear_kernel(slice, in, out);
  if (kernel == detail::LinearKernel::plain)
    return linear_backward_input<Host, float>(device, slice, in, out, dy, w, dx, scratch);
  if (kernel == detail::LinearKernel::group) {
    GPUNET_CALL_PATH(16, input_gradient_group, in, out, dy, w, dx);
    return;
  }
  if (kernel == detail::LinearKernel::product)
    return detail::multiply(device, slice, detail::input_gradient(slice, in, out, dy, w, dx), scratch);
  for (index_t outer = 0; outer < slice.outer; ++outer, dy += out * slice.inner, dx += in * slice.inner) {
    if (slice.inner == 1) {
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
  const auto kernel = detail::linear_kernel(slice, in, out);
  if (kernel == detail::LinearKernel::plain)
    return linear_backward_parameters<Host, float>(device, slice, in, out, x, dy, dw, db, accumulate, scratch);
  if (kernel == detail::LinearKernel::product) {
    GPUNET_CALL_PATH(16, bias_gradients, slice.outer, out, dy, db, accumulate);
    return detail::multiply(device, slice, detail::weight_gradient(slice, in, out, x, dy, dw, accumulate), scratch);
  }
  for (index_t outer = 0; outer < slice.outer; ++outer, x += in * slice.inner, dy += out * slice.inner) {
    if (slice.inner > 1) detail::to_rows(device, slice.inner, in, x, scratch);
    const float* rows = slice.inner > 1 ? scratch : x;
    if (slice.inner == 4)
      GPUNET_CALL_PATH(in, four_gradients, in, out, rows, dy, dw, db, accumulate);
    else
      GPUNET_CALL_PATH(in, linear_gradients, in, out, slice.inner, rows, dy, dw, db, accumulate);
    accumulate = Accumulate::yes;
  }
}

}  // namespace gpunet
