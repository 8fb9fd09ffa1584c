// Arenas for the gradients of parameters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <gpunet/core/long_sum.hpp>
#include <gpunet/graph/plan.hpp>
#include <gpunet/model/slicing.hpp>
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

// wide[i] += gradient[i], or = at `first`. One index = one parameter.
template <class T>
struct AddToWide {
  bool first;
  const T* gradient;
  WideSum<T>* wide;
  GPUNET_FN void operator()(index_t i) const {
    wide[i] = static_cast<WideSum<T>>(gradient[i]) + (first ? WideSum<T>{} : wide[i]);
  }
};

// gradient[i] = the sum over k, in order, of wide[k][i]. One index = one parameter.
template <class T>
struct SumOfWide {
  index_t runs, size;  // of each
  const WideSum<T>* wide;
  T* gradient;
  GPUNET_FN void operator()(index_t i) const {
    WideSum<T> sum = wide[i];
    for (index_t k = 1; k < runs; ++k)
      sum += wide[k * size + i];
    gradient[i] = static_cast<T>(sum);
  }
};

// An arena of gradients, and a partial one for each run of slices after the first (see
// Slicing::runs). Gradients that are not computed are 0. Where runs are long, the sums of sum_run
// slices each are added up in double.
template <class T, class D>
class Gradients {
 public:
  explicit Gradients(index_t size) : size_(size), ranges_{{0, size}} {}

  // Sets which gradients are computed. The others become 0. An error changes no range.
  void set_plan(D& device, const std::vector<ParameterInfo>& parameters, const Plan& plan) {
    std::vector<ArenaRange> ranges;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (plan.has_gradient[i])
        append(ranges, parameters[i]);
      else if (sum_->size() > 0)
        fill(device, parameters[i].sizes.numel(), T{}, sum_->data() + parameters[i].offset);
    if (spare_ != plan.spare_elements)
      partial_ = {};  // gradients would lie in the new gaps, which have to be 0
    spare_ = plan.spare_elements;
    ranges_ = std::move(ranges);
    all_frozen_ = std::none_of(parameters.begin(), parameters.end(),
                               [](const auto& p) { return p.requires_grad; });
  }
  // Returns the parts of the arena that are computed.
  const std::vector<ArenaRange>& ranges() const { return ranges_; }

  // Allocates memory at the first call: inference needs none. Throws Error if there are parameters,
  // and none has a gradient.
  void reserve(D& device, const Slicing& slicing) {
    require(size_ == 0 || !ranges_.empty() || !all_frozen_,
            "gpunet::Network: no gradient to compute (all parameters are frozen by "
            "requires_grad(false)), let some of them be trained: "
            "net.parameters(\"fc.*\").requires_grad(true)");
    require(size_ == 0 || !ranges_.empty(),
            "gpunet::Network: no gradient to compute (no trained parameter has an effect on the "
            "outputs: they are frozen, behind detach, or in layers whose values are not used), let "
            "the outputs depend on one");
    runs_ = slicing.runs();
    is_long_ = !std::is_same_v<T, WideSum<T>> && slicing.slices() > runs_ * sum_run;
    const index_t size = size_ + spare_, partial = (runs_ - 1) * size,
                  wide = is_long_ ? runs_ * size : 0;
    // Work that may still write to the old arena keeps it by owner().
    if (sum_->size() < size) sum_ = std::make_shared<Buffer<T, D>>(grown(device, *sum_, size));
    if (partial_.size() < partial) partial_ = grown(device, partial_, partial);
    if (wide_.size() < wide) wide_.reset(device, wide);
  }

  // Returns the arena in which run r sums its gradients.
  T* of_run(index_t r) const {
    return r == 0 ? sum_->data() : partial_.data() + (r - 1) * (size_ + spare_);
  }

  // Returns how slice i of run r stores its gradients: the first slice replaces, others add.
  // Without zero_grad() since the last backward pass, run 0 always adds to the earlier gradients.
  Accumulate mode(index_t r, index_t i) const {
    const bool is_first = is_long_ ? i % sum_run == 0 : i == 0;
    return !is_first || (r == 0 && i == 0 && !zeroed_) ? Accumulate::yes : Accumulate::no;
  }
  // Notes that slice i of run r, of `slices`, has stored its gradients.
  void end_slice(D& device, index_t r, index_t i, index_t slices) const {
    if (!is_long_ || (i + 1 < slices && (i + 1) % sum_run != 0)) return;
    for (const ArenaRange& range : ranges_)
      for_each(device, range.size(),
               AddToWide<T>{i < sum_run, of_run(r) + range.begin,
                            wide_.data() + r * (size_ + spare_) + range.begin});
  }
  // Returns whether the arena of run 0 has all sums after the last slice.
  bool is_one_sum() const { return runs_ == 1 && !is_long_; }

  // Adds up the sums of all runs. All runs must be done.
  void add_partials(D& device) const {
    if (is_one_sum()) return;
    const index_t size = size_ + spare_;
    for (const ArenaRange& range : ranges_)
      if (T* const sum = sum_->data() + range.begin; is_long_)
        for_each(device, range.size(), SumOfWide<T>{runs_, size, wide_.data() + range.begin, sum});
      else
        for_each(device, range.size(),
                 AddPartials<T>{runs_ - 1, size, partial_.data() + range.begin, sum});
  }
  // Notes a backward pass: the next one adds to it.
  void note_backward() { zeroed_ = false; }

  // Makes the next backward pass replace the gradients. Writes no memory.
  void zero() { zeroed_ = true; }
  // Returns whether there was no backward pass since zero().
  bool zeroed() const { return zeroed_; }

  // Memory for computing their norm, reused from call to call: scratch, and one element for the
  // result.
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
  // Returns the owner of their memory, for work that may be running when this ends.
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
  index_t runs_ = 1;
  bool is_long_ = false;
  std::vector<ArenaRange> ranges_;
  bool all_frozen_ = false;
  std::shared_ptr<Buffer<T, D>> sum_ = std::make_shared<Buffer<T, D>>();
  Buffer<T, D> partial_;
  Buffer<WideSum<T>, D> wide_;  // of each run
  bool zeroed_ = true;
  mutable Buffer<T, D> measured_;  // mutable: changes no gradient
  mutable Buffer<std::byte, D> scratch_;
  mutable std::uint64_t measurements_ = 0;
};

}  // namespace gpunet
