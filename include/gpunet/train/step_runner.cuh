// The training step on Cuda: recorded once, then one launch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/cuda/recorded_graph.cuh>
#include <gpunet/nn/cross_entropy_loss.hpp>
#include <gpunet/train/step_runner.hpp>
#include <gpunet/train/steps_in_block.cuh>

namespace gpunet::train {

// Puts a batch and the optimizer's numbers for this step to where the recorded work reads them. One index = one input
// and one word of the targets; the numbers go with index 0.
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
    if (i == 0) *to_update = update;
  }
};

// An update whose numbers are on the device, of the parameters from `first` on. One index = one parameter.
template <class Update>
struct StoredUpdate {
  const Update* update;
  index_t first;
  GPUNET_FN void operator()(index_t i) const {
    const Update numbers = *update;  // before anything is written, as if they were arguments of the kernel
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

  void operator()(const Inputs& inputs, const Targets& targets) {
    if (!repeat(1, inputs, targets, nullptr)) replay_step(inputs, targets);
    model_->note_update();
  }

  bool repeat(index_t times, const Inputs& inputs, const Targets& targets, T* losses) {
    constexpr index_t most = 1024;  // in one launch: a display must not freeze
    if (!fits_in_block(targets.loss, inputs.size(0))) return false;
    model_->begin_step(inputs, targets);
    const View<const label_t, Cuda> labels(static_cast<const label_t*>(targets.data), targets.sizes);
    for (index_t i = 0; i < times; i += most)
      block_(optimizer(), inputs, labels, std::min(most, times - i), losses ? losses + i : nullptr);
    return true;
  }

  RecordingStatus recording(const AnyLoss<Cuda, T>& loss, index_t batch) const {
    if (fits_in_block(loss, batch)) return {false, "a step is one launch as it is"};
    if (gpunet::detail::checks_every_launch()) return {false, "GPUNET_CUDA_CHECK waits for every launch"};
    const auto known = std::find_if(recordings_.begin(), recordings_.end(),
                                    [&](const Recording& r) { return r.is_of(batch, model_->mode()); });
    if (known != recordings_.end() && known->graph) return {true};
    if (known != recordings_.end() && known->is_eager()) return {false, known->problem};
    return {false, "not yet: the second step on batches of this size is recorded"};
  }

 private:
  using Addresses = decltype(std::declval<const Model&>().memory_addresses());
  struct Recording {
    index_t batch;
    nn::Mode mode;
    bool is_warm = false;
    gpunet::detail::GraphExec graph = nullptr;
    std::string problem = {};  // why there can be none

    bool is_of(index_t size, nn::Mode that_mode) const { return batch == size && mode == that_mode; }
    bool is_eager() const { return !problem.empty(); }
  };
  static constexpr index_t most_recordings = 8;  // of batch sizes; the oldest makes room
  static constexpr index_t most_eager = 256;     // batch sizes that cannot be recorded and are not tried again

  Optimizer& optimizer() const { return static_cast<Optimizer&>(*optimizer_); }

  // Returns whether a step is one launch: see steps_in_block.cuh.
  bool fits_in_block(const AnyLoss<Cuda, T>& loss, index_t batch) const {
    const auto* cross_entropy = loss.template as<nn::CrossEntropyLoss>();
    return cross_entropy && cross_entropy->is_plain() && block_.fits(optimizer(), batch);
  }

  // As the class comment says.
  void replay_step(const Inputs& inputs, const Targets& targets) {
    Cuda& device = model_->device();
    const auto words = static_cast<index_t>(targets.bytes() / sizeof(std::uint32_t));
    grow(inputs_, inputs.numel());
    grow(targets_, words);
    const Inputs x{inputs_.data(), inputs.sizes()};
    const Targets with(targets.loss, targets_.data(), targets.sizes);
    model_->begin_step(x, with);
    std::vector<optim::Segment>& segments = optimizer().segments();
    grow(updates_, std::max<index_t>(1, std::ssize(segments)));
    BeginStep<T, Update> begin{
        inputs.numel(),  words, inputs.data(),  static_cast<const std::uint32_t*>(targets.data), inputs_.data(),
        targets_.data(), {},    updates_.data()};
    if (!segments.empty()) begin.update = optimizer().next_of(segments[0]);
    for_each(device, std::max(inputs.numel(), words), begin);
    for (std::size_t i = 1; i < segments.size(); ++i)
      for_each(device, 1,
               BeginStep<T, Update>{0, 0, nullptr, nullptr, nullptr, nullptr, optimizer().next_of(segments[i]),
                                    updates_.data() + i});
    const auto work = [&] {
      model_->run_step(with);
      for (std::size_t i = 0; i < segments.size(); ++i)
        for (const ArenaRange& range : segments[i].ranges)
          for_each(device, range.size(), StoredUpdate<Update>{updates_.data() + i, range.begin});
    };
    if (gpunet::detail::checks_every_launch()) return work();
    Recording& recording = recording_of(inputs.size(0), model_->mode());
    if (recording.graph) return gpunet::detail::replay(device, recording.graph);
    if (!std::exchange(recording.is_warm, true)) return work();  // libraries and kernels are loaded now
    if (recording.is_eager()) return work();
    gpunet::detail::Recorded recorded = gpunet::detail::record(device, work);
    if (recorded.graph)
      gpunet::detail::replay(device, recorded.graph);
    else
      work();  // work() changes nothing on the host, so repeating it is safe; throws what is wrong with the work itself
    recording.graph = std::move(recorded.graph);
    recording.problem = std::move(recorded.problem);
  }

  template <class E>
  void grow(Buffer<E, Cuda>& buffer, index_t size) {
    if (buffer.size() >= size) return;
    forget_graphs();
    buffer.reset(model_->device(), size);
  }

  // Drops the graphs of memory that has moved, or of other work. A batch size that cannot be recorded is not tried again.
  void forget_graphs() {
    std::erase_if(recordings_, [](const Recording& recording) { return !recording.is_eager(); });
  }

  // Makes room for one more of the batch sizes that can, or cannot, be recorded.
  void drop_oldest(bool eager, index_t most) {
    const auto is_of_kind = [eager](const Recording& recording) {
      return recording.is_eager() == eager;
    };
    if (std::count_if(recordings_.begin(), recordings_.end(), is_of_kind) >= most)
      recordings_.erase(std::find_if(recordings_.begin(), recordings_.end(), is_of_kind));
  }

  Recording& recording_of(index_t batch, nn::Mode mode) {
    const std::array<std::uint64_t, 2> plans{model_->plan_number(), optimizer().layout()};
    if (const Addresses now = model_->memory_addresses(); now != addresses_ || plans != plans_) {
      forget_graphs();
      addresses_ = now;
      plans_ = plans;
    }
    for (Recording& recording : recordings_)
      if (recording.is_of(batch, mode)) return recording;
    drop_oldest(false, most_recordings);
    drop_oldest(true, most_eager);
    return recordings_.emplace_back(Recording{batch, mode});
  }

  TrackedPointer<Model> model_;
  TrackedPointer<optim::Rates> optimizer_;
  Buffer<T, Cuda> inputs_;
  Buffer<std::uint32_t, Cuda> targets_;  // as words
  Buffer<Update, Cuda> updates_;         // of the optimizer's segments
  BlockRunner<T, Optimizer> block_;
  Addresses addresses_{};
  std::array<std::uint64_t, 2> plans_{};  // of the model, and of the optimizer
  std::vector<Recording> recordings_;
};

template <class T, class Optimizer>
StepRunner<Cuda, T, Optimizer>::StepRunner(Network<Cuda, T>& model, Optimizer& optimizer)
    : state_(new State(model, optimizer), [](State* state) { delete state; }) {}

template <class T, class Optimizer>
void StepRunner<Cuda, T, Optimizer>::operator()(const View<const T, Cuda>& inputs,
                                                const TargetsOf<Cuda, T>& targets) {
  (*state_)(inputs, targets);
}

template <class T, class Optimizer>
bool StepRunner<Cuda, T, Optimizer>::repeat(index_t times, const View<const T, Cuda>& inputs,
                                            const TargetsOf<Cuda, T>& targets, T* losses) {
  return state_->repeat(times, inputs, targets, losses);
}

template <class T, class Optimizer>
RecordingStatus StepRunner<Cuda, T, Optimizer>::recording(const AnyLoss<Cuda, T>& loss, index_t batch) const {
  return state_->recording(loss, batch);
}

}  // namespace gpunet::train
