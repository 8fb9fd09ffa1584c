// Matrix products on Cuda whose factors and results are whatever functors make of them: convolutions without a column matrix,
// with what follows them done before the sums leave the registers. In the way of CUTLASS's implicit GEMM.
#pragma once

#include <limits>

#include <gpunet/device/cuda/launch.cuh>
#include <gpunet/device/cuda/product_plan.cuh>

namespace gpunet::detail {

template <class A, class B, class Epilogue>
ProductSizes sizes_of(const TiledProduct<A, B, Epilogue>& p) {
  return {p.m, p.n, p.k};
}

inline std::string describe(const ProductSizes& p) {
  return concat("[", p.m, ", ", p.k, "] by [", p.k, ", ", p.n, "]");
}

// Elements of T that a launch of these products needs as scratch.
template <class T, std::size_t count>
index_t product_scratch(const Cuda& device, const std::array<ProductSizes, count>& products,
                        const ProductPlan& plan) {
  index_t elements = 0;
  with_math<T>(plan, [&]<class Math>(std::type_identity<Math>) {
    for (const ProductSizes& p : products)
      elements += ProductCut({Math::M, Math::N, Math::K}, p, device.multiprocessors()).partials;
  });
  return elements;
}
template <class T, std::size_t count>
index_t product_scratch(const Cuda& device, const std::array<ProductSizes, count>& products) {
  return product_scratch<T>(device, products, plan_products<T>(device, products));
}

// Cuts p into tiles of Math. `scratch` and `tickets` move on by what p takes of them. The number of blocks.
template <class Math, class P>
index_t cut_product(const Cuda& device, P& p, typename P::T*& scratch, unsigned*& tickets) {
  if (p.m == 0 || p.n == 0) {
    p.tiles = p.tiles_down = 1;
    p.splits = 0;
    return 0;
  }
  const ProductCut cut({Math::M, Math::N, Math::K}, sizes_of(p), device.multiprocessors());
  require(cut.k_per_split <= std::numeric_limits<int>::max(), "gpunet::Cuda: the matrix product ",
          describe(sizes_of(p)), " has too long sums (kernels count to 2^31 - 1 in one), use a smaller batch");
  p.tiles_down = cut.tiles_down;
  p.tiles = cut.tiles;
  p.splits = static_cast<int>(cut.splits);
  p.k_per_split = cut.k_per_split;
  p.partials = scratch;
  p.tickets = tickets;
  scratch += cut.partials;
  if (cut.splits > 1) tickets += cut.tiles;
  return cut.blocks();
}

inline Launch product_launch(index_t blocks, int threads) {
  require(blocks <= std::numeric_limits<int>::max(), "gpunet::Cuda: a matrix product of ", blocks,
          " tiles is over what one launch takes (2^31 - 1), use a smaller batch");
  return {dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads))};
}

// C = A B, as p says. scratch [product_scratch].
template <class A, class B, class Epilogue>
void product(Cuda& device, TiledProduct<A, B, Epilogue> p, typename Epilogue::T* scratch, const ProductPlan& plan) {
  using P = TiledProduct<A, B, Epilogue>;
  if (p.m == 0 || p.n == 0) return;
  with_math<typename Epilogue::T>(plan, [&]<class Math>(std::type_identity<Math>) {
    unsigned* tickets = device.tickets();
    const index_t blocks = cut_product<Math>(device, p, scratch, tickets);
    const auto what = [&] {
      return concat("product<", name_of<Epilogue>(), "> of ", describe(sizes_of(p)));
    };
    launch(device, product_launch(blocks, Math::threads), what, product_kernel<Math, P>, p);
  });
}
template <class A, class B, class Epilogue>
void product(Cuda& device, const TiledProduct<A, B, Epilogue>& p, typename Epilogue::T* scratch) {
  product(device, p, scratch, plan_products<typename Epilogue::T>(device, std::array{sizes_of(p)}));
}

// Two products that do not depend on each other, in one launch. Either may be empty.
template <class First, class Second>
void products(Cuda& device, First first, Second second, typename First::T* scratch, const ProductPlan& plan) {
  using T = typename First::T;
  with_math<T>(plan, [&]<class Math>(std::type_identity<Math>) {
    unsigned* tickets = device.tickets();
    index_t blocks = cut_product<Math>(device, first, scratch, tickets);
    blocks += cut_product<Math>(device, second, scratch, tickets);
    if (blocks == 0) return;
    const auto what = [&] {
      return concat("products<", name_of<typename First::Epilogue>(), "> of ", describe(sizes_of(first)), " and ",
                    describe(sizes_of(second)));
    };
    launch(device, product_launch(blocks, Math::threads), what, products_kernel<Math, First, Second>, first,
           second);
  });
}
template <class First, class Second>
void products(Cuda& device, const First& first, const Second& second, typename First::T* scratch) {
  products(device, first, second, scratch,
           plan_products<typename First::T>(device, std::array{sizes_of(first), sizes_of(second)}));
}

}  // namespace gpunet::detail
