// Bodies of reduce.hpp.
#pragma once

#include <gpunet/tensor/reduce.hpp>

namespace gpunet::detail {

GPUNET_INLINE ReducedShape::ReducedShape(const Sizes& shape, std::span<const int> dims,
                                         bool keepdim, std::string_view function)
    : sizes{1, 1, 1}, order{}, rank(shape.rank()) {
  bool reduces[Sizes::max_rank] = {};
  for (const int dim : dims) {
    const int d = rank == 0 && (dim == 0 || dim == -1) ? 0 : dimension_at(dim, rank, function);
    require(!reduces[d], "gpunet::", function, ": dimension ", dim,
            " is given twice, give it once");
    reduces[d] = true;
  }
  int first = rank, last = -1;  // reduced dimension, dimension of more than one element
  for (int d = 0; d < rank; ++d) {
    reduces[d] = reduces[d] || dims.empty();
    if (reduces[d]) first = std::min(first, d);
    if (shape[d] > 1) last = d;
    if (!reduces[d])
      result.append(shape[d]);
    else if (keepdim)
      result.append(1);
  }
  const bool rows = last < 0 || reduces[last];  // the reduced dimension is innermost
  std::size_t k = 0;
  const auto take = [&](bool reduced, int from, int to, index_t& extent) {
    for (int d = from; d < to; ++d)
      if (reduces[d] == reduced) {
        order[k++] = d;
        extent *= shape[d];
      }
  };
  take(false, 0, rows ? rank : first, sizes.outer);
  take(true, 0, rank, sizes.length);
  if (!rows) take(false, first, rank, sizes.inner);
}

template <class D>
Buffer<std::byte, D> folded(const AnyExpression<D>& x, const ReducedShape& shape,
                            const FoldStep& step, const Operand& of_nothing) {
  D& device = x.device();
  Buffer<std::byte, D> out(device, shape.result.numel() * bytes_of(step.accumulated));
  if (out.size() == 0) return out;
  if (shape.sizes.length == 0) {
    AnyExpression<D> nothing(&device, of_nothing);
    nothing.write_to(
        &device, {out.data(), step.accumulated, shape.result, dense_strides(shape.result)}, "sum");
  } else {
    const RunnableProgram program =
        runnable(x.program(), std::span(shape.order).first(static_cast<std::size_t>(shape.rank)));
    fold(device, program, shape.sizes, step, out.data());
  }
  return out;
}

}  // namespace gpunet::detail
