// Matrix products on Cuda whose factors and results are functors: convolutions without a column
// matrix, with the ops after them done before the sums leave the registers. In the way of CUTLASS's
// implicit GEMM.
#pragma once

#include <limits>

#include <gpunet/device/cuda/gemm/tile_choice.cuh>
#include <gpunet/device/cuda/launch.cuh>

namespace gpunet::detail {

template <class A, class B, class Epilogue>
ProductSizes sizes_of(const TiledProduct<A, B, Epilogue>& p) {
  return {p.m, p.n, p.k};
}

inline std::string describe(const ProductSizes& p) {
  return concat("[", p.m, ", ", p.k, "] by [", p.k, ", ", p.n, "]");
}

// Elements of T that a launch of these products needs as scratch.
template <class T, Known known = Known::nothing, std::size_t count>
index_t product_scratch(const Cuda& device, const std::array<ProductSizes, count>& products,
                        const ProductPlan& plan) {
  TileSizes tile{};
  with_math<T, known>(plan, [&]<class Math>(std::type_identity<Math>) { tile = tile_of<Math>; });
  index_t elements = 0;
  for (const ProductSizes& p : products)
    elements += ProductCut(tile, p, device.multiprocessors()).partials;
  return elements;
}
template <class T, Known known = Known::nothing, std::size_t count>
index_t product_scratch(const Cuda& device, const std::array<ProductSizes, count>& products) {
  return product_scratch<T, known>(device, products, plan_products<T, known>(device, products));
}

// The same for products(), where either product may be empty: alone, a product may be cut into more
// parts than beside another.
template <class T, Known known = Known::nothing>
index_t products_scratch(const Cuda& device, const ProductSizes& first,
                         const ProductSizes& second) {
  return std::max({product_scratch<T, known>(device, std::array{first}),
                   product_scratch<T, known>(device, std::array{second}),
                   product_scratch<T, known>(device, std::array{first, second})});
}

// Cuts p into tiles. `scratch` and `tickets` move on by the share of p. Returns the number of
// blocks.
template <class P>
index_t cut_product(const Cuda& device, const TileSizes& tile, P& p, typename P::T*& scratch,
                    unsigned*& tickets) {
  if (p.m == 0 || p.n == 0) {
    p.tiles = p.tiles_down = 1;
    p.splits = 0;
    return p.blocks();
  }
  const ProductCut cut(tile, sizes_of(p), device.multiprocessors());
  require(cut.k_per_split <= std::numeric_limits<int>::max(), "gpunet::Cuda: the matrix product ",
          describe(sizes_of(p)),
          " has too long sums (kernels count to 2^31 - 1 in one), use a smaller batch");
  p.tiles_down = cut.tiles_down;
  p.tiles = cut.tiles;
  p.splits = static_cast<int>(cut.splits);
  p.k_per_split = cut.k_per_split;
  p.partials = scratch;
  p.tickets = tickets;
  scratch += cut.partials;
  if (cut.splits > 1) tickets += cut.tiles;
  return p.blocks();
}

inline Launch product_launch(index_t blocks, int threads) {
  require(blocks <= std::numeric_limits<int>::max(), "gpunet::Cuda: a matrix product of ", blocks,
          " tiles is over what one launch takes (2^31 - 1), use a smaller batch");
  return {dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads))};
}

// The kernel of a plan with products of the types P.
template <class... P>
struct PlannedKernel {
  TileSizes tile;
  int threads;
  void (*run)(P...);
};
template <Known known, class P>
PlannedKernel<P> planned_kernel(const ProductPlan& plan, const P&) {
  PlannedKernel<P> kernel{};
  with_math<typename P::T, known>(plan, [&]<class Math>(std::type_identity<Math>) {
    kernel = {tile_of<Math>, Math::threads, product_kernel<Math, P>};
  });
  return kernel;
}
template <Known known, class First, class Second>
PlannedKernel<First, Second> planned_kernel(const ProductPlan& plan, const First&, const Second&) {
  PlannedKernel<First, Second> kernel{};
  with_math<typename First::T, known>(plan, [&]<class Math>(std::type_identity<Math>) {
    kernel = {tile_of<Math>, Math::threads, products_kernel<Math, First, Second>};
  });
  return kernel;
}

// C = A B, as p says. scratch [product_scratch].
template <Known known = Known::nothing, class A, class B, class Epilogue>
void product(Cuda& device, TiledProduct<A, B, Epilogue> p, typename Epilogue::T* scratch,
             const ProductPlan& plan) {
  const auto kernel = planned_kernel<known>(plan, p);
  unsigned* tickets = device.tickets();
  const index_t blocks = cut_product(device, kernel.tile, p, scratch, tickets);
  if (blocks == 0) return;
  const auto what = [&] {
    return concat("product<", name_of<Epilogue>(), "> of ", describe(sizes_of(p)));
  };
  launch(device, product_launch(blocks, kernel.threads), what, kernel.run, p);
}
template <Known known = Known::nothing, class A, class B, class Epilogue>
void product(Cuda& device, const TiledProduct<A, B, Epilogue>& p, typename Epilogue::T* scratch) {
  product<known>(device, p, scratch,
                 plan_products<typename Epilogue::T, known>(device, std::array{sizes_of(p)}));
}

// Two products that do not depend on each other, in one launch. Either may be empty. scratch
// [products_scratch].
template <Known known = Known::nothing, class First, class Second>
void products(Cuda& device, First first, Second second, typename First::T* scratch,
              const ProductPlan& plan) {
  const auto kernel = planned_kernel<known>(plan, first, second);
  unsigned* tickets = device.tickets();
  index_t blocks = cut_product(device, kernel.tile, first, scratch, tickets);
  blocks += cut_product(device, kernel.tile, second, scratch, tickets);
  if (blocks == 0) return;
  const auto what = [&] {
    return concat("products<", name_of<typename First::Epilogue>(), "> of ",
                  describe(sizes_of(first)), " and ", describe(sizes_of(second)));
  };
  launch(device, product_launch(blocks, kernel.threads), what, kernel.run, first, second);
}
template <Known known = Known::nothing, class First, class Second>
void products(Cuda& device, const First& first, const Second& second, typename First::T* scratch) {
  products<known>(device, first, second, scratch,
                  plan_products<typename First::T, known>(
                      device, std::array{sizes_of(first), sizes_of(second)}));
}

}  // namespace gpunet::detail
