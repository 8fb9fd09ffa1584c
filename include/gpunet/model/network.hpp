// A graph that runs on a device: parameters, gradients, working memory, forward and backward.
#pragma once

#include <array>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/device/transfer.hpp>
#include <gpunet/graph/run_slice.hpp>
#include <gpunet/model/gradients.hpp>
#include <gpunet/model/model_use.hpp>
#include <gpunet/model/output.hpp>
#include <gpunet/model/slicing.hpp>
#include <gpunet/model/workspace.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet {

// Whether the parameters of a new network are drawn, or left for others to fill in.
enum class Drawn { no, yes };

// A network on device D that computes in T (float or double): what a Model is beside the type of its network.
template <class D, class T>
class Network : public Trackable<Network<D, T>> {
 public:
  // Its name in messages.
  static constexpr const char* type_name = "Model";
  using value_type = T;
  using device_type = D;

  // The graph has the kernels of this device and type. Parameters are drawn from default_generator() as torch.nn draws them,
  // the same on every device.
  Network(D& device, Graph graph, Drawn drawn = Drawn::yes);
  // Optimizers, steps, outputs and losses of a network that is moved follow it. One that was moved from can only be destroyed
  // or assigned to.
  Network(Network&&) noexcept = default;
  // Constructs anew: the device is a reference.
  Network& operator=(Network&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }

  // Takes the parameters and buffers of a network of the same graph on any device, and its mode.
  template <class From>
  void copy_state(const Network<From, T>& other);

  // Whether the network learns, as a new one does, or is used. Layers such as BatchNorm2d do one thing or the other.
  void train(bool on = true) { mode_ = on ? nn::Mode::train : nn::Mode::eval; }
  void eval() { train(false); }
  nn::Mode mode() const { return mode_; }
  // The seed of the random numbers that ops use, and the number of passes in training mode so far.
  std::pair<std::uint64_t, std::uint64_t> random_state() const { return {random_seed_, training_passes_}; }

  // Returns the network's output for a batch of inputs [batch, ...sizes of Input]. backward() works on a copy of them, so
  // that they may be a temporary tensor. One batch at a time: the next call takes the memory of the last.
  template <class U, class E>
  Output<D, T> operator()(const View<U, E>& inputs) {
    static_assert(
        std::is_same_v<E, D>,
        "gpunet::Model: the inputs are on another kind of device than the model, move them with to(device)");
    static_assert(
        std::is_same_v<std::remove_const_t<U>, T>,
        "gpunet::Model: the inputs have another element type than the model (float, unless its third argument "
        "says otherwise), make them of the same");
    if constexpr (std::is_same_v<E, D> && std::is_same_v<std::remove_const_t<U>, T>) run_forward_pass(inputs);
    return Output<D, T>(*this, pass_, slicing_.batch);
  }
  template <class U, class E>
  Output<D, T> operator()(const Tensor<U, E>& inputs) {
    return (*this)(inputs.view());
  }
  // The same, as the call in PyTorch.
  template <class Inputs>
  Output<D, T> forward(Inputs&& inputs) {
    return (*this)(std::forward<Inputs>(inputs));
  }

  // Forward, loss and backward of a batch, slice by slice, so that a slice stays in the cache. What it leaves is bitwise
  // identical to what loss(model(inputs), targets).backward() leaves. Returns the mean loss.
  template <class Loss>
  LossValue<D, T> forward_backward(const ViewArgument<T, D>& inputs, const Loss& loss,
                                   const ViewArgument<typename Loss::target_type, D>& targets) {
    const ModelUse::Exclusive use = exclusive_use();
    const TargetsOf<D, T> with(loss, targets);
    begin_step(inputs, with);
    run_step(with);
    return end_step();
  }

  // Its three parts, for a caller that has exclusive_use() and may record the second one. The first looks at the arguments
  // and makes room,
  void begin_step(const View<const T, D>& inputs, const TargetsOf<D, T>& targets);
  // the second gives all the work to the device and changes nothing else,
  void run_step(const TargetsOf<D, T>& targets);
  // which are the losses of the samples, [batch], and their mean,
  T* sample_losses() const { return losses_.data(); }
  T* mean_of_losses() const { return loss_.data(); }
  // and the third notes that it is done.
  LossValue<D, T> end_step() {
    gradients_.note_backward();
    return LossValue<D, T>(*this, losses_computed_);
  }

  // The next backward pass replaces the gradients instead of adding to them.
  void zero_grad() { gradients_.zero(); }

  // The parameters have changed: losses of before can no longer run backward.
  void note_update() { ++updates_; }

  D& device() const { return device_; }
  // The network as it was written,
  const Graph& graph() const { return graph_; }
  // and with the nodes fused that the device does in one: what runs.
  const Graph& fused_graph() const { return fused_; }
  const Plan& plan() const { return plan_; }
  // Sizes of one sample of its output.
  const Sizes& output_sizes() const { return graph_.values[static_cast<std::size_t>(graph_.output)]; }
  const std::vector<ParameterInfo>& named_parameters() const { return graph_.parameters; }

  // All parameters in one array, each where its ParameterInfo says; the gaps between them are zero.
  View<T, D> parameters() { return {this->here().parameters_.data(), Sizes{parameters_.size()}}; }
  View<const T, D> parameters() const { return {this->here().parameters_.data(), Sizes{parameters_.size()}}; }
  const std::vector<BufferInfo>& named_buffers() const { return graph_.buffers; }
  // What layers keep beside parameters, in one array, each where its BufferInfo says.
  View<T, D> buffers() { return {this->here().buffers_.data(), Sizes{buffers_.size()}}; }
  View<const T, D> buffers() const { return {this->here().buffers_.data(), Sizes{buffers_.size()}}; }
  // The gradients of the parameters, in their order.
  const Gradients<T, D>& gradients() const { return this->here().gradients_; }
  // Where the memory begins that a step uses beside parameters, inputs and targets.
  std::array<const void*, 4> memory_addresses() const {
    const auto [memory, caches] = workspace_.addresses();
    return {memory, caches, losses_.data(), gradients_.data()};
  }
  // Bytes of working memory: activations, caches, scratch.
  std::size_t workspace_bytes() const { return workspace_.bytes(); }

  // Take the model for one call until they go out of scope; throw Error where another call has it. Calls of the model do
  // this themselves; code that reads or writes its arrays beside other threads does it too.
  [[nodiscard]] ModelUse::Exclusive exclusive_use() { return ModelUse::Exclusive(use_); }
  [[nodiscard]] ModelUse::Shared shared_use() const { return ModelUse::Shared(use_); }

 private:
  friend class Output<D, T>;
  friend class LossValue<D, T>;

  // Starts a pass: cuts the batch and makes room for `slots` slices, 0 for all.
  void begin(const View<const T, D>& inputs, index_t slots);
  void run_forward_pass(const View<const T, D>& inputs);

  // Returns the inputs of slice s in its order: a copy, or the caller's where they are in that order and not needed
  // after this call.
  const T* enter(index_t s, const SliceMemory<T>& memory);
  SliceRun<D, T> run_of(index_t s, const T* x, const SliceMemory<T>& memory) {
    return {device_,
            fused_,
            plan_,
            slicing_.slice(s),
            slicing_.first_sample(s),
            x,
            parameters_.data(),
            {buffers_.data(), mode_of_pass_, {random_seed_, random_step_.data()}},
            memory};
  }

  // What the network makes of slice s, after run_forward_pass().
  const T* output_of(index_t s) const {
    const SliceMemory<T> memory = workspace_.at(s, 0);
    const PlannedValue& value = plan_.values[static_cast<std::size_t>(plan_.output)];
    return value.offset < 0 ? memory.input : memory.outputs + value.offset * slicing_.slice(s).samples();
  }

  void begin_loss(const TargetsOf<D, T>& targets);
  void evaluate(const TargetsOf<D, T>& targets, index_t s, const T* y, const SliceMemory<T>& memory);
  // What criterion(output, targets) calls: the loss of every sample, its gradient, and the mean.
  LossValue<D, T> apply(const TargetsOf<D, T>& targets);
  void compute_mean_loss();
  void backward();

  // body(run, slice, first of its run, worker) for every slice; the slices of a run one after another, the runs in
  // parallel. Then adds up their gradients.
  template <class Body>
  void for_each_run(Body body);

  D& device_;
  Graph graph_, fused_;
  Plan plan_;
  Buffer<T, D> parameters_;
  Buffer<T, D> buffers_;
  Buffer<std::uint64_t, D> random_step_;  // of networks with ops that use random numbers: see RandomState
  std::uint64_t random_seed_ = 0, training_passes_ = 0;
  Gradients<T, D> gradients_;
  Workspace<T, D> workspace_;
  Buffer<T, D> losses_;        // of the samples of the last batch
  Buffer<T, D> loss_;          // their mean
  const T* inputs_ = nullptr;  // of the running call
  Slicing slicing_{1, 1, 1, false};
  nn::Mode mode_ = nn::Mode::train, mode_of_pass_ = nn::Mode::train;
  bool keeps_activations_ = false;                   // of all slices, as backward() needs them
  std::uint64_t losses_computed_ = 0;                // a LossValue of an older one is stale
  std::uint64_t updates_ = 0, updates_at_pass_ = 0;  // of the parameters: in all, and when the last pass began
  std::uint64_t pass_ = 0;                           // counts forward passes: an Output of an older one is stale
  mutable ModelUse use_;
};

#if GPUNET_COMPILED
extern template class Network<Host, float>;
extern template class Network<Host, double>;
#endif

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/model/network.ipp>
#include <gpunet/model/output.ipp>
#endif
