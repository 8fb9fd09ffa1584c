// How a matrix product is cut: which tile, and whether its sums over k are parted.
#pragma once

#include <algorithm>
#include <array>

#include <gpunet/core/math.hpp>
#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/device/cuda/gemm/tiled_kernel.cuh>

namespace gpunet::detail {

// Kinds of arithmetic to choose from, and how fast each is when the device is full, relative to the
// others. The speeds are estimated, not measured: from the share of instructions that are
// multiply-adds and the traffic to shared memory.
template <class... Math>
struct Maths {
  static constexpr std::size_t size = sizeof...(Math);
};

// Products of fewer rows are computed exactly: a tile of tensor cores would be mostly empty.
inline constexpr index_t least_tensor_rows = 33;

// Properties of products that are known at compile time. Tiles that cannot be the fastest then are
// left out: the compiler takes up to half a second for each.
enum class Known {
  nothing,
  few_rows,  // less than least_tensor_rows
  // So little that neither large tiles nor tensor cores gain anything that shows beside a launch.
  little_work
};

// Exact: large tiles for large products; smaller ones where multiprocessors would be idle; 16 and 8
// rows for convolutions of few channels.
template <class T, Known known = Known::nothing>
struct ExactMaths {
  using type = Maths<ScalarMath<T, 64, 64, 16, 4, 4, 1>, ScalarMath<T, 16, 64, 16, 4, 4, 4>>;
  static constexpr std::array speed{0.7, 0.4};
};
template <class T>
struct ExactMaths<T, Known::few_rows> {
  using type = Maths<ScalarMath<T, 16, 64, 16, 4, 4, 4>>;
  static constexpr std::array speed{0.4};
};
template <>
struct ExactMaths<float, Known::nothing> {
  using type =
      Maths<ScalarMath<float, 128, 128, 8, 8, 8, 1>, ScalarMath<float, 64, 64, 16, 4, 4, 1>,
            ScalarMath<float, 16, 64, 16, 4, 4, 4>, ScalarMath<float, 8, 128, 16, 8, 4, 4>>;
  static constexpr std::array speed{1.0, 0.7, 0.4, 0.35};
};
template <>
struct ExactMaths<float, Known::little_work> {
  using type = Maths<ScalarMath<float, 64, 64, 16, 4, 4, 1>, ScalarMath<float, 16, 64, 16, 4, 4, 4>,
                     ScalarMath<float, 8, 128, 16, 8, 4, 4>>;
  static constexpr std::array speed{0.7, 0.4, 0.35};
};
template <>
struct ExactMaths<float, Known::few_rows> {
  using type =
      Maths<ScalarMath<float, 16, 64, 16, 4, 4, 4>, ScalarMath<float, 8, 128, 16, 8, 4, 4>>;
  static constexpr std::array speed{0.4, 0.35};
};
struct Tf32Maths {
  using type = Maths<TensorMath<Tf32, 64, 128, 16, 2, 4>>;
  static constexpr std::array speed{1.0};
};
struct Bf16Maths {
  using type = Maths<TensorMath<Bf16, 64, 128, 16, 2, 4>>;
  static constexpr std::array speed{1.0};
};

struct ProductSizes {
  index_t m, n, k;
  index_t work() const { return m * n * k; }
};

struct TileSizes {
  index_t m, n, k;
};

// How one product is cut into tiles of one size.
struct ProductCut {
  index_t tiles_down, tiles, k_per_split, splits, partials;

  ProductCut(const TileSizes& tile, const ProductSizes& p, int multiprocessors)
      : tiles_down(ceil_div(p.m, tile.m)), tiles(tiles_down * ceil_div(p.n, tile.n)) {
    // Of a multiprocessor: enough to hide the latency of memory.
    constexpr index_t blocks_each = 2;
    // In a part: joining the parts takes about as long as two steps.
    constexpr index_t least_steps = 4;
    constexpr index_t most_splits = 64;  // the block that joins them reads them all
    const index_t steps = ceil_div(p.k, tile.k),
                  wanted = blocks_each * multiprocessors / std::max(tiles, index_t{1});
    const index_t parts =
        std::clamp(std::min(wanted, steps / least_steps), index_t{1}, most_splits);
    const index_t steps_each = std::max(ceil_div(steps, parts), index_t{1});
    k_per_split = steps_each * tile.k;
    splits = std::max(ceil_div(steps, steps_each), index_t{1});
    partials = splits > 1 ? splits * tiles * tile.m * tile.n : 0;
  }
  index_t blocks() const { return tiles * splits; }
};

// Which arithmetic a launch of one or two products takes, and how it cuts them.
struct ProductPlan {
  Precision precision = Precision::exact;
  std::size_t math = 0;  // of the list that belongs to the precision
};

template <class Math>
inline constexpr TileSizes tile_of{Math::M, Math::N, Math::K};

template <class List>
struct TilesOf;
template <class... Math>
struct TilesOf<Maths<Math...>> {
  static constexpr std::array<TileSizes, sizeof...(Math)> sizes{tile_of<Math>...};
};

// The estimated time of tiles of this kind: the device does all blocks in some rounds, but none
// faster than its largest one.
template <class Kind, std::size_t count>
double estimated_time(const std::array<ProductSizes, count>& products, int multiprocessors,
                      std::size_t kind) {
  const TileSizes& tile = TilesOf<typename Kind::type>::sizes[kind];
  double total = 0, largest = 0;
  for (const ProductSizes& p : products) {
    if (p.m == 0 || p.n == 0) continue;
    const ProductCut cut(tile, p, multiprocessors);
    const double block = static_cast<double>(tile.m * tile.n * cut.k_per_split);
    total += block * static_cast<double>(cut.blocks());
    largest = std::max(largest, block);
  }
  return std::max(total / multiprocessors, largest) / Kind::speed[kind];
}

template <class Kind, std::size_t count>
std::size_t fastest(const std::array<ProductSizes, count>& products, int multiprocessors) {
  std::size_t best = 0;
  double best_time = 0;
  for (std::size_t i = 0; i < Kind::type::size; ++i) {
    const double time = estimated_time<Kind>(products, multiprocessors, i);
    if (i == 0 || time < best_time) {
      best = i;
      best_time = time;
    }
  }
  return best;
}

template <class T, Known known>
inline constexpr bool may_use_tensor_cores = std::is_same_v<T, float>&& known == Known::nothing;

// Whether tensor cores multiply these: where they are allowed and there, and one of the products
// fills their tiles.
template <class T, Known known, std::size_t count>
Precision product_precision(const Cuda& device, const std::array<ProductSizes, count>& products) {
  const Precision allowed = device.precision();
  if (may_use_tensor_cores<T, known> &&
      (allowed == Precision::tf32 || allowed == Precision::bf16) &&
      device.architecture() >= tensor_architecture)
    for (const ProductSizes& p : products)
      if (p.m >= least_tensor_rows) return allowed;
  return Precision::exact;
}

template <class T, Known known, std::size_t count>
ProductPlan plan_products(const Cuda& device, const std::array<ProductSizes, count>& products) {
  const Precision precision = product_precision<T, known>(device, products);
  if (precision == Precision::exact)
    return {precision, fastest<ExactMaths<T, known>>(products, device.multiprocessors())};
  return {precision, 0};
}

// Calls f with the arithmetic of a plan, as a std::type_identity.
template <class... Math, class F>
void with_math_of(Maths<Math...>, std::size_t which, const F& f) {
  std::size_t i = 0;
  static_cast<void>(((i++ == which && (f(std::type_identity<Math>{}), true)) || ...));
}
template <class T, Known known, class F>
void with_math(const ProductPlan& plan, const F& f) {
  if constexpr (may_use_tensor_cores<T, known>) {
    if (plan.precision == Precision::tf32) return with_math_of(Tf32Maths::type{}, plan.math, f);
    if (plan.precision == Precision::bf16) return with_math_of(Bf16Maths::type{}, plan.math, f);
  }
  with_math_of(typename ExactMaths<T, known>::type{}, plan.math, f);
}

}  // namespace gpunet::detail
