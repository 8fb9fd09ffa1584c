// Bodies of shapes.hpp.
#pragma once

#include <algorithm>

#include <gpunet/tensor/shapes.hpp>

namespace gpunet::detail {

GPUNET_INLINE Sizes resolved_sizes(std::span<const index_t> sizes, index_t elements,
                                   std::string_view function) {
  index_t known = 1;
  int unknown = -1;
  Sizes out;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      require(unknown < 0, "gpunet::", function,
              ": two extents are -1 (one can be computed), give all but one");
      unknown = static_cast<int>(i);
      out.append(1);
    } else {
      require(sizes[i] >= 0, "gpunet::", function, ": extent ", sizes[i],
              " (want 0 or more, or -1 to compute it)");
      out.append(sizes[i]);
      known =
          sizes[i] == 0 || known <= most_elements / sizes[i] ? known * sizes[i] : most_elements + 1;
    }
  }
  if (unknown >= 0) {
    require(known > 0, "gpunet::", function, ": the extent -1 of ", elements,
            " elements cannot be computed (another one is 0), give it");
    Sizes all;
    for (int i = 0; i < out.rank(); ++i)
      all.append(i == unknown ? elements / known : out[i]);
    known *= elements / known;
    out = all;
  }
  require(known == elements, "gpunet::", function, ": the shape ", to_string(out), " has not the ",
          elements, " elements of the tensor, give one that has");
  return out;
}

// Appends a dimension.
GPUNET_INLINE void append(Layout& layout, index_t extent, index_t stride) {
  layout.sizes.append(extent);
  layout.strides[static_cast<std::size_t>(layout.sizes.rank() - 1)] = stride;
}
GPUNET_INLINE index_t stride_of(const Layout& x, int d) {
  return x.strides[static_cast<std::size_t>(d)];
}

GPUNET_INLINE Layout permuted(const Layout& x, std::span<const int> dims) {
  const int rank = x.sizes.rank();
  require(static_cast<int>(dims.size()) == rank, "gpunet::permute: ", dims.size(),
          " dimensions for a tensor of shape ", to_string(x.sizes), " (want ", rank,
          "), list each once");
  Layout out{x.offset, {}, {}};
  bool seen[Sizes::max_rank] = {};
  for (const int dim : dims) {
    const int d = dimension_at(dim, rank, "permute");
    require(!seen[d], "gpunet::permute: dimension ", dim, " is given twice, list each once");
    seen[d] = true;
    append(out, x.sizes[d], stride_of(x, d));
  }
  return out;
}

GPUNET_INLINE Layout transposed(const Layout& x, int dim0, int dim1) {
  const int rank = x.sizes.rank();
  const int a = dimension_at(dim0, rank, "transpose"), b = dimension_at(dim1, rank, "transpose");
  Layout out{x.offset, {}, {}};
  for (int i = 0; i < rank; ++i) {
    const int d = i == a ? b : i == b ? a : i;
    append(out, x.sizes[d], stride_of(x, d));
  }
  return out;
}

GPUNET_INLINE Layout reshaped(const Layout& x, std::span<const index_t> sizes,
                              std::string_view function) {
  Layout out{x.offset, resolved_sizes(sizes, x.sizes.numel(), function), {}};
  if (x.sizes.numel() == 0) {
    out.strides = dense_strides(out.sizes);
    return out;
  }
  // Groups of old dimensions that lie evenly are divided among new ones, innermost first.
  int to = out.sizes.rank() - 1;
  int d = x.sizes.rank() - 1;
  while (d >= 0) {
    index_t group = x.sizes[d];
    const index_t base = stride_of(x, d);
    index_t reach = base * group;
    --d;
    while (d >= 0 && (x.sizes[d] == 1 || group == 1 || stride_of(x, d) == reach)) {
      if (group == 1 && x.sizes[d] != 1) break;
      group *= x.sizes[d];
      reach *= x.sizes[d];
      --d;
    }
    index_t stride = base, taken = 1;
    while (to >= 0 && (taken < group || out.sizes[to] == 1)) {
      out.strides[static_cast<std::size_t>(to)] = stride;
      stride *= out.sizes[to];
      taken *= out.sizes[to];
      --to;
    }
    require(taken == group, "gpunet::", function, ": the view of shape ", to_string(x.sizes),
            " cannot be seen as one of shape ", to_string(out.sizes),
            " (its elements do not lie one after another), copy it first: Tensor y = x");
  }
  for (; to >= 0; --to)
    out.strides[static_cast<std::size_t>(to)] = 1;
  return out;
}

GPUNET_INLINE Layout flattened(const Layout& x, int start_dim, int end_dim) {
  const int rank = x.sizes.rank();
  if (rank == 0) return reshaped(x, std::array{index_t{1}}, "flatten");
  const int first = dimension_at(start_dim, rank, "flatten"),
            last = dimension_at(end_dim, rank, "flatten");
  require(first <= last, "gpunet::flatten: start_dim ", start_dim, " comes after end_dim ", end_dim,
          ", give them in order");
  std::array<index_t, Sizes::max_rank> sizes{};
  std::size_t count = 0;
  for (int d = 0; d < rank; ++d)
    if (d <= first || d > last)
      sizes[count++] = x.sizes[d];
    else
      sizes[count - 1] *= x.sizes[d];
  return reshaped(x, std::span(sizes).first(count), "flatten");
}

GPUNET_INLINE Layout squeezed(const Layout& x) {
  Layout out{x.offset, {}, {}};
  for (int d = 0; d < x.sizes.rank(); ++d)
    if (x.sizes[d] != 1) append(out, x.sizes[d], stride_of(x, d));
  return out;
}
GPUNET_INLINE Layout squeezed(const Layout& x, int dim) {
  const int at = dimension_at(dim, x.sizes.rank(), "squeeze");
  Layout out{x.offset, {}, {}};
  for (int d = 0; d < x.sizes.rank(); ++d)
    if (d != at || x.sizes[d] != 1) append(out, x.sizes[d], stride_of(x, d));
  return out;
}
GPUNET_INLINE Layout unsqueezed(const Layout& x, int dim) {
  const int rank = x.sizes.rank(), at = dimension_at(dim, rank + 1, "unsqueeze");
  Layout out{x.offset, {}, {}};
  for (int d = 0; d <= rank; ++d) {
    if (d == at) append(out, 1, 1);
    if (d < rank) append(out, x.sizes[d], stride_of(x, d));
  }
  return out;
}

// Returns x with another extent and stride of a dimension, from an index on.
GPUNET_INLINE Layout with_dimension(const Layout& x, int at, index_t start, index_t extent,
                                    index_t step) {
  Layout out{x.offset + (extent > 0 ? start * stride_of(x, at) : 0), {}, {}};
  for (int d = 0; d < x.sizes.rank(); ++d)
    append(out, d == at ? extent : x.sizes[d], stride_of(x, d) * (d == at ? step : 1));
  return out;
}

GPUNET_INLINE Layout narrowed(const Layout& x, int dim, index_t start, index_t length) {
  const int at = dimension_at(dim, x.sizes.rank(), "narrow");
  const index_t extent = x.sizes[at], from = start < 0 ? start + extent : start;
  require(0 <= from && from <= extent && 0 <= length && length <= extent - from,
          "gpunet::narrow: ", length, " elements from ", start, " on of dimension ", dim,
          ", which has ", extent, " (want a part of it)");
  return with_dimension(x, at, from, length, 1);
}
GPUNET_INLINE Layout sliced(const Layout& x, int dim, const Slicer& slice) {
  const int at = dimension_at(dim, x.sizes.rank(), "slice");
  require(slice.step >= 1, "gpunet::slice: step ", slice.step,
          " (want 1 or more; flip(x, {dim}) reverses a dimension)");
  const index_t extent = x.sizes[at];
  const auto bounded = [extent](index_t i) {
    return std::clamp(i < 0 ? i + extent : i, index_t{0}, extent);
  };
  const index_t step = std::min(slice.step, std::max(extent, index_t{1}));  // none is longer
  const index_t start = bounded(slice.start.value_or(0)),
                stop = bounded(slice.stop.value_or(extent));
  return with_dimension(x, at, start, stop > start ? (stop - start - 1) / step + 1 : 0, step);
}
GPUNET_INLINE Layout selected(const Layout& x, int dim, index_t index) {
  const int at = dimension_at(dim, x.sizes.rank(), "select");
  const index_t extent = x.sizes[at];
  require(-extent <= index && index < extent, "gpunet::select: index ", index, " of dimension ",
          dim, ", which has ", extent, " elements (want ", -extent, " to ", extent - 1, ")");
  Layout out{x.offset + (index < 0 ? index + extent : index) * stride_of(x, at), {}, {}};
  for (int d = 0; d < x.sizes.rank(); ++d)
    if (d != at) append(out, x.sizes[d], stride_of(x, d));
  return out;
}

GPUNET_INLINE Layout expanded(const Layout& x, std::span<const index_t> sizes) {
  const int rank = static_cast<int>(sizes.size()), missing = rank - x.sizes.rank();
  require(missing >= 0, "gpunet::expand: ", rank, " extents for a tensor of shape ",
          to_string(x.sizes), " (want at least as many), give all of them");
  Layout out{x.offset, {}, {}};
  for (int d = 0; d < rank; ++d) {
    const index_t wanted = sizes[static_cast<std::size_t>(d)];
    const index_t own = d < missing ? 1 : x.sizes[d - missing];
    require(wanted == own || (wanted == -1 && d >= missing) || (own == 1 && wanted >= 0),
            "gpunet::expand: extent ", wanted, " of dimension ", d, " for one of ", own,
            " (want the same, -1, or any for an extent of 1)");
    append(out, wanted == -1 ? own : wanted,
           own == 1 && wanted != 1 && wanted != -1 ? 0
           : d < missing                           ? 1
                                                   : stride_of(x, d - missing));
  }
  require(out.sizes.at_most(most_elements), "gpunet::expand: the shape ", to_string(out.sizes),
          " has more than 2^48 elements (no memory holds them), check the sizes");
  return out;
}

GPUNET_INLINE Layout flipped(const Layout& x, std::span<const int> dims) {
  Layout out = x;
  bool seen[Sizes::max_rank] = {};
  for (const int dim : dims) {
    const int at = dimension_at(dim, x.sizes.rank(), "flip");
    require(!seen[at], "gpunet::flip: dimension ", dim, " is given twice, list each once");
    seen[at] = true;
    if (x.sizes[at] > 0) out = with_dimension(out, at, x.sizes[at] - 1, x.sizes[at], -1);
  }
  return out;
}

GPUNET_INLINE Layout diagonal_of(const Layout& x) {
  require(x.sizes.rank() == 2, "gpunet::diagonal: a tensor of shape ", to_string(x.sizes),
          " (want a matrix)");
  Layout out{x.offset, {}, {}};
  append(out, std::min(x.sizes[0], x.sizes[1]), stride_of(x, 0) + stride_of(x, 1));
  return out;
}

GPUNET_INLINE std::vector<index_t> split_extents(index_t extent, index_t length) {
  require(length > 0 || (length == 0 && extent == 0), "gpunet::split: parts of ", length,
          " elements of a dimension of ", extent, " (want 1 or more)");
  std::vector<index_t> extents;
  for (index_t left = extent; left > 0; left -= extents.back())
    extents.push_back(std::min(left, length));
  if (extents.empty()) extents.push_back(0);
  return extents;
}
GPUNET_INLINE std::vector<index_t> chunk_extents(index_t extent, index_t chunks) {
  require(0 < chunks && chunks < most_elements, "gpunet::chunk: ", chunks,
          " chunks (want 1 or more)");
  if (extent == 0) return std::vector<index_t>(static_cast<std::size_t>(chunks), 0);
  return split_extents(extent, (extent - 1) / chunks + 1);
}
GPUNET_INLINE std::vector<index_t> given_extents(index_t extent, std::span<const index_t> lengths) {
  index_t left = extent;
  for (const index_t length : lengths) {
    require(0 <= length && length <= left, "gpunet::split: a part of ", length, " elements, of ",
            left, " that are left of a dimension of ", extent, " (want lengths that add up to it)");
    left -= length;
  }
  require(left == 0, "gpunet::split: parts of ", extent - left, " elements of a dimension of ",
          extent, " (want lengths that add up to it)");
  return {lengths.begin(), lengths.end()};
}

}  // namespace gpunet::detail
