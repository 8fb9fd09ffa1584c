// The workspace of a model.
#pragma once

#include <algorithm>
#include <array>

#include <gpunet/core/math.hpp>
#include <gpunet/graph/run_slice.hpp>
#include <gpunet/model/slicing.hpp>
#include <gpunet/tensor/buffer.hpp>

namespace gpunet {

// Memory for `slot_count` slices at a time and for `workers` threads. Grows on demand and never
// shrinks.
template <class T, class D>
class Workspace {
 public:
  // Makes room for one batch of such slices; `scratch` elements per worker.
  void reserve(D& device, const Plan& plan, const Slice& slice, index_t slot_count, index_t workers,
               index_t scratch);

  // Returns the memory of a slice in `slot` that `worker` runs.
  SliceMemory<T> at(index_t slot, index_t worker) const;

  std::array<const void*, 2> addresses() const { return {memory_.data(), caches_.data()}; }
  std::size_t bytes() const { return memory_.bytes() + caches_.bytes(); }

 private:
  index_t per_slot() const { return input_ + outputs_ + output_gradient_; }
  index_t per_worker() const { return gradients_ + scratch_ + wide_; }

  index_t input_ = 0, outputs_ = 0, output_gradient_ = 0, gradients_ = 0, scratch_ = 0, wide_ = 0,
          cache_ = 0, slots_ = 0;
  Buffer<T, D> memory_;
  Buffer<std::byte, D> caches_;
};

template <class T, class D>
void Workspace<T, D>::reserve(D& device, const Plan& plan, const Slice& slice, index_t slot_count,
                              index_t workers, index_t scratch) {
  require(
      scratch <= most_elements, "gpunet::Model: a layer works in ", scratch,
      " numbers (want 2^48 or fewer, no memory holds more), use a smaller batch or smaller layers");
  const index_t samples = slice.samples();
  const auto padded = [](index_t elements) {
    return round_up(elements, arena_alignment);
  };
  const auto grow = [&](auto& buffer, index_t size) {
    if (buffer.size() < size) buffer.reset(device, size);
  };
  input_ = padded(plan.input_features * samples);
  outputs_ = padded(plan.output_elements * samples);
  output_gradient_ = padded(plan.output_features * samples);
  gradients_ = padded(plan.gradient_elements * samples);
  scratch_ = padded(scratch);
  wide_ = padded(plan.wide_parameters + plan.wide_elements * samples);
  cache_ = padded(plan.cache_bytes * samples);
  slots_ = slot_count;
  grow(memory_, slot_count * per_slot() + workers * per_worker());
  grow(caches_, slot_count * cache_);
}

template <class T, class D>
SliceMemory<T> Workspace<T, D>::at(index_t slot, index_t worker) const {
  T* own = memory_.data() + slot * per_slot();
  T* lent = memory_.data() + slots_ * per_slot() + worker * per_worker();
  return {own,  own + input_,      caches_.data() + slot * cache_, own + input_ + outputs_,
          lent, lent + gradients_, lent + gradients_ + scratch_};
}

}  // namespace gpunet
