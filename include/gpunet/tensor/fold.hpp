// Reductions of programs: the elements along some dimensions are folded by an operation.
#pragma once

#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/tensor/element_program.hpp>

namespace gpunet::detail {

// The elements to fold: [outer, length, inner] in the order of a program, over the middle
// dimension.
struct FoldSizes {
  index_t outer, length, inner;
};
// Returns the sizes of a fold of a dense array over one of its dimensions.
FoldSizes along(const Sizes& sizes, int dim);

// A fold by an operation. Elements of T are accumulated as `accumulated`, floats in short runs as
// such.
struct FoldStep {
  element::Code code;
  ElementType type, accumulated;
  // Of Host: acc = op(acc, x) for both types, the conversion of T, and folds of dense rows.
  Loop fold_elements = nullptr, fold = nullptr, convert = nullptr, fold_rows = nullptr;
  bool in_runs = false;  // whether short runs are folded as T
};

// Dense rows, and their results.
struct RowArrays {
  index_t length;
  const void* x;
  void* y;
};

// y[row] = the fold of a row of x, converted. One index = one row.
template <class Op, class T, class A>
struct FoldRows : RowArrays {
  [[gnu::always_inline]] inline void operator()(index_t row) const {
    constexpr index_t lanes = sizeof(T) == 1 ? 64 : 128 / sizeof(T);
    const T* const begin = static_cast<const T*>(x) + row * length;
    A& result = static_cast<A*>(y)[row];
    if (length < 2 * lanes) {
      A sum = static_cast<A>(begin[0]);
      for (index_t i = 1; i < length; ++i)
        sum = Op{}(sum, static_cast<A>(begin[i]));
      result = sum;
      return;
    }
    // Whole numbers overflow in narrow lanes; runs of floats are short. In a product every rounding
    // counts, in a sum the roundings of the last, largest partial sums.
    constexpr bool is_product = std::is_same_v<Op, element::Multiply>;
    using Lane = std::conditional_t<std::is_integral_v<T> || is_product, A, T>;
    Lane partial[static_cast<std::size_t>(lanes)];
    for (index_t l = 0; l < lanes; ++l)
      partial[l] = static_cast<Lane>(begin[l]);
    index_t i = lanes;
    for (; i + lanes <= length; i += lanes)
      for (index_t l = 0; l < lanes; ++l)
        partial[l] = Op{}(partial[l], static_cast<Lane>(begin[i + l]));
    A sum = static_cast<A>(partial[0]);
    for (index_t l = 1; l < lanes; ++l)
      sum = Op{}(sum, static_cast<A>(partial[l]));
    for (; i < length; ++i)
      sum = Op{}(sum, static_cast<A>(begin[i]));
    result = sum;
  }
};

// Folds the elements of a program to out [outer, inner], of the type that is accumulated. No size
// is 0. The order of the operations depends on the sizes only.
void fold(Host& device, const RunnableProgram& program, const FoldSizes& sizes,
          const FoldStep& step, void* out);

// A partial fold on Cuda; adding folds. Empty at first.
struct PartialFold {
  AnyElement value{};
  element::Code code{};
  ElementType type{};
  bool is_empty = true;

  GPUNET_FN PartialFold& operator+=(const PartialFold& other) {
    if (other.is_empty) return *this;
    if (is_empty) return *this = other;
    const element::Code op = code;
    const AnyElement a = value, b = other.value;
    value = with_type(type, [&](auto element) { return run_step<decltype(element)>(op, a, b); });
    return *this;
  }
};

// One sum = the fold of one part of one element's row: parts [parts, outer, inner].
struct FoldPart {
  RunnableProgram program;
  FoldSizes sizes;
  index_t part_length;
  element::Code code;
  ElementType accumulated;
  std::byte* out;

  GPUNET_FN PartialFold operator()(index_t i, index_t r) const {
    const index_t results = sizes.outer * sizes.inner;
    const index_t part = i / results, result = i % results;
    const index_t row = part * part_length + r;
    PartialFold fold;
    if (row >= sizes.length) return fold;
    const index_t at =
        (result / sizes.inner * sizes.length + row) * sizes.inner + result % sizes.inner;
    fold.value = converted(evaluate(program, at), program.type, accumulated);
    fold.code = code;
    fold.type = accumulated;
    fold.is_empty = false;
    return fold;
  }
  GPUNET_FN void store(index_t i, const PartialFold& fold) const {
    with_type(accumulated, [&](auto element) {
      reinterpret_cast<decltype(element)*>(out)[i] = fold.value.get<decltype(element)>();
      return 0;
    });
  }
};

#if GPUNET_CUDA
// The same on Cuda.
void fold(Cuda& device, const RunnableProgram& program, const FoldSizes& sizes,
          const FoldStep& step, void* out);
#endif

}  // namespace gpunet::detail

GPUNET_EXTERN_SUM(gpunet::detail::FoldPart);

// All folds of rows that reductions use, each after GPUNET_LOOP_PREFIX.
#define GPUNET_FOLDS(Op, T, A) GPUNET_BLOCK_LOOP(FoldRows<element::Op, T, A>)
#define GPUNET_SUM_FOLDS(Op)              \
  GPUNET_FOLDS(Op, float, double)         \
  GPUNET_FOLDS(Op, double, double)        \
  GPUNET_FOLDS(Op, std::int32_t, index_t) \
  GPUNET_FOLDS(Op, index_t, index_t)      \
  GPUNET_FOLDS(Op, std::uint8_t, index_t)
#define GPUNET_EXTREME_FOLDS(Op)               \
  GPUNET_FOLDS(Op, float, float)               \
  GPUNET_FOLDS(Op, double, double)             \
  GPUNET_FOLDS(Op, std::int32_t, std::int32_t) \
  GPUNET_FOLDS(Op, index_t, index_t)           \
  GPUNET_FOLDS(Op, std::uint8_t, std::uint8_t)
#define GPUNET_FOLD_LOOPS       \
  GPUNET_SUM_FOLDS(Add)         \
  GPUNET_SUM_FOLDS(Multiply)    \
  GPUNET_EXTREME_FOLDS(Maximum) \
  GPUNET_EXTREME_FOLDS(Minimum) \
  GPUNET_FOLDS(Or, bool, bool)  \
  GPUNET_FOLDS(And, bool, bool)

#if GPUNET_NVCC && !GPUNET_COMPILED
#include <gpunet/tensor/fold.cuh>
#endif
#if !GPUNET_COMPILED
#include <gpunet/tensor/fold.ipp>
#else
namespace gpunet::detail {
#define GPUNET_LOOP_PREFIX extern template
GPUNET_FOLD_LOOPS
#undef GPUNET_LOOP_PREFIX
}  // namespace gpunet::detail
#endif
