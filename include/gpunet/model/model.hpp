// A network on a device.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <vector>

#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/device/transfer.hpp>
#include <gpunet/model/fuse.hpp>
#include <gpunet/model/gradients.hpp>
#include <gpunet/model/initialize.hpp>
#include <gpunet/model/model_use.hpp>
#include <gpunet/model/output.hpp>
#include <gpunet/model/run_slice.hpp>
#include <gpunet/model/run_tasks.hpp>
#include <gpunet/ops/interleave.host.hpp>
#include <gpunet/ops/mean.host.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet {

// The network Net with its parameters, their gradients and its working memory on device D, computing in T (float or
// double). The parameters are drawn from default_generator() as torch.nn draws them, the same on every device.
template <class Net, class D, class T = float>
class Model : public Trackable<Model<Net, D, T>> {
  static_assert(
      Device<D>,
      "gpunet::Model: the second argument is not a device, use Host, or Cuda in a program that nvcc compiles");
  static_assert(std::is_floating_point_v<T>, "gpunet::Model: the element type has to be float or double");

 public:
  // Its name in messages.
  static constexpr const char* type_name = "Model";
  using value_type = T;
  using device_type = D;
  // The network with the layers fused that the device does at once; what runs.
  using FusedNet = std::remove_cvref_t<decltype(fuse(std::declval<const D&>(), std::declval<const Net&>(), T{}))>;
  static_assert(
      detail::is_runnable<FusedNet, D, T>,
      "gpunet::Model: a layer lacks forward(device, in, pass) or backward(device, in, pass) for this device "
      "and element type, write both (docs/adding_a_layer.md)");

  explicit Model(D& device, const Net& net = Net()) : Model(device, net, Undrawn{}) {
    draw_parameters(device, plan_, default_generator(), parameters_.data());
  }
  // Optimizers, steps, outputs and losses of a model that is moved follow it. One that was moved from can only be destroyed
  // or assigned to.
  Model(Model&&) noexcept = default;
  // Constructs anew: the device is a reference, and layers need not be assignable.
  Model& operator=(Model&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }

  // A model of the same network with the same parameters on another device.
  template <Device Target>
  Model<Net, Target, T> to(Target& target) const {
    return Model<Net, Target, T>(target, *this);
  }
  template <Device From>
  Model(D& device, const Model<Net, From, T>& other) : Model(device, other.network(), Undrawn{}) {
    const ModelUse::Shared use = other.shared_use();
    transfer(other.device(), other.parameters().data(), device, parameters_.data(), parameters_.bytes());
    transfer(other.device(), other.buffers().data(), device, buffers_.data(), buffers_.bytes());
    mode_ = other.mode();
  }

  // Whether the network learns, as a new one does, or is used. Layers such as BatchNorm2d do one thing or the other.
  void train(bool on = true) { mode_ = on ? nn::Mode::train : nn::Mode::eval; }
  void eval() { train(false); }
  nn::Mode mode() const { return mode_; }

  // Returns the network's output for a batch of inputs [batch, ...sizes of Input]. backward() works on a copy of them, so
  // that they may be a temporary tensor. One batch at a time: the next call takes the memory of the last.
  template <class U, class E>
  Output<Model> operator()(const View<U, E>& inputs) {
    static_assert(
        std::is_same_v<E, D>,
        "gpunet::Model: the inputs are on another kind of device than the model, move them with to(device)");
    static_assert(
        std::is_same_v<std::remove_const_t<U>, T>,
        "gpunet::Model: the inputs have another element type than the model (float, unless its third argument "
        "says otherwise), make them of the same");
    const ModelUse::Exclusive use = exclusive_use();
    if constexpr (std::is_same_v<E, D> && std::is_same_v<std::remove_const_t<U>, T>) run_forward_pass(inputs);
    return Output<Model>(*this, pass_, slicing_.batch);
  }
  template <class U, class E>
  Output<Model> operator()(const Tensor<U, E>& inputs) {
    return (*this)(inputs.view());
  }
  // The same, as the call in PyTorch.
  template <class Inputs>
  Output<Model> forward(Inputs&& inputs) {
    return (*this)(std::forward<Inputs>(inputs));
  }

  // Forward, loss and backward of a batch, slice by slice, so that a slice stays in the cache. What it leaves is
  // what loss(model(inputs), targets).backward() leaves, bit for bit. Returns the mean loss.
  template <class Loss>
  LossValue<Model> forward_backward(const ViewArgument<T, D>& inputs, const Loss& loss,
                                    const ViewArgument<typename Loss::target_type, D>& targets) {
    const ModelUse::Exclusive use = exclusive_use();
    begin_step(inputs, loss, targets);
    run_step(loss, targets);
    return end_step();
  }

  // Its three parts, for a caller that has exclusive_use() and may record the second one. The first looks at the arguments
  // and makes room,
  template <class Loss, class Target>
  void begin_step(const View<const T, D>& inputs, const Loss& loss, const View<const Target, D>& targets) {
    begin(inputs, device_workers(device_));
    begin_loss(loss, targets);
    gradients_.reserve(device_, slicing_.runs());
  }
  // the second gives all the work to the device and changes nothing else,
  template <class Loss, class Target>
  void run_step(const Loss& loss, const View<const Target, D>& targets) {
    for_each_run([&](index_t run, index_t s, bool first, index_t worker) {
      const SliceMemory<T> memory = workspace_.at(worker, worker);
      const T* x = enter(s, memory);
      const T* y = run_forward(device_, fused_, plan_, slicing_.slice(s), x, parameters_.data(), state(), memory);
      evaluate(loss, targets, s, y, memory);
      backward_slice(run, s, first, x, memory);
    });
    compute_mean_loss();
  }
  // which are the losses of the samples, [batch], and their mean,
  T* sample_losses() const { return losses_.data(); }
  T* mean_of_losses() const { return loss_.data(); }
  // and the third notes that it is done.
  LossValue<Model> end_step() {
    gradients_.note_backward();
    return LossValue<Model>(*this, losses_computed_);
  }

  // The next backward pass replaces the gradients instead of adding to them.
  void zero_grad() { gradients_.zero(); }

  D& device() const { return device_; }
  const Net& network() const { return net_; }
  const FusedNet& fused_network() const { return fused_; }
  const NetworkPlan<FusedNet>& plan() const { return plan_; }
  const std::vector<ParameterInfo>& named_parameters() const { return plan_.parameters; }

  // All parameters in one array, each where its ParameterInfo says; the gaps between them are zero.
  View<T, D> parameters() { return {this->here().parameters_.data(), Sizes{parameters_.size()}}; }
  View<const T, D> parameters() const { return {this->here().parameters_.data(), Sizes{parameters_.size()}}; }
  const std::vector<BufferInfo>& named_buffers() const { return plan_.buffers; }
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
  template <class M>
  friend class Output;
  template <class M>
  friend class LossValue;
  struct Undrawn {};

  Model(D& device, const Net& net, Undrawn)
      : device_(device),
        net_(net),
        fused_(fuse(device, net, T{})),
        plan_(fused_),
        parameters_(device, plan_.parameter_elements),
        buffers_(device, plan_.buffer_elements),
        gradients_(plan_.parameter_elements),
        loss_(device, 1) {
    fill(device, parameters_.size(), T{}, parameters_.data());
    initialize_buffers(device, plan_, buffers_.data());
  }

  // Starts a pass: cuts the batch and makes room for `slots` slices, 0 for all.
  void begin(const View<const T, D>& inputs, index_t slots);

  void run_forward_pass(const View<const T, D>& inputs) {
    begin(inputs, 0);
    run_tasks(device_, slicing_.side_by_side, slicing_.slices(), [this](index_t s, index_t worker) {
      const SliceMemory<T> memory = workspace_.at(s, worker);
      run_forward(device_, fused_, plan_, slicing_.slice(s), enter(s, memory), parameters_.data(), state(), memory);
    });
  }

  // Returns the inputs of slice s in its order: a copy, or the caller's where they are in that order and nobody needs them
  // after this call.
  const T* enter(index_t s, const SliceMemory<T>& memory) {
    const Slice slice = slicing_.slice(s);
    const T* rows = inputs_ + slicing_.first_sample(s) * plan_.input_features;
    if (slicing_.inner > 1)
      interleave(device_, slice, plan_.input_features, rows, memory.input);
    else if (keeps_activations_)
      device_.copy(memory.input, rows, static_cast<std::size_t>(slice.count * plan_.input_features) * sizeof(T));
    else
      return rows;
    return memory.input;
  }

  // Returns the network's output for slice s, after run_forward_pass().
  const T* output_of(index_t s) const {
    const SliceMemory<T> memory = workspace_.at(s, 0);
    return Activations<T, FusedNet::depth>(fused_, plan_, slicing_.slice(s), memory.input,
                                           memory.outputs)[FusedNet::depth];
  }

  LayerState<T> state() const { return {buffers_.data(), mode_of_pass_}; }

  template <class Loss, class Target>
  void begin_loss(const Loss& loss, const View<const Target, D>& targets) {
    loss.check_shape(net_.output());
    require(targets.numel() == slicing_.batch, "gpunet::Model: ", targets.numel(), " targets for a batch of ",
            slicing_.batch, " (want one for each sample), give the labels of the same batch");
    loss.check(device_, targets, plan_.output_features);
    ++losses_computed_;
    if (losses_.size() < slicing_.batch) losses_.reset(device_, slicing_.batch);
  }

  template <class Loss, class Target>
  void evaluate(const Loss& loss, const View<const Target, D>& targets, index_t s, const T* y,
                const SliceMemory<T>& memory) {
    const index_t first = slicing_.first_sample(s);
    loss.evaluate(device_, nn::LossPass<T, Target>{slicing_.slice(s), plan_.output_features, y,
                                                   targets.data() + first, T{1} / static_cast<T>(slicing_.batch),
                                                   losses_.data() + first, memory.output_gradient});
  }

  void backward_slice(index_t run, index_t s, bool first, const T* x, const SliceMemory<T>& memory) {
    run_backward(device_, fused_, plan_, slicing_.slice(s), x, static_cast<const T*>(parameters_.data()),
                 gradients_.of_run(run), gradients_.mode(run, first), state(), memory);
  }

  // The mean of the losses of the last batch.
  LossValue<Model> mean_loss() {
    compute_mean_loss();
    return LossValue<Model>(*this, losses_computed_);
  }
  void compute_mean_loss() { mean(device_, slicing_.batch, static_cast<const T*>(losses_.data()), loss_.data()); }

  void backward() {
    gradients_.reserve(device_, slicing_.runs());
    for_each_run([&](index_t run, index_t s, bool first, index_t worker) {
      const SliceMemory<T> memory = workspace_.at(s, worker);
      backward_slice(run, s, first, memory.input, memory);
    });
    gradients_.note_backward();
  }

  // body(run, slice, first of its run, worker) for every slice; the slices of a run one after another, the runs in
  // parallel. Then adds up their gradients.
  template <class Body>
  void for_each_run(Body body);

  D& device_;
  Net net_;
  FusedNet fused_;
  NetworkPlan<FusedNet> plan_;
  Buffer<T, D> parameters_;
  Buffer<T, D> buffers_;
  Gradients<T, D> gradients_;
  Workspace<T, D> workspace_;
  Buffer<T, D> losses_;        // of the samples of the last batch
  Buffer<T, D> loss_;          // their mean
  const T* inputs_ = nullptr;  // of the running call
  Slicing slicing_{1, 1, 1, false};
  nn::Mode mode_ = nn::Mode::train, mode_of_pass_ = nn::Mode::train;
  bool keeps_activations_ = false;     // of all slices, as backward() needs them
  std::uint64_t losses_computed_ = 0;  // a LossValue of an older one is stale
  std::uint64_t pass_ = 0;             // counts forward passes: an Output of an older one is stale
  mutable ModelUse use_;
};

}  // namespace gpunet

#include <gpunet/model/model.ipp>
