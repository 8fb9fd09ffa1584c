// Bodies of matmul.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include <gpunet/tensor/matmul.hpp>

namespace gpunet::detail {

GPUNET_INLINE MatrixProduct::MatrixProduct(const Sizes& a, const Sizes& b) {
  require(a.rank() > 0 && b.rank() > 0, "gpunet::matmul: the shapes ", to_string(a), " and ",
          to_string(b), " (want one dimension or more), multiply numbers with *");
  m = a.rank() > 1 ? a[a.rank() - 2] : 1;
  k = a[a.rank() - 1];
  n = b.rank() > 1 ? b[b.rank() - 1] : 1;
  const index_t rows = b[std::max(0, b.rank() - 2)];
  require(k == rows, "gpunet::matmul: the shapes ", to_string(a), " and ", to_string(b),
          " cannot be multiplied (rows of ", k, " elements meet columns of ", rows,
          "), transpose or reshape one of them");
  const auto batch_of = [](const Sizes& sizes) {
    Sizes leading;
    for (int d = 0; d + 2 < sizes.rank(); ++d)
      leading.append(sizes[d]);
    return leading;
  };
  const std::optional<Sizes> both = broadcast_shapes(batch_of(a), batch_of(b));
  require(both.has_value(), "gpunet::matmul: the batches of the shapes ", to_string(a), " and ",
          to_string(b),
          " do not broadcast (want the same extents or 1, aligned before the last two), reshape "
          "one of them");
  batch = result = *both;
  if (a.rank() > 1) result.append(m);
  if (b.rank() > 1) result.append(n);
}

GPUNET_INLINE std::optional<Transpose> stored_as(const Layout& x) {
  const auto last = static_cast<std::size_t>(x.sizes.rank() - 1);
  const index_t rows = x.sizes[x.sizes.rank() - 2], columns = x.sizes[x.sizes.rank() - 1];
  const auto is = [](index_t extent, index_t stride, index_t wanted) {
    return extent <= 1 || stride == wanted;
  };
  if (is(columns, x.strides[last], 1) && is(rows, x.strides[last - 1], columns))
    return Transpose::no;
  if (is(rows, x.strides[last - 1], 1) && is(columns, x.strides[last], rows)) return Transpose::yes;
  return std::nullopt;
}

GPUNET_INLINE Layout as_rows(const Layout& x) {
  return x.sizes.rank() > 1 ? x : unsqueezed(x, 0);
}
GPUNET_INLINE Layout as_columns(const Layout& x) {
  return x.sizes.rank() > 1 ? x : unsqueezed(x, 1);
}

GPUNET_INLINE index_t matrix_offset(const Layout& x, const Sizes& batch, index_t i) {
  index_t offset = 0;
  const int missing = batch.rank() - (x.sizes.rank() - 2);
  for (int d = batch.rank() - 1; d >= missing; --d) {
    if (x.sizes[d - missing] > 1)
      offset += i % batch[d] * x.strides[static_cast<std::size_t>(d - missing)];
    i /= batch[d];
  }
  return offset;
}

// Adds row[p] * b[p, j] over p to c[j]. One index = one j.
struct AddRows {
  index_t k, n;
  const double* row;
  const double* b;
  double* c;
  [[gnu::always_inline]] inline void operator()(index_t j) const {
    double sum = 0;
    for (index_t p = 0; p < k; ++p)
      sum += row[p] * b[p * n + j];
    c[j] = sum;
  }
};

GPUNET_INLINE void multiply(Host& device, Transpose ta, Transpose tb, index_t m, index_t n,
                            index_t k, const double* a, const double* b, double* c) {
  std::vector<double> rows, columns;
  const auto transposed = [](std::vector<double>& out, const double* x, index_t from_rows,
                             index_t from_columns) {
    out.resize(static_cast<std::size_t>(from_rows * from_columns));
    for (index_t i = 0; i < from_rows; ++i)
      for (index_t j = 0; j < from_columns; ++j)
        out[static_cast<std::size_t>(j * from_rows + i)] = x[i * from_columns + j];
    return out.data();
  };
  if (ta == Transpose::yes) a = transposed(rows, a, k, m);
  if (tb == Transpose::yes) b = transposed(columns, b, n, k);
  const Loop loop = loop_over<AddRows>();
  constexpr index_t block = 64;  // columns, so that their part of B stays in the cache
  device.run_if(m * n * k > 1 << 15, ceil_div(m, index_t{8}), [&](index_t group, int) {
    for (index_t j = 0; j < n; j += block)
      for (index_t i = group * 8; i < std::min(m, group * 8 + 8); ++i) {
        const AddRows add{k, n, a + i * k, b, c + i * n};
        loop(&add, j, std::min(n, j + block));
      }
  });
}

}  // namespace gpunet::detail
