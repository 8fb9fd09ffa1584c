// Bodies of gather.hpp.
#pragma once

#include <algorithm>

#include <gpunet/core/text.hpp>
#include <gpunet/ops/for_each_block.hpp>
#include <gpunet/ops/gather.hpp>

namespace gpunet {

namespace detail {

// A dimension of the array that is written: position t reads position t + shift of [0, extent), or
// one that padding copies, or none, and positions to read are `stride` elements apart.
struct GatherRange {
  index_t size = 1, stride = 0, shift = 0, extent = 1;
  PadMode mode = PadMode::constant;
  index_t unit = 1;  // positions that padding copies together

  // Returns whether position t reads an element that is not padding.
  GPUNET_FN bool has(index_t t) const { return 0 <= t + shift && t + shift < extent; }
  // The positions [begin(), end()) do.
  GPUNET_FN index_t begin() const { return shift > 0 ? 0 : -shift < size ? -shift : size; }
  GPUNET_FN index_t end() const {
    const index_t last = extent - shift < size ? extent - shift : size;
    return last > begin() ? last : begin();
  }
  // Returns the number of positions of padding, n at most, that are read one after another.
  GPUNET_FN index_t run(index_t n) const { return mode == PadMode::circular ? n : unit; }
  // Returns the place that the first position of such a run reads, t + shift of an extent.
  GPUNET_FN index_t source(index_t place, index_t of) const {
    if (unit == 1) return padded_source(mode, place, of);
    const index_t before = place < 0 ? unit - 1 : 0;  // rounds down
    return padded_source(mode, (place - before) / unit, of / unit) * unit;
  }

  // In the backward pass `size` is the extent of x, and `extent` that of y. Return the number of
  // positions of y that read element i: in the padding before x, behind x, and in all of y.
  GPUNET_FN index_t copies_before(index_t i) const {
    if (mode == PadMode::reflect) return 1 <= i && i <= shift ? 1 : 0;
    if (mode == PadMode::circular) return i + shift >= size ? 1 : 0;
    return mode == PadMode::replicate && i == 0 ? shift : 0;
  }
  GPUNET_FN index_t copies_behind(index_t i) const {
    if (mode == PadMode::reflect)
      return i < size - 1 && 2 * (size - 1) - i + shift < extent ? 1 : 0;
    if (mode == PadMode::circular) return i + size + shift < extent ? 1 : 0;
    return mode == PadMode::replicate && i == size - 1 ? extent - size - shift : 0;
  }
  GPUNET_FN index_t copies(index_t i) const { return 1 + copies_before(i) + copies_behind(i); }
  // Returns the k-th of these positions; the first is that of the element itself.
  GPUNET_FN index_t copy(index_t i, index_t k) const {
    if (k == 0) return i + shift;
    const index_t behind = k - 1 - copies_before(i);
    if (mode == PadMode::replicate) return behind < 0 ? k - 1 : size + shift + behind;
    if (mode == PadMode::reflect) return behind < 0 ? shift - i : 2 * (size - 1) - i + shift;
    return behind < 0 ? i + shift - size : i + shift + size;
  }
};

// The dimensions of the array that is written. One index is one block of rows.size x columns.size
// elements.
struct GatherRanges {
  int rank = 0;  // the number of ranges
  GatherRange ranges[Sizes::max_rank + 1]{};
  GatherRange rows{}, columns{};

  // Appends an inner dimension. Merges it with the last one if both are one longer dimension; only
  // `columns` may copy units of several elements.
  void append(GatherRange range, bool is_columns = false) {
    const bool whole = range.shift == 0 && range.extent == range.size;
    if (whole) range.mode = PadMode::constant;
    if (whole && range.size == 1) return;
    if (rank > 0) {
      GatherRange& last = ranges[rank - 1];
      const bool has_units = last.mode == PadMode::reflect || last.mode == PadMode::replicate;
      if (whole && (is_columns || !has_units) && last.stride == range.stride * range.size) {
        last = {last.size * range.size,   range.stride, last.shift * range.size,
                last.extent * range.size, last.mode,    has_units ? range.size : 1};
        return;
      }
    }
    ranges[rank++] = range;
  }
};

// Computes the array that is written, of all ranges of `gather`.
template <class D, class F>
void run_gather(D& device, F& gather) {
  if constexpr (prefers_blocks<D>) {
    if (gather.rank > 0) gather.columns = gather.ranges[--gather.rank];
    if (gather.rank > 0) gather.rows = gather.ranges[--gather.rank];
  }
  index_t blocks = 1;
  for (int k = 0; k < gather.rank; ++k)
    blocks *= gather.ranges[k].size;
  for_each_block(device, blocks, gather.rows.size * gather.columns.size, gather);
}

// to = from at another place, or a constant; or the sum of several. With `copies`, padding copies
// elements along some dimensions.
template <class T, bool copies>
struct Gather : GatherRanges {
  const T* from;
  T* to;
  T fill;
  // Sums are over sum_rows x sum_columns elements of `from`.
  index_t sum_rows = 1, sum_columns = 1, sum_row = 0, sum_column = 0;

  Gather(const T* from_, T* to_, double fill_)
      : from(from_), to(to_), fill(static_cast<T>(fill_)) {}

  GPUNET_FN void operator()(index_t i) const {
    T* out = to + i * rows.size * columns.size;
    const T* source = from;
    bool inside = true;
    for (int k = rank - 1; k >= 0; --k) {
      const GatherRange& range = ranges[k];
      const index_t t = i % range.size;
      i /= range.size;
      inside = inside && has(range, t);
      source += place(range, t) * range.stride;
    }
    for (index_t row = 0; row < rows.size; ++row, out += columns.size) {
      const bool row_inside = inside && has(rows, row);
      const index_t begin = row_inside ? columns.begin() : columns.size,
                    end = row_inside ? columns.end() : columns.size;
      const T* line = source + place(rows, row) * rows.stride;
      pad(line, 0, begin, row_inside, out);
      if (begin < end)
        read(line + (begin + columns.shift) * columns.stride, end - begin, out + begin);
      pad(line, end, columns.size, row_inside, out);
    }
  }

  // Sums over `size` elements, `stride` apart.
  void append_sum(index_t size, index_t stride) {
    sum_rows = sum_columns;
    sum_row = sum_column;
    sum_columns = size;
    sum_column = stride;
  }

 private:
  // Returns whether position t of a range reads an element, and its place.
  GPUNET_FN static bool has(const GatherRange& range, index_t t) {
    return (copies && range.mode != PadMode::constant) || range.has(t);
  }
  GPUNET_FN static index_t place(const GatherRange& range, index_t t) {
    return copies ? range.source(t + range.shift, range.extent) : t + range.shift;
  }

  // out = the constant, or copies, in the columns [begin, end) before or behind the elements of a
  // line.
  GPUNET_FN void pad(const T* line, index_t begin, index_t end, bool inside, T* out) const {
    if (!copies || !inside || columns.mode == PadMode::constant) {
      for (index_t c = begin; c < end; ++c)
        out[c] = fill;
      return;
    }
    const index_t run = columns.run(end - begin);
    for (index_t c = begin; c < end; c += run) {
      const T* source = line + place(columns, c) * columns.stride;
      for (index_t k = 0; k < run; ++k)
        out[c + k] = source[k * columns.stride];
    }
  }

  // out = the n elements or sums that begin at `source`.
  GPUNET_FN void read(const T* source, index_t n, T* out) const {
    if (columns.stride == 1)
      for (index_t c = 0; c < n; ++c)
        out[c] = source[c];
    else
      for (index_t c = 0; c < n; ++c)
        out[c] = source[c * columns.stride];
    for (index_t r = 0; r < sum_rows; ++r)
      for (index_t k = r == 0 ? 1 : 0; k < sum_columns; ++k) {
        const T* other = source + r * sum_row + k * sum_column;
        if (columns.stride == 1)
          for (index_t c = 0; c < n; ++c)
            out[c] += other[c];
        else
          for (index_t c = 0; c < n; ++c)
            out[c] += other[c * columns.stride];
      }
  }
};

// dx = the sum of dy over the copies of an element by padding.
template <class T>
struct PaddingGradient : GatherRanges {
  const T* dy;
  T* dx;

  PaddingGradient(const T* dy_, T* dx_) : dy(dy_), dx(dx_) {}

  GPUNET_FN void operator()(index_t i) const {
    T* out = dx + i * rows.size * columns.size;
    index_t combinations = 1;
    for (index_t m = 0; m < combinations; ++m) {
      // The m-th of all combinations of the copies along each range.
      const T* source = dy;
      index_t rest = i, copies_left = m;
      combinations = 1;
      for (int k = rank - 1; k >= 0; --k) {
        const GatherRange& range = ranges[k];
        const index_t t = rest % range.size, n = range.copies(t);
        rest /= range.size;
        combinations *= n;
        if (n == 1) {
          source += (t + range.shift) * range.stride;
        } else {
          source += range.copy(t, copies_left % n) * range.stride;
          copies_left /= n;
        }
      }
      for (index_t row = 0; row < rows.size; ++row)
        add(source + (row + rows.shift) * rows.stride, out + row * columns.size, m > 0);
      add_rows(source, 0, rows.shift, out);
      add_rows(source, rows.shift + rows.size, rows.extent, out);
    }
  }

 private:
  // out += the gradients of the rows [begin, end) of y, which are padding.
  GPUNET_FN void add_rows(const T* source, index_t begin, index_t end, T* out) const {
    for (index_t t = begin; t < end; ++t)
      add(source + t * rows.stride, out + rows.source(t - rows.shift, rows.size) * columns.size,
          true);
  }
  // out (+)= the gradients of one row of y.
  GPUNET_FN void add(const T* line, T* out, bool adds) const {
    const T* source = line + columns.shift * columns.stride;
    if (adds && columns.stride == 1)
      for (index_t c = 0; c < columns.size; ++c)
        out[c] += source[c];
    else if (columns.stride == 1)
      for (index_t c = 0; c < columns.size; ++c)
        out[c] = source[c];
    else
      for (index_t c = 0; c < columns.size; ++c)
        out[c] = (adds ? out[c] : T{}) + source[c * columns.stride];
    add_columns(line, 0, columns.shift, out);
    add_columns(line, columns.shift + columns.size, columns.extent, out);
  }
  // out += the gradients of the columns [begin, end) of a row of y, which are padding.
  GPUNET_FN void add_columns(const T* line, index_t begin, index_t end, T* out) const {
    const index_t run = columns.run(end - begin);
    for (index_t t = begin; t < end; t += run) {
      T* target = out + columns.source(t - columns.shift, columns.size);
      for (index_t k = 0; k < run; ++k)
        target[k] += line[(t + k) * columns.stride];
    }
  }
};

}  // namespace detail

GPUNET_INLINE GatherOp GatherOp::padding(Kind kind, PadMode mode, const Sizes& in,
                                         std::span<const index_t> paddings, double fill) {
  GatherOp op{kind, static_cast<std::uint8_t>(in.rank())};
  op.fill = fill;
  for (std::size_t o = 0; o < op.rank; ++o) {
    const int d = static_cast<int>(o);
    const auto [before, after] = padding_of(paddings, in.rank(), d);
    op.axes[o] = {in[d], in[d] + before + after, static_cast<std::int32_t>(before),
                  static_cast<std::int8_t>(o), mode};
  }
  return op;
}

GPUNET_INLINE GatherOp GatherOp::pixel_shuffle(const Sizes& in, index_t factor) {
  const index_t channels = in[0] / (factor * factor);
  return {Kind::pixel_shuffle,
          5,
          {{{channels, channels, 0, 0},
            {in[1], in[1], 0, 3},
            {factor, factor, 0, 1},
            {in[2], in[2], 0, 4},
            {factor, factor, 0, 2}}}};
}

GPUNET_INLINE GatherOp GatherOp::upsample(const Sizes& in, index_t factor) {
  GatherOp op{Kind::upsample, 1, {{{in[0], in[0], 0, 0}}}};
  const auto append = [&](index_t inputs, index_t outputs, PadMode mode) {
    op.axes[op.rank] = {inputs, outputs, 0, static_cast<std::int8_t>(op.rank), mode};
    ++op.rank;
  };
  for (int i = 1; i < in.rank(); ++i) {
    append(in[i], in[i], PadMode::constant);
    append(1, factor, PadMode::replicate);
  }
  return op;
}

GPUNET_INLINE Sizes GatherOp::output() const {
  Sizes out;
  for (std::size_t o = 0; o < rank; ++o)
    out.append(axes[o].outputs);
  return out;
}

GPUNET_INLINE bool GatherOp::is_copy() const {
  bool copies = true;
  for (std::size_t o = 0; o < rank; ++o)
    copies = copies && axes[o].inputs == axes[o].outputs && axes[o].padding == 0 &&
             static_cast<std::size_t>(axes[o].place) == o;
  return copies;
}

GPUNET_INLINE bool GatherOp::copies() const {
  bool some = false;
  for (std::size_t o = 0; o < rank; ++o)
    some = some || (axes[o].mode != PadMode::constant && !axes[o].repeats());
  return some;
}

GPUNET_INLINE std::string GatherOp::extra_repr(const Sizes&, const Sizes&) const {
  if (kind == Kind::pixel_shuffle) return concat("upscale_factor=", axes[2].outputs);
  if (kind == Kind::upsample) return concat("scale_factor=", axes[2].outputs, ".0, mode='nearest'");
  std::string numbers;
  const auto append = [&](index_t number) {
    numbers += concat(numbers.empty() ? "" : ", ", number);
  };
  if (kind == Kind::permute) {
    for (std::size_t o = 0; o < rank; ++o)
      append(axes[o].place);
    return numbers;
  }
  // Layers pad all dimensions but the channels, functions some of the last ones.
  const auto is_padded = [&](const GatherAxis& axis) {
    return axis.padding != 0 || axis.outputs != axis.inputs;
  };
  std::size_t first = kind == Kind::pad_with_mode ? 0 : 1;
  while (first + 1 < rank && kind == Kind::pad_with_mode && !is_padded(axes[first]))
    ++first;
  for (std::size_t o = rank; o-- > first;) {
    append(axes[o].padding);
    append(axes[o].outputs - axes[o].inputs - axes[o].padding);
  }
  const std::string value = concat(", value=", detail::python_repr(fill));
  if (kind == Kind::pad_with_value) return concat("padding=(", numbers, ")", value);
  if (kind == Kind::pad) return concat("(", numbers, ")");
  const PadMode mode = axes[rank - 1].mode;
  return concat("(", numbers, "), mode='", name_of(mode), "'",
                mode == PadMode::constant ? value : "");
}

template <class D, class T>
void GatherOp::forward(D& device, const ForwardPass<T>& pass) const {
  const auto run = [&](auto gather) {
    const index_t inner = pass.slice.inner;
    gather.append({pass.slice.outer, pass.in_features * inner, 0, pass.slice.outer});
    for (std::size_t o = 0; o < rank; ++o) {
      const GatherAxis& axis = axes[o];
      index_t stride = inner;
      for (std::size_t k = 0; k < rank; ++k)
        if (axes[k].place > axis.place) stride *= axes[k].inputs;
      if (axis.repeats())
        gather.append({axis.outputs, 0, 0, axis.outputs});
      else
        gather.append({axis.outputs, stride, -axis.padding, axis.inputs, axis.mode});
    }
    gather.append({inner, 1, 0, inner}, detail::prefers_blocks<D>);
    detail::run_gather(device, gather);
  };
  if (copies())
    run(detail::Gather<T, true>(pass.x, pass.y, fill));
  else
    run(detail::Gather<T, false>(pass.x, pass.y, fill));
}

template <class D, class T>
void GatherOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (!pass.dx) return;
  int sums = 0;
  for (std::size_t o = 0; o < rank; ++o)
    sums += axes[o].repeats();
  const bool adds_copies = copies() || sums > 2;
  const auto run = [&](auto gather) {
    const index_t inner = pass.slice.inner;
    gather.append({pass.slice.outer, pass.out_features * inner, 0, pass.slice.outer});
    for (std::size_t place = 0; place < rank; ++place) {
      std::size_t o = rank - 1;
      index_t stride = inner;
      for (; static_cast<std::size_t>(axes[o].place) != place; --o)
        stride *= axes[o].outputs;
      const GatherAxis& axis = axes[o];
      if constexpr (requires { gather.append_sum(1, 1); }) {
        if (axis.repeats()) {
          gather.append_sum(axis.outputs, stride);
          continue;
        }
      }
      gather.append({axis.inputs, stride, axis.padding, axis.outputs, axis.mode});
    }
    gather.append({inner, 1, 0, inner}, detail::prefers_blocks<D>);
    detail::run_gather(device, gather);
  };
  if (adds_copies)
    run(detail::PaddingGradient<T>(pass.dy, pass.dx));
  else
    run(detail::Gather<T, false>(pass.dy, pass.dx, 0));
}

}  // namespace gpunet
