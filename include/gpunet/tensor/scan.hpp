// Sums of all elements up to each one, and the places of true elements.
#pragma once

#include <gpunet/tensor/reduce.hpp>

namespace gpunet {

namespace detail {

// Writes the sums of the elements of a program [outer, length, inner] up to each one along the
// middle dimension. `type` is that of the sums, which are accumulated in double or index_t.
void scan(Host& device, const RunnableProgram& program, const FoldSizes& sizes, ElementType type,
          void* out);

// The sums of one part of a row: y[part, ...] from `starts` [parts, outer, inner] on, or 0. One
// index = one part of one row.
struct ScanPart {
  RunnableProgram program;
  FoldSizes sizes;
  index_t part_length;
  ElementType type, accumulated;
  const std::byte* starts;  // null: 0
  std::byte* out;

  GPUNET_FN void operator()(index_t i) const {
    const index_t results = sizes.outer * sizes.inner;
    const index_t part = i / results, result = i % results;
    AnyElement sum{};
    sum.i64 = 0;
    if (starts) sum = loaded(starts, accumulated, i);
    index_t at = (result / sizes.inner * sizes.length + part * part_length) * sizes.inner +
                 result % sizes.inner;
    for (index_t r = part * part_length; r < sizes.length && r < (part + 1) * part_length;
         ++r, at += sizes.inner) {
      const AnyElement x = converted(evaluate(program, at), program.type, accumulated);
      sum = accumulated == ElementType::f64 ? run_step<double>(element::Code::Add, sum, x)
                                            : run_step<index_t>(element::Code::Add, sum, x);
      const AnyElement y = converted(sum, accumulated, type);
      with_type(type, [&](auto element) {
        reinterpret_cast<decltype(element)*>(out)[at] = y.get<decltype(element)>();
        return 0;
      });
    }
  }
};

// Replaces the sums of parts [parts, columns] by the sums of the parts before. One index = one
// column.
struct ScanParts {
  index_t parts, columns;
  ElementType accumulated;
  std::byte* sums;

  template <class A>
  GPUNET_FN void run(index_t column, A* values) const {
    A before{};
    for (index_t part = 0; part < parts; ++part) {
      const A sum = values[part * columns + column];
      values[part * columns + column] = before;
      before += sum;
    }
  }
  GPUNET_FN void operator()(index_t column) const {
    if (accumulated == ElementType::f64)
      run(column, reinterpret_cast<double*>(sums));
    else
      run(column, reinterpret_cast<index_t*>(sums));
  }
};

// Returns the places of the flags that are true, in order.
Tensor<index_t, Host> places_of_true(const View<const bool, Host>& flags, Host& device);

#if GPUNET_CUDA
// The same on Cuda.
void scan(Cuda& device, const RunnableProgram& program, const FoldSizes& sizes, ElementType type,
          void* out);
Tensor<index_t, Cuda> places_of_true(const View<const bool, Cuda>& flags, Cuda& device);
#endif

}  // namespace detail

// Returns the sums of the elements up to each one along a dimension, as torch.cumsum. Sums of
// integers and bools are index_t.
template <detail::TensorLike X>
auto cumsum(X&& x, int dim) {
  using T = detail::ValueOf<X>;
  using R = std::conditional_t<std::is_floating_point_v<T>, T, index_t>;
  using D = detail::DeviceOf<X>;
  auto elements = detail::expression(std::forward<X>(x));
  if (elements.sizes().rank() == 0 && (dim == 0 || dim == -1))
    return std::move(elements).template cast<R>().eval();
  Tensor<R, D> out(elements.device(), elements.sizes());
  const Sizes& sizes = out.sizes();
  const int at = detail::dimension_at(dim, sizes.rank(), "cumsum");
  const detail::FoldSizes shape = detail::along(sizes, at);
  if (out.numel() > 0)
    detail::scan(elements.device(), detail::runnable(elements.program()), shape,
                 detail::element_type<R>, out.data());
  return out;
}

// Returns the differences of neighbors along a dimension, x[i + 1] - x[i], n times.
template <detail::TensorLike X>
auto diff(X&& x, index_t n = 1, int dim = -1) {
  require(n >= 0, "gpunet::diff: ", n, " times (want 0 or more)");
  const auto held = detail::stored(std::forward<X>(x));
  const auto view = detail::view_of(held);
  const int at = detail::dimension_at(dim, view.sizes().rank(), "diff");
  const auto step = [&](const auto& y) {
    const index_t length = y.size(at) - 1;
    const auto right = narrow(y, at, 1, length), left = narrow(y, at, 0, length);
    if constexpr (std::is_same_v<detail::ValueOf<X>, bool>)
      return Tensor(right ^ left);
    else
      return Tensor(right - left);
  };
  if (n == 0 || view.size(at) == 0) return view.contiguous();
  auto y = step(view);
  while (--n > 0 && y.size(at) > 0)
    y = step(y);
  return y;
}

}  // namespace gpunet

GPUNET_EXTERN_LOOP(gpunet::detail::ScanPart);
GPUNET_EXTERN_LOOP(gpunet::detail::ScanParts);

#if GPUNET_NVCC && !GPUNET_COMPILED
#include <gpunet/tensor/scan.cuh>
#endif
#if !GPUNET_COMPILED
#include <gpunet/tensor/scan.ipp>
#endif
