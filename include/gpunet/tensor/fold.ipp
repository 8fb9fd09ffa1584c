// Bodies of fold.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/flush_subnormals.hpp>
#include <gpunet/tensor/fold.hpp>

namespace gpunet::detail {

GPUNET_INLINE FoldSizes along(const Sizes& sizes, int dim) {
  FoldSizes out{1, sizes[dim], 1};
  for (int d = 0; d < sizes.rank(); ++d)
    if (d != dim) (d < dim ? out.outer : out.inner) *= sizes[d];
  return out;
}

// One fold on Host. Rows that fit into a block are folded one by one. Else blocks of consecutive
// elements, which are several rows where rows are short, are folded into one block, element by
// element, and its rows at the end.
class HostFold {
 public:
  HostFold(const RunnableProgram& program, const FoldSizes& sizes, const FoldStep& step)
      : program_(program), sizes_(sizes), step_(step) {
    block_ = most_in_block(program);
    folds_rows_ = sizes.inner == 1 && sizes.length <= block_;
    width_ = std::min(sizes.inner, block_);
    rows_ = std::clamp(block_ / width_, index_t{1}, sizes.length);
    part_rows_ = round_up(std::max(index_t{1}, part_elements / width_), rows_);
  }

  index_t parts() const { return folds_rows_ ? 1 : ceil_div(sizes_.length, part_rows_); }
  index_t columns() const { return ceil_div(sizes_.inner, width_); }

  // Folds part `part` of the results [first, first + count) of `outer`, to out [outer, inner].
  void run(index_t part, index_t first, index_t count, index_t column, std::byte* out) const {
    BlockRunner runner(program_, block_);
    if (folds_rows_) return fold_rows(runner, first, count, out);
    for (index_t o = first; o < first + count; ++o)
      fold_columns(runner, part, o, column * width_, out);
  }

 private:
  static constexpr index_t part_elements = 1 << 16, run_length = sum_run;

  void fold_rows(BlockRunner& runner, index_t first, index_t count, std::byte* out) const {
    const index_t most = std::max(index_t{1}, runner.block() / sizes_.length);
    for (index_t o = first; o < first + count; o += most) {
      const index_t rows = std::min(most, first + count - o);
      const void* const x = runner.run(o * sizes_.length, rows * sizes_.length, nullptr);
      fold_dense_rows(x, rows, sizes_.length, out + o * bytes_of(step_.accumulated));
    }
  }
  void fold_dense_rows(const void* x, index_t rows, index_t length, void* y) const {
    const RowArrays arguments{length, x, y};
    step_.fold_rows(&arguments, 0, rows);
  }

  void fold_columns(BlockRunner& runner, index_t part, index_t o, index_t column,
                    std::byte* out) const {
    const index_t accumulated = bytes_of(step_.accumulated);
    const index_t width = std::min(width_, sizes_.inner - column);
    const index_t rows = columns() > 1 ? 1 : rows_;
    alignas(64) std::byte run[1024 * 8], total[1024 * 8], block[1024 * 8];
    const index_t begin = part * part_rows_, end = std::min(sizes_.length, begin + part_rows_);
    index_t in_run = 0, filled = 0;  // elements of `total`
    const auto end_run = [&](index_t count) {
      const void* x = run;
      if (step_.convert) {
        const BlockArrays arrays{filled > 0 ? block : total, run, nullptr, nullptr};
        step_.convert(&arrays, 0, count);
        x = block;
      }
      if (filled > 0) {
        const BlockArrays arrays{total, total, x, nullptr};
        step_.fold(&arrays, 0, count);
      } else {
        if (!step_.convert) std::memcpy(total, run, static_cast<std::size_t>(count * accumulated));
        filled = count;
      }
      in_run = 0;
    };
    for (index_t r = begin; r < end; r += rows) {
      const index_t count = std::min(rows, end - r) * width;
      const void* const x =
          runner.run((o * sizes_.length + r) * sizes_.inner + column, count, nullptr);
      if (in_run > 0) {
        const BlockArrays arrays{run, run, x, nullptr};
        step_.fold_elements(&arrays, 0, count);
      } else {
        std::memcpy(run, x, static_cast<std::size_t>(count * bytes_of(step_.type)));
        if (count < rows * width && filled > 0) {  // a last block with fewer rows
          end_run(count);
          break;
        }
      }
      if (++in_run == run_length || (!step_.in_runs && step_.convert))
        end_run(std::min(rows, end - begin) * width);
    }
    if (in_run > 0) end_run(std::min(rows, end - begin) * width);
    // The rows of the block.
    for (index_t left = filled / width; left > 1;) {
      const index_t half = left / 2, kept = left - half;
      const BlockArrays arrays{total, total, total + kept * width * accumulated, nullptr};
      step_.fold(&arrays, 0, half * width);
      left = kept;
    }
    std::memcpy(out + ((part * sizes_.outer + o) * sizes_.inner + column) * accumulated, total,
                static_cast<std::size_t>(width * accumulated));
  }

  const RunnableProgram& program_;
  const FoldSizes& sizes_;
  const FoldStep& step_;
  index_t block_, width_, rows_, part_rows_;
  bool folds_rows_;
};

GPUNET_INLINE void fold(Host& device, const RunnableProgram& program, const FoldSizes& sizes,
                        const FoldStep& step, void* out) {
  const HostFold work(program, sizes, step);
  const index_t parts = work.parts(), columns = work.columns(), results = sizes.outer * sizes.inner;
  const index_t bytes = bytes_of(step.accumulated);
  std::vector<std::byte> partial(parts > 1 ? static_cast<std::size_t>(parts * results * bytes) : 0);
  auto* const target = parts > 1 ? partial.data() : static_cast<std::byte*>(out);

  // One task folds several results where they are short.
  constexpr index_t task_elements = 1 << 15;
  const index_t count = std::clamp(task_elements / std::max(sizes.length * sizes.inner, index_t{1}),
                                   index_t{1}, sizes.outer);
  const index_t groups = ceil_div(sizes.outer, count), tasks = groups * parts * columns;
  const auto run = [&](index_t task) {
    const index_t column = task % columns, part = task / columns % parts,
                  first = task / columns / parts * count;
    work.run(part, first, std::min(count, sizes.outer - first), column, target);
  };
  if (tasks == 1 || device.threads() == 1 || program.elements <= task_elements) {
    for (index_t task = 0; task < tasks; ++task)
      run(task);
  } else {
    device.run(tasks, [&](index_t task, int) {
      const KeepSubnormals keep;
      run(task);
    });
  }
  if (parts == 1) return;
  std::memcpy(out, target, static_cast<std::size_t>(results * bytes));
  for (index_t part = 1; part < parts; ++part) {
    const BlockArrays arrays{out, out, target + part * results * bytes, nullptr};
    step.fold(&arrays, 0, results);
  }
}

}  // namespace gpunet::detail
