// The affine map of floats on Host where it is small: W stays in the second cache.
#pragma once

#include <algorithm>

#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/interleave.hpp>
#include <gpunet/ops/linear/plain.hpp>

#define GPUNET_KERNELS <gpunet/ops/linear/host/small.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet {

namespace detail {

// Whether the kernels of this file do it: with vectors over the 16 samples of a group, or over inputs where samples are
// few.
inline bool has_small_kernels(const Slice& slice, index_t in, index_t out) {
  return slice.inner == 16 ? in >= 8 && out >= 8 : in >= 4 && (slice.inner == 4 || slice.inner == 1);
}

// Whether an affine map is small.
constexpr bool is_small_linear(index_t in, index_t out) {
  return in * out <= index_t{1} << 16;
}

// One group of samples of a slice, [features][inner], as rows [inner][features], and back.
inline void to_rows(Host& device, index_t inner, index_t features, const float* x, float* rows) {
  deinterleave(device, Slice{inner, 1, inner}, features, x, rows);
}
inline void from_rows(Host& device, index_t inner, index_t features, const float* rows, float* x) {
  interleave(device, Slice{inner, 1, inner}, features, rows, x);
}

// y = x W^T + b of one sample. Its time is that of reading W: threads share a W that takes longer than to wake them.
inline void forward_sample(Host& device, index_t in, index_t out, const float* x, const float* w, const float* b,
                           float* y, bool relu) {
  constexpr index_t large = index_t{1} << 17;  // weights for a thread
  const index_t tasks = std::clamp<index_t>(in * out / large, 1, device.threads());
  const index_t outputs = round_up(ceil_div(out, tasks), 8);
  device.run(ceil_div(out, outputs), [&](index_t task, int) {
    const index_t o = task * outputs;
    GPUNET_CALL_PATH(in, forward_rows<1>, in, std::min(outputs, out - o), x, w + o * in, b + o, y + o, relu);
  });
}

// Whether there is so much to do that threads share it.
inline bool shares_linear(const Slice& slice, index_t in, index_t out) {
  return slice.samples() * in * out >= index_t{1} << 20;
}

// task(group) for every group of a slice; on several threads where there is much to do.
template <class Task>
void for_each_linear_group(Host& device, const Slice& slice, index_t in, index_t out, Task task) {
  device.run_if(shares_linear(slice, in, out), slice.outer, [&](index_t group, int) { task(group); });
}

inline index_t small_linear_scratch(const Slice& slice, index_t in) {
  return slice.samples() * in;
}

inline void small_linear_forward(Host& device, const Slice& slice, index_t in, index_t out, const float* x,
                                 const float* w, const float* b, float* y, float* scratch, Activation activation) {
  const bool relu = activation == Activation::relu;
  for_each_linear_group(device, slice, in, out, [=, &device](index_t group) {
    const float* inputs = x + group * in * slice.inner;
    float* outputs = y + group * out * slice.inner;
    if (slice.inner == 16) {
      GPUNET_CALL_PATH(16, forward_group, in, out, inputs, w, b, outputs, relu);
    } else if (slice.inner == 1) {
      forward_sample(device, in, out, inputs, w, b, outputs, relu);
    } else {
      float* four_rows = scratch + group * in * slice.inner;
      to_rows(device, slice.inner, in, inputs, four_rows);
      GPUNET_CALL_PATH(in, forward_rows<4>, in, out, four_rows, w, b, outputs, relu);
    }
  });
}

inline void small_linear_backward_input(Host& device, const Slice& slice, index_t in, index_t out, const float* dy,
                                        const float* w, float* dx, float* scratch) {
  for_each_linear_group(device, slice, in, out, [=, &device](index_t group) {
    const float* outputs = dy + group * out * slice.inner;
    float* inputs = dx + group * in * slice.inner;
    if (slice.inner == 16) {
      GPUNET_CALL_PATH(16, input_gradient_group, in, out, outputs, w, inputs);
    } else if (slice.inner == 1) {
      GPUNET_CALL_PATH(in, input_gradient_rows<1>, in, out, outputs, w, inputs);
    } else {
      float* four_rows = scratch + group * in * slice.inner;
      GPUNET_CALL_PATH(in, input_gradient_rows<4>, in, out, outputs, w, four_rows);
      from_rows(device, slice.inner, in, four_rows, inputs);
    }
  });
}

inline void small_linear_backward_parameters(Host& device, const Slice& slice, index_t in, index_t out,
                                             const float* x, const float* dy, float* dw, float* db,
                                             Accumulate accumulate, float* scratch) {
  const index_t group_size = in * slice.inner;
  const float* rows = x;
  if (slice.inner > 1) {
    rows = scratch;
    for_each_linear_group(device, slice, in, out, [=, &device](index_t group) {
      to_rows(device, slice.inner, in, x + group * group_size, scratch + group * group_size);
    });
  }
  // Threads share the outputs; each sum goes through the groups in order.
  const auto gradients = [=](index_t first, index_t some) {
    for (index_t group = 0; group < slice.outer; ++group) {
      const float* inputs = rows + group * group_size;
      const float* outputs = dy + (group * out + first) * slice.inner;
      const Accumulate mode = group > 0 ? Accumulate::yes : accumulate;
      if (slice.inner == 4)
        GPUNET_CALL_PATH(in, four_gradients, in, some, inputs, outputs, dw + first * in, db + first, mode);
      else
        GPUNET_CALL_PATH(in, linear_gradients, in, some, slice.inner, inputs, outputs, dw + first * in, db + first,
                         mode);
    }
  };
  constexpr index_t block = 8;
  if (slice.outer == 1 || !shares_linear(slice, in, out)) return gradients(0, out);
  device.run(ceil_div(out, block),
             [&](index_t task, int) { gradients(task * block, std::min(block, out - task * block)); });
}

}  // namespace detail

}  // namespace gpunet
