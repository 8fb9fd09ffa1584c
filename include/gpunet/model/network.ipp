// Bodies of network.hpp.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>

#include <gpunet/core/state.hpp>
#include <gpunet/device/traits.hpp>
#include <gpunet/graph/fuse.hpp>
#include <gpunet/model/anomaly.hpp>
#include <gpunet/model/initialize.hpp>
#include <gpunet/model/inputs.hpp>
#include <gpunet/model/network.hpp>
#include <gpunet/ops/interleave.hpp>

namespace gpunet {

template <class D, class T>
Network<D, T>::Network(D& device, Graph graph, std::shared_ptr<Arena<D, T>> arena)
    : device_(device),
      graph_(std::move(graph)),
      fused_(fuse(graph_, fuse_policy<D, T>)),
      plan_(fused_, DeviceTraits<D>::rectifies_gradients, InputGradient::skip,
            {.element_bytes = sizeof(T)}),
      arena_(std::move(arena)),
      graph_constants_(constants_on<T>(device, graph_)),
      random_step_(device, plan_.uses_random ? 1 : 0),
      gradients_(graph_.parameter_elements),
      loss_(device, graph_),
      hooks_(std::make_shared<detail::Hooks<D, T>>()) {
  gradients_.set_plan(device, graph_.parameters, plan_);
}

template <class D, class T>
Network<D, T>::Network(Network&&) noexcept = default;

template <class D, class T>
Network<D, T>::~Network() = default;

template <class D, class T>
Network<D, T>::Network(D& device, Graph graph, Drawn drawn, const NetworkOptions& options)
    : Network(device, std::move(graph), std::make_shared<Arena<D, T>>()) {
  Buffer<T, D>&parameters = arena_->parameters, &buffers = arena_->buffers;
  parameters.reset(device, graph_.parameter_elements);
  buffers.reset(device, graph_.buffer_elements);
  fill(device, parameters.size(), T{}, parameters.data());
  initialize_buffers(device, graph_, buffers.data());
  if (drawn == Drawn::no) return;
  draw_parameters(device, graph_, options.generator, parameters.data());
  if (plan_.uses_random) random_seed_ = draw_seed(options.generator);
}

template <class D, class T>
Network<D, T>::Network(Network& other, Graph graph)
    : Network(other.device(), detail::with_arrays_of(other.graph(), std::move(graph)),
              other.arena_) {
  random_seed_ = other.random_seed_;
}

template <class D, class T>
template <class From>
void Network<D, T>::copy_state(const Network<From, T>& other) {
  const auto ranges = detail::common_ranges("gpunet::Network::copy_state", graph(), other.graph());
  const ModelUse::Exclusive own_use = exclusive_use();
  const ModelUse::Shared use = other.shared_use();
  const auto copy = [&](const std::vector<detail::CommonRange>& all, const T* from, T* to) {
    for (const auto& [here, there, size] : all)
      transfer(other.device(), from + there, device_, to + here,
               static_cast<std::size_t>(size) * sizeof(T));
  };
  copy(ranges.parameters, other.parameters().data(), parameters().data());
  copy(ranges.buffers, other.buffers().data(), buffers().data());
  note_update();
  mode_ = other.mode();
  std::tie(random_seed_, training_passes_) = other.random_state();
}

template <class D, class T>
void Network<D, T>::visit_state(StateVisitor& state) {
  const ModelUse::Exclusive use = exclusive_use();
  for (const ParameterInfo& info : named_parameters())
    state.array(info.name, info.sizes, device_, parameters().data() + info.offset);
  for (const BufferInfo& info : named_buffers())
    state.array(info.name, info.sizes, device_, buffers().data() + info.offset);
  if (plan_.uses_random) {
    auto seed = static_cast<index_t>(random_seed_), passes = static_cast<index_t>(training_passes_);
    state.value("random_seed", seed);
    state.value("training_passes", passes);
    random_seed_ = static_cast<std::uint64_t>(seed);
    training_passes_ = static_cast<std::uint64_t>(passes);
  }
  if (state.is_reading()) note_update();
}

template <class D, class T>
void Network<D, T>::visit_gradients(StateVisitor& state, index_t& batches, index_t accumulate) {
  const ModelUse::Exclusive use = exclusive_use();
  state.count("accumulated", batches);
  if (!state.has("gradients", batches > 0)) {
    if (state.is_reading()) zero_grad();
    return;
  }
  state.option("accumulate", static_cast<double>(accumulate));
  gradients_.reserve(device_, Slicing{1, 1, 1, false});
  state.array("gradients", {gradients_.size()}, device_, gradients_.data());
  if (state.is_reading()) gradients_.note_backward();
}

template <class D, class T>
void Network<D, T>::set_requires_grad(std::span<const int> parameters, bool on) {
  const auto use = exclusive_use();
  Graph fused = fused_;
  for (const int i : parameters)
    fused.parameters[static_cast<std::size_t>(i)].requires_grad = on;
  plan_for(std::move(fused), plan_.storage);
  for (const int i : parameters)
    graph_.parameters[static_cast<std::size_t>(i)].requires_grad = on;
  note_update();
}

template <class D, class T>
Hook<D, T> Network<D, T>::register_forward_hook(std::string_view layer,
                                                std::function<void(const Tensor<T, D>&)> f) {
  return {*this,
          hooks_->add(detail::output_of_layer(graph(), layer), Hooked::output, std::move(f))};
}

template <class D, class T>
Hook<D, T> Network<D, T>::register_full_backward_hook(std::string_view layer,
                                                      std::function<void(const Tensor<T, D>&)> f) {
  return {*this,
          hooks_->add(detail::output_of_layer(graph(), layer), Hooked::gradient, std::move(f))};
}

template <class D, class T>
void Network<D, T>::remove_hook(std::uint64_t number) {
  hooks_->remove(number);
}

template <class D, class T>
bool Network<D, T>::has_hooks() const {
  return !hooks_->empty();
}

template <class D, class T>
void Network<D, T>::run_forward_hooks() {
  hooks_->run(Hooked::output);
}

template <class D, class T>
void Network<D, T>::run_backward_hooks() {
  hooks_->run(Hooked::gradient);
}

template <class D, class T>
void Network<D, T>::plan_for(Graph fused, Storage storage) {
  Plan plan(fused, DeviceTraits<D>::rectifies_gradients, InputGradient::skip,
            {.element_bytes = sizeof(T), .storage = storage});
  require_storable_constants(fused, plan, "gpunet::Model::autocast");
  gradients_.set_plan(device_, fused.parameters, plan);
  fused_ = std::move(fused);
  plan_ = std::move(plan);
  ++plan_number_;
}

template <class D, class T>
void Network<D, T>::autocast(Storage storage) {
  const auto use = exclusive_use();
  if (storage == plan_.storage) return;
  const Conversions<D, T>* const conversions =
      conversions_of<D, T>(storage, "gpunet::Model::autocast");
  plan_for(fused_, storage);
  conversions_ = conversions;
  ++pass_;  // outputs are stored differently
  updates_at_pass_ = arena_->updates - 1;
}

template <class D, class T>
void Network<D, T>::copy_requires_grad(const std::vector<ParameterInfo>& parameters) {
  std::vector<int> frozen;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!parameters[i].requires_grad) frozen.push_back(static_cast<int>(i));
  if (!frozen.empty()) set_requires_grad(frozen, false);
}

template <class D, class T>
void Network<D, T>::begin(const View<const T, D>& inputs, index_t slot_count) {
  this->here();
  detail::check_input(graph_, plan_, inputs.sizes());
  if (hooks_->has_changed()) {
    graph_.watched = hooks_->values();
    plan_for(fuse(graph_, fuse_policy<D, T>), plan_.storage);
    hooks_->note_plan();
  }
  hooks_->reserve(device_, graph_, plan_, inputs.size(0), plan_number_);
  if (reducer_ && mode_ == nn::Mode::train) reducer_->begin_pass();
  inputs_ = inputs.data();
  ++pass_;
  loss_.expire();
  keeps_activations_ = slot_count == 0;
  mode_of_pass_ = mode_;
  if (mode_ == nn::Mode::train) ++training_passes_;
  // Recorded steps read it there.
  if (plan_.uses_random) fill(device_, 1, training_passes_, random_step_.data());
  updates_at_pass_ = arena_->updates;
  slicing_ = slice_batch(device_, inputs.size(0), {graph_.parameter_elements, plan_.activations});
  if (plan_.couples_samples && mode_ == nn::Mode::train) slicing_ = in_one_slice(slicing_);
  const Slice slice = slicing_.slice(0);
  if (slot_count > 0 && slicing_.runs() == 1) slot_count = 1;  // worker 0 does it all
  workspace_.reserve(device_, plan_, slice, slot_count == 0 ? slicing_.slices() : slot_count,
                     slicing_.side_by_side ? DeviceTraits<D>::workers(device_) : 1,
                     scratch_elements<D, T>(device_, fused_, plan_, slice));
}

template <class D, class T>
View<const T, D> Network<D, T>::join(std::initializer_list<ViewArgument<T, D>> inputs) {
  return detail::join_inputs(device_, graph_, plan_, inputs, joined_);
}

template <class D, class T>
void Network<D, T>::run_forward_pass(const View<const T, D>& inputs) {
  begin(inputs, 0);
  DeviceTraits<D>::run(device_, slicing_.side_by_side, slicing_.slices(),
                       [this](index_t s, index_t worker) {
                         const SliceMemory<T> memory = workspace_.at(s, worker);
                         run_of(s, enter(s, memory), memory).forward();
                       });
  if (detects_anomaly_) check_output();
  run_forward_hooks();
}

template <class D, class T>
const T* Network<D, T>::enter(index_t s, const SliceMemory<T>& memory) {
  const Slice slice = slicing_.slice(s);
  const T* rows = inputs_ + slicing_.first_sample(s) * plan_.input_features;
  if (slicing_.inner > 1)
    interleave(device_, slice, plan_.input_features, rows, memory.input);
  else if (keeps_activations_)
    device_.copy(memory.input, rows,
                 static_cast<std::size_t>(slice.count * plan_.input_features) * sizeof(T));
  else
    return rows;
  return memory.input;
}

template <class D, class T>
void Network<D, T>::begin_step(const View<const T, D>& inputs, const TargetsOf<D, T>& targets) {
  begin(inputs, DeviceTraits<D>::workers(device_));
  loss_.begin(targets, slicing_);
  gradients_.reserve(device_, slicing_);
}

template <class D, class T>
void Network<D, T>::run_step(const TargetsOf<D, T>& targets, T loss_gradient) {
  loss_.weigh(targets);
  for_each_run([&](index_t run, index_t s, Accumulate accumulate, index_t worker) {
    const SliceMemory<T> memory = workspace_.at(worker, worker);
    SliceRun<D, T> slice = run_of(s, enter(s, memory), memory);
    loss_.evaluate(targets, s, slice.forward(), memory.output_gradient);
    scale_output_gradient(s, loss_gradient, memory);
    if (completes_gradients(s)) slice.probe = reducer_;
    slice.backward(gradients_.of_run(run), accumulate);
  });
  if (reducer_) reducer_->reduce(gradients_.data());
  loss_.reduce();
}

template <class D, class T>
LossValue<D, T> Network<D, T>::apply(const TargetsOf<D, T>& targets) {
  loss_.begin(targets, slicing_);
  loss_.weigh(targets);
  for (index_t s = 0; s < slicing_.slices(); ++s)
    loss_.evaluate(targets, s, output_of(s), workspace_.at(s, 0).output_gradient);
  loss_.reduce();
  if (detects_anomaly_ && !is_loss_finite()) find_anomaly(nullptr, &targets, T{1}, false);
  return LossValue<D, T>(*this, loss_.number());
}

template <class D, class T>
void Network<D, T>::scale_output_gradient(index_t s, T loss_gradient,
                                          const SliceMemory<T>& memory) {
  if (loss_gradient == T{1}) return;
  T* const gradient = memory.output_gradient;
  map(device_, plan_.output_features * slicing_.slice(s).samples(), MultiplyBy<T>{loss_gradient},
      gradient, gradient);
}

template <class D, class T>
void Network<D, T>::backward(T loss_gradient) {
  gradients_.reserve(device_, slicing_);
  for_each_run([&](index_t run, index_t s, Accumulate accumulate, index_t worker) {
    const SliceMemory<T> memory = workspace_.at(s, worker);
    scale_output_gradient(s, loss_gradient, memory);
    SliceRun<D, T> slice = run_of(s, memory.input, memory);
    if (completes_gradients(s)) slice.probe = reducer_;
    slice.backward(gradients_.of_run(run), accumulate);
  });
  if (reducer_) reducer_->reduce(gradients_.data());
  gradients_.note_backward();
  if (detects_anomaly_ && !are_gradients_finite())
    find_anomaly(nullptr, nullptr, loss_gradient, true);
}

template <class D, class T>
bool Network<D, T>::is_loss_finite() {
  return detail::is_finite(device_, 1, loss_.value(), finite_sums_);
}

template <class D, class T>
bool Network<D, T>::are_gradients_finite() {
  return storage() == Storage::float16 ||
         detail::is_finite(device_, gradients_.size(), gradients_.data(), finite_sums_);
}

template <class D, class T>
void Network<D, T>::check_output() {
  for (index_t s = 0; s < slicing_.slices(); ++s)
    if (!detail::is_finite(device_, plan_.output_features * slicing_.slice(s).samples(),
                           output_of(s), finite_sums_))
      return find_anomaly(nullptr, nullptr, T{1}, false);
}

template <class D, class T>
void Network<D, T>::check_step(const View<const T, D>& inputs, const TargetsOf<D, T>& targets,
                               T loss_gradient) {
  if (!is_loss_finite() || !are_gradients_finite())
    find_anomaly(inputs.data(), &targets, loss_gradient, true);
}

template <class D, class T>
void Network<D, T>::find_anomaly(const T* inputs, const TargetsOf<D, T>* targets, T loss_gradient,
                                 bool with_backward) {
  using detail::AnomalyIn;
  detail::AnomalySearch<D, T> search(device_, fused_, plan_);
  const auto host_copy = [&](const Buffer<T, D>& buffer) {
    std::vector<T> copy(static_cast<std::size_t>(buffer.size()));
    device_.download(copy.data(), buffer.data(), buffer.bytes());
    return copy;
  };
  // The passes below write to them.
  const std::vector<T> buffers = host_copy(arena_->buffers),
                       gradients = host_copy(gradients_.sums());
  for (const ParameterInfo& parameter : graph_.parameters)
    search.look_at_array(0, AnomalyIn::parameter, nullptr, parameter.sizes, parameter.name,
                         arena_->parameters.data() + parameter.offset);
  inputs_ = inputs;
  for (index_t s = 0; s < slicing_.slices(); ++s) {
    const SliceMemory<T> memory = workspace_.at(inputs ? 0 : s, 0);
    SliceRun<D, T> run = run_of(s, inputs ? enter(s, memory) : memory.input, memory);
    run.watched = {};
    run.probe = &search;
    if (run.state.ranks) run.state.ranks = &search;
    search.slice = run.slice;
    search.first_sample = run.first_sample;
    search.look(0, AnomalyIn::inputs, nullptr, graph_.values[0], run.x);
    const T* y = run.forward();
    if (targets) {
      loss_.evaluate(*targets, s, y, memory.output_gradient);
      search.look_at_losses(loss_.of_samples() + run.first_sample);
      search.look(search.loss_order(), AnomalyIn::loss_gradient, nullptr, output_sizes(),
                  memory.output_gradient);
      scale_output_gradient(s, loss_gradient, memory);
    }
    if (with_backward) run.backward(gradients_.of_run(0), Accumulate::no);
  }
  inputs_ = nullptr;
  device_.upload(arena_->buffers.data(), buffers.data(), arena_->buffers.bytes());
  device_.upload(gradients_.sums().data(), gradients.data(), gradients_.sums().bytes());
  require(search.first.found() || !reducer_ || mode_of_pass_ != nn::Mode::train ||
              !reducer_->batch_ranks(),
          "gpunet::Network::detect_anomaly: with the samples of this rank alone, all numbers are "
          "finite (statistics or gradients of all ranks are not: the numbers came up on another "
          "rank, or a sum overflows), look at the messages of the other ranks");
  // A sum over the batch may overflow alone.
  if (!search.first.found() && targets)
    search.look_at_array(search.loss_order(), AnomalyIn::batch_loss, nullptr, {}, {},
                         loss_.value());
  if (!search.first.found() && with_backward)
    for (const ParameterInfo& parameter : graph_.parameters)
      search.look_at_array(0, AnomalyIn::parameter_gradient, nullptr, parameter.sizes,
                           parameter.name, gradients_.data() + parameter.offset);
  if (search.first.found()) search.first.report();
}

template <class D, class T>
template <class Body>
void Network<D, T>::for_each_run(Body body) {
  DeviceTraits<D>::run(
      device_, slicing_.side_by_side, slicing_.runs(), [&](index_t run, index_t worker) {
        const index_t first = slicing_.first_slice(run), end = slicing_.first_slice(run + 1);
        for (index_t s = first; s < end; ++s) {
          body(run, s, gradients_.mode(run, s - first), worker);
          gradients_.end_slice(device_, run, s - first, end - first);
        }
      });
  gradients_.add_partials(device_);
}

#define GPUNET_COPY_STATE(D, T) void Network<D, T>::copy_state(const Network<D, T>&)
GPUNET_COMPILE_TEMPLATES(GPUNET_NETWORK)
GPUNET_COMPILE_TEMPLATES(GPUNET_COPY_STATE)
#undef GPUNET_COPY_STATE

}  // namespace gpunet
