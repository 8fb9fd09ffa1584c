// A graph on a device: parameters, gradients, workspace, forward and backward pass.
#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/core/refused.hpp>
#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/device/transfer.hpp>
#include <gpunet/graph/run_slice.hpp>
#include <gpunet/model/arena.hpp>
#include <gpunet/model/batch_loss.hpp>
#include <gpunet/model/gradient_reducer.hpp>
#include <gpunet/model/gradients.hpp>
#include <gpunet/model/hooks.hpp>
#include <gpunet/model/output.hpp>
#include <gpunet/model/parameters.hpp>
#include <gpunet/model/slicing.hpp>
#include <gpunet/model/workspace.hpp>
#include <gpunet/nn/value.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet {

namespace detail {

struct NetworkAccess;  // network_access.hpp

// A model that another program saved. build_network() makes its graph.
template <class Saved>
concept SavedModel = requires(const Saved& saved) {
  build_network(saved, nn::detail::Backend::none);
};

}  // namespace detail

class StateVisitor;  // core/state.hpp

template <class D, class T>
class Predictor;

// Whether the parameters of a new network are drawn, or left for the caller to set.
enum class Drawn { no, yes };

// Options of Network and Model.
struct NetworkOptions {
  // Draws the parameters, and the seed of layers such as Dropout. A reference, so that {} are
  // sizes.
  Generator& generator;
};

#define GPUNET_NO_STATE                                                                           \
  "gpunet::Model: files and state dicts are functions, write io::save(net, path), io::load(net, " \
  "path), and net.copy_state(other) for the state of another model"
#define GPUNET_NO_MOVE                                                                             \
  "gpunet::Model: a network stays on its device, write Model<Net, Cuda> net(cuda), or auto other " \
  "= net.to(device) of a Model"
#define GPUNET_NO_MODULES                                                                      \
  "gpunet::Model: a network has no modules at run time, loop over net.named_parameters(), or " \
  "write summary(net)"

// A network on device D that computes in T (float or double): a Model without the type of its
// layers.
template <class D, class T = float>
class Network : public Trackable<Network<D, T>> {
 public:
  // Its name in messages.
  static constexpr const char* type_name = "Model";
  using value_type = T;
  using device_type = D;

  // `graph` has the kernels of D and T. Draws parameters, bitwise identical to torch.nn on every
  // device.
  Network(D& device, Graph graph, Drawn drawn = Drawn::yes,
          const NetworkOptions& options = {default_generator()});
  // Makes the network of a function of values (nn/value.hpp) for inputs [batch, ...input]; the
  // function may return several values. Throws Error for sizes that do not fit.
  template <class F>
  requires(nn::values_taken_by<F> > 0)
      Network(D& device, F f, const Sizes& input,
              const NetworkOptions& options = {default_generator()})
      : Network(device, graph_of<1>(f, {input}), Drawn::yes, options) {}
  // The same for functions of two or three values: net(a, b).
  template <class F>
  requires(nn::values_taken_by<F> > 0)
      Network(D& device, F f, const Sizes& input0, const Sizes& input1,
              const NetworkOptions& options = {default_generator()})
      : Network(device, graph_of<2>(f, {input0, input1}), Drawn::yes, options) {}
  template <class F>
  requires(nn::values_taken_by<F> > 0)
      Network(D& device, F f, const Sizes& input0, const Sizes& input1, const Sizes& input2,
              const NetworkOptions& options = {default_generator()})
      : Network(device, graph_of<3>(f, {input0, input1, input2}), Drawn::yes, options) {}
  // Makes the network of a function of values that shares its parameters and buffers with another
  // network, which has all of them, under the same names:
  //   Network generator(gan, [](nn::Value z) { ... }, {64});
  // Each has its own requires_grad. Throws Error for a parameter that the other does not have.
  // Draws nothing.
  template <class F>
  requires(nn::values_taken_by<F> > 0) Network(Network& other, F f, const Sizes& input)
      : Network(other, graph_of<1>(f, {input})) {}
  template <class F>
  requires(nn::values_taken_by<F> > 0)
      Network(Network& other, F f, const Sizes& input0, const Sizes& input1)
      : Network(other, graph_of<2>(f, {input0, input1})) {}
  template <class F>
  requires(nn::values_taken_by<F> > 0)
      Network(Network& other, F f, const Sizes& input0, const Sizes& input1, const Sizes& input2)
      : Network(other, graph_of<3>(f, {input0, input1, input2})) {}
  // Makes the network of a model that another program saved, with its parameters (onnx.hpp):
  //   Network net(host, onnx::read("model.onnx"));
  template <detail::SavedModel Saved>
  Network(D& device, const Saved& saved)
      : Network(device, Drawn::no, build_network(saved, nn::detail::backend_of<D, T>())) {}
  // A function without sizes does not compile.
  template <class F>
  requires(nn::values_taken_by<F> > 0) Network(D& device, F f)
      : Network(device, graph_of<0>(f, {})) {}
  // The same for a graph.
  Network(Network& other, Graph graph);
  Network(const Network&) GPUNET_DELETED("gpunet::Network: make another, call copy_state(other)");
  // Optimizers, steps, outputs and losses follow a network that is moved. A moved-from network can
  // only be destroyed or assigned to.
  Network(Network&&) noexcept;
  ~Network();
  // Destroys and constructs: the device is a reference.
  Network& operator=(Network&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }

  // Copies parameters, buffers, mode and random state of a network with the same graph on any
  // device.
  template <class From>
  void copy_state(const Network<From, T>& other);

  // Writes or reads parameters, buffers and the random state, for a checkpoint.
  void visit_state(StateVisitor& state);

  // Sets training mode (the default) or evaluation mode, on which layers such as BatchNorm2d
  // depend.
  void train(bool on = true) { mode_ = on ? nn::Mode::train : nn::Mode::eval; }
  void eval() { train(false); }
  nn::Mode mode() const { return mode_; }
  // Stores activations, their gradients, and parameters as layers read them, in 16 bits, as
  // torch.autocast: net.autocast(Storage::bfloat16). Layers compute in float; inputs and outputs
  // of layers are rounded. The network's parameters, their gradients, buffers, inputs, outputs and
  // losses stay floats, so that optimizers and files see no difference; so do sums and softmax, and
  // ops that combine or move numbers of an input (labels, indices). Holds for all passes from now
  // on, in both modes, and not for copies; Storage::full ends it. Throws Error for a network of
  // double, and for a constant, such as that of masked_fill(x, mask, -1e9), that is over 65504, the
  // largest number of float16, but finite.
  void autocast(Storage storage);
  Storage storage() const { return plan().storage; }
  // Checks every pass from now on, as torch.autograd.set_detect_anomaly(True): where an output, a
  // loss or a gradient is nan or infinite, an Error names the layer in which that came up, and the
  // first index. In train::Step and fit the parameters are then those before the step; running
  // statistics have taken the batch in. Gradients of a network that stores float16 are not checked:
  // where they overflow, a GradScaler skips the update. The gradients are read once for that; the
  // search runs the batch again.
  void detect_anomaly(bool on = true) { detects_anomaly_ = on; }
  bool detects_anomaly() const { return detects_anomaly_; }
  // The seed of the random numbers that ops use, and the number of passes in training mode so far.
  std::pair<std::uint64_t, std::uint64_t> random_state() const {
    return {random_seed_, training_passes_};
  }

  // Runs the forward pass on inputs [batch, ...sizes of Input] and returns the output, which is
  // valid until the next pass. backward() uses a copy of the inputs, so they may be a temporary
  // tensor. Throws Error for a wrong shape.
  template <class U, class E>
  Output<D, T> operator()(const View<U, E>& inputs) {
    static_assert(std::is_same_v<E, D>,
                  "gpunet::Model: the inputs are on another kind of device than the model, move "
                  "them with to(device)");
    static_assert(std::is_same_v<std::remove_const_t<U>, T>,
                  "gpunet::Model: the inputs have another element type than the model (float, "
                  "unless its third argument says otherwise), make them of the same");
    const ModelUse::Exclusive use = exclusive_use();
    if constexpr (std::is_same_v<E, D> && std::is_same_v<std::remove_const_t<U>, T>)
      run_forward_pass(inputs);
    return Output<D, T>(*this, pass_, slicing_.batch);
  }
  template <class U, class E>
  Output<D, T> operator()(const Tensor<U, E>& inputs) {
    return (*this)(inputs.view());
  }
  // The same for parts of tensors and for expressions, net(x[0]), which are copied.
  template <class X>
  requires(std::is_convertible_v<X, Tensor<T, D>> &&
           !std::is_convertible_v<X&, View<const T, D>>) Output<D, T>
  operator()(X&& x) {
    const Tensor<T, D> inputs = std::forward<X>(x);
    return (*this)(inputs.view());
  }
  // Other inputs than tensors do not compile.
  template <class X>
  requires(!requires(const std::remove_cvref_t<X>& x) { x.sizes(); }) Output<D, T>
  operator()(X&&) {
    static_assert(detail::never<X>,
                  "gpunet::Model: the input is no tensor, make one of numbers: Tensor<float, Host> "
                  "x(host, {batch, 4}, values), give batch.inputs of a batch");
    return Output<D, T>(*this, pass_, 0);
  }
  // The same for networks with two or three inputs.
  Output<D, T> operator()(const ViewArgument<T, D>& a, const ViewArgument<T, D>& b) {
    return output_for({a, b});
  }
  Output<D, T> operator()(const ViewArgument<T, D>& a, const ViewArgument<T, D>& b,
                          const ViewArgument<T, D>& c) {
    return output_for({a, b, c});
  }
  // The same, as module.forward in PyTorch.
  template <class... Inputs>
  Output<D, T> forward(Inputs&&... inputs) {
    return (*this)(std::forward<Inputs>(inputs)...);
  }

  // Returns a batch of each input as one array [batch, all features], as all functions take it; one
  // input as it is. The last array may be several inputs, one after another in each row, as a
  // dataset has them. Valid until the next call. Throws Error for other shapes than the network's
  // inputs have. Several inputs use memory of the network, without guarding it.
  View<const T, D> join(std::initializer_list<ViewArgument<T, D>> inputs);

  // Runs forward pass, loss and backward pass slice by slice, so that a slice stays in the cache.
  // Gradients are bitwise identical to loss(model(inputs), targets).backward(loss_gradient).
  // Returns the loss of the batch.
  template <class Loss>
  LossValue<D, T> forward_backward(const ViewArgument<T, D>& inputs, const Loss& loss,
                                   const ViewArgument<nn::TargetOf<Loss, D, T>, D>& targets,
                                   double loss_gradient = 1) {
    const ModelUse::Exclusive use = exclusive_use();
    const TargetsOf<D, T> with(loss, targets);
    begin_step(inputs, with);
    run_step(with, static_cast<T>(loss_gradient));
    if (detects_anomaly_) check_step(inputs, with, static_cast<T>(loss_gradient));
    return end_step();
  }

  // Calls f(output) with the output of a layer, or of the last layer of a part, after each forward
  // pass: [batch, ...], a Tensor that is valid until the next pass. The name is that of the
  // parameters, "layer1.0". A train::Step calls it after the step. As in torch.nn.Module, but f
  // cannot change the output. While f runs, the network is in use: f gets an Error from functions
  // that run, change or save it. Throws Error if there is no such layer.
  Hook<D, T> register_forward_hook(std::string_view layer,
                                   std::function<void(const Tensor<T, D>&)> f);
  // The same with the gradient of the loss by that output, after each backward pass that computes
  // it (unless all below is frozen).
  Hook<D, T> register_full_backward_hook(std::string_view layer,
                                         std::function<void(const Tensor<T, D>&)> f);
  bool has_hooks() const;

  // Returns the reducer of the gradients of each backward pass over several processes, nullptr for
  // none: see distributed::DistributedDataParallel.
  GradientReducer<D, T>* reducer() const { return reducer_; }
  // Returns the leaves of its batches, nullptr if they run as a whole.
  LeafReducer<D, T>* leaves() const { return reducer_ ? reducer_->leaves() : nullptr; }

  // Makes the next backward pass replace the gradients instead of adding to them.
  void zero_grad() { gradients_.zero(); }

  // Notes that parameters have changed: earlier losses can no longer run backward().
  void note_update() { ++arena_->updates; }

  D& device() const { return device_; }
  // Returns the graph as the layers were written.
  const Graph& graph() const { return this->here().graph_; }
  // Returns the graph that runs, with nodes fused for the device.
  const Graph& fused_graph() const { return this->here().fused_; }
  const Plan& plan() const { return this->here().plan_; }
  // Returns the sizes of one output sample.
  const Sizes& output_sizes() const {
    return graph().values[static_cast<std::size_t>(graph_.output)];
  }
  const std::vector<ParameterInfo>& named_parameters() const { return graph().parameters; }

  // Return all parameters as one array, each at the offset in its ParameterInfo; gaps between them
  // are 0.
  View<T, D> parameters() { return all(this->here().arena_->parameters); }
  View<const T, D> parameters() const { return all(this->here().arena_->parameters); }
  // Return the parameters that a pattern names, net.parameters("features.*"), or for which a
  // function of a ParameterInfo returns true. Throw Error if there are none.
  Parameters<D, T> parameters(std::string_view pattern) {
    return {*this, detail::indices_of(graph(), pattern)};
  }
  template <class F>
  requires std::is_invocable_r_v<bool, const F&, const ParameterInfo&> Parameters<D, T> parameters(
      F f) {
    const auto call = [](const void* of, const ParameterInfo& parameter) -> bool {
      return (*static_cast<const F*>(of))(parameter);
    };
    return {*this, detail::indices_of(graph(), call, &f)};
  }
  // Sets whether gradients of all parameters are computed: see Parameters.
  void requires_grad(bool on) {
    std::vector<int> every;
    for (std::size_t i = 0; i < named_parameters().size(); ++i)
      every.push_back(static_cast<int>(i));
    set_requires_grad(every, on);
  }

  const std::vector<BufferInfo>& named_buffers() const { return graph().buffers; }
  // Return all buffers as one array, each at the offset in its BufferInfo.
  View<T, D> buffers() { return all(this->here().arena_->buffers); }
  View<const T, D> buffers() const { return all(this->here().arena_->buffers); }
  // Returns the gradients of the parameters, with the same offsets.
  const Gradients<T, D>& gradients() const { return this->here().gradients_; }
  // Returns the bytes of workspace: activations, caches, scratch.
  std::size_t workspace_bytes() const { return workspace_.bytes(); }

  // PyTorch's methods that are functions here do not compile.
  GPUNET_REFUSED_METHOD(state_dict, GPUNET_NO_STATE)
  GPUNET_REFUSED_METHOD(load_state_dict, GPUNET_NO_STATE)
  GPUNET_REFUSED_METHOD(save, GPUNET_NO_STATE)
  GPUNET_REFUSED_METHOD(load, GPUNET_NO_STATE)
  GPUNET_REFUSED_METHOD(cuda, GPUNET_NO_MOVE)
  GPUNET_REFUSED_METHOD(cpu, GPUNET_NO_MOVE)
  GPUNET_REFUSED_METHOD(half,
                        "gpunet::Model: half is no method, write net.autocast(Storage::float16)")
  GPUNET_REFUSED_METHOD(
      bfloat16, "gpunet::Model: bfloat16 is no method, write net.autocast(Storage::bfloat16)")
  GPUNET_REFUSED_METHOD(
      requires_grad_, "gpunet::Model: requires_grad_ is no method, write net.requires_grad(false)")
  GPUNET_REFUSED_METHOD(fit,
                        "gpunet::Model: fit is no method, write train::fit(net, criterion, "
                        "optimizer, loader, {.epochs = 5})")
  GPUNET_REFUSED_METHOD(
      predict, "gpunet::Model: predict is no method, write net.eval() and net(x).argmax(1)")
  GPUNET_REFUSED_METHOD(modules, GPUNET_NO_MODULES)
  GPUNET_REFUSED_METHOD(named_modules, GPUNET_NO_MODULES)
  GPUNET_REFUSED_METHOD(children, GPUNET_NO_MODULES)
  GPUNET_REFUSED_METHOD(named_children, GPUNET_NO_MODULES)

  // Guard the model until the end of the scope; throw Error if another call uses it. The model's
  // functions do this themselves; code that reads or writes its arrays concurrently with other
  // threads has to.
  [[nodiscard]] ModelUse::Exclusive exclusive_use() {
    return ModelUse::Exclusive(this->here().arena_->use);
  }
  [[nodiscard]] ModelUse::Shared shared_use() const {
    return ModelUse::Shared(this->here().arena_->use);
  }

 protected:
  // Makes requires_grad of all parameters that of another network with the same graph.
  void copy_requires_grad(const std::vector<ParameterInfo>& parameters);

 private:
  friend class Hook<D, T>;
  friend class Output<D, T>;
  friend class Parameters<D, T>;
  friend class LossValue<D, T>;
  friend class Predictor<D, T>;
  friend struct detail::NetworkAccess;

  void visit_gradients(StateVisitor& state, index_t& batches, index_t accumulate);
  // The parts of forward_backward, for a caller that has exclusive_use().
  void begin_step(const View<const T, D>& inputs, const TargetsOf<D, T>& targets);
  void run_step(const TargetsOf<D, T>& targets, T loss_gradient);
  void check_step(const View<const T, D>& inputs, const TargetsOf<D, T>& targets, T loss_gradient);
  LossValue<D, T> end_step() {
    gradients_.note_backward();
    run_forward_hooks();
    run_backward_hooks();
    return LossValue<D, T>(*this, loss_.number());
  }

  template <int count, class F>
  static Graph graph_of(F& f, std::initializer_list<Sizes> inputs) {
    static_assert(nn::values_taken_by<F> == count,
                  "gpunet::Network: the function takes another number of values than inputs are "
                  "given, give the sizes of one sample of each: Network net(host, f, {3, 32, 32}, "
                  "{10})");
    return nn::detail::graph_of_function(nn::detail::backend_of<D, T>(), f, inputs);
  }

  Network(D& device, Graph graph, std::shared_ptr<Arena<D, T>> arena);
  // `built` has a graph, and copies the parameters.
  template <class Built>
  Network(D& device, Drawn drawn, Built built) : Network(device, std::move(built.graph), drawn) {
    built.copy_to(*this);
  }

  static View<T, D> all(const Buffer<T, D>& buffer) {
    return {buffer.data(), Sizes{buffer.size()}};
  }

  void set_requires_grad(std::span<const int> parameters, bool on);
  void remove_hook(std::uint64_t number);
  void run_forward_hooks();
  void run_backward_hooks();
  // Takes a graph that runs, and its plan. An error changes nothing.
  void plan_for(Graph fused, Storage storage);
  // Starts a pass: cuts the batch into slices and allocates memory for `slot_count` of them, 0 for
  // all.
  void begin(const View<const T, D>& inputs, index_t slot_count);
  // In an exclusive use: the forward pass, and the hooks after it.
  void run_forward_pass(const View<const T, D>& inputs);
  Output<D, T> output_for(std::initializer_list<ViewArgument<T, D>> inputs) {
    const ModelUse::Exclusive use = exclusive_use();
    run_forward_pass(join(inputs));
    return Output<D, T>(*this, pass_, slicing_.batch);
  }

  // Returns the inputs of slice s in its order: a copy, or the caller's array if it has that order
  // and is not needed after the pass.
  const T* enter(index_t s, const SliceMemory<T>& memory);
  SliceRun<D, T> run_of(index_t s, const T* x, const SliceMemory<T>& memory) {
    return {
        .device = device_,
        .graph = fused_,
        .plan = plan_,
        .slice = slicing_.slice(s),
        .first_sample = slicing_.first_sample(s),
        .x = x,
        .parameters = arena_->parameters.data(),
        .state = {arena_->buffers.data(),
                  mode_of_pass_,
                  {random_seed_, random_step_.data()},
                  graph_constants_.data(),
                  reducer_ && mode_of_pass_ == nn::Mode::train ? reducer_->batch_ranks() : nullptr},
        .memory = memory,
        .watched = hooks_->watched(),
        .conversions = conversions_};
  }

  // Returns the output of slice s, after run_forward_pass().
  const T* output_of(index_t s) const {
    const SliceMemory<T> memory = workspace_.at(s, 0);
    const PlannedValue& value = plan_.values[static_cast<std::size_t>(plan_.output)];
    return value.offset < 0 ? memory.input
                            : memory.outputs + value.offset * slicing_.slice(s).samples();
  }

  // Computes the loss of every sample, its gradient, and the loss of the batch, for
  // criterion(output, targets).
  LossValue<D, T> apply(const TargetsOf<D, T>& targets);
  void backward(T loss_gradient);
  // Return whether the loss of the batch is finite, and whether all gradients are that have to be.
  bool is_loss_finite();
  bool are_gradients_finite();
  // Throws the Error of detect_anomaly() unless the output of run_forward_pass() is finite.
  void check_output();
  // Runs the last pass again, slice by slice, and throws an Error for the first number that is not
  // finite. Without targets, the gradient of the loss is where apply() left it, or there is none; a
  // step has `inputs`.
  void find_anomaly(const T* inputs, const TargetsOf<D, T>* targets, T loss_gradient,
                    bool with_backward);
  // Returns whether the gradients of a node are complete after slice s.
  bool completes_gradients(index_t s) const {
    return gradients_.is_one_sum() && s == slicing_.slices() - 1;
  }
  // Multiplies the gradient of a slice's outputs by that of the loss.
  void scale_output_gradient(index_t s, T loss_gradient, const SliceMemory<T>& memory);

  // Calls body(run, slice, how it stores its gradients, worker) for every slice: slices of a run in
  // order, runs in parallel. Then adds up their gradients.
  template <class Body>
  void for_each_run(Body body);

  D& device_;
  Graph graph_, fused_;
  Plan plan_;
  std::uint64_t plan_number_ = 0;
  const Conversions<D, T>* conversions_ = nullptr;  // of the plan's storage
  std::shared_ptr<Arena<D, T>> arena_;
  Buffer<T, D> graph_constants_;  // Graph::constants
  Buffer<T, D> joined_;           // inputs, see join()
  // Of networks with ops that use random numbers: see RandomState.
  Buffer<std::uint64_t, D> random_step_;
  std::uint64_t random_seed_ = 0, training_passes_ = 0;
  Gradients<T, D> gradients_;
  Workspace<T, D> workspace_;
  BatchLoss<D, T> loss_;
  const T* inputs_ = nullptr;      // of the running call
  Buffer<double, D> finite_sums_;  // for detect_anomaly()
  GradientReducer<D, T>* reducer_ = nullptr;
  std::uint64_t reducer_number_ = 0;
  std::shared_ptr<detail::Hooks<D, T>> hooks_;
  Slicing slicing_{1, 1, 1, false};
  nn::Mode mode_ = nn::Mode::train, mode_of_pass_ = nn::Mode::train;
  bool detects_anomaly_ = false;
  bool keeps_activations_ = false;     // of all slices, for backward()
  std::uint64_t last_backward_ = 0;    // the number of the last LossValue that ran backward()
  std::uint64_t updates_at_pass_ = 0;  // of the parameters, at the last pass
  std::uint64_t pass_ = 0;             // counts forward passes: an Output of an older one is stale
};

template <class D, class T, class F>
requires(nn::values_taken_by<F> > 0) Network(Network<D, T>&, F, Sizes)
->Network<D, T>;
template <class D, class T, class F>
requires(nn::values_taken_by<F> > 0) Network(Network<D, T>&, F, Sizes, Sizes)
->Network<D, T>;
template <class D, class T, class F>
requires(nn::values_taken_by<F> > 0) Network(Network<D, T>&, F, Sizes, Sizes, Sizes)
->Network<D, T>;
template <Device D, class F>
requires(nn::values_taken_by<F> > 0) Network(D&, F)
->Network<D, float>;
template <class D, class F>
requires(nn::values_taken_by<F> > 0) Network(D&, F, Sizes)
->Network<D, float>;
template <class D, class F>
requires(nn::values_taken_by<F> > 0) Network(D&, F, Sizes, Sizes)
->Network<D, float>;
template <class D, class F>
requires(nn::values_taken_by<F> > 0) Network(D&, F, Sizes, Sizes, Sizes)
->Network<D, float>;
template <class D, class F>
requires(nn::values_taken_by<F> > 0) Network(D&, F, Sizes, NetworkOptions)
->Network<D, float>;
template <class D, class F>
requires(nn::values_taken_by<F> > 0) Network(D&, F, Sizes, Sizes, NetworkOptions)
->Network<D, float>;
template <class D, class F>
requires(nn::values_taken_by<F> > 0) Network(D&, F, Sizes, Sizes, Sizes, NetworkOptions)
->Network<D, float>;
template <class D, detail::SavedModel Saved>
Network(D&, const Saved&) -> Network<D, float>;

// Gives the compiler one clear error for other arguments.
template <detail::Wrong D, class T>
class Network<D, T> : public detail::AnyArguments {
  static_assert(detail::never<D>,
                "gpunet::Network: the arguments are a device, a function of values and the sizes "
                "of one sample in braces, write Network net(host, [](nn::Value x) { return "
                "linear(x, 3); }, {4}), and Model net(host, Net{}) for layers");

 public:
  using AnyArguments::AnyArguments;
};
Network(...)->Network<detail::WrongArguments, void>;

#define GPUNET_NETWORK(D, T) class Network<D, T>
GPUNET_EXTERN_TEMPLATES(GPUNET_NETWORK)

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/model/network.ipp>
#include <gpunet/model/output.ipp>
#endif
