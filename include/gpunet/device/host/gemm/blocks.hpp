// The matrix product of floats on Host: register tiles, the loops over them, operands put in order,
// blocks for the caches that threads share.
#pragma once

#include <algorithm>
#include <limits>

#include <gpunet/core/math.hpp>
#include <gpunet/device/gemm.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/device/host/transpose.hpp>

namespace gpunet::detail {

// The bounds of elements of C.
struct GemmRange {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  bool clamps() const { return *this != GemmRange{}; }
  friend bool operator==(const GemmRange&, const GemmRange&) = default;
};

// A tile of C += A B, as the register kernels see it. Element (i, k) of A is at i a_row + k a_step;
// columns of B and C come in groups of 16: (k, j) of B is at k b_row + j / 16 b_group + j % 16, C
// alike.
struct GemmTile {
  index_t k;
  const float* a;
  index_t a_row, a_step;
  const float* b;
  index_t b_row, b_group;
  float* c;
  index_t c_row, c_group;
  const float* next;  // k cache lines to be loaded into the L2 cache
  float beta;         // C = A B + beta C; with 0, C is not read
  const float* bias;  // one per row, or null
  GemmRange range;
};

// The register kernels of one vector path. Tiles are `tall` or `low` rows high, for an A in place
// `low` only, and `wide` or `narrow` columns wide.
struct GemmKernels {
  using Kernel = void (*)(const GemmTile&);
  index_t tall, low;
  index_t wide, narrow;
  Kernel tall_kernels[2], low_kernels[2];  // wide, narrow; the tall ones want A packed

  // The height of the next tile when `rows` are left: heights from 2 low on are made up of both
  // with little waste.
  index_t height(index_t rows) const {
    return rows <= low || (rows > tall && rows <= 2 * low) ? low : tall;
  }
  index_t width(index_t columns) const {
    return columns <= narrow && narrow < wide ? narrow : wide;
  }
  Kernel kernel(index_t height, index_t width) const {
    return (height == tall ? tall_kernels : low_kernels)[width == wide ? 0 : 1];
  }
};

}  // namespace gpunet::detail

#define GPUNET_KERNELS <gpunet/device/host/gemm/register_tiles.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet::detail {

// The kernels of the path in use.
inline const GemmKernels& gemm_kernels() {
#if GPUNET_X86
  return isa() == Isa::avx512 ? avx512::gemm_kernels
         : isa() == Isa::avx2 ? avx2::gemm_kernels
                              : baseline::gemm_kernels;
#else
  return baseline::gemm_kernels;
#endif
}

// Most of K in a block: a tile of B then stays in the L1 cache.
inline constexpr index_t gemm_depth = 256;
inline constexpr index_t gemm_most_tall = 12;  // rows of the tallest tile of any path
inline constexpr index_t gemm_most_wide = 32;

// A block of C = A B + beta C with K at most gemm_depth, on this thread. B is in groups of 16
// columns, each of them whole (as slices lie, or as pack_columns() makes them). A is in place, or
// packed by pack_rows().
struct GemmBlock {
  index_t m, n, k;
  const float* a;
  bool packed;
  index_t a_row, a_step;  // where A is in place
  const float* b;
  index_t b_row, b_group;
  float* c;
  index_t c_row, c_group;
  float beta;
  const float* bias;
  GemmRange range;
};

// A tile that hangs over the edge of C, or of an A in place: through buffers that do not.
[[gnu::noinline]] inline void multiply_edge(GemmKernels::Kernel kernel, const GemmTile& tile,
                                            bool packed, index_t height, index_t rows,
                                            index_t columns) {
  float a[gemm_most_tall * gemm_depth], c[gemm_most_tall * gemm_most_wide] = {},
                                                           bias[gemm_most_tall] = {};
  GemmTile inside = tile;
  if (!packed && rows < height) {
    for (index_t k = 0; k < tile.k; ++k)
      for (index_t i = 0; i < height; ++i)
        a[k * height + i] = i < rows ? tile.a[i * tile.a_row + k * tile.a_step] : 0;
    inside.a = a;
    inside.a_row = 1;
    inside.a_step = height;
  }
  inside.c = c;
  inside.c_row = gemm_most_wide;
  inside.c_group = 16;
  if (tile.bias) inside.bias = std::copy_n(tile.bias, rows, bias) - rows;
  for (index_t j = 0; j < columns; j += 16) {
    const index_t width = std::min<index_t>(16, columns - j);
    for (index_t i = 0; tile.beta != 0 && i < rows; ++i)
      std::copy_n(tile.c + i * tile.c_row + j / 16 * tile.c_group, width,
                  c + i * gemm_most_wide + j);
  }
  kernel(inside);
  for (index_t j = 0; j < columns; j += 16) {
    const index_t width = std::min<index_t>(16, columns - j);
    for (index_t i = 0; i < rows; ++i)
      std::copy_n(c + i * gemm_most_wide + j, width,
                  tile.c + i * tile.c_row + j / 16 * tile.c_group);
  }
}

inline void multiply_tile(const GemmKernels& kernels, const GemmBlock& block, index_t i,
                          index_t height, index_t j, const float* next) {
  const index_t rows = std::min(height, block.m - i), columns = std::min(kernels.wide, block.n - j);
  const index_t width = kernels.width(columns);
  const GemmTile tile{block.k,
                      block.a + i * (block.packed ? block.k : block.a_row),
                      block.packed ? 1 : block.a_row,
                      block.packed ? height : block.a_step,
                      block.b + j / 16 * block.b_group + j % 16,
                      block.b_row,
                      block.b_group,
                      block.c + i * block.c_row + j / 16 * block.c_group + j % 16,
                      block.c_row,
                      block.c_group,
                      next,
                      block.beta,
                      block.bias ? block.bias + i : nullptr,
                      block.range};
  const auto kernel = kernels.kernel(height, width);
  if (rows == height && columns == width) return kernel(tile);
  multiply_edge(kernel, tile, block.packed, height, rows, columns);
}

// A tile of B stays in the L1 cache while A passes, in the L2 cache.
inline void multiply_block(const GemmBlock& block) {
  const GemmKernels& kernels = gemm_kernels();
  for (index_t j = 0; j < block.n; j += kernels.wide) {
    // The continuation of B: its next columns, or after the last ones the next block of K.
    const float* next = j + kernels.wide < block.n
                            ? block.b + (j + kernels.wide) / 16 * block.b_group
                            : block.b + block.k * block.b_row;
    for (index_t i = 0, height; i < block.m; i += height, next += block.b_group) {
      height = block.packed ? kernels.height(block.m - i) : kernels.low;
      const bool wanted = i < kernels.wide / 16 * kernels.tall;
      multiply_tile(kernels, block, i, height, j, wanted ? next : block.a);
    }
  }
}

// A matrix whose columns come in groups of 16: element (i, j) is at i row + j / 16 group + j % 16.
// A plain one has group 16; a slice of 16 samples a group is a matrix [features, samples] with row
// 16 and group 16 features.
template <class T>
struct GroupedMatrix {
  T* data;
  index_t row;
  index_t group = 16;

  T* at(index_t i, index_t j) const { return data + i * row + j / 16 * group + j % 16; }
};
using GemmOperand = GroupedMatrix<const float>;

// Rows of `width` floats, `to_row` apart, from [width, depth] with rows `from_row` apart: to(k,
// i) = from(i, k). Where rows < width the others are zero.
inline void pack_transposed(index_t rows, index_t width, index_t depth, const float* from,
                            index_t from_row, float* to) {
  const index_t whole = rows == width ? depth / 4 * 4 : 0;
  for (index_t next = 0; next < width; next += 4) {
    const index_t i = std::min(next, width - 4);
    for (index_t k = 0; k < whole; k += 4)
      transpose_block(from + i * from_row + k, from_row, to + k * width + i, width);
  }
  for (index_t k = whole; k < depth; ++k)
    for (index_t i = 0; i < width; ++i)
      to[k * width + i] = i < rows ? from[i * from_row + k] : 0;
}

// The same from [depth, width] with rows `from_row` apart: to(k, i) = from(k, i).
template <index_t Width>
void pack_rows_of(index_t depth, const float* from, index_t from_row, float* to) {
  for (index_t k = 0; k < depth; ++k)
    __builtin_memcpy(to + k * Width, from + k * from_row, Width * sizeof(float));
}
inline void pack_straight(index_t columns, index_t width, index_t depth, const float* from,
                          index_t from_row, float* to) {
  if (columns == width && width == 16) return pack_rows_of<16>(depth, from, from_row, to);
  if (columns == width && width == 12) return pack_rows_of<12>(depth, from, from_row, to);
  if (columns == width && width == 8) return pack_rows_of<8>(depth, from, from_row, to);
  for (index_t k = 0; k < depth; ++k)
    for (index_t i = 0; i < width; ++i)
      to[k * width + i] = i < columns ? from[k * from_row + i] : 0;
}

// Rows i to i + rows and columns k to k + depth of op(matrix). k is a multiple of 16.
struct GemmPart {
  const GemmOperand& matrix;
  Transpose transpose;
  index_t i, rows, k, depth;
};

// A part as [depth][width], where rows beyond it are 0.
inline void pack_panel(const GemmPart& part, index_t width, float* to) {
  const auto& [matrix, transpose, i, rows, k, depth] = part;
  if (transpose == Transpose::yes)
    return pack_straight(rows, width, depth, matrix.at(k, i), matrix.row, to);
  const index_t step = matrix.group == 16 ? depth : 16;
  for (index_t done = 0; done < depth; done += step)
    pack_transposed(rows, width, std::min(step, depth - done), matrix.at(i, k + done), matrix.row,
                    to + done * width);
}

// Returns how deep a panel is packed at a time. Where a matrix is read along its rows, a few rows
// are packed into all panels first, because neighbors share cache lines and pages.
inline index_t pack_depth(Transpose transpose, index_t depth) {
  return transpose == Transpose::yes ? 8 : depth;
}

// A part of A as the tiles of a packed GemmBlock.
inline void pack_rows(const GemmPart& a, float* to) {
  const GemmKernels& kernels = gemm_kernels();
  const index_t step = pack_depth(a.transpose, a.depth), end = a.i + a.rows;
  for (index_t done = 0; done < a.depth; done += step) {
    float* panel = to;
    for (index_t i = a.i, height; i < end; i += height, panel += height * a.depth) {
      height = kernels.height(end - i);
      pack_panel({a.matrix, a.transpose, i, std::min(height, end - i), a.k + done,
                  std::min(step, a.depth - done)},
                 height, panel + done * height);
    }
  }
}

// Groups of 16 columns of op(B) [depth, columns], of which `columns` exist: to [group][depth][16],
// from column `begin` to `end`.
inline void pack_columns(const GemmOperand& b, Transpose transpose, index_t begin, index_t end,
                         index_t depth, float* to) {
  const Transpose other = transpose == Transpose::yes ? Transpose::no : Transpose::yes;
  const index_t step = pack_depth(other, depth);
  for (index_t done = 0; done < depth; done += step) {
    float* panel = to + done * 16;
    for (index_t j = begin; j < end; j += 16, panel += 16 * depth)
      pack_panel({b, other, j, std::min<index_t>(16, end - j), done, std::min(step, depth - done)},
                 16, panel);
  }
}

// C [m, n] = op(A) [m, k] op(B) [k, n] + beta C, then the bias of each row added, then C clamped to
// `range`. op transposes if `ta`, `tb` say so. A transposed A is plain. In a B that is not
// transposed, groups are whole in memory, also if n is no multiple of 16.
struct Product {
  index_t m, n, k;
  Transpose ta, tb;
  GemmOperand a, b;
  GroupedMatrix<float> c;
  float beta = 0;
  const float* bias = nullptr;
  GemmRange range = {};
};

// The blocks of a product, and the memory for operands that have to be packed. Sums are never split
// among threads, and the blocks of K do not depend on their number: nor do the bits of C.
class GemmPlan {
 public:
  GemmPlan(const Product& p, index_t threads)
      : depth_(round_up(ceil_div(p.k, ceil_div(p.k, gemm_depth)), 16)),
        a_in_place_(reads_a_in_place(p)),
        b_in_place_(p.tb == Transpose::no && p.b.row == 16 && (p.n % 16 == 0 || p.b.group != 16)) {
    chunk_ = b_in_place_ ? p.n : chunk(p.n, p.k);
    // Else rows are too few for all threads, and columns are shared.
    const bool by_rows = p.m >= 48 * threads;
    // low tiles, fine shares, or tall tiles only.
    const index_t unit = a_in_place_ ? 8 : threads > 1 ? 4 : 12;
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
  // A block of C, and its parts of A and B for one block of K, stay in the L2 cache.
  static constexpr index_t most_rows = 120, most_columns = 1024;
  static constexpr index_t most_packed = index_t{1} << 22;  // floats of B

  // An A of many rows that is read for few columns is not worth packing, where the rows of a tile
  // lie well.
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
  // Returns the share of the busiest of several threads when `size` is divided in blocks.
  static index_t largest_share(index_t size, index_t block, index_t threads) {
    const index_t blocks = ceil_div(size, block);
    index_t largest = 0;
    for (index_t thread = 0; thread < threads; ++thread) {
      const index_t begin = thread * blocks / threads * block,
                    end = (thread + 1) * blocks / threads * block;
      largest = std::max(largest, std::min(end, size) - begin);
    }
    return largest;
  }
  // `size` in blocks of up to about `most`, multiples of `unit`: the largest ones that are fair to
  // all threads.
  static index_t block(index_t size, index_t most, index_t threads, index_t unit) {
    const index_t even = round_up(ceil_div(size, ceil_div(size, most)), unit);
    if (threads == 1) return even;
    index_t best = even, least = largest_share(size, even, threads);
    for (index_t block = even - unit; block > 0 && least * threads * 100 > size * 103;
         block -= unit)
      if (const index_t share = largest_share(size, block, threads); share < least)
        best = block, least = share;
    return best;
  }

  index_t depth_;
  bool a_in_place_, b_in_place_;
  index_t rows_, columns_, chunk_;
  index_t packed_a_, packed_b_, scratch_;
};

// The block of C at (i, j), up to column `end`, from the first k to the last while it is in the
// cache. b: op(B) in groups, from column j on.
inline void multiply_part(const Product& p, const GemmPlan& plan, const GemmOperand& b, index_t i,
                          index_t j, index_t end, float* packed_a) {
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
    block.range = last ? p.range : GemmRange{};
    if (block.packed) pack_rows({p.a, p.ta, i, block.m, k, block.k}, packed_a);
    multiply_block(block);
  }
}

// The product by all threads of a device, or inside one of its tasks by this one. scratch:
// plan.scratch() floats.
inline void multiply(Host& device, const Product& p, const GemmPlan& plan, float* scratch) {
  float* const packed_a = scratch + plan.packed_b();
  for (index_t begin = 0; begin < p.n; begin += plan.chunk()) {
    const index_t end = std::min(p.n, begin + plan.chunk());
    if (!plan.b_in_place()) {
      constexpr index_t columns = 64;  // in a task
      device.run(ceil_div(end - begin, columns), [&](index_t task, int) {
        const index_t j = task * columns;
        pack_columns(p.b, p.tb, begin + j, std::min(end, begin + j + columns), p.k,
                     scratch + j * p.k);
      });
    }
    const index_t rows = ceil_div(p.m, plan.rows());
    device.run(rows * ceil_div(end - begin, plan.columns()), [&](index_t task, int worker) {
      const index_t i = task % rows * plan.rows(), j = task / rows * plan.columns();
      const GemmOperand b = plan.b_in_place()
                                ? GemmOperand{p.b.at(0, begin + j), p.b.row, p.b.group}
                                : GemmOperand{scratch + j * p.k, 16, 16 * p.k};
      multiply_part(p, plan, b, i, begin + j, end, packed_a + worker * plan.packed_a());
    });
  }
}

// The same in the working memory of the device.
inline void multiply(Host& device, const Product& p) {
  const GemmPlan plan(p, device.threads());
  const LentMemory::Loan loan(device.working_memory(),
                              static_cast<std::size_t>(plan.scratch()) * sizeof(float));
  multiply(device, p, plan, loan.as<float>());
}

}  // namespace gpunet::detail
