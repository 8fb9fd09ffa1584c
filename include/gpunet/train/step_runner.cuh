// The training step on Cuda: recorded once, then one launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/model/network_access.hpp>
#include <gpunet/nn/cross_entropy_loss.hpp>
#include <gpunet/train/step_recordings.cuh>
#include <gpunet/train/step_runner.hpp>
#include <gpunet/train/steps_in_block.cuh>

namespace gpunet::train {

// Puts a batch and the optimizer's numbers for this step to where the recorded work reads them. One
// index = one input and one word of the targets; the numbers go with index 0, to nowhere without an
// update.
template <class T, class Update>
struct BeginStep {
  index_t inputs, targets;
  const T* from_inputs;
  const std::uint32_t* from_targets;
  T* to_inputs;
  std::uint32_t* to_targets;
  Update update;
  Update* to_update;

  GPUNET_FN void operator()(index_t i) const {
    if (i < inputs) to_inputs[i] = from_inputs[i];
    if (i < targets) to_targets[i] = from_targets[i];
    if (i == 0 && to_update) *to_update = update;
  }
};

// An update whose numbers are on the device, of the parameters from `first` on. One index = one
// parameter.
template <class Update>
struct StoredUpdate {
  const Update* update;
  index_t first;
  GPUNET_FN void operator()(index_t i) const {
    // Before anything is written, as if they were arguments of the kernel.
    const Update numbers = *update;
    numbers(first + i);
  }
};

template <class T, class Optimizer>
class StepRunner<Cuda, T, Optimizer>::State {
  using Model = Network<Cuda, T>;
  using Inputs = View<const T, Cuda>;
  using Targets = TargetsOf<Cuda, T>;
  using Update = decltype(std::declval<Optimizer&>().next_of(std::declval<optim::Segment&>()));

 public:
  State(Model& model, Optimizer& optimizer) : model_(model), optimizer_(optimizer), block_(model) {}

  void operator()(const Inputs& inputs, const Targets& targets, const StepPart& part) {
    const bool is_whole = part.updates && part.loss_gradient == 1 && model_->gradients().zeroed() &&
                          !model_->reducer();
    if (!is_whole || !repeat(1, inputs, targets, nullptr)) replay_step(inputs, targets, part);
    if (part.updates) model_->note_update();
  }

  bool repeat(index_t times, const Inputs& inputs, const Targets& targets, T* losses) {
    constexpr index_t most = 1024;  // in one launch: a display must not freeze
    if (!fits_in_block(targets.loss, inputs.size(0))) return false;
    gpunet::detail::NetworkAccess::begin_step(*model_, inputs, targets);
    const View<const label_t, Cuda> labels(static_cast<const label_t*>(targets.data),
                                           targets.sizes);
    for (index_t i = 0; i < times; i += most)
      block_(optimizer(), inputs, labels, std::min(most, times - i), losses ? losses + i : nullptr);
    model_->note_update();
    return true;
  }

  RecordingStatus recording(const AnyLoss<Cuda, T>& loss, index_t batch, bool one_part) const {
    if (one_part && fits_in_block(loss, batch)) return {false, "a step is one launch as it is"};
    return recordings_.status(batch, model_->mode());
  }

 private:
  Optimizer& optimizer() const { return static_cast<Optimizer&>(*optimizer_); }

  // Returns whether a step is one launch: see steps_in_block.cuh.
  bool fits_in_block(const AnyLoss<Cuda, T>& loss, index_t batch) const {
    const auto* cross_entropy = loss.template as<nn::CrossEntropyLoss>();
    return cross_entropy && cross_entropy->is_plain() && block_.fits(optimizer(), batch);
  }

  // As the class comment says.
  void replay_step(const Inputs& inputs, const Targets& targets, const StepPart& part) {
    Cuda& device = model_->device();
    const auto words = static_cast<index_t>(targets.bytes() / sizeof(std::uint32_t));
    grow(inputs_, inputs.numel());
    grow(targets_, words);
    const Inputs x{inputs_.data(), inputs.sizes()};
    const Targets with(targets.loss, targets_.data(), targets.sizes);
    gpunet::detail::NetworkAccess::begin_step(*model_, x, with);
    std::vector<optim::Segment>& segments = optimizer().segments();
    grow(updates_, std::max<index_t>(1, std::ssize(segments)));
    BeginStep<T, Update> begin{inputs.numel(),
                               words,
                               inputs.data(),
                               static_cast<const std::uint32_t*>(targets.data),
                               inputs_.data(),
                               targets_.data(),
                               {},
                               nullptr};
    progress_.clear();
    for (const optim::Segment& segment : segments)
      progress_.push_back(segment.progress);
    const auto begin_update = [&](std::size_t i) {
      begin.update = optimizer().next_of(segments[i]);
      begin.to_update = updates_.data() + i;
    };
    const auto work = [&] {
      gpunet::detail::NetworkAccess::run_step(*model_, with, static_cast<T>(part.loss_gradient));
      if (!part.updates) return;
      for (std::size_t i = 0; i < segments.size(); ++i)
        for (const ArenaRange& range : segments[i].ranges)
          for_each(device, range.size(), StoredUpdate<Update>{updates_.data() + i, range.begin});
    };
    const bool reduces = model_->reducer() && model_->reducer()->reduces();
    const auto run = [&] {
      if (part.updates && !segments.empty()) begin_update(0);
      for_each(device, std::max(inputs.numel(), words), begin);
      begin.inputs = begin.targets = 0;
      for (std::size_t i = 1; part.updates && i < segments.size(); ++i) {
        begin_update(i);
        for_each(device, 1, begin);
      }
      recordings_.run(device,
                      {inputs.size(0), model_->mode(), !model_->gradients().zeroed(), part.updates,
                       reduces, part.loss_gradient},
                      {gpunet::detail::NetworkAccess::memory_addresses(*model_),
                       gpunet::detail::NetworkAccess::plan_number(*model_), optimizer().layout(),
                       gpunet::detail::NetworkAccess::reducer_number(*model_)},
                      std::cref(work));
    };
    gpunet::detail::attempt(run, [&] {  // the step was not done, so it does not count
      for (std::size_t i = 0; i < segments.size(); ++i)
        segments[i].progress = progress_[i];
      gpunet::detail::rethrow();
    });
  }

  template <class E>
  void grow(Buffer<E, Cuda>& buffer, index_t size) {
    if (buffer.size() >= size) return;
    recordings_.forget_graphs();
    buffer.reset(model_->device(), size);
  }

  TrackedPointer<Model> model_;
  TrackedPointer<optim::Rates> optimizer_;
  Buffer<T, Cuda> inputs_;
  Buffer<std::uint32_t, Cuda> targets_;    // as words
  Buffer<Update, Cuda> updates_;           // of the optimizer's segments
  std::vector<optim::Progress> progress_;  // of them before the step
  BlockRunner<T, Optimizer> block_;
  StepRecordings recordings_;
};

template <class T, class Optimizer>
StepRunner<Cuda, T, Optimizer>::StepRunner(Network<Cuda, T>& model, Optimizer& optimizer)
    : state_(new State(model, optimizer), [](State* state) { delete state; }) {}

template <class T, class Optimizer>
void StepRunner<Cuda, T, Optimizer>::operator()(const View<const T, Cuda>& inputs,
                                                const TargetsOf<Cuda, T>& targets,
                                                const StepPart& part) {
  (*state_)(inputs, targets, part);
}

template <class T, class Optimizer>
bool StepRunner<Cuda, T, Optimizer>::repeat(index_t times, const View<const T, Cuda>& inputs,
                                            const TargetsOf<Cuda, T>& targets, T* losses) {
  return state_->repeat(times, inputs, targets, losses);
}

template <class T, class Optimizer>
RecordingStatus StepRunner<Cuda, T, Optimizer>::recording(const AnyLoss<Cuda, T>& loss,
                                                          index_t batch, bool one_part) const {
  return state_->recording(loss, batch, one_part);
}

}  // namespace gpunet::train
