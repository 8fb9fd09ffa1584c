// Bodies of gather.hpp.
#pragma once

#include <algorithm>

#include <gpunet/core/text.hpp>
#include <gpunet/ops/for_each_block.hpp>
#include <gpunet/ops/gather.hpp>

namespace gpunet {

namespace detail {

// A dimension of the array that is written: position t reads position t + shift of [0, extent), or
// 0 outside of it, and positions to read are `stride` elements apart.
struct GatherRange {
  index_t size = 1, stride = 0, shift = 0, extent = 1;

  GPUNET_FN bool has(index_t t) const { return 0 <= t + shift && t + shift < extent; }
  // The positions [begin(), end()) read an element.
  GPUNET_FN index_t begin() const { return shift > 0 ? 0 : -shift < size ? -shift : size; }
  GPUNET_FN index_t end() const {
    const index_t last = extent - shift < size ? extent - shift : size;
    return last > begin() ? last : begin();
  }
};

// to = from at another place, or 0; or the sum of several. One index = one block of `to`, rows.size
// x columns.size elements.
template <class T>
struct Gather {
  const T* from;
  T* to;
  int rank = 0;  // the number of ranges
  GatherRange ranges[Sizes::max_rank + 1]{};
  GatherRange rows{}, columns{};
  // Sums are over sum_rows x sum_columns elements of `from`.
  index_t sum_rows = 1, sum_columns = 1, sum_row = 0, sum_column = 0;

  GPUNET_FN void operator()(index_t i) const {
    T* out = to + i * rows.size * columns.size;
    const T* source = from;
    bool inside = true;
    for (int k = rank - 1; k >= 0; --k) {
      const GatherRange& range = ranges[k];
      const index_t t = i % range.size;
      i /= range.size;
      inside = inside && range.has(t);
      source += (t + range.shift) * range.stride;
    }
    for (index_t row = 0; row < rows.size; ++row, out += columns.size) {
      const bool has = inside && rows.has(row);
      const index_t begin = has ? columns.begin() : columns.size,
                    end = has ? columns.end() : columns.size;
      for (index_t c = 0; c < begin; ++c)
        out[c] = T{};
      if (begin < end)
        read(source + (row + rows.shift) * rows.stride + (begin + columns.shift) * columns.stride,
             end - begin, out + begin);
      for (index_t c = end; c < columns.size; ++c)
        out[c] = T{};
    }
  }

  // Appends an inner dimension. Merges it with the last one if both are one longer dimension.
  void append(GatherRange range) {
    const bool whole = range.shift == 0 && range.extent == range.size;
    if (whole && range.size == 1) return;
    if (rank > 0) {
      GatherRange& last = ranges[rank - 1];
      if (whole && last.stride == range.stride * range.size) {
        last = {last.size * range.size, range.stride, last.shift * range.size,
                last.extent * range.size};
        return;
      }
    }
    ranges[rank++] = range;
  }
  // Sums over `size` elements, `stride` apart.
  void append_sum(index_t size, index_t stride) {
    sum_rows = sum_columns;
    sum_row = sum_column;
    sum_columns = size;
    sum_column = stride;
  }

  // Computes all of `to`.
  template <class D>
  void run(D& device) {
    if constexpr (prefers_blocks<D>) {
      if (rank > 0) columns = ranges[--rank];
      if (rank > 0) rows = ranges[--rank];
    }
    index_t blocks = 1;
    for (int k = 0; k < rank; ++k)
      blocks *= ranges[k].size;
    for_each_block(device, blocks, rows.size * columns.size, *this);
  }

 private:
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

}  // namespace detail

GPUNET_INLINE bool GatherOp::is_copy() const {
  bool copies = true;
  for (std::size_t o = 0; o < rank; ++o)
    copies =
        copies && axes[o].inputs == axes[o].outputs && static_cast<std::size_t>(axes[o].place) == o;
  return copies;
}

GPUNET_INLINE std::string GatherOp::extra_repr(const Sizes&, const Sizes&) const {
  const auto paddings = [&](std::size_t o) {
    return concat(axes[o].padding, ", ", axes[o].outputs - axes[o].inputs - axes[o].padding);
  };
  if (kind == Kind::zero_pad2d) return concat("(", paddings(2), ", ", paddings(1), ")");
  if (kind == Kind::pixel_shuffle) return concat("upscale_factor=", axes[2].outputs);
  if (kind == Kind::upsample) return concat("scale_factor=", axes[2].outputs, ".0, mode='nearest'");
  std::string dims;
  for (std::size_t o = 0; o < rank; ++o)
    dims += concat(o == 0 ? "" : ", ", int{axes[o].place});
  return dims;
}

template <class D, class T>
void GatherOp::forward(D& device, const ForwardPass<T>& pass) const {
  const index_t inner = pass.slice.inner;
  detail::Gather<T> gather{pass.x, pass.y};
  gather.append({pass.slice.outer, pass.in_features * inner, 0, pass.slice.outer});
  for (std::size_t o = 0; o < rank; ++o) {
    const GatherAxis& axis = axes[o];
    index_t stride = inner;
    for (std::size_t k = 0; k < rank; ++k)
      if (axes[k].place > axis.place) stride *= axes[k].inputs;
    if (axis.repeats)
      gather.append({axis.outputs, 0, 0, axis.outputs});
    else
      gather.append({axis.outputs, stride, -axis.padding, axis.inputs});
  }
  gather.append({inner, 1, 0, inner});
  gather.run(device);
}

template <class D, class T>
void GatherOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (!pass.dx) return;
  const index_t inner = pass.slice.inner;
  detail::Gather<T> gather{pass.dy, pass.dx};
  gather.append({pass.slice.outer, pass.out_features * inner, 0, pass.slice.outer});
  for (std::size_t place = 0; place < rank; ++place) {
    std::size_t o = rank - 1;
    index_t stride = inner;
    for (; static_cast<std::size_t>(axes[o].place) != place; --o)
      stride *= axes[o].outputs;
    if (axes[o].repeats)
      gather.append_sum(axes[o].outputs, stride);
    else
      gather.append({axes[o].inputs, stride, axes[o].padding, axes[o].outputs});
  }
  gather.append({inner, 1, 0, inner});
  gather.run(device);
}

}  // namespace gpunet
