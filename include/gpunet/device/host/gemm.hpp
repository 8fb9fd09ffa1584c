// The matrix product on Host: blocks for the caches, shared among threads.
#pragma once

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/gemm_pack.hpp>
#include <gpunet/device/host/host.hpp>

namespace gpunet {

namespace detail {

// C [m, n] = op(A) [m, k] op(B) [k, n] + beta C, then the bias of each row added, then max(C, 0) taken. op transposes
// where told. An A that is transposed is plain; so is a B that is not and whose n is no multiple of 16.
struct Product {
  index_t m, n, k;
  Transpose ta, tb;
  GemmOperand a, b;
  GroupedMatrix<float> c;
  float beta = 0;
  const float* bias = nullptr;
  bool relu = false;
};

// How a product is cut into blocks, and how much memory the operands need that have to be packed. Sums are never split
// among threads, and the blocks of K do not depend on their number: nor do the bits of C.
class GemmPlan {
 public:
  GemmPlan(const Product& p, index_t threads)
      : depth_(round_up(ceil_div(p.k, ceil_div(p.k, gemm_depth)), 16)),
        a_in_place_(p.n <= few_columns && (p.ta == Transpose::yes || p.a.group == 16 || p.k <= 16)),
        b_in_place_(p.tb == Transpose::no && p.b.row == 16 && p.n % 16 == 0) {
    chunk_rows_ = a_in_place_ ? p.m : chunk(p.m, p.k);
    chunk_columns_ = b_in_place_ ? p.n : chunk(p.n, p.k);
    const bool by_rows =
        chunk_rows_ >= 48 * threads;  // else rows are too few for all threads, and columns are shared
    rows_ = block(chunk_rows_, most_rows, by_rows ? threads : 1, 12);
    columns_ = block(chunk_columns_, most_columns, by_rows ? 1 : threads, 32);
    packed_a_ = a_in_place_ ? 0 : round_up(chunk_rows_ + gemm_most_tall, 16) * p.k;
    packed_b_ = b_in_place_ ? 0 : round_up(chunk_columns_, 16) * p.k;
  }

  bool a_in_place() const { return a_in_place_; }
  bool b_in_place() const { return b_in_place_; }
  index_t depth() const { return depth_; }                  // of K in a block
  index_t rows() const { return rows_; }                    // of C in a block
  index_t columns() const { return columns_; }              // of C in a block
  index_t chunk_rows() const { return chunk_rows_; }        // of A that are packed at a time
  index_t chunk_columns() const { return chunk_columns_; }  // of B that are packed at a time
  index_t packed_a() const { return packed_a_; }            // floats
  index_t packed_b() const { return packed_b_; }            // floats
  index_t scratch() const { return packed_a_ + packed_b_; }

 private:
  static constexpr index_t few_columns = 64;  // up to here an A is not read often enough to be packed
  // A block of C, and what of A and B belongs to it for one block of K, stay in the second cache.
  static constexpr index_t most_rows = 120, most_columns = 1024;
  static constexpr index_t most_packed = index_t{1} << 22;  // floats of each operand

  // `size` rows or columns in chunks of one size that are not over most_packed where k allows it.
  static index_t chunk(index_t size, index_t k) {
    const index_t most = std::max<index_t>(96, most_packed / k);
    return size <= most ? size : round_up(ceil_div(size, ceil_div(size, most)), 96);
  }
  // `size` in blocks of up to about `most`, as many for each thread, all multiples of `unit`.
  static index_t block(index_t size, index_t most, index_t threads, index_t unit) {
    return round_up(ceil_div(size, round_up(ceil_div(size, most), threads)), unit);
  }

  index_t depth_;
  bool a_in_place_, b_in_place_;
  index_t rows_, columns_, chunk_rows_, chunk_columns_;
  index_t packed_a_, packed_b_;
};

// One chunk of a product: C [m, n], op(A) and op(B), those that are packed at `a` and `b`.
class GemmChunk {
 public:
  GemmChunk(const Product& p, const GemmPlan& plan, index_t i, index_t j, float* a, float* b)
      : p_(p), plan_(plan), packed_a_(a), packed_b_(b), b_(p.b), i_(i), j_(j) {
    m_ = std::min(plan.chunk_rows(), p.m - i);
    n_ = std::min(plan.chunk_columns(), p.n - j);
    if (!plan.b_in_place()) b_ = {b, 16, 16 * p.k};
  }

  void pack_a(Host& device) const {
    const index_t depths = ceil_div(p_.k, plan_.depth());
    device.run(depths * ceil_div(m_, plan_.rows()), [&](index_t task, int) {
      const index_t k = task % depths * plan_.depth(), i = task / depths * plan_.rows();
      pack_rows(p_.a, p_.ta, i_ + i, i_ + std::min(m_, i + plan_.rows()), k, depth(k), packed_a(i, k));
    });
  }

  void pack_b(Host& device) const {
    constexpr index_t columns = 64;  // in a task
    device.run(ceil_div(n_, columns), [&](index_t task, int) {
      const index_t j = task * columns;
      pack_columns(p_.b, p_.tb, j_ + j, j_ + std::min(n_, j + columns), p_.k, packed_b_ + j * p_.k);
    });
  }

  void multiply(Host& device) const {
    const index_t rows = ceil_div(m_, plan_.rows());
    device.run(rows * ceil_div(n_, plan_.columns()), [&](index_t task, int) {
      multiply_part(task % rows * plan_.rows(), task / rows * plan_.columns());
    });
  }

 private:
  index_t depth(index_t k) const { return std::min(plan_.depth(), p_.k - k); }
  // Where the block of row i and column k of op(A) is packed.
  float* packed_a(index_t i, index_t k) const { return packed_a_ + k * round_up(m_, 12) + i * depth(k); }

  // The block of C at (i, j), from the first k to the last while it is in the cache.
  void multiply_part(index_t i, index_t j) const {
    const bool transposed = p_.ta == Transpose::yes;
    GemmBlock block{};
    block.m = std::min(plan_.rows(), m_ - i);
    block.n = std::min(plan_.columns(), n_ - j);
    block.packed = !plan_.a_in_place();
    block.a_row = transposed ? 1 : p_.a.row;
    block.a_step = transposed ? p_.a.row : 1;
    block.b_row = b_.row;
    block.b_group = b_.group;
    block.c = p_.c.at(i_ + i, j_ + j);
    block.c_row = p_.c.row;
    block.c_group = p_.c.group;
    for (index_t k = 0; k < p_.k; k += plan_.depth()) {
      const bool last = k + plan_.depth() >= p_.k;
      block.k = depth(k);
      block.a = block.packed ? packed_a(i, k) : transposed ? p_.a.at(k, i_ + i) : p_.a.at(i_ + i, k);
      block.b = b_.at(k, plan_.b_in_place() ? j_ + j : j);
      block.beta = k == 0 ? p_.beta : 1;
      block.bias = last && p_.bias ? p_.bias + i_ + i : nullptr;
      block.relu = last && p_.relu;
      multiply_block(block);
    }
  }

  const Product& p_;
  const GemmPlan& plan_;
  float *packed_a_, *packed_b_;
  GemmOperand b_;
  index_t i_, j_, m_, n_;
};

// The product by all threads of a device, or inside one of its tasks by this one. scratch: plan.scratch() floats.
inline void multiply(Host& device, const Product& p, const GemmPlan& plan, float* scratch) {
  for (index_t i = 0; i < p.m; i += plan.chunk_rows())
    for (index_t j = 0; j < p.n; j += plan.chunk_columns()) {
      const GemmChunk chunk(p, plan, i, j, scratch, scratch + plan.packed_a());
      if (!plan.a_in_place() && j == 0) chunk.pack_a(device);
      if (!plan.b_in_place()) chunk.pack_b(device);
      chunk.multiply(device);
    }
}

// The same in the working memory of the device.
inline void multiply(Host& device, const Product& p) {
  const GemmPlan plan(p, device.threads());
  const LentMemory::Loan loan(device.working_memory(), static_cast<std::size_t>(plan.scratch()) * sizeof(float));
  multiply(device, p, plan, loan.as<float>());
}

}  // namespace detail

// See device/gemm.hpp.
inline void gemm(Host& device, Transpose ta, Transpose tb, index_t m, index_t n, index_t k, const float* a,
                 const float* b, float beta, float* c) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (index_t i = 0; i < m * n; ++i)
      c[i] = beta == 0 ? 0 : beta * c[i];
    return;
  }
  detail::multiply(
      device,
      {m, n, k, ta, tb, {a, ta == Transpose::yes ? m : k}, {b, tb == Transpose::yes ? k : n}, {c, n}, beta});
}

}  // namespace gpunet
