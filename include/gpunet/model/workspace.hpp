// The workspace of a model.
#pragma once

#include <algorithm>
#include <array>

#include <gpunet/core/math.hpp>
#include <gpunet/graph/run_slice.hpp>
#include <gpunet/model/slicing.hpp>
#include <gpunet/tensor/buffer.hpp>

namespace gpunet {

// Memory for `slots` slices at a time and for `workers` threads. Grows on demand and never shrinks.
template <class T, class D>
class Workspace {
 public:
  void reserve(D& device, const Plan& plan, const Slice& slice, index_t slots, index_t workers, index_t scratch) {
    require(scratch <= most_elements, "gpunet::Model: a layer works in ", scratch,
            " numbers (want 2^48 or fewer, no memory holds more), use a smaller batch or smaller layers");
    const index_t samples = slice.samples();
    input_ = padded(plan.input_features * samples);
    outputs_ = padded(plan.output_elements * samples);
    output_gradient_ = padded(plan.output_features * samples);
    gradients_ = padded(plan.gradient_elements * samples);
    scratch_ = padded(scratch);
    cache_ = round_up(plan.cache_bytes * samples, arena_alignment);
    slots_ = slots;
    grow(device, memory_, slots * per_slot() + workers * per_worker());
    grow(device, caches_, slots * cache_);
  }

  SliceMemory<T> at(index_t slot, index_t worker) const {
    T* own = memory_.data() + slot * per_slot();
    T* lent = memory_.data() + slots_ * per_slot() + worker * per_worker();
    return {own, own + input_, caches_.data() + slot * cache_, own + input_ + outputs_, lent, lent + gradients_};
  }

  std::array<const void*, 2> addresses() const { return {memory_.data(), caches_.data()}; }
  std::size_t bytes() const { return memory_.bytes() + caches_.bytes(); }

 private:
  static index_t padded(index_t elements) { return round_up(elements, arena_alignment); }
  index_t per_slot() const { return input_ + outputs_ + output_gradient_; }
  index_t per_worker() const { return gradients_ + scratch_; }

  template <class E>
  static void grow(D& device, Buffer<E, D>& buffer, index_t size) {
    if (buffer.size() < size) buffer.reset(device, size);
  }

  index_t input_ = 0, outputs_ = 0, output_gradient_ = 0, gradients_ = 0, scratch_ = 0, cache_ = 0, slots_ = 0;
  Buffer<T, D> memory_;
  Buffer<std::byte, D> caches_;
};

}  // namespace gpunet
