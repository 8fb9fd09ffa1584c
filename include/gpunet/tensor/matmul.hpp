// Matrix products of tensors.
#pragma once

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/gemm/gemm.hpp>
#include <gpunet/device/traits.hpp>
#include <gpunet/tensor/reduce.hpp>

namespace gpunet {

namespace detail {

// The product of two batches of matrices: [batch..., m, k] and [batch..., k, n].
struct MatrixProduct {
  Sizes batch, result;  // the batch of both, and the shape of the result
  index_t m, n, k;

  // A shape of one dimension is a row on the left, a column on the right, and vanishes from the
  // result. Throws Error for shapes that cannot be multiplied.
  MatrixProduct(const Sizes& a, const Sizes& b);
};

// Returns how the matrices of a layout can be read by gemm; nothing if they have to be copied.
// `columns` is the extent of the last dimension.
std::optional<Transpose> stored_as(const Layout& x);
// Returns the layout of vectors as matrices.
Layout as_rows(const Layout& x);
Layout as_columns(const Layout& x);
// Returns the place of matrix `i` of a batch in memory.
index_t matrix_offset(const Layout& x, const Sizes& batch, index_t i);

// C = op(A) op(B) for double on Host, one row after another. See device/gemm.hpp.
void multiply(Host& device, Transpose ta, Transpose tb, index_t m, index_t n, index_t k,
              const double* a, const double* b, double* c);
inline void multiply(Host& device, Transpose ta, Transpose tb, index_t m, index_t n, index_t k,
                     const float* a, const float* b, float* c) {
  gemm(device, ta, tb, m, n, k, a, b, 0.0f, c);
}
#if GPUNET_CUDA
template <class T>
void multiply(Cuda& device, Transpose ta, Transpose tb, index_t m, index_t n, index_t k, const T* a,
              const T* b, T* c) {
  gemm(device, ta, tb, m, n, k, a, b, T{}, c);
}
#endif

}  // namespace detail

// Returns the matrix product, of batches of matrices that broadcast, as torch.matmul: [..., m, k]
// and [..., k, n] make [..., m, n]. Vectors are a row on the left and a column on the right. Of
// float or double. Throws Error for shapes that cannot be multiplied.
template <detail::TensorLike A, detail::TensorLike B>
auto matmul(A&& a, B&& b) {
  using T = detail::ValueOf<A>;
  using D = detail::DeviceOf<A>;
  static_assert(
      std::is_same_v<detail::DeviceOf<B>, D>,
      "gpunet::matmul: the operands are on two kinds of device, move one of them with to(device)");
  static_assert(std::is_same_v<detail::ValueOf<B>, T> && std::is_floating_point_v<T>,
                "gpunet::matmul: the operands have to be float or double, both the same, convert "
                "them: cast<float>(x)");
  const detail::MatrixProduct product(a.sizes(), b.sizes());
  // Returns matrices that gemm can read.
  const auto readable = [](const auto& x, auto as_matrices) {
    auto view = detail::relaid(x, as_matrices);
    const bool fits = detail::stored_as({0, view.sizes(), view.strides()}).has_value();
    return fits ? detail::expression(view) : detail::expression(view.contiguous());
  };
  const auto of_a = detail::stored(std::forward<A>(a));
  const auto of_b = detail::stored(std::forward<B>(b));
  const auto x = readable(of_a, detail::as_rows);
  const auto y = readable(of_b, detail::as_columns);
  const auto layout_of = [](const auto& matrices) {
    const detail::Operand& array = matrices.program().operands()[0];
    return detail::Layout{0, array.sizes, array.strides};
  };
  const detail::Layout of_x = layout_of(x), of_y = layout_of(y);
  const auto* left = static_cast<const T*>(x.program().operands()[0].data);
  const auto* right = static_cast<const T*>(y.program().operands()[0].data);
  D& device = x.device();
  detail::require_one_device(&y.device(), &device, "matmul");
  Tensor<T, D> out(device, product.result);
  if (out.numel() == 0) return out;
  const Transpose ta = *detail::stored_as(of_x), tb = *detail::stored_as(of_y);
  const index_t batch = product.batch.numel();
  const auto multiply = [&](index_t i) {
    detail::multiply(device, ta, tb, product.m, product.n, product.k,
                     left + detail::matrix_offset(of_x, product.batch, i),
                     right + detail::matrix_offset(of_y, product.batch, i),
                     out.data() + i * product.m * product.n);
  };
  if (of_y.sizes.rank() == 2 && ta == Transpose::no && batch > 1 &&
      detail::is_dense(of_x.sizes, of_x.strides)) {  // one matrix times all rows
    detail::multiply(device, ta, tb, batch * product.m, product.n, product.k, left, right,
                     out.data());
  } else {
    DeviceTraits<D>::run(device, batch > 1, batch, [&](index_t i, auto) { multiply(i); });
  }
  return out;
}

// Returns the products of two batches of matrices, [batch, m, k] and [batch, k, n].
template <detail::TensorLike A, detail::TensorLike B>
auto bmm(A&& a, B&& b) {
  const Sizes &x = a.sizes(), &y = b.sizes();
  require(x.rank() == 3 && y.rank() == 3 && x[0] == y[0], "gpunet::bmm: shapes ", to_string(x),
          " and ", to_string(y),
          " (want [batch, m, k] and [batch, k, n]), write matmul(a, b) for others");
  return matmul(std::forward<A>(a), std::forward<B>(b));
}

// Returns the sum of the products of two vectors. Its type is that of sum.
template <detail::TensorLike A, detail::TensorLike B>
auto dot(A&& a, B&& b) {
  require(a.sizes().rank() == 1 && a.sizes() == b.sizes(), "gpunet::dot: shapes ",
          to_string(a.sizes()), " and ", to_string(b.sizes()),
          " (want two vectors of one length), write sum(a * b) for others");
  return sum(std::forward<A>(a) * std::forward<B>(b));
}

// Returns the products of all elements of two vectors, [m] and [n], as [m, n].
template <detail::TensorLike A, detail::TensorLike B>
auto outer(A&& a, B&& b) {
  require(a.sizes().rank() == 1 && b.sizes().rank() == 1, "gpunet::outer: shapes ",
          to_string(a.sizes()), " and ", to_string(b.sizes()), " (want two vectors), flatten them");
  return unsqueeze(std::forward<A>(a), 1) * unsqueeze(std::forward<B>(b), 0);
}

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/tensor/matmul.ipp>
#endif
