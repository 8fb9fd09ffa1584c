// Bodies of linear.hpp.
#pragma once

#include <gpunet/device/host/product.hpp>
#include <gpunet/ops/linear/host/linear.hpp>
#include <gpunet/ops/linear/host/small.hpp>

namespace gpunet {

namespace detail {

// Which kernels serve a slice: those for small maps, a matrix product, or the plain version.
enum class LinearKernel { small, product, plain };

GPUNET_INLINE LinearKernel linear_kernel(const Slice& slice, index_t in, index_t out) {
  const bool small = has_small_kernels(slice, in, out);
  if (slice.inner == 16)
    return small && is_small_linear(in, out) && (slice.outer == 1 || in * out > 128) ? LinearKernel::small
                                                                                     : LinearKernel::product;
  return small ? LinearKernel::small : LinearKernel::plain;
}

// `features` of a slice of groups of 16 samples as a matrix [features, samples].
template <class T>
GroupedMatrix<T> slice_matrix(T* data, index_t features) {
  return {data, 16, 16 * features};
}

// The three products of a layer: y = W x + b, dx = W^T dy, dW = dy x^T.
GPUNET_INLINE Product forward_product(const Slice& slice, index_t in, index_t out, const float* x, const float* w,
                                      const float* b, float* y, bool relu) {
  const auto no = Transpose::no;
  return {out, slice.samples(), in, no, no, {w, in}, slice_matrix(x, in), slice_matrix(y, out), 0, b, relu};
}
GPUNET_INLINE Product input_gradient(const Slice& slice, index_t in, index_t out, const float* dy, const float* w,
                                     float* dx) {
  const auto no = Transpose::no, yes = Transpose::yes;
  return {in, slice.samples(), out, yes, no, {w, in}, slice_matrix(dy, out), slice_matrix(dx, in)};
}
GPUNET_INLINE Product weight_gradient(const Slice& slice, index_t in, index_t out, const float* x, const float* dy,
                                      float* dw, Accumulate accumulate) {
  const auto no = Transpose::no, yes = Transpose::yes;
  const float beta = accumulate == Accumulate::yes ? 1 : 0;
  return {out, in, slice.samples(), no, yes, slice_matrix(dy, out), slice_matrix(x, in), {dw, in}, beta};
}

// A product in `scratch` where the slice is one group of samples, else in the memory of the device: such a slice is the
// whole batch, and all threads work on it.
GPUNET_INLINE void multiply(Host& device, const Slice& slice, const Product& p, float* scratch) {
  if (slice.outer > 1) return multiply(device, p);
  multiply(device, p, GemmPlan(p, device.threads()), scratch);
}

}  // namespace detail

GPUNET_INLINE index_t linear_scratch(const Host& device, const Slice& slice, index_t in, index_t out, float) {
  if (detail::linear_kernel(slice, in, out) != detail::LinearKernel::product)
    return detail::small_linear_scratch(slice, in);
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

GPUNET_INLINE void linear_forward(Host& device, const Slice& slice, index_t in, index_t out, const float* x,
                                  const float* w, const float* b, float* y, float* scratch, Activation activation) {
  const auto kernel = detail::linear_kernel(slice, in, out);
  if (kernel == detail::LinearKernel::plain)
    return linear_forward<Host, float>(device, slice, in, out, x, w, b, y, scratch, activation);
  if (kernel == detail::LinearKernel::small)
    return detail::small_linear_forward(device, slice, in, out, x, w, b, y, scratch, activation);
  const bool relu = activation == Activation::relu;
  detail::multiply(device, slice, detail::forward_product(slice, in, out, x, w, b, y, relu), scratch);
}

GPUNET_INLINE void linear_backward_input(Host& device, const Slice& slice, index_t in, index_t out, const float* dy,
                                         const float* w, float* dx, float* scratch) {
  const auto kernel = detail::linear_kernel(slice, in, out);
  if (kernel == detail::LinearKernel::plain)
    return linear_backward_input<Host, float>(device, slice, in, out, dy, w, dx, scratch);
  if (kernel == detail::LinearKernel::small)
    return detail::small_linear_backward_input(device, slice, in, out, dy, w, dx, scratch);
  detail::multiply(device, slice, detail::input_gradient(slice, in, out, dy, w, dx), scratch);
}

GPUNET_INLINE void linear_backward_parameters(Host& device, const Slice& slice, index_t in, index_t out,
                                              const float* x, const float* dy, float* dw, float* db,
                                              Accumulate accumulate, float* scratch) {
  const auto kernel = detail::linear_kernel(slice, in, out);
  if (kernel == detail::LinearKernel::plain)
    return linear_backward_parameters<Host, float>(device, slice, in, out, x, dy, dw, db, accumulate, scratch);
  if (kernel == detail::LinearKernel::small)
    return detail::small_linear_backward_parameters(device, slice, in, out, x, dy, dw, db, accumulate, scratch);
  GPUNET_CALL_PATH(16, bias_gradients, slice.outer, out, dy, db, accumulate);
  detail::multiply(device, slice, detail::weight_gradient(slice, in, out, x, dy, dw, accumulate), scratch);
}

}  // namespace gpunet
