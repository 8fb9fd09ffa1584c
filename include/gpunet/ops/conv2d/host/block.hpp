// A convolution of floats on Host together with the rectifier and the pooling behind it.
#pragma once

#include <algorithm>
#include <type_traits>

#include <gpunet/ops/conv2d/host/block_rows.hpp>
#include <gpunet/ops/conv2d/host/wide.hpp>

namespace gpunet {

namespace detail {

// Whether the block can go row by row; else it is three ops one after another.
template <class Geometry>
bool in_rows(const Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block) {
  return !wide_pays(device, slice, block.g) && has_vector_rows(block.g, block.g.out_width, slice.inner) &&
         has_vector_rows(block.g, block.g.width, slice.inner);
}

// A slice of many groups of samples whose blocks go row by row. Groups are shared among the threads; gradients of the
// parameters are summed in parts whose number depends on the slice alone, so that their bits do, too.
struct RowBlocks {
  RowBlock block;
  Slice slice;
  index_t workers;  // each with scratch of its own

  template <class Geometry>
  RowBlocks(const Host& device, const Slice& s, const Conv2dBlock<Geometry>& b)
      : block{{b.g, b.activation, b.pool}, s.inner}, slice(s), workers(conv2d_workers(device, s, b.g)) {}

  static constexpr index_t most_parts = 8;
  index_t parts() const { return is_shared(slice, block.g) ? std::min(slice.outer, most_parts) : 1; }
  index_t first_group(index_t part) const { return part * slice.outer / parts(); }
  index_t inputs() const { return block.g.in_features() * slice.inner; }
  index_t outputs() const { return block.out_features() * slice.inner; }
  index_t weights() const { return block.g.out_channels * block.g.taps(); }
  index_t part_size() const { return weights() + block.g.out_channels; }
  index_t worker_size(const Host& device) const { return round_up(block.scratch(device), 16); }
  index_t scratch(const Host& device) const { return workers * worker_size(device) + (parts() - 1) * part_size(); }
};

inline void forward_in_rows(Host& device, const RowBlocks& all, const float* x, const float* w, const float* b,
                            float* y, PoolChoice* choice, float* scratch) {
  const index_t size = all.worker_size(device);
  device.run_if(all.workers > 1, all.slice.outer, [=, &all](index_t group, int worker) {
    forward_in_rows(all.block, x + group * all.inputs(), w, b, y + group * all.outputs(),
                    choice ? choice + group * all.outputs() : nullptr, scratch + worker * size);
  });
}

inline void backward_in_rows(Host& device, const RowBlocks& all, const float* x, const float* y,
                             const PoolChoice* choice, float* dy, const float* w, float* dx, float* dw, float* db,
                             Accumulate accumulate, float* scratch) {
  const index_t size = all.worker_size(device), weights = all.weights();
  float* parts = scratch + all.workers * size;
  device.run_if(all.workers > 1, all.parts(), [=, &all, &device](index_t part, int worker) {
    float* part_dw = part == 0 ? dw : parts + (part - 1) * all.part_size();
    float* part_db = part == 0 ? db : part_dw + weights;
    Accumulate mode = part == 0 ? accumulate : Accumulate::no;
    for (index_t group = all.first_group(part); group < all.first_group(part + 1); ++group, mode = Accumulate::yes)
      backward_in_rows(device, all.block, x + group * all.inputs(), y + group * all.outputs(),
                       choice ? choice + group * all.outputs() : nullptr, dy + group * all.outputs(), w,
                       dx ? dx + group * all.inputs() : nullptr, part_dw, part_db, mode, scratch + worker * size);
  });
  for (index_t part = 1; part < all.parts(); ++part, parts += all.part_size()) {
    for (index_t i = 0; i < weights; ++i)
      dw[i] += parts[i];
    for (index_t i = 0; i < all.block.g.out_channels; ++i)
      db[i] += parts[weights + i];
  }
}

// Elements of the convolution's output, or of its gradient, that wait in scratch where ops go one by one.
template <class Geometry>
index_t waiting_elements(const Slice& slice, const Conv2dBlock<Geometry>& block) {
  return block.pool ? slice.samples() * block.g.out_features() : 0;
}

template <class Geometry>
void forward_one_by_one(Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const float* x,
                        const float* w, const float* b, float* y, PoolChoice* choice, float* scratch) {
  const Geometry& g = block.g;
  float* z = block.pool ? scratch : y;
  conv2d_forward(device, slice, g, x, w, b, z, scratch + waiting_elements(slice, block));
  if (block.activation == Activation::relu) rectify(device, slice.samples() * g.out_features(), z, z);
  if (block.pool) max_pool2d_forward(device, slice, block.pooling(g.out_height), z, y, choice);
}

template <class Geometry>
void backward_one_by_one(Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const float* x,
                         const float* y, const PoolChoice* choice, float* dy, const float* w, float* dx, float* dw,
                         float* db, Accumulate accumulate, float* scratch) {
  const Geometry& g = block.g;
  if (block.activation == Activation::relu)
    rectify_gradient(device, slice.samples() * block.out_features(), y, dy, dy);
  const float* dz = block.pool ? scratch : dy;
  if (block.pool) max_pool2d_backward(device, slice, block.pooling(g.out_height), dy, choice, scratch);
  scratch += waiting_elements(slice, block);
  conv2d_backward_parameters(device, slice, g, x, dz, dw, db, accumulate, scratch);
  if (dx) conv2d_backward_input(device, slice, g, dz, w, dx, scratch);
}

}  // namespace detail

// Elements of scratch that the two functions below need.
template <class Geometry>
index_t conv2d_block_scratch(const Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block,
                             float = {}) {
  if (detail::in_rows(device, slice, block)) return detail::RowBlocks(device, slice, block).scratch(device);
  return detail::waiting_elements(slice, block) + conv2d_scratch(device, slice, block.g, float{});
}

// Where `block` pools, choice [samples * out_features] takes where the maxima were.
template <class Geometry>
void conv2d_block_forward(Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const float* x,
                          const float* w, const float* b, float* y, PoolChoice* choice, float* scratch) {
  if (detail::in_rows(device, slice, block))
    detail::forward_in_rows(device, {device, slice, block}, x, w, b, y, block.pool ? choice : nullptr, scratch);
  else
    detail::forward_one_by_one(device, slice, block, x, w, b, y, choice, scratch);
}

// dy is used up. dx may be null. rectify_dx: dx is 0 where x, which a ReLU made, is.
template <class Geometry>
void conv2d_block_backward(Host& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const float* x,
                           const float* y, const PoolChoice* choice, float* dy, const float* w, float* dx,
                           float* dw, float* db, Accumulate accumulate, float* scratch, bool rectify_dx = false) {
  if (detail::in_rows(device, slice, block))
    detail::backward_in_rows(device, {device, slice, block}, x, y, block.pool ? choice : nullptr, dy, w, dx, dw, db,
                             accumulate, scratch);
  else
    detail::backward_one_by_one(device, slice, block, x, y, choice, dy, w, dx, dw, db, accumulate, scratch);
  if (dx && rectify_dx) rectify_gradient(device, slice.samples() * block.g.in_features(), x, dx, dx);
}

}  // namespace gpunet
