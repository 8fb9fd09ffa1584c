// The affine map on Cuda: small or narrow ones by products of our own, one launch forward and one back; large ones by cuBLASLt,
// unless it refuses.
#pragma once

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/cuda/gemm_lt.cuh>
#include <gpunet/device/cuda/product.cuh>
#include <gpunet/device/cuda/sum_each.cuh>
#include <gpunet/ops/linear/cuda/operands.cuh>
#include <gpunet/ops/linear/plain.hpp>
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

// Returns whether cuBLASLt is asked. It has no epilogues for double. Below some millions of multiply-adds, fewer launches count for
// more than faster kernels (estimated, not measured). Rows of fewer than 32 outputs are narrower than its tiles, and often not
// aligned as its tensor cores and epilogues want them.
template <class T>
constexpr bool is_large_linear(const Slice& slice, index_t in, index_t out) {
  constexpr index_t least = 1 << 24, narrowest = 32, most = std::numeric_limits<int>::max();
  return std::is_same_v<T, float> && out >= narrowest && slice.samples() * in * out >= least &&
         std::max({slice.samples(), in, out}) <= most;
}

}  // namespace detail

template <class T>
index_t linear_scratch(const Cuda& device, const Slice& slice, index_t in, index_t out, T) {
  const detail::LinearProducts all{slice.samples(), in, out};
  const auto scratch = [&]<std::size_t count>(const std::array<detail::ProductSizes, count>& products) {
    return detail::product_scratch<T, detail::Known::little_work>(device, products);
  };
  return std::max({scratch(std::array{all.forward_sizes()}), scratch(std::array{all.parameter_sizes()}),
                   scratch(std::array{all.input_sizes()}),
                   scratch(std::array{all.parameter_sizes(), all.input_sizes()})});
}

// Returns whether the map, with a ReLU behind it, leaves bits for the layer above: where tensor cores multiply so fast that another
// pass over y would show. A forward pass in which cuBLASLt refuses to leave them turns the answer to false for good, so the
// backward pass asks again.
inline bool linear_leaves_relu_bits(const Cuda& device, const Slice& slice, index_t in, index_t out) {
  return detail::is_large_linear<float>(slice, in, out) && device.precision() != Precision::exact &&
         !detail::lt_has_refused(device, out, slice.samples(), in, CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
}

namespace detail {

// The products of a large map by cuBLASLt. An epilogue that it refuses is a separate kernel after the plain product.
// Return false, with nothing done, where it refuses that too.

inline bool large_linear_forward(Cuda& device, const Slice& slice, index_t in, index_t out, const float* x,
                                 const float* w, const float* b, float* y, Activation activation,
                                 std::byte* relu_bits) {
  LtProduct p{CUBLAS_OP_T, CUBLAS_OP_N, out, slice.samples(), in, w, x, 0.0f, y};
  p.bias = b;
  if (activation == Activation::relu && relu_bits && linear_leaves_relu_bits(device, slice, in, out)) {
    p.epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS;
    p.bits = relu_bits;
    if (lt_product(device, p)) return true;
    p.bits = nullptr;
  }
  p.epilogue = activation == Activation::relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  if (lt_product(device, p)) return true;
  p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  p.bias = nullptr;
  if (!lt_product(device, p)) return false;
  for_each(device, slice.samples() * out, AddBias<float>{out, b, y, {activation}});
  return true;
}

inline bool large_linear_parameters(Cuda& device, const Slice& slice, index_t in, index_t out, const float* x,
                                    const float* dy, float* dw, float* db, Accumulate accumulate) {
  LtProduct p{CUBLAS_OP_N, CUBLAS_OP_T, in, out, slice.samples(), x, dy, 0.0f, dw};
  if (accumulate == Accumulate::no) {
    p.epilogue = CUBLASLT_EPILOGUE_BGRADB;  // which replaces db
    p.bias = db;
    if (lt_product(device, p)) return true;
    p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    p.bias = nullptr;
  } else {
    p.beta = 1;
  }
  if (!lt_product(device, p)) return false;
  sum_each(device, out, slice.samples(), LinearBiasGradient<float>{out, slice.inner, dy, db, accumulate});
  return true;
}

// x is null unless dx has to be rectified; then relu_bits may be those of x.
inline bool large_linear_input(Cuda& device, const Slice& slice, index_t in, index_t out, const float* dy,
                               const float* w, float* dx, const float* x, const std::byte* relu_bits) {
  LtProduct p{CUBLAS_OP_N, CUBLAS_OP_N, in, slice.samples(), out, w, dy, 0.0f, dx};
  if (x && relu_bits) {
    p.epilogue = CUBLASLT_EPILOGUE_DRELU;
    p.bits = relu_bits;
    if (lt_product(device, p)) return true;
    p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    p.bits = nullptr;
  }
  if (!lt_product(device, p)) return false;
  if (x) rectify_gradient(device, slice.samples() * in, x, dx, dx);
  return true;
}

}  // namespace detail

// relu_bits [samples * relu_bits_bytes(out)] is null, or is written where linear_leaves_relu_bits says so.
template <class T>
void linear_forward(Cuda& device, const Slice& slice, index_t in, index_t out, const T* x, const T* w, const T* b,
                    T* y, T* scratch, Activation activation = Activation::none, std::byte* relu_bits = nullptr) {
  if constexpr (std::is_same_v<T, float>)
    if (detail::is_large_linear<T>(slice, in, out) &&
        detail::large_linear_forward(device, slice, in, out, x, w, b, y, activation, relu_bits))
      return;
  const detail::LinearProducts all{slice.samples(), in, out};
  detail::product<detail::Known::little_work>(device, all.forward<T>(x, w, b, y, activation), scratch);
}

template <class In, class Out, class T>
void linear_backward(Cuda& device, const Slice& slice, In in_size, Out out_size, const T* x, const T* y, T* dy,
                     const T* w, T* dx, T* dw, T* db, Accumulate accumulate, T* scratch, Activation activation,
                     bool rectify_dx = false, const std::byte* relu_bits = nullptr) {
  const index_t in = in_size, out = out_size;
  if (activation == Activation::relu) rectify_gradient(device, slice.samples() * out, y, dy, dy);
  const T* rectifier = rectify_dx ? x : nullptr;
  const detail::LinearProducts all{slice.samples(), in, out};
  auto parameters = all.parameters<T>(x, dy, dw, db, accumulate);
  auto input = all.input<T>(dy, w, dx, rectifier);
  if constexpr (std::is_same_v<T, float>)
    if (detail::is_large_linear<T>(slice, in, out)) {  // a product that is done becomes empty
      if (detail::large_linear_parameters(device, slice, in, out, x, dy, dw, db, accumulate)) parameters.m = 0;
      if (dx && detail::large_linear_input(device, slice, in, out, dy, w, dx, rectifier, relu_bits)) input.m = 0;
      if (parameters.m == 0 && input.m == 0) return;
    }
  detail::products<detail::Known::little_work>(device, parameters, input, scratch);
}

}  // namespace gpunet
