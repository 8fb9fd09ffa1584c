// A matrix that is multiplied with many others of few columns.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/gemm/blocks.hpp>

namespace gpunet::detail {

// A matrix [m, k] in the order in which the register tiles read it, in the caller's memory: blocks
// of `depth` columns.
class PackedMatrix {
 public:
  // Returns the floats that a matrix takes.
  static index_t elements(index_t m, index_t k) { return (m + gemm_most_tall) * k; }

  // Packs op(a) [m, k] into `memory`, elements(m, k) floats; a itself is not read later.
  PackedMatrix(index_t m, index_t k, const GemmOperand& a, Transpose transpose, float* memory)
      : m_(m), k_(k), depth_(round_up(ceil_div(k, ceil_div(k, gemm_depth)), 16)), memory_(memory) {
    for (index_t begin = 0; begin < k; begin += depth_)
      pack_rows({a, transpose, 0, m, begin, std::min(depth_, k - begin)},
                memory_ + begin * packed_rows());
  }

  // c [m, n] = this b [k, n], plus the bias of each row unless it is null. n is a multiple of 16.
  // Threads share the rows where there is much to do.
  void multiply(Host& device, index_t n, const GemmOperand& b, const GroupedMatrix<float>& c,
                const float* bias) const {
    constexpr index_t worth_a_thread = index_t{1} << 20;  // multiply-adds
    const index_t tasks = std::clamp<index_t>(m_ * n * k_ / worth_a_thread, 1, device.threads());
    const index_t rows = round_up(ceil_div(m_, tasks), gemm_kernels().tall);
    device.run(ceil_div(m_, rows), [&](index_t task, int) {
      const index_t i = task * rows;
      GemmBlock block{};
      block.m = std::min(rows, m_ - i);
      block.n = n;
      block.packed = true;
      block.b_row = b.row;
      block.b_group = b.group;
      block.c = c.at(i, 0);
      block.c_row = c.row;
      block.c_group = c.group;
      for (index_t begin = 0; begin < k_; begin += depth_) {
        block.k = std::min(depth_, k_ - begin);
        block.a = memory_ + begin * packed_rows() + i * block.k;
        block.b = b.at(begin, 0);
        block.beta = begin == 0 ? 0 : 1;
        block.bias = begin + depth_ >= k_ && bias ? bias + i : nullptr;
        multiply_block(block);
      }
    });
  }

 private:
  // Returns the rows of all tiles: the last one may be higher than the rest.
  index_t packed_rows() const {
    index_t end = 0;
    while (end < m_)
      end += gemm_kernels().height(m_ - end);
    return end;
  }

  index_t m_, k_, depth_;
  float* memory_;
};

}  // namespace gpunet::detail
