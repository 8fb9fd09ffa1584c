// The affine map on Cuda: small ones by products of our own, one launch forward and one back; large ones by cuBLASLt.
#pragma once

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/cuda/gemm_lt.cuh>
#include <gpunet/device/cuda/product.cuh>
#include <gpunet/device/cuda/sum_each.cuh>
#include <gpunet/ops/linear.hpp>
#include <gpunet/ops/linear_operands.cuh>
#include <gpunet/ops/parameter_gradient.cuh>

namespace gpunet {

namespace detail {

// The products of an affine map of samples that lie [samples][features], as in PyTorch.
//
//   forward      y [samples, out]         = x [samples, in] W^T [in, out]
//   parameters   dw, db [out, in + 1]     = dy^T [out, samples] x and ones [samples, in + 1]
//   input        dx [samples, in]         = dy [samples, out] W [out, in]
struct LinearProducts {
  index_t samples, in, out;

  ProductSizes forward_sizes() const { return {samples, out, in}; }
  ProductSizes parameter_sizes() const { return {out, in + 1, samples}; }
  ProductSizes input_sizes() const { return {samples, in, out}; }

  template <class T>
  auto forward(const T* x, const T* w, const T* b, T* y, Activation activation) const {
    return TiledProduct<AlongRows<T>, AlongRows<T>, RowsOutput<T>>{samples, out,     in,
                                                                   {x, in}, {w, in}, {y, out, b, {activation}}};
  }
  template <class T>
  auto parameters(const T* x, const T* dy, T* dw, T* db, Accumulate accumulate) const {
    return TiledProduct<AcrossRows<T>, AcrossRowsAndOnes<T>, ParameterGradientOutput<T>>{
        out, in + 1, samples, {dy, out}, {{x, in}, in}, {dw, db, in, accumulate}};
  }
  // dx may be null: then the product is empty. x is null unless dx has to be rectified.
  template <class T>
  auto input(const T* dy, const T* w, T* dx, const T* x) const {
    return TiledProduct<AlongRows<T>, AcrossRows<T>, InputGradientRows<T>>{dx ? samples : 0, in,      out,
                                                                           {dy, out},        {w, in}, {dx, in, x}};
  }
};

// Whether cuBLASLt takes it. It has no epilogues for double. Below some millions of multiply-adds, fewer launches count for
// more than faster kernels (reckoned, not measured).
template <class T>
constexpr bool is_large_linear(const Slice& slice, index_t in, index_t out) {
  constexpr index_t least = 1 << 24, most = std::numeric_limits<int>::max();
  return std::is_same_v<T, float> && slice.samples() * in * out >= least &&
         std::max({slice.samples(), in, out}) <= most;
}

}  // namespace detail

template <class T>
index_t linear_scratch(const Cuda& device, const Slice& slice, index_t in, index_t out, T) {
  if (detail::is_large_linear<T>(slice, in, out)) return 0;
  const detail::LinearProducts all{slice.samples(), in, out};
  const auto scratch = [&]<std::size_t count>(const std::array<detail::ProductSizes, count>& products) {
    return detail::product_scratch<T, detail::Known::little_work>(device, products);
  };
  return std::max({scratch(std::array{all.forward_sizes()}), scratch(std::array{all.parameter_sizes()}),
                   scratch(std::array{all.parameter_sizes(), all.input_sizes()})});
}

// Whether the map, with a ReLU behind it, leaves bits for the layer above: where tensor cores multiply so fast that another
// pass over y would show.
inline bool linear_leaves_relu_bits(const Cuda& device, const Slice& slice, index_t in, index_t out) {
  return detail::is_large_linear<float>(slice, in, out) && device.precision() != Precision::exact;
}

// relu_bits [samples * relu_bits_bytes(out)] is null, or is written where linear_leaves_relu_bits says so.
template <class T>
void linear_forward(Cuda& device, const Slice& slice, index_t in, index_t out, const T* x, const T* w, const T* b,
                    T* y, T* scratch, Activation activation = Activation::none, std::byte* relu_bits = nullptr) {
  if constexpr (std::is_same_v<T, float>)
    if (detail::is_large_linear<T>(slice, in, out)) {
      const bool leaves_bits = relu_bits && linear_leaves_relu_bits(device, slice, in, out);
      const auto epilogue = activation == Activation::none ? CUBLASLT_EPILOGUE_BIAS
                            : leaves_bits                  ? CUBLASLT_EPILOGUE_RELU_AUX_BIAS
                                                           : CUBLASLT_EPILOGUE_RELU_BIAS;
      return detail::lt_product(device, {CUBLAS_OP_T, CUBLAS_OP_N, out, slice.samples(), in, w, x, 0.0f, y,
                                         epilogue, b, leaves_bits ? relu_bits : nullptr});
    }
  const detail::LinearProducts all{slice.samples(), in, out};
  detail::product<detail::Known::little_work>(device, all.forward<T>(x, w, b, y, activation), scratch);
}

// A large one's; dy is that of the map's own result. Where relu_bits is not null, dx is 0 for those that are not set.
inline void large_linear_backward(Cuda& device, const Slice& slice, index_t in, index_t out, const float* x,
                                  const float* dy, const float* w, float* dx, float* dw, float* db,
                                  Accumulate accumulate, const std::byte* relu_bits) {
  const index_t samples = slice.samples();
  detail::LtProduct weights{CUBLAS_OP_N, CUBLAS_OP_T, in, out, samples, x, dy, 0.0f, dw};
  if (accumulate == Accumulate::no) {
    weights.epilogue = CUBLASLT_EPILOGUE_BGRADB;  // which replaces db
    weights.bias = db;
  } else {
    weights.beta = 1;
    sum_each(device, out, samples, LinearBiasGradient<float>{out, slice.inner, dy, db, accumulate});
  }
  detail::lt_product(device, weights);
  if (dx)
    detail::lt_product(device,
                       {CUBLAS_OP_N, CUBLAS_OP_N, in, samples, out, w, dy, 0.0f, dx,
                        relu_bits ? CUBLASLT_EPILOGUE_DRELU : CUBLASLT_EPILOGUE_DEFAULT, nullptr, relu_bits});
}

template <class In, class Out, class T>
void linear_backward(Cuda& device, const Slice& slice, In in_size, Out out_size, const T* x, const T* y, T* dy,
                     const T* w, T* dx, T* dw, T* db, Accumulate accumulate, T* scratch, Activation activation,
                     bool rectify_dx = false, const std::byte* relu_bits = nullptr) {
  const index_t in = in_size, out = out_size;
  if (activation == Activation::relu) rectify_gradient(device, slice.samples() * out, y, dy, dy);
  if constexpr (std::is_same_v<T, float>)
    if (detail::is_large_linear<T>(slice, in, out)) {
      if (!rectify_dx) relu_bits = nullptr;
      large_linear_backward(device, slice, in, out, x, dy, w, dx, dw, db, accumulate, relu_bits);
      if (dx && rectify_dx && !relu_bits) rectify_gradient(device, slice.samples() * in, x, dx, dx);
      return;
    }
  const detail::LinearProducts all{slice.samples(), in, out};
  detail::products<detail::Known::little_work>(device, all.parameters<T>(x, dy, dw, db, accumulate),
                                               all.input<T>(dy, w, dx, rectify_dx ? x : nullptr), scratch);
}

}  // namespace gpunet
