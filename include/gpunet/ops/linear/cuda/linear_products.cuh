// The affine map on Cuda: small or narrow ones by products of our own, one launch forward and one
// back; large ones by cuBLASLt, unless it refuses.
#pragma once

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/cuda/gemm/cublaslt_gemm.cuh>
#include <gpunet/device/cuda/gemm/tiled_gemm.cuh>
#include <gpunet/device/cuda/sum_each.cuh>
#include <gpunet/ops/linear/plain.hpp>
#include <gpunet/ops/parameter_gradient.cuh>
#include <gpunet/ops/relu.hpp>

namespace gpunet::detail {

// A matrix as it lies: element (i, k) at i * stride + k.
template <class T>
struct AlongRows {
  static constexpr bool along_k = true;
  const T* data;
  index_t stride;

  __device__ index_t outer(index_t i) const { return i * stride; }
  __device__ index_t inner(index_t k) const { return k; }
  __device__ T load(index_t row, index_t k) const { return data[row + k]; }
};

// Its transpose: element (i, k) at k * stride + i.
template <class T>
struct AcrossRows {
  static constexpr bool along_k = false;
  const T* data;
  index_t stride;

  __device__ index_t outer(index_t i) const { return i; }
  __device__ index_t inner(index_t k) const { return k * stride; }
  __device__ T load(index_t i, index_t row) const { return data[row + i]; }
};

// y[i, j] = activate(sum + b[j]).
template <class T_>
struct RowsOutput {
  using T = T_;
  T* y;
  index_t stride;
  OptionalArray<const T> b;
  Activate activate;

  __device__ index_t column(index_t j) const { return j; }
  __device__ void store(index_t i, index_t j, T* values, int count) const {
    T* to = y + i * stride + j;
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (q < count) to[q] = activate(values[q] + b[j + q]);
  }
};

// y = activate(y + b), where a library made only the products. One index = one element of y
// [samples, out].
template <class T>
struct AddBias {
  index_t out;
  OptionalArray<const T> b;
  T* y;
  Activate activate;

  GPUNET_FN void operator()(index_t i) const { y[i] = activate(y[i] + b[i % out]); }
};

// dx[i, j] = sum; where x is not null, 0 where x[i, j] is.
template <class T_>
struct InputGradientRows {
  using T = T_;
  T* dx;
  index_t stride;
  const T* x;

  __device__ index_t column(index_t j) const { return j; }
  __device__ void store(index_t i, index_t j, const T* values, int count) const {
    const index_t first = i * stride + j;
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (q < count) dx[first + q] = x ? RectifyGradient{}(x[first + q], values[q]) : values[q];
  }
};

}  // namespace gpunet::detail

namespace gpunet {

namespace detail {

// The products of an affine map of samples that lie [samples][features], as in PyTorch.
//
//   forward      y [samples, out]         = x [samples, in] W^T [in, out]
//   parameters   dw [out, in]             = dy^T [out, samples] x [samples, in]; db: sums of rows
//   input        dx [samples, in]         = dy [samples, out] W [out, in]
struct LinearProducts {
  index_t samples, in, out;

  ProductSizes forward_sizes() const { return {samples, out, in}; }
  ProductSizes parameter_sizes() const { return {out, in, samples}; }
  ProductSizes input_sizes() const { return {samples, in, out}; }

  template <class T>
  auto forward(const LinearForwardArgs<T>& a) const {
    return TiledProduct<AlongRows<T>, AlongRows<T>, RowsOutput<T>>{
        samples, out, in, {a.x, in}, {a.w, in}, {a.y, out, a.b, {a.activation}}};
  }
  // dw, or dx, may be null: then the product is empty.
  template <class T>
  auto parameters(const LinearBackwardArgs<T>& a) const {
    const index_t rows = a.dw ? out : 0;
    return TiledProduct<AcrossRows<T>, AcrossRows<T>, ParameterGradientOutput<T>>{
        rows, in, samples, {a.dy, out}, {a.x, in}, {a.dw, a.db, in, a.accumulate}, a.db ? rows : 0};
  }
  template <class T>
  auto input(const LinearBackwardArgs<T>& a) const {
    return TiledProduct<AlongRows<T>, AcrossRows<T>, InputGradientRows<T>>{
        a.dx ? samples : 0, in,        out,
        {a.dy, out},        {a.w, in}, {a.dx, in, a.rectify_dx ? a.x : nullptr}};
  }
};

// Returns whether cuBLASLt is asked. It has no epilogues for double. Below some millions of
// multiply-adds, fewer launches count for more than faster kernels (estimated, not measured). Rows
// of fewer than 32 outputs are narrower than its tiles, and often not aligned as its tensor cores
// and epilogues want them.
template <class T>
constexpr bool is_large_linear(const Slice& slice, index_t in, index_t out) {
  constexpr index_t least = 1 << 24, narrowest = 32, most = std::numeric_limits<int>::max();
  return std::is_same_v<T, float> && out >= narrowest && slice.samples() * in * out >= least &&
         std::max({slice.samples(), in, out}) <= most;
}

}  // namespace detail

template <class T>
index_t linear_scratch(const Cuda& device, const Slice& slice, index_t in, index_t out, T,
                       bool /*whole_batch*/ = false) {
  const detail::LinearProducts all{slice.samples(), in, out};
  constexpr detail::Known known = detail::Known::little_work;
  return std::max(
      detail::product_scratch<T, known>(device, std::array{all.forward_sizes()}),
      detail::products_scratch<T, known>(device, all.parameter_sizes(), all.input_sizes()));
}

// Returns whether the map, with a ReLU behind it, leaves bits for the layer above: where tensor
// cores multiply so fast that another pass over y would show. A forward pass in which cuBLASLt
// refuses to leave them turns the answer to false for good, so the backward pass asks again.
inline bool linear_leaves_relu_bits(const Cuda& device, const Slice& slice, index_t in, index_t out,
                                    bool bias = true) {
  return detail::is_large_linear<float>(slice, in, out) && device.precision() != Precision::exact &&
         !detail::lt_has_refused(
             device, out, slice.samples(), in,
             bias ? CUBLASLT_EPILOGUE_RELU_AUX_BIAS : CUBLASLT_EPILOGUE_RELU_AUX);
}

namespace detail {

// The products of a large map by cuBLASLt. An epilogue that it refuses is a separate kernel after
// the plain product. Return false, with nothing done, where it refuses that too.

inline bool large_linear_forward(Cuda& device, const LinearForwardArgs<float>& a) {
  const index_t samples = a.slice.samples();
  LtProduct p{CUBLAS_OP_T, CUBLAS_OP_N, a.out, samples, a.in, a.w, a.x, 0.0f, a.y};
  p.bias = a.b.data();
  const bool bias(a.b), relu = a.activation == Activation::relu;
  if (relu && a.relu_bits && linear_leaves_relu_bits(device, a.slice, a.in, a.out, bias)) {
    p.epilogue = bias ? CUBLASLT_EPILOGUE_RELU_AUX_BIAS : CUBLASLT_EPILOGUE_RELU_AUX;
    p.bits = a.relu_bits;
    if (lt_product(device, p)) return true;
    p.bits = nullptr;
  }
  if (bias)
    p.epilogue = relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  else
    p.epilogue = relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
  if (lt_product(device, p)) return true;
  if (!bias && !relu) return false;
  p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  p.bias = nullptr;
  if (!lt_product(device, p)) return false;
  for_each(device, samples * a.out, AddBias<float>{a.out, a.b, a.y, {a.activation}});
  return true;
}

inline bool large_linear_parameters(Cuda& device, const LinearBackwardArgs<float>& a) {
  const index_t samples = a.slice.samples();
  LtProduct p{CUBLAS_OP_N, CUBLAS_OP_T, a.in, a.out, samples, a.x, a.dy, 0.0f, a.dw};
  if (a.accumulate == Accumulate::yes) {
    p.beta = 1;
  } else if (a.db) {
    p.epilogue = CUBLASLT_EPILOGUE_BGRADB;  // which replaces db
    p.bias = a.db.data();
    if (lt_product(device, p)) return true;
    p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    p.bias = nullptr;
  }
  if (!lt_product(device, p)) return false;
  if (a.db)
    sum_each(device, a.out, samples,
             LinearBiasGradient<float>{a.out, a.slice.inner, a.dy, a.db, a.accumulate});
  return true;
}

inline bool large_linear_input(Cuda& device, const LinearBackwardArgs<float>& a) {
  const index_t samples = a.slice.samples();
  LtProduct p{CUBLAS_OP_N, CUBLAS_OP_N, a.in, samples, a.out, a.w, a.dy, 0.0f, a.dx};
  if (a.rectify_dx && a.relu_bits) {
    p.epilogue = CUBLASLT_EPILOGUE_DRELU;
    p.bits = a.relu_bits;
    if (lt_product(device, p)) return true;
    p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    p.bits = nullptr;
  }
  if (!lt_product(device, p)) return false;
  if (a.rectify_dx) rectify_gradient(device, samples * a.in, a.x, a.dx, a.dx);
  return true;
}

// The product for the gradients of parameters, or of the input, which is empty if cuBLASLt has done
// it.
template <class T>
auto parameter_product(Cuda& device, const LinearBackwardArgs<T>& a) {
  auto parameters = LinearProducts{a.slice.samples(), a.in, a.out}.parameters(a);
  if constexpr (std::is_same_v<T, float>)
    if (a.dw && is_large_linear<T>(a.slice, a.in, a.out) && large_linear_parameters(device, a))
      parameters.m = parameters.row_sums = 0;
  return parameters;
}
template <class T>
auto input_product(Cuda& device, const LinearBackwardArgs<T>& a) {
  auto input = LinearProducts{a.slice.samples(), a.in, a.out}.input(a);
  if constexpr (std::is_same_v<T, float>)
    if (a.dx && is_large_linear<T>(a.slice, a.in, a.out) && large_linear_input(device, a))
      input.m = 0;
  return input;
}

}  // namespace detail

// a.relu_bits [samples * relu_bits_bytes(out)] are written where linear_leaves_relu_bits says so.
template <class T>
void linear_forward(Cuda& device, const LinearForwardArgs<T>& a) {
  if constexpr (std::is_same_v<T, float>)
    if (detail::is_large_linear<T>(a.slice, a.in, a.out) && detail::large_linear_forward(device, a))
      return;
  const detail::LinearProducts all{a.slice.samples(), a.in, a.out};
  detail::product<detail::Known::little_work>(device, all.forward(a), a.scratch);
}

template <class Known, class T>
void linear_backward_parameters(Cuda& device, Known, const LinearBackwardArgs<T>& a) {
  if (const auto parameters = detail::parameter_product(device, a); parameters.m > 0)
    detail::product<detail::Known::little_work>(device, parameters, a.scratch);
}
template <class Known, class T>
void linear_backward_input(Cuda& device, Known, const LinearBackwardArgs<T>& a) {
  if (const auto input = detail::input_product(device, a); input.m > 0)
    detail::product<detail::Known::little_work>(device, input, a.scratch);
}

template <class Known, class T>
void linear_backward(Cuda& device, Known, const LinearBackwardArgs<T>& a) {
  if (a.activation == Activation::relu)
    rectify_gradient(device, a.slice.samples() * a.out, a.y, a.dy, a.dy);
  const auto parameters = detail::parameter_product(device, a);
  const auto input = detail::input_product(device, a);
  if (parameters.m > 0 || input.m > 0)
    detail::products<detail::Known::little_work>(device, parameters, input, a.scratch);
}

}  // namespace gpunet
