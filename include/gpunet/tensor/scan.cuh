// Sums up to each element, and places of true ones, on Cuda.
#pragma once

#include <algorithm>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/tensor/cub.cuh>
#include <gpunet/tensor/scan.hpp>

namespace gpunet::detail {

// Not by CUB's scan: its sums of floats depend on the order in which blocks finish. A row is cut
// into parts, whose sums are made first.
GPUNET_BACKENDS_INLINE void scan(Cuda& device, const RunnableProgram& program,
                                 const FoldSizes& sizes, ElementType type, void* out) {
  const bool is_real = type == ElementType::f32 || type == ElementType::f64;
  const ElementType accumulated = is_real ? ElementType::f64 : ElementType::i64;
  constexpr index_t most_parts = 1024, threads = 1 << 15;
  const index_t columns = sizes.outer * sizes.inner;
  const index_t parts = std::clamp(std::min(most_parts, threads / columns), index_t{1},
                                   std::max(index_t{1}, sizes.length / 32));
  const index_t part_length = (sizes.length + parts - 1) / parts;
  Buffer<std::byte, Cuda> starts;
  if (parts > 1) {
    starts.reset(device, parts * columns * 8);
    sum_each(device, parts * columns, part_length,
             FoldPart{program, sizes, part_length, element::Code::Add, accumulated, starts.data()});
    for_each(device, columns, ScanParts{parts, columns, accumulated, starts.data()});
  }
  for_each(device, parts * columns,
           ScanPart{program, sizes, part_length, type, accumulated, starts.data(),
                    static_cast<std::byte*>(out)});
}

GPUNET_BACKENDS_INLINE Tensor<index_t, Cuda> places_of_true(const View<const bool, Cuda>& flags,
                                                            Cuda& device) {
  const index_t n = flags.numel();
  const Expression<bool, Cuda> is_true(
      &device, Operand{flags.data(), ElementType::boolean, Sizes{n}, dense_strides(Sizes{n})});
  RunnableProgram program = runnable(is_true.program());
  const Buffer<index_t, Cuda> found(device, 1);
  index_t count = 0;
  if (n > 0) {
    fold(device, program, {1, n, 1}, {element::Code::Add, ElementType::boolean, ElementType::i64},
         found.data());
    device.download(&count, found.data(), sizeof count);
  }
  Tensor<index_t, Cuda> places(device, {count});
  if (count > 0)
    run_cub(device, [&](void* memory, std::size_t& bytes) {
      return cub::DeviceSelect::Flagged(memory, bytes, thrust::counting_iterator<index_t>(0),
                                        flags.data(), places.data(), found.data(), n,
                                        device.stream());
    });
  return places;
}

}  // namespace gpunet::detail
