// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/tensor/dlpack.ipp>
#include <gpunet/tensor/element_program.ipp>
#include <gpunet/tensor/expression.ipp>
#include <gpunet/tensor/files.ipp>
#include <gpunet/tensor/fold.ipp>
#include <gpunet/tensor/indexing.ipp>
#include <gpunet/tensor/join.ipp>
#include <gpunet/tensor/matmul.ipp>
#include <gpunet/tensor/reduce.ipp>
#include <gpunet/tensor/scan.ipp>
#include <gpunet/tensor/shapes.ipp>
#include <gpunet/tensor/sort.ipp>

namespace gpunet::detail {

template class AnyExpression<Host>;
template Buffer<std::byte, Host> folded(const AnyExpression<Host>&, const ReducedShape&,
                                        const FoldStep&, const Operand&);

#define GPUNET_LOOP_PREFIX template
GPUNET_BLOCK_LOOPS
GPUNET_FOLD_LOOPS
#undef GPUNET_LOOP_PREFIX

}  // namespace gpunet::detail
