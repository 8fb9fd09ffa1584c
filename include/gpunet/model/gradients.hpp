// Arenas for the gradients of parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <gpunet/graph/plan.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/slice.hpp>
#include <gpunet/tensor/buffer.hpp>

namespace gpunet {

// gradient[i] += the sum over k, in order, of partial[k][i]. One index = one parameter.
template <class T>
struct AddPartials {
  index_t partials, size;  // of each
  const T* partial;
  T* gradient;
  GPUNET_FN void operator()(index_t i) const {
    T sum = gradient[i];
    for (index_t k = 0; k < partials; ++k)
      sum += partial[k * size + i];
    gradient[i] = sum;
  }
};

// An arena of gradients, and a partial one for each run of slices after the first (see Slicing::runs). Those that are not computed
// are 0.
template <class T, class D>
class Gradients {
 public:
  explicit Gradients(index_t size) : size_(size), ranges_{{0, size}} {}

  // Sets which gradients are computed. Those of other parameters become 0. An error changes no range.
  void set_plan(D& device, const std::vector<ParameterInfo>& parameters, const Plan& plan) {
    std::vector<ArenaRange> ranges;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (plan.has_gradient[i])
        append(ranges, parameters[i]);
      else if (sum_->size() > 0)
        fill(device, parameters[i].sizes.numel(), T{}, sum_->data() + parameters[i].offset);
    if (spare_ != plan.spare_elements)
      partial_ = {};  // gradients would lie in what are gaps now, which have to be 0
    spare_ = plan.spare_elements;
    ranges_ = std::move(ranges);
  }
  // Returns the parts of the arena that are computed.
  const std::vector<ArenaRange>& ranges() const { return ranges_; }

  // Allocates memory at the first call: inference needs none. Throws Error if there are parameters, and all are frozen.
  void reserve(D& device, index_t runs) {
    require(size_ == 0 || !ranges_.empty(),
            "gpunet::Network: no gradient to compute (all parameters are frozen by requires_grad(false)), let some "
            "of them be trained: net.parameters(\"fc.*\").requires_grad(true)");
    const index_t size = size_ + spare_, partial = (runs - 1) * size;
    // What may still write to the old arena keeps it by owner().
    if (sum_->size() < size) sum_ = std::make_shared<Buffer<T, D>>(grown(device, *sum_, size));
    if (partial_.size() < partial) partial_ = grown(device, partial_, partial);
  }

  // Returns the arena in which run r sums its gradients.
  T* of_run(index_t r) const { return r == 0 ? sum_->data() : partial_.data() + (r - 1) * (size_ + spare_); }

  // Returns how a slice of run r stores its gradients: the first one of a run replaces, others add. Without zero_grad() since
  // the last backward pass, run 0 always adds.
  Accumulate mode(index_t r, bool first_of_run) const {
    return !first_of_run || (r == 0 && !zeroed_) ? Accumulate::yes : Accumulate::no;
  }

  // Adds the partial sums of all runs. All runs must be done.
  void add_partials(D& device, index_t runs) const {
    if (runs == 1) return;
    for (const ArenaRange& range : ranges_)
      for_each(device, range.size(),
               AddPartials<T>{runs - 1, size_ + spare_, partial_.data() + range.begin, sum_->data() + range.begin});
  }
  // Notes a backward pass: the next one adds to it.
  void note_backward() { zeroed_ = false; }

  // Makes the next backward pass replace the gradients. Writes no memory.
  void zero() { zeroed_ = true; }
  // Returns whether there was no backward pass since zero().
  bool zeroed() const { return zeroed_; }

  // Memory for computing their norm, reused from call to call: scratch, and one element for the result.
  struct Measurement {
    T* result;
    void* scratch;
    std::uint64_t number;  // counts measurements
  };
  Measurement begin_measurement(D& device, index_t bytes) const {
    if (measured_.size() < 1) measured_.reset(device, 1);
    if (scratch_.size() < bytes) scratch_.reset(device, bytes);
    return {measured_.data(), scratch_.data(), ++measurements_};
  }
  std::uint64_t measurements() const { return measurements_; }

  // Null before the first backward pass.
  T* data() const { return sum_->data(); }
  const Buffer<T, D>& sums() const { return *sum_; }
  // Returns what keeps their memory, for work that may be running when this ends.
  std::shared_ptr<const void> owner() const { return sum_; }
  index_t size() const { return size_; }

 private:
  // Returns a larger copy. Gaps between parameters are 0: layers do not write them.
  static Buffer<T, D> grown(D& device, const Buffer<T, D>& before, index_t size) {
    Buffer<T, D> after(device, size);
    fill(device, size, T{}, after.data());
    if (before.size() > 0) device.copy(after.data(), before.data(), before.bytes());
    return after;
  }

  index_t size_, spare_ = 0;  // behind the arena, see Plan
  std::vector<ArenaRange> ranges_;
  std::shared_ptr<Buffer<T, D>> sum_ = std::make_shared<Buffer<T, D>>();
  Buffer<T, D> partial_;
  bool zeroed_ = true;
  mutable Buffer<T, D> measured_;  // mutable: changes no gradient
  mutable Buffer<std::byte, D> scratch_;
  mutable std::uint64_t measurements_ = 0;
};

}  // namespace gpunet
