// Bodies of element_program.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/flush_subnormals.hpp>
#include <gpunet/device/host/isa_paths.hpp>
#include <gpunet/tensor/element_program.hpp>

#define GPUNET_KERNELS <gpunet/tensor/vector_blocks.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet::detail {

GPUNET_INLINE Strides dense_strides(const Sizes& sizes) {
  Strides strides{};
  index_t stride = 1;
  for (int d = sizes.rank() - 1; d >= 0; --d) {
    strides[static_cast<std::size_t>(d)] = stride;
    stride *= sizes[d];
  }
  return strides;
}

GPUNET_INLINE bool is_dense(const Sizes& sizes, const Strides& strides) {
  index_t stride = 1;
  for (int d = sizes.rank() - 1; d >= 0; --d) {
    if (strides[static_cast<std::size_t>(d)] != stride) return false;
    stride *= sizes[d];
  }
  return true;
}

GPUNET_INLINE ElementProgram& ElementProgram::operator=(const ElementProgram& other) {
  operand_count_ = other.operand_count_;
  step_count_ = other.step_count_;
  result_ = other.result_;
  type_ = other.type_;
  sizes_ = other.sizes_;
  std::copy_n(other.operands_.items, operand_count_, operands_.items);
  std::copy_n(other.steps_, step_count_, steps_);
  return *this;
}

GPUNET_INLINE void ElementProgram::finish(ElementStep step, std::array<std::uint8_t, 3> values) {
  std::copy(values.begin(), values.end(), step.operands);
  type_ = step.result;
  result_ = static_cast<std::uint8_t>(first_step + step_count_);
  steps_[step_count_++] = step;
}

GPUNET_INLINE void ElementProgram::expand(const Sizes& sizes, std::string_view function) {
  const std::optional<Sizes> out = broadcast_shapes(sizes_, sizes);
  if (!out) {
    const std::size_t rank = static_cast<std::size_t>(std::max(sizes_.rank(), sizes.rank()));
    const auto extent = [rank](const Sizes& shape, std::size_t d) {
      const std::size_t missing = rank - static_cast<std::size_t>(shape.rank());
      return d < missing ? 1 : shape[static_cast<int>(d - missing)];
    };
    std::size_t d = rank - 1;
    while (extent(sizes_, d) == extent(sizes, d) || extent(sizes_, d) == 1 || extent(sizes, d) == 1)
      --d;
    throw_error(Error(
        concat("gpunet::", function, ": the shapes ", to_string(sizes_), " and ", to_string(sizes),
               " do not broadcast (aligned at their last dimension, ", extent(sizes_, d), " meets ",
               extent(sizes, d), " in dimension ", static_cast<int>(d) - static_cast<int>(rank),
               "; want the same extent or 1), reshape one of them")));
  }
  if (!out->at_most(most_elements)) [[unlikely]]
    fail({"gpunet::", function, ": the shapes ", to_string(sizes_), " and ", to_string(sizes),
          " make more than 2^48 elements (no memory holds them), check the shapes"});
  sizes_ = *out;
}

GPUNET_INLINE std::uint8_t ElementProgram::append(const ElementProgram& other,
                                                  std::string_view function) {
  if (!(other.sizes_ == sizes_) && other.sizes_.rank() > 0) expand(other.sizes_, function);
  const std::uint8_t operands = operand_count_, steps = step_count_;
  const auto moved = [operands, steps](std::uint8_t value) {
    return static_cast<std::uint8_t>(value + (value < first_step ? operands : steps));
  };
  for (int k = 0; k < other.operand_count_; ++k)
    operands_.items[operand_count_++] = other.operands_.items[k];
  for (int k = 0; k < other.step_count_; ++k) {
    ElementStep& step = steps_[step_count_++] = other.steps_[k];
    for (std::uint8_t& value : step.operands)
      value = moved(value);
  }
  return moved(other.result_);
}

GPUNET_INLINE void ElementProgram::apply(const ElementStep& step) {
  finish(step, {result_, result_, result_});
}
GPUNET_INLINE void ElementProgram::apply(const ElementStep& step, const ElementProgram& b,
                                         std::string_view function) {
  const std::uint8_t first = result_, second = append(b, function);
  finish(step, {first, second, second});
}
GPUNET_INLINE void ElementProgram::apply(const ElementStep& step, const ElementProgram& b,
                                         const ElementProgram& c, std::string_view function) {
  const std::uint8_t first = result_, second = append(b, function), third = append(c, function);
  finish(step, {first, second, third});
}
// Returns the strides of an operand along dimension d of a shape of `rank` dimensions.
GPUNET_INLINE index_t stride_along(const Sizes& sizes, const Strides& strides, int rank, int d) {
  const int own = d - rank + sizes.rank();
  return own < 0 || sizes[own] == 1 ? 0 : strides[static_cast<std::size_t>(own)];
}

GPUNET_INLINE void set_dense(ProgramArray& array, const void* data) {
  array.data = static_cast<std::byte*>(const_cast<void*>(data));
  array.order = ArrayOrder::dense;
  array.strides[0] = 1;
}

GPUNET_INLINE RunnableProgram runnable(const ElementProgram& program, std::span<const int> order,
                                       ProgramArray* out, const Strides& out_strides) {
  RunnableProgram run;
  const Sizes& sizes = program.sizes();
  const auto operands = program.operands();
  run.type = program.type();
  run.result = program.result();
  run.elements = sizes.numel();
  run.operand_count = static_cast<int>(operands.size());
  run.step_count = static_cast<int>(program.steps().size());
  std::copy(program.steps().begin(), program.steps().end(), run.steps);

  const bool all_dense =
      order.empty() &&
      std::all_of(operands.begin(), operands.end(),
                  [&](const Operand& x) {
                    return !x.data || (x.sizes == sizes && is_dense(sizes, x.strides));
                  }) &&
      (!out || is_dense(sizes, out_strides));
  if (all_dense) {
    run.rank = 1;
    run.extents[0] = run.elements;
    for (int a = 0; a < run.operand_count; ++a) {
      const Operand& from = operands[static_cast<std::size_t>(a)];
      ProgramArray& to = run.operands[a];
      to.type = from.type;
      to.number = from.number;
      to.order = ArrayOrder::number;
      if (from.data) set_dense(to, from.data);
    }
    if (out) set_dense(*out, out->data);
    return run;
  }

  // Dimensions of 1 vanish; neighbors in which all arrays go on evenly become one.
  index_t strides[most_program_operands + 1][Sizes::max_rank];
  const int arrays = run.operand_count + (out ? 1 : 0);
  int rank = 0;
  for (int k = 0; k < sizes.rank(); ++k) {
    const int d = order.empty() ? k : order[static_cast<std::size_t>(k)];
    if (sizes[d] == 1) continue;
    index_t along[most_program_operands + 1];
    bool merges = rank > 0;
    for (int a = 0; a < arrays; ++a) {
      const bool is_out = a == run.operand_count;
      along[a] = is_out
                     ? out_strides[static_cast<std::size_t>(d)]
                     : stride_along(operands[static_cast<std::size_t>(a)].sizes,
                                    operands[static_cast<std::size_t>(a)].strides, sizes.rank(), d);
      if (merges) merges = strides[a][rank - 1] == along[a] * sizes[d];
    }
    if (merges) --rank;
    run.extents[rank] = merges ? run.extents[rank] * sizes[d] : sizes[d];
    for (int a = 0; a < arrays; ++a)
      strides[a][rank] = along[a];
    ++rank;
  }
  run.rank = rank;
  const auto set_layout = [&](ProgramArray& array, const index_t* own) {
    std::copy_n(own, rank, array.strides);
    index_t stride = 1;
    for (int d = rank - 1; d >= 0; --d) {
      if (own[d] != stride) {
        array.order = ArrayOrder::strided;
        return;
      }
      stride *= run.extents[d];
    }
    array.order = ArrayOrder::dense;
  };
  for (int a = 0; a < run.operand_count; ++a) {
    const Operand& from = operands[static_cast<std::size_t>(a)];
    ProgramArray& to = run.operands[a];
    to.type = from.type;
    if (from.data) {
      to.data = static_cast<std::byte*>(const_cast<void*>(from.data));
      set_layout(to, strides[a]);
    } else {
      to.number = from.number;
      to.order = ArrayOrder::number;
    }
  }
  if (out) set_layout(*out, strides[run.operand_count]);
  return run;
}

// Calls run(offset, stride, count) for the parts of the elements [begin, begin + count) of an array
// that are at equal distances.
template <class Run>
void each_run(const RunnableProgram& program, const ProgramArray& array, index_t begin,
              index_t count, Run run) {
  const int last = program.rank - 1;
  if (last < 0) return run(index_t{0}, index_t{0}, count);
  index_t at[Sizes::max_rank];
  index_t offset = 0;
  for (int d = last; d >= 0; --d) {
    at[d] = d > 0 ? begin % program.extents[d] : begin;
    begin /= program.extents[d];
    offset += at[d] * array.strides[d];
  }
  const index_t stride = array.strides[last];
  for (;;) {
    const index_t length = std::min(count, program.extents[last] - at[last]);
    run(offset, stride, length);
    count -= length;
    if (count == 0) return;
    offset -= at[last] * stride;
    at[last] = 0;
    int d = last - 1;
    offset += array.strides[d];
    while (++at[d] == program.extents[d]) {
      offset -= at[d] * array.strides[d];
      at[d] = 0;
      --d;
      offset += array.strides[d];
    }
  }
}

// Calls f(element of as many bytes) for an element type.
template <class F>
void with_bytes(ElementType type, F f) {
  const index_t bytes = bytes_of(type);
  if (bytes == 4)
    f(std::uint32_t{});
  else if (bytes == 8)
    f(std::uint64_t{});
  else
    f(std::uint8_t{});
}

template <class E>
void fill_block(E* y, index_t n, E value) {
  const FillLoop<E> fill{value, y};
  block_loop<FillLoop<E>>()(&fill, 0, n);
}

// Copies elements of an array in the order of the program to `block`, or from it.
enum class BlockCopy { gather, scatter };
template <BlockCopy direction>
void copy_block(const RunnableProgram& program, const ProgramArray& array, index_t begin,
                index_t count, void* block) {
  with_bytes(array.type, [&](auto element) {
    using E = decltype(element);
    E* dense = static_cast<E*>(block);
    E* const base = reinterpret_cast<E*>(array.data);
    each_run(program, array, begin, count, [&](index_t offset, index_t stride, index_t length) {
      E* const from = base + offset;
      if constexpr (direction == BlockCopy::gather) {
        if (stride == 0)
          fill_block(dense, length, *from);
        else if (stride == 1)
          std::memcpy(dense, from, static_cast<std::size_t>(length) * sizeof(E));
        else
          for (index_t i = 0; i < length; ++i)
            dense[i] = from[i * stride];
      } else if (stride == 1) {
        std::memcpy(from, dense, static_cast<std::size_t>(length) * sizeof(E));
      } else {
        for (index_t i = 0; i < length; ++i)
          from[i * stride] = dense[i];
      }
      dense += length;
    });
  });
}

GPUNET_INLINE index_t most_in_block(const RunnableProgram& program) {
  bool is_wide = bytes_of(program.type) == 8;
  for (int k = 0; k < program.operand_count; ++k)
    is_wide = is_wide || bytes_of(program.operands[k].type) == 8;
  for (int k = 0; k < program.step_count; ++k)
    is_wide = is_wide || bytes_of(program.steps[k].result) == 8;
  return is_wide ? 512 : 1024;
}

GPUNET_INLINE BlockRunner::BlockRunner(const RunnableProgram& program, index_t most)
    : program_(program) {
  const index_t widest = most_in_block(program);
  block_ = std::clamp(most, index_t{1}, widest);
  slot_bytes_ = static_cast<std::size_t>(round_up(block_ * (4096 / widest), 64));

  // Every value is read by one step: then its slot is free again.
  bool used[most_program_operands + most_program_steps] = {};
  int slot_count = 0;
  const auto take = [&] {
    int k = 0;
    while (used[k])
      ++k;
    used[k] = true;
    slot_count = std::max(slot_count, k + 1);
    return static_cast<std::int8_t>(k);
  };
  for (int k = 0; k < program.operand_count; ++k)
    slots_[k] = program.operands[k].order == ArrayOrder::dense ? std::int8_t{-1} : take();
  for (int k = 0; k < program.step_count; ++k) {
    slots_[most_program_operands + k] = take();
    for (const std::uint8_t value : program.steps[k].operands)
      if (value >= first_step)
        used[static_cast<std::size_t>(slots_[most_program_operands + value - first_step])] = false;
  }
  const std::size_t bytes = static_cast<std::size_t>(slot_count) * slot_bytes_;
  memory_ = bytes <= own_bytes ? own_ : static_cast<std::byte*>(allocate_on_host(bytes));

  for (int k = 0; k < program.operand_count; ++k)
    if (const ProgramArray& x = program.operands[k]; x.order == ArrayOrder::number) {
      with_bytes(x.type, [&](auto element) {
        fill_block(reinterpret_cast<decltype(element)*>(slot(slots_[k])), block_,
                   static_cast<decltype(element)>(x.number));
      });
      values_[k] = slot(slots_[k]);
    }
}

GPUNET_INLINE BlockRunner::~BlockRunner() {
  if (memory_ != own_) deallocate_on_host(memory_);
}

GPUNET_INLINE const void* BlockRunner::run(index_t begin, index_t count, void* out) {
  const int last = program_.rank - 1;
  for (int k = 0; k < program_.operand_count; ++k) {
    const ProgramArray& x = program_.operands[k];
    if (x.order == ArrayOrder::number) continue;
    if (x.order == ArrayOrder::dense) {
      values_[k] = x.data + begin * bytes_of(x.type);
    } else if (last >= 0 && x.strides[last] == 1 &&
               begin % program_.extents[last] + count <= program_.extents[last]) {
      values_[k] = x.data + x.offset(begin, program_.rank, program_.extents) * bytes_of(x.type);
    } else {
      copy_block<BlockCopy::gather>(program_, x, begin, count, slot(slots_[k]));
      values_[k] = slot(slots_[k]);
    }
  }
  const auto value = [this](std::uint8_t number) {
    return values_[number < first_step ? number : most_program_operands + number - first_step];
  };
  for (int k = 0; k < program_.step_count; ++k) {
    const ElementStep& step = program_.steps[k];
    void* const y =
        out && k + 1 == program_.step_count ? out : slot(slots_[most_program_operands + k]);
    const BlockArrays arrays{y, value(step.operands[0]), value(step.operands[1]),
                             value(step.operands[2])};
    step.loop(&arrays, 0, count);
    values_[most_program_operands + k] = y;
  }
  return value(program_.result);
}

template <class T>
void square_root_loop(const void* functor, index_t begin, index_t end) {
  const auto& arrays = *static_cast<const BlockArrays*>(functor);
  const T* const x = static_cast<const T*>(arrays.a) + begin;
  T* const y = static_cast<T*>(arrays.y) + begin;
  GPUNET_CALL_PATH(16, square_roots, end - begin, x, y);
}

// y = f(x) for numbers up to scalar::largest_circular.
template <float (*f)(float)>
struct CircularLoop : BlockArrays {
  [[gnu::always_inline]] inline void operator()(index_t i) const {
    static_cast<float*>(y)[i] = f(static_cast<const float*>(a)[i]);
  }
};

// y = f(x); Op is f for any number.
template <class Op, float (*f)(float)>
void circular_loop(const void* functor, index_t begin, index_t end) {
  const auto& arrays = *static_cast<const BlockArrays*>(functor);
  const float* const x = static_cast<const float*>(arrays.a);
  const Loop loop = loop_over<CircularLoop<f>>();
  bool has_others = false;
  GPUNET_CALL_PATH(16, find_beyond, end - begin, x + begin, scalar::largest_circular, has_others);
  if (!has_others) return loop(functor, begin, end);
  constexpr index_t part = 256;
  float copy[part];  // y may be x
  for (; begin < end; begin += part) {
    const index_t count = std::min(part, end - begin);
    std::copy_n(x + begin, count, copy);
    float* const y = static_cast<float*>(arrays.y) + begin;
    const BlockArrays of_part{y, copy, copy, copy};
    loop(&of_part, 0, count);
    for (index_t i = 0; i < count; ++i)
      if (!(std::fabs(copy[i]) <= scalar::largest_circular)) y[i] = Op{}(copy[i]);
  }
}

GPUNET_INLINE Loop vector_block_loop(element::Code code, ElementType type) {
  if (code == element::Code::Sin) return circular_loop<element::Apply<functions::Sin>, scalar::sin>;
  if (code == element::Code::Cos) return circular_loop<element::Apply<functions::Cos>, scalar::cos>;
  if (code == element::Code::Tan) return circular_loop<element::Apply<functions::Tan>, scalar::tan>;
  return type == ElementType::f32 ? square_root_loop<float> : square_root_loop<double>;
}

// Copies an array to a dense one whose last two dimensions are exchanged, tile by tile, so that
// each cache line is read once.
GPUNET_INLINE void run_transposed(Host& device, const RunnableProgram& program,
                                  const ProgramArray& out) {
  const ProgramArray& x = program.operands[0];
  const int last = program.rank - 1;
  const index_t rows = program.extents[last - 1], columns = program.extents[last],
                stride = x.strides[last];
  constexpr index_t tile = 32;
  const index_t tiles = ceil_div(rows, tile), matrices = program.elements / (rows * columns);
  with_bytes(x.type, [&](auto element) {
    using E = decltype(element);
    device.run_if(program.elements > 1 << 15, matrices * tiles, [&](index_t task, int) {
      const index_t matrix = task / tiles, top = task % tiles * tile,
                    bottom = std::min(rows, top + tile);
      const E* const from = reinterpret_cast<const E*>(x.data) +
                            x.offset(matrix * rows * columns, program.rank, program.extents);
      E* const to = reinterpret_cast<E*>(out.data) + matrix * rows * columns;
      for (index_t left = 0; left < columns; left += tile)
        for (index_t i = top; i < bottom; ++i)
          for (index_t j = left; j < std::min(columns, left + tile); ++j)
            to[i * columns + j] = from[i + j * stride];
    });
  });
}

GPUNET_INLINE void run_elements(Host& device, const RunnableProgram& program,
                                const ProgramArray& out) {
  const index_t n = program.elements;
  if (const int last = program.rank - 1; program.step_count == 0 && last > 0 &&
                                         out.order == ArrayOrder::dense &&
                                         program.operands[0].order == ArrayOrder::strided &&
                                         program.operands[0].strides[last - 1] == 1 &&
                                         program.extents[last] > 8 && program.extents[last - 1] > 8)
    return run_transposed(device, program, out);
  constexpr index_t chunk = 1 << 15;  // as many elements pay for a second thread
  const auto part = [&](index_t begin, index_t end) {
    const index_t bytes = bytes_of(out.type);
    BlockRunner runner(program, end - begin);
    for (index_t i = begin; i < end; i += runner.block()) {
      const index_t count = std::min(runner.block(), end - i);
      std::byte* const target = out.order == ArrayOrder::dense ? out.data + i * bytes : nullptr;
      const void* const result = runner.run(i, count, target);
      if (!target)
        copy_block<BlockCopy::scatter>(program, out, i, count, const_cast<void*>(result));
      else if (result != target)
        std::memcpy(target, result, static_cast<std::size_t>(count * bytes));
    }
  };
  if (n <= chunk || device.threads() == 1) {
    if (n > 0) part(0, n);
    return;
  }
  device.run(ceil_div(n, chunk), [&](index_t i, int) {
    const KeepSubnormals keep;
    part(i * chunk, std::min(n, (i + 1) * chunk));
  });
}

}  // namespace gpunet::detail
