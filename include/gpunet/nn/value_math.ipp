// Bodies of value_math.hpp. gpunet::compiled and gpunet::cuda both contain them: the latter also
// chooses kernels of Cuda.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/nn/reshape.hpp>
#include <gpunet/nn/value_math.hpp>
#include <gpunet/ops/add.hpp>
#include <gpunet/ops/binary.hpp>
#include <gpunet/ops/concat.hpp>
#include <gpunet/ops/gather.hpp>
#include <gpunet/ops/sources.hpp>
#include <gpunet/ops/sum.hpp>

namespace gpunet::nn {

namespace detail {
inline namespace GPUNET_BACKENDS {

template <class F>
Value binary_node(std::string_view function, const Value& a, const Value& b) {
  const std::optional<Sizes> out = broadcast_shapes(a.sizes(), b.sizes());
  require(out.has_value(), "gpunet::nn::", function, ": values of shapes ", shape_text(a.sizes()),
          " and ", shape_text(b.sizes()),
          " (want the same extents, counted from the last dimension, or 1), reshape one of them");
  return add_node<F>(function, BinaryOp<F>{Broadcast(a.sizes(), b.sizes())}, std::array{a, b},
                     *out);
}

// Returns the sum of x over dimension `dim` of a sample, whose extent becomes 1.
GPUNET_BACKENDS_INLINE Value sum_along(std::string_view function, const Value& x, int dim,
                                       bool is_mean) {
  const Sizes in = x.sizes();
  SumOp op{.rows = 1, .length = in[dim], .columns = 1};
  Sizes out;
  for (int i = 0; i < in.rank(); ++i) {
    if (i < dim) op.rows *= in[i];
    if (i > dim) op.columns *= in[i];
    out.append(i == dim ? 1 : in[i]);
  }
  if (is_mean) op.scale = 1 / static_cast<double>(op.length);
  return add_node<SumOp>(function, op, x, out);
}

GPUNET_BACKENDS_INLINE Value view_node(std::string_view function, const Value& x,
                                       const Sizes& out) {
  return x.sizes() == out ? x : add_node<ReshapeOp>(function, ReshapeOp{false}, x, out);
}

GPUNET_BACKENDS_INLINE Value sum_over(std::string_view function, const Value& x,
                                      std::span<const int> dims, bool keepdim, bool is_mean) {
  require_same_network(function, std::span(&x, 1));
  const int rank = x.sizes().rank();
  std::vector<bool> is_summed(static_cast<std::size_t>(rank));
  for (const int dim : dims) {
    const auto at = static_cast<std::size_t>(sample_dim(function, x, dim));
    require(!is_summed[at], "gpunet::nn::", function, ": dimension ", dim,
            " is given twice, give it once");
    is_summed[at] = true;
  }
  Value y = x;
  Sizes out;
  for (int i = 0; i < rank; ++i) {
    const bool summed = is_summed[static_cast<std::size_t>(i)];
    if (summed) y = sum_along(function, y, i, is_mean);
    if (!summed || keepdim) out.append(y.sizes()[i]);
  }
  return view_node(function, y, out);
}

GPUNET_BACKENDS_INLINE Value sum_all(std::string_view function, const Value& x, bool is_mean) {
  return view_node(
      function, sum_along(function, view_node(function, x, Sizes{x.sizes().numel()}), 0, is_mean),
      {});
}

// Returns rows and elements of a row for a part of dimension `dim`.
GPUNET_BACKENDS_INLINE std::pair<index_t, index_t> rows_and_columns(const Sizes& in, int dim) {
  index_t rows = 1, columns = 1;
  for (int i = 0; i < in.rank(); ++i)
    (i < dim ? rows : columns) *= in[i];
  return {rows, columns};
}

}  // namespace GPUNET_BACKENDS
}  // namespace detail

inline namespace GPUNET_BACKENDS {

GPUNET_BACKENDS_INLINE Value operator+(const Value& a, const Value& b) {
  if (a.sizes() != b.sizes()) return detail::binary_node<functions::BroadcastSum>("add", a, b);
  return detail::add_node<Add>("add", AddOp{}, std::array{a, b}, a.sizes());
}
GPUNET_BACKENDS_INLINE Value operator-(const Value& a, const Value& b) {
  return detail::binary_node<functions::Difference>("sub", a, b);
}
GPUNET_BACKENDS_INLINE Value operator*(const Value& a, const Value& b) {
  return detail::binary_node<functions::Product>("mul", a, b);
}
GPUNET_BACKENDS_INLINE Value operator/(const Value& a, const Value& b) {
  return detail::binary_node<functions::Quotient>("div", a, b);
}
GPUNET_BACKENDS_INLINE Value maximum(const Value& a, const Value& b) {
  return detail::binary_node<functions::Maximum>("maximum", a, b);
}
GPUNET_BACKENDS_INLINE Value minimum(const Value& a, const Value& b) {
  return detail::binary_node<functions::Minimum>("minimum", a, b);
}
GPUNET_BACKENDS_INLINE Value max(const Value& a, const Value& b) {
  return maximum(a, b);
}
GPUNET_BACKENDS_INLINE Value min(const Value& a, const Value& b) {
  return minimum(a, b);
}

GPUNET_BACKENDS_INLINE Value operator+(const Value& x, double number) {
  return detail::elementwise_node("add", functions::Affine(1, number), x);
}
GPUNET_BACKENDS_INLINE Value operator+(double number, const Value& x) {
  return x + number;
}
GPUNET_BACKENDS_INLINE Value operator-(const Value& x, double number) {
  return detail::elementwise_node("sub", functions::Affine(1, -number), x);
}
GPUNET_BACKENDS_INLINE Value operator-(double number, const Value& x) {
  return detail::elementwise_node("sub", functions::Affine(-1, number), x);
}
GPUNET_BACKENDS_INLINE Value operator*(const Value& x, double number) {
  return detail::elementwise_node("mul", functions::Affine(number, 0), x);
}
GPUNET_BACKENDS_INLINE Value operator*(double number, const Value& x) {
  return x * number;
}
GPUNET_BACKENDS_INLINE Value operator/(const Value& x, double number) {
  return detail::elementwise_node("div", functions::Affine(1 / number, 0), x);
}
GPUNET_BACKENDS_INLINE Value operator/(double number, const Value& x) {
  return detail::elementwise_node("div", functions::Reciprocal(number), x);
}
GPUNET_BACKENDS_INLINE Value operator-(const Value& x) {
  return detail::elementwise_node("neg", functions::Affine(-1, 0), x);
}

GPUNET_BACKENDS_INLINE Value pow(const Value& x, double exponent) {
  return detail::elementwise_node("pow", functions::Pow(exponent), x);
}
GPUNET_BACKENDS_INLINE Value clamp(const Value& x, double min, double max) {
  require(min <= max, "gpunet::nn::clamp: from ", min, " to ", max,
          " (want the smaller one first)");
  return detail::elementwise_node("clamp", functions::Clamp(min, max), x);
}

GPUNET_BACKENDS_INLINE Value sum(const Value& x) {
  return detail::sum_all("sum", x, false);
}
GPUNET_BACKENDS_INLINE Value mean(const Value& x) {
  return detail::sum_all("mean", x, true);
}
GPUNET_BACKENDS_INLINE Value sum(const Value& x, std::initializer_list<int> dims, bool keepdim) {
  return detail::sum_over("sum", x, {dims.begin(), dims.size()}, keepdim, false);
}
GPUNET_BACKENDS_INLINE Value mean(const Value& x, std::initializer_list<int> dims, bool keepdim) {
  return detail::sum_over("mean", x, {dims.begin(), dims.size()}, keepdim, true);
}
GPUNET_BACKENDS_INLINE Value sum(const Value& x, int dim, bool keepdim) {
  return detail::sum_over("sum", x, std::span(&dim, 1), keepdim, false);
}
GPUNET_BACKENDS_INLINE Value mean(const Value& x, int dim, bool keepdim) {
  return detail::sum_over("mean", x, std::span(&dim, 1), keepdim, true);
}

GPUNET_BACKENDS_INLINE Value reshape(const Value& x, std::initializer_list<index_t> sizes) {
  const index_t elements = x.sizes().numel();
  index_t given = 1;
  int computed = 0;
  for (const index_t size : sizes) {
    require(size >= 1 || size == -1, "gpunet::nn::reshape: a size of ", size,
            " (want 1 or more, or -1 once)");
    computed += size == -1;
    require(size == -1 || given <= most_elements / size,
            "gpunet::nn::reshape: sizes of over 2^48 elements, a value of shape ",
            detail::shape_text(x.sizes()), " has ", elements);
    given *= size == -1 ? 1 : size;
  }
  require(computed <= 1,
          "gpunet::nn::reshape: -1 stands twice (want one size to be computed), give the other");
  require(computed ? elements % given == 0 : elements == given,
          "gpunet::nn::reshape: a value of shape ", detail::shape_text(x.sizes()), " has ",
          elements, " elements in a sample (want ", computed ? "a multiple of " : "", given,
          "), give sizes of a sample, without the batch");
  Sizes out;
  for (const index_t size : sizes)
    out.append(size == -1 ? elements / given : size);
  return detail::view_node("reshape", x, out);
}
GPUNET_BACKENDS_INLINE Value flatten(const Value& x) {
  return detail::view_node("flatten", x, Sizes{x.sizes().numel()});
}
GPUNET_BACKENDS_INLINE Value permute(const Value& x, std::initializer_list<int> dims) {
  const Sizes in = x.sizes();
  require(std::ssize(dims) == x.dim(), "gpunet::nn::permute: ", dims.size(),
          " dimensions for a value of shape ", detail::shape_text(in),
          " (want each once, first 0, the batch), as in permute(x, {0, 2, 1})");
  require(*dims.begin() == 0, "gpunet::nn::permute: dimension ", *dims.begin(),
          " first (want 0: the batch stays where it is), as in permute(x, {0, 2, 1})");
  GatherOp op{GatherOp::Kind::permute, static_cast<std::uint8_t>(in.rank())};
  Sizes out;
  std::vector<bool> found(static_cast<std::size_t>(in.rank()));
  for (const int dim : std::span(dims.begin() + 1, dims.end())) {
    const int from = detail::sample_dim("permute", x, dim);
    const std::size_t to = static_cast<std::size_t>(out.rank());
    require(!found[static_cast<std::size_t>(from)], "gpunet::nn::permute: dimension ", dim,
            " is given twice, give each once");
    found[static_cast<std::size_t>(from)] = true;
    op.axes[to] = {in[from], in[from], 0, static_cast<std::int8_t>(from)};
    out.append(in[from]);
  }
  return detail::add_node<GatherOp>("permute", op, x, out);
}
GPUNET_BACKENDS_INLINE Value transpose(const Value& x, int dim0, int dim1) {
  const int a = detail::sample_dim("transpose", x, dim0),
            b = detail::sample_dim("transpose", x, dim1);
  const Sizes in = x.sizes();
  GatherOp op{GatherOp::Kind::permute, static_cast<std::uint8_t>(in.rank())};
  Sizes out;
  for (int i = 0; i < in.rank(); ++i) {
    const int from = i == a ? b : i == b ? a : i;
    op.axes[static_cast<std::size_t>(i)] = {in[from], in[from], 0, static_cast<std::int8_t>(from)};
    out.append(in[from]);
  }
  return detail::add_node<GatherOp>("transpose", op, x, out);
}

GPUNET_BACKENDS_INLINE Value cat(std::initializer_list<Value> values, int dim) {
  return cat(std::span(values.begin(), values.size()), dim);
}
GPUNET_BACKENDS_INLINE Value cat(std::span<const Value> values, int dim) {
  detail::require_same_network("cat", values);
  require(values.size() <= most_inputs, "gpunet::nn::cat: ", values.size(), " values (want 1 to ",
          most_inputs, "), join some before");
  const Sizes first = values[0].sizes();
  const int axis = detail::sample_dim("cat", values[0], dim);
  ConcatOp op{.rows = detail::rows_and_columns(first, axis).first, .dim = axis + 1};
  Sizes out;
  index_t extent = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Sizes sizes = values[i].sizes();
    bool fits = sizes.rank() == first.rank();
    for (int k = 0; fits && k < sizes.rank(); ++k)
      fits = k == axis || sizes[k] == first[k];
    require(fits, "gpunet::nn::cat: values of shapes ", detail::shape_text(first), " and ",
            detail::shape_text(sizes), ", joined along dimension ", dim,
            " (want the other extents to be the same), reshape one");
    op.columns[i] = detail::rows_and_columns(sizes, axis).second;
    extent += sizes[axis];
  }
  for (int k = 0; k < first.rank(); ++k)
    out.append(k == axis ? extent : first[k]);
  return detail::add_node<ConcatOp>("cat", op, values, out);
}
GPUNET_BACKENDS_INLINE Value narrow(const Value& x, int dim, index_t start, index_t length) {
  const int axis = detail::sample_dim("narrow", x, dim);
  const Sizes in = x.sizes();
  require(start >= 0 && length >= 1 && start <= in[axis] && length <= in[axis] - start,
          "gpunet::nn::narrow: length ", length, " from start ", start, " along dimension ", dim,
          " of a value of shape ", detail::shape_text(in),
          " (want 1 or more, within its extent of ", in[axis], ")");
  const auto [rows, all] = detail::rows_and_columns(in, axis);
  const index_t each = all / in[axis];
  Sizes out;
  for (int k = 0; k < in.rank(); ++k)
    out.append(k == axis ? length : in[k]);
  return detail::add_node<NarrowOp>("narrow", NarrowOp{rows, start * each, length * each, all}, x,
                                    out);
}

GPUNET_BACKENDS_INLINE Value detach(const Value& x) {
  return detail::add_node<DetachOp>("detach", DetachOp{}, x, x.sizes());
}
GPUNET_BACKENDS_INLINE Value randn_like(const Value& x) {
  return detail::add_node<RandnOp>("randn_like", RandnOp{}, x, x.sizes());
}

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::nn
