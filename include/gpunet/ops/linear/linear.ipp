// Bodies of linear.hpp.
#pragma once

#include <algorithm>

#include <gpunet/device/host/gemm/blocks.hpp>
#include <gpunet/ops/add.hpp>
#include <gpunet/ops/interleave.hpp>
#include <gpunet/ops/linear/linear.hpp>

#if GPUNET_NVCC
#include <gpunet/ops/linear/cuda/linear_products.cuh>
#endif

#define GPUNET_KERNELS <gpunet/ops/linear/host/small_sizes.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet {

namespace detail {

// Returns whether the kernels for small maps support a slice: with vectors over the 16 samples of a
// group, or over inputs where samples are few.
GPUNET_INLINE bool has_small_kernels(const Slice& slice, index_t in, index_t out) {
  return slice.inner == 16 ? in >= 8 && out >= 8
                           : in >= 4 && (slice.inner == 4 || slice.inner == 1);
}

// Computes y of one sample x, by the other arguments. Its time is that of reading W: threads share
// a W whose reading takes longer than waking them.
GPUNET_INLINE void forward_sample(Host& device, const LinearForwardArgs<float>& a, const float* x,
                                  float* y) {
  constexpr index_t large = index_t{1} << 17;  // weights for a thread
  const index_t tasks = std::clamp<index_t>(a.in * a.out / large, 1, device.threads());
  const index_t outputs = round_up(ceil_div(a.out, tasks), 8);
  device.run(ceil_div(a.out, outputs), [&](index_t task, int) {
    const index_t o = task * outputs;
    GPUNET_CALL_PATH(a.in, forward_rows<1>, a.in, std::min(outputs, a.out - o), x, a.w + o * a.in,
                     a.b + o, y + o, a.activation == Activation::relu);
  });
}

// Returns whether there is so much to do that threads share it.
GPUNET_INLINE bool shares_linear(const Slice& slice, index_t in, index_t out) {
  return slice.samples() * in * out >= index_t{1} << 20;
}

// Calls task(group) for every group of a slice; on several threads where there is much to do.
template <class Task>
void for_each_linear_group(Host& device, const Slice& slice, index_t in, index_t out, Task task) {
  device.run_if(shares_linear(slice, in, out), slice.outer,
                [&](index_t group, int) { task(group); });
}

}  // namespace detail

GPUNET_INLINE void linear_forward(Host& device, SmallSizes, const LinearForwardArgs<float>& a) {
  const bool relu = a.activation == Activation::relu;
  const index_t inner = a.slice.inner;
  detail::for_each_linear_group(device, a.slice, a.in, a.out, [&, relu, inner](index_t group) {
    const float* inputs = a.x + group * a.in * inner;
    float* outputs = a.y + group * a.out * inner;
    if (inner == 16) {
      GPUNET_CALL_PATH(16, forward_group, a.in, a.out, inputs, a.w, a.b, outputs, relu);
    } else if (inner == 1) {
      detail::forward_sample(device, a, inputs, outputs);
    } else {
      float* four_rows = a.scratch + group * a.in * inner;
      deinterleave(device, {inner, 1, inner}, a.in, inputs, four_rows);
      GPUNET_CALL_PATH(a.in, forward_rows<4>, a.in, a.out, four_rows, a.w, a.b, outputs, relu);
    }
  });
}

GPUNET_INLINE void linear_backward_input(Host& device, SmallSizes,
                                         const LinearBackwardArgs<float>& a) {
  const index_t inner = a.slice.inner;
  detail::for_each_linear_group(device, a.slice, a.in, a.out, [&, inner](index_t group) {
    const float* outputs = a.dy + group * a.out * inner;
    float* inputs = a.dx + group * a.in * inner;
    if (inner == 16) {
      GPUNET_CALL_PATH(16, input_gradient_group, a.in, a.out, outputs, a.w, inputs);
    } else if (inner == 1) {
      GPUNET_CALL_PATH(a.in, input_gradient_rows<1>, a.in, a.out, outputs, a.w, inputs);
    } else {
      float* four_rows = a.scratch + group * a.in * inner;
      GPUNET_CALL_PATH(a.in, input_gradient_rows<4>, a.in, a.out, outputs, a.w, four_rows);
      interleave(device, {inner, 1, inner}, a.in, four_rows, inputs);
    }
  });
}

namespace detail {

// Stores the gradients of `some` biases from `first` on, of groups of 4 or 16 samples, or of rows.
GPUNET_INLINE void bias_gradients(const LinearBackwardArgs<float>& a, index_t first, index_t some) {
  const index_t inner = a.slice.inner;
  const float* dy = a.dy + first * inner;
  float* db = a.db.data() + first;
  if (inner == 1)
    GPUNET_CALL_PATH(16, bias_gradients_of_rows, a.slice.outer, a.out, some, dy, db, a.accumulate);
  else
    GPUNET_CALL_PATH(inner, bias_gradients, a.slice.outer, a.out, inner, some, dy, db,
                     a.accumulate);
}

}  // namespace detail

GPUNET_INLINE void linear_backward_parameters(Host& device, SmallSizes,
                                              const LinearBackwardArgs<float>& a) {
  const index_t inner = a.slice.inner, group_size = a.in * inner;
  const float* rows = a.x;
  if (inner > 1) {
    rows = a.scratch;
    detail::for_each_linear_group(
        device, a.slice, a.in, a.out, [&, inner, group_size](index_t group) {
          deinterleave(device, {inner, 1, inner}, a.in, a.x + group * group_size,
                       a.scratch + group * group_size);
        });
  }
  // Threads share the outputs; each sum adds the groups in order.
  const bool many = a.db && a.slice.outer > sum_run;
  const auto gradients = [&, rows, inner, group_size, many](index_t first, index_t some) {
    if (many) detail::bias_gradients(a, first, some);
    for (index_t group = 0; group < a.slice.outer; ++group) {
      const float* inputs = rows + group * group_size;
      const float* outputs = a.dy + (group * a.out + first) * inner;
      float* dw = a.dw + first * a.in;
      const OptionalArray<float> db = many ? OptionalArray<float>{} : a.db + first;
      const Accumulate mode = group > 0 ? Accumulate::yes : a.accumulate;
      if (inner == 4)
        GPUNET_CALL_PATH(a.in, four_gradients, a.in, some, inputs, outputs, dw, db, mode);
      else
        GPUNET_CALL_PATH(a.in, linear_gradients, a.in, some, inner, inputs, outputs, dw, db, mode);
    }
  };
  constexpr index_t block = 8;
  if (a.slice.outer == 1 || !detail::shares_linear(a.slice, a.in, a.out))
    return gradients(0, a.out);
  device.run(ceil_div(a.out, block), [&](index_t task, int) {
    gradients(task * block, std::min(block, a.out - task * block));
  });
}

namespace detail {

// The kernels of a slice: for small maps, a matrix product of groups of 16 samples or of rows, or
// the plain version.
enum class LinearKernel { small_sizes, product, product_of_rows, plain };

GPUNET_INLINE LinearKernel linear_kernel(const Slice& slice, index_t in, index_t out) {
  const bool is_small = has_small_kernels(slice, in, out);
  constexpr index_t many_rows = 12;
  if (slice.inner == 1 && slice.outer >= many_rows && in >= 8 && out >= 8)
    return LinearKernel::product_of_rows;
  if (slice.inner != 16) return is_small ? LinearKernel::small_sizes : LinearKernel::plain;
  const index_t weights = in * out;
  constexpr index_t many_groups = 32;  // for which packing W pays
  const bool pays = weights <= index_t{1} << 16 && (slice.outer == 1 || weights > 128) &&
                    (slice.outer < many_groups || weights < index_t{1} << 14);
  return is_small && pays ? LinearKernel::small_sizes : LinearKernel::product;
}

// `features` of a slice of groups of 16 samples as a matrix [features, samples].
template <class T>
GroupedMatrix<T> slice_matrix(T* data, index_t features) {
  return {data, 16, 16 * features};
}

// The three products of a layer: y = W x + b, dx = W^T dy, dW = dy x^T. Where samples are rows, the
// products of the transposes; b is in y before.
GPUNET_INLINE Product forward_product(const LinearForwardArgs<float>& a) {
  const auto no = Transpose::no, yes = Transpose::yes;
  if (a.slice.inner == 1)
    return {a.slice.samples(), a.out, a.in, no, yes, {a.x, a.in}, {a.w, a.in}, {a.y, a.out},
            a.b ? 1.0f : 0.0f};
  return {a.out,
          a.slice.samples(),
          a.in,
          no,
          no,
          {a.w, a.in},
          slice_matrix(a.x, a.in),
          slice_matrix(a.y, a.out),
          0,
          a.b.data(),
          {.low = a.activation == Activation::relu ? 0 : GemmRange{}.low}};
}
GPUNET_INLINE Product input_gradient(const LinearBackwardArgs<float>& a) {
  const auto no = Transpose::no, yes = Transpose::yes;
  if (a.slice.inner == 1)
    return {a.slice.samples(), a.in, a.out, no, no, {a.dy, a.out}, {a.w, a.in}, {a.dx, a.in}};
  const GemmOperand dy = slice_matrix<const float>(a.dy, a.out);
  return {a.in, a.slice.samples(), a.out, yes, no, {a.w, a.in}, dy, slice_matrix(a.dx, a.in)};
}
GPUNET_INLINE Product weight_gradient(const LinearBackwardArgs<float>& a) {
  const auto no = Transpose::no, yes = Transpose::yes;
  const float beta = a.accumulate == Accumulate::yes ? 1 : 0;
  if (a.slice.inner == 1)
    return {a.out,         a.in,        a.slice.samples(), yes, no,
            {a.dy, a.out}, {a.x, a.in}, {a.dw, a.in},      beta};
  const GemmOperand dy = slice_matrix<const float>(a.dy, a.out);
  return {a.out, a.in, a.slice.samples(), no, yes, dy, slice_matrix(a.x, a.in), {a.dw, a.in}, beta};
}

// A product in the memory of the device where the slice is the whole batch and all threads work on
// it, else in `scratch`.
GPUNET_INLINE void multiply(Host& device, bool whole_batch, const Product& p, float* scratch) {
  if (whole_batch) return multiply(device, p);
  multiply(device, p, GemmPlan(p, device.threads()), scratch);
}

}  // namespace detail

GPUNET_INLINE index_t linear_scratch(const Host& device, const Slice& slice, index_t in,
                                     index_t out, float, bool whole_batch) {
  const auto kernel = detail::linear_kernel(slice, in, out);
  if (kernel == detail::LinearKernel::small_sizes || kernel == detail::LinearKernel::plain)
    return slice.samples() * in;
  if (whole_batch) return 0;
  const LinearForwardArgs<float> forward{slice, in, out};
  const LinearBackwardArgs<float> backward{slice, in, out};
  const auto scratch = [&](const detail::Product& p) {
    return detail::GemmPlan(p, device.threads()).scratch();
  };
  return std::max({scratch(detail::forward_product(forward)),
                   scratch(detail::input_gradient(backward)),
                   scratch(detail::weight_gradient(backward))});
}

GPUNET_INLINE void linear_forward(Host& device, const LinearForwardArgs<float>& a) {
  const auto kernel = detail::linear_kernel(a.slice, a.in, a.out);
  if (kernel == detail::LinearKernel::plain) return linear_forward<Host, float>(device, a);
  if (kernel == detail::LinearKernel::small_sizes) return linear_forward(device, SmallSizes{}, a);
  if (kernel == detail::LinearKernel::product_of_rows && a.b)
    for (index_t row = 0; row < a.slice.outer; ++row)
      std::copy_n(a.b.data(), a.out, a.y + row * a.out);
  detail::multiply(device, a.whole_batch, detail::forward_product(a), a.scratch);
  if (kernel == detail::LinearKernel::product_of_rows && a.activation == Activation::relu)
    rectify(device, a.slice.samples() * a.out, static_cast<const float*>(a.y), a.y);
}

GPUNET_INLINE void linear_backward_input(Host& device, const LinearBackwardArgs<float>& a) {
  const auto kernel = detail::linear_kernel(a.slice, a.in, a.out);
  if (kernel == detail::LinearKernel::plain) return linear_backward_input<Host, float>(device, a);
  if (kernel == detail::LinearKernel::small_sizes)
    return linear_backward_input(device, SmallSizes{}, a);
  detail::multiply(device, a.whole_batch, detail::input_gradient(a), a.scratch);
}

GPUNET_INLINE void linear_backward_parameters(Host& device, const LinearBackwardArgs<float>& a) {
  const auto kernel = detail::linear_kernel(a.slice, a.in, a.out);
  if (kernel == detail::LinearKernel::plain)
    return linear_backward_parameters<Host, float>(device, a);
  if (kernel == detail::LinearKernel::small_sizes)
    return linear_backward_parameters(device, SmallSizes{}, a);
  if (a.db) detail::bias_gradients(a, 0, a.out);
  detail::multiply(device, a.whole_batch, detail::weight_gradient(a), a.scratch);
}

#if GPUNET_COMPILED
GPUNET_COMPILE_KERNELS(LinearKernels<>);
GPUNET_COMPILE_HOST_KERNELS(LinearKernels<SmallSizes>);
#endif

}  // namespace gpunet
