// The sizes of an average pooling.
#pragma once

#include <gpunet/core/math.hpp>

namespace gpunet {

// The windows of an average pooling along one dimension: every `stride` elements one of `kernel`
// elements, padding included; or, with kernel 0, `outputs` adaptive ones, as equal as whole
// elements allow, which may overlap.
struct PoolAxis {
  index_t size, outputs;
  index_t kernel = 0, stride = 0, padding = 0;
  bool counts_padding = true;

  // Output o is the average of the elements [begin(o), end(o)), padding left out.
  GPUNET_FN index_t begin(index_t o) const {
    if (kernel == 0) return o * size / outputs;
    const index_t first = o * stride - padding;
    return first > 0 ? first : 0;
  }
  GPUNET_FN index_t end(index_t o) const {
    if (kernel == 0) return ceil_div((o + 1) * size, outputs);
    const index_t last = o * stride - padding + kernel;
    return last < size ? last : size;
  }
  // Returns the number of elements that its sum is divided by: the elements of its window, with the
  // padding if that counts, and nothing behind the padding.
  GPUNET_FN index_t length(index_t o) const {
    if (kernel == 0 || !counts_padding) return end(o) - begin(o);
    const index_t rest = size + 2 * padding - o * stride;
    return rest < kernel ? rest : kernel;
  }

  // Element i is in the windows of the outputs [first(i), last(i)).
  GPUNET_FN index_t first(index_t i) const {
    if (kernel == 0) return i * outputs / size;
    return i + padding < kernel ? 0 : (i + padding - kernel) / stride + 1;
  }
  GPUNET_FN index_t last(index_t i) const {
    if (kernel == 0) return ceil_div((i + 1) * outputs, size);
    const index_t after = (i + padding) / stride + 1;
    return after < outputs ? after : outputs;
  }

  // Returns whether there is one window, which has all elements and no padding.
  bool is_one_window() const {
    return outputs == 1 && end(0) - begin(0) == size && length(0) == size;
  }
};

// Sizes of one average pooling. x [channels, rows.size, columns.size], y [channels, rows.outputs,
// columns.outputs] per sample. Padding positions count as zeros.
struct AvgPool2dGeometry {
  index_t channels;
  PoolAxis rows, columns;

  GPUNET_FN index_t in_features() const { return channels * rows.size * columns.size; }
  GPUNET_FN index_t out_features() const { return channels * rows.outputs * columns.outputs; }
  // Returns whether each output is the mean of its channel: global average pooling.
  bool is_global() const { return rows.is_one_window() && columns.is_one_window(); }
};

}  // namespace gpunet
