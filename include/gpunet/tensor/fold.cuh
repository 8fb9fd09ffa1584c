// Reductions of programs on Cuda.
#pragma once

#include <algorithm>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/tensor/buffer.hpp>
#include <gpunet/tensor/fold.hpp>

namespace gpunet::detail {

// Long rows are folded in parts, so that all multiprocessors have work, and the parts in order
// after that.
GPUNET_BACKENDS_INLINE void fold(Cuda& device, const RunnableProgram& program,
                                 const FoldSizes& sizes, const FoldStep& step, void* out) {
  constexpr index_t least_in_part = 4096, most_parts = 256;
  const index_t results = sizes.outer * sizes.inner;
  const index_t parts = std::clamp(sizes.length / least_in_part, index_t{1},
                                   std::max(index_t{1}, most_parts / results));
  const index_t part_length = (sizes.length + parts - 1) / parts;
  Buffer<std::byte, Cuda> partial;
  if (parts > 1) partial.reset(device, parts * results * 8);
  auto* const target = parts > 1 ? partial.data() : static_cast<std::byte*>(out);
  sum_each(device, parts * results, part_length,
           FoldPart{program, sizes, part_length, step.code, step.accumulated, target});
  if (parts == 1) return;

  RunnableProgram of_parts;
  of_parts.rank = 1;
  of_parts.operand_count = 1;
  of_parts.result = 0;
  of_parts.type = step.accumulated;
  of_parts.elements = of_parts.extents[0] = parts * results;
  ProgramArray& x = of_parts.operands[0];
  x.data = target;
  x.type = step.accumulated;
  x.order = ArrayOrder::dense;
  x.strides[0] = 1;
  const FoldSizes fold_of_parts{1, parts, results};
  sum_each(device, results, parts,
           FoldPart{of_parts, fold_of_parts, parts, step.code, step.accumulated,
                    static_cast<std::byte*>(out)});
}

}  // namespace gpunet::detail
