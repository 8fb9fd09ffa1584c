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
        a_in_place_(reads_a_in_place(p)),
        b_in_place_(p.tb == Transpose::no && p.b.row == 16 && p.n % 16 == 0) {
    chunk_ = b_in_place_ ? p.n : chunk(p.n, p.k);
    const bool by_rows = p.m >= 48 * threads;  // else rows are too few for all threads, and columns are shared
    const index_t unit = a_in_place_ ? 8 : threads > 1 ? 4 : 12;  // low tiles, fine shares, or tall tiles only
    rows_ = block(p.m, most_rows, by_rows ? threads : 1, unit);
    columns_ = block(chunk_, most_columns, by_rows ? 1 : threads, 32);
    packed_a_ = a_in_place_ ? 0 : round_up((rows_ + gemm_most_tall) * depth_, 16);
    packed_b_ = b_in_place_ ? 0 : round_up(chunk_, 16) * p.k;
    scratch_ = packed_b_ + threads * packed_a_;
  }

  bool a_in_place() const { return a_in_place_; }
  bool b_in_place() const { return b_in_place_; }
  index_t depth() const { return depth_; }        // of K in a block
  index_t rows() const { return rows_; }          // of C in a block
  index_t columns() const { return columns_; }    // of C in a block
  index_t chunk() const { return chunk_; }        // columns of B that are packed at a time
  index_t packed_a() const { return packed_a_; }  // floats, for each thread
  index_t packed_b() const { return packed_b_; }  // floats
  index_t scratch() const { return scratch_; }    // floats

 private:
  // A block of C, and what of A and B belongs to it for one block of K, stay in the second cache.
  static constexpr index_t most_rows = 120, most_columns = 1024;
  static constexpr index_t most_packed = index_t{1} << 22;  // floats of B

  // An A of many rows that is read for few columns is not worth packing, where the rows of a tile lie well.
  static bool reads_a_in_place(const Product& p) {
    if (p.m < 32) return false;
    if (p.ta == Transpose::yes) return p.n <= 64;
    return p.k <= 16 || (p.n <= 64 && p.a.group == 16);
  }
  // `size` columns in chunks of one size that are not over most_packed where k allows it.
  static index_t chunk(index_t size, index_t k) {
    const index_t most = std::max<index_t>(96, most_packed / k);
    return size <= most ? size : round_up(ceil_div(size, ceil_div(size, most)), 96);
  }
  // What the busiest of several threads gets of `size` in blocks, each having its share of the blocks.
  static index_t largest_share(index_t size, index_t block, index_t threads) {
    const index_t blocks = ceil_div(size, block);
    index_t largest = 0;
    for (index_t thread = 0; thread < threads; ++thread) {
      const index_t begin = thread * blocks / threads * block, end = (thread + 1) * blocks / threads * block;
      largest = std::max(largest, std::min(end, size) - begin);
    }
    return largest;
  }
  // `size` in blocks of up to about `most`, multiples of `unit`: the largest ones that are fair to all threads.
  static index_t block(index_t size, index_t most, index_t threads, index_t unit) {
    const index_t even = round_up(ceil_div(size, ceil_div(size, most)), unit);
    if (threads == 1) return even;
    index_t best = even, least = largest_share(size, even, threads);
    for (index_t block = even - unit; block > 0 && least * threads * 100 > size * 103; block -= unit)
      if (const index_t share = largest_share(size, block, threads); share < least) best = block, least = share;
    return best;
  }

  index_t depth_;
  bool a_in_place_, b_in_place_;
  index_t rows_, columns_, chunk_;
  index_t packed_a_, packed_b_, scratch_;
};

// The block of C at (i, j), up to column `end`, from the first k to the last while it is in the cache. b: op(B) in groups,
// from column j on.
inline void multiply_part(const Product& p, const GemmPlan& plan, const GemmOperand& b, index_t i, index_t j,
                          index_t end, float* packed_a) {
  const bool transposed = p.ta == Transpose::yes;
  GemmBlock block{};
  block.m = std::min(plan.rows(), p.m - i);
  block.n = std::min(plan.columns(), end - j);
  block.packed = !plan.a_in_place();
  block.a_row = transposed ? 1 : p.a.row;
  block.a_step = transposed ? p.a.row : 1;
  block.b_row = b.row;
  block.b_group = b.group;
  block.c = p.c.at(i, j);
  block.c_row = p.c.row;
  block.c_group = p.c.group;
  for (index_t k = 0; k < p.k; k += plan.depth()) {
    const bool last = k + plan.depth() >= p.k;
    block.k = std::min(plan.depth(), p.k - k);
    block.a = block.packed ? packed_a : transposed ? p.a.at(k, i) : p.a.at(i, k);
    block.b = b.at(k, 0);
    block.beta = k == 0 ? p.beta : 1;
    block.bias = last && p.bias ? p.bias + i : nullptr;
    block.relu = last && p.relu;
    if (block.packed) pack_rows(p.a, p.ta, i, i + block.m, k, block.k, packed_a);
    multiply_block(block);
  }
}

// The product by all threads of a device, or inside one of its tasks by this one. scratch: plan.scratch() floats.
inline void multiply(Host& device, const Product& p, const GemmPlan& plan, float* scratch) {
  float* const packed_a = scratch + plan.packed_b();
  for (index_t begin = 0; begin < p.n; begin += plan.chunk()) {
    const index_t end = std::min(p.n, begin + plan.chunk());
    if (!plan.b_in_place()) {
      constexpr index_t columns = 64;  // in a task
      device.run(ceil_div(end - begin, columns), [&](index_t task, int) {
        const index_t j = task * columns;
        pack_columns(p.b, p.tb, begin + j, std::min(end, begin + j + columns), p.k, scratch + j * p.k);
      });
    }
    const index_t rows = ceil_div(p.m, plan.rows());
    device.run(rows * ceil_div(end - begin, plan.columns()), [&](index_t task, int worker) {
      const index_t i = task % rows * plan.rows(), j = task / rows * plan.columns();
      const GemmOperand b = plan.b_in_place() ? GemmOperand{p.b.at(0, begin + j), p.b.row, p.b.group}
                                              : GemmOperand{scratch + j * p.k, 16, 16 * p.k};
      multiply_part(p, plan, b, i, begin + j, end, packed_a + worker * plan.packed_a());
    });
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
  require(m >= 0 && n >= 0 && k >= 0, "gpunet::gemm: m, n, k are ", m, ", ", n, ", ", k, " (want 0 or more)");
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
