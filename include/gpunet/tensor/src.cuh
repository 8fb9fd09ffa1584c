// All bodies of this folder for Cuda, a part of the compiled library.
#pragma once

#include <gpunet/tensor/argmax.hpp>
#include <gpunet/tensor/expression.ipp>
#include <gpunet/tensor/fold.cuh>
#include <gpunet/tensor/reduce.ipp>
#include <gpunet/tensor/scan.cuh>
#include <gpunet/tensor/sort.cuh>

namespace gpunet::detail {

template class AnyExpression<Cuda>;
template Buffer<std::byte, Cuda> folded(const AnyExpression<Cuda>&, const ReducedShape&,
                                        const FoldStep&, const Operand&);

}  // namespace gpunet::detail

GPUNET_COMPILE_LOOP(gpunet::detail::RunElements);
GPUNET_COMPILE_SUM(gpunet::detail::FoldPart);
GPUNET_COMPILE_LOOP(gpunet::detail::CountUp<std::int32_t>);
GPUNET_COMPILE_LOOP(gpunet::detail::CountUp<gpunet::index_t>);
GPUNET_COMPILE_LOOP(gpunet::detail::ScanPart);
GPUNET_COMPILE_LOOP(gpunet::detail::ScanParts);
GPUNET_INDEXING_LOOPS(GPUNET_COMPILE_LOOP);
GPUNET_FIND_BEST_SUMS(GPUNET_COMPILE_SUM);
