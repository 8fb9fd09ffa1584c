// How the operands of a dense matrix product are given. Each device has one: host/gemm/gemm.hpp,
// cuda/gemm/gemm.cuh.
#pragma once

namespace gpunet {

// Whether an operand of gemm is stored as its transpose.
enum class Transpose { no, yes };

// gemm(device, ta, tb, m, n, k, a, b, beta, c), for float and on Cuda for double, computes
//
//   C = op(A) op(B) + beta C    C: [m, n]    op(A): [m, k]    op(B): [k, n]
//
// where A is stored as [m, k], or [k, m] if ta is yes, and B as [k, n], or [n, k] if tb is yes; all
// dense, row-major and apart from each other. With beta 0, C is not read: it may be uninitialized.
// Any size may be 0.

}  // namespace gpunet
