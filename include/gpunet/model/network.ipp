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
#include <gpunet/ops/mean.hpp>
#include <gpunet/ops/norm.hpp>

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
      loss_(device, 1),
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
  ++losses_computed_;  // the losses of the last batch are stale
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
  begin_loss(targets);
  gradients_.reserve(device_, slicing_);
}

template <class D, class T>
void Network<D, T>::run_step(const TargetsOf<D, T>& targets, T loss_gradient) {
  weigh(targets);
  for_each_run([&](index_t run, index_t s, Accumulate accumulate, index_t worker) {
    const SliceMemory<T> memory = workspace_.at(worker, worker);
    SliceRun<D, T> slice = run_of(s, enter(s, memory), memory);
    evaluate(targets, s, slice.forward(), memory);
    scale_output_gradient(s, loss_gradient, memory);
    if (completes_gradients(s)) slice.probe = reducer_;
    slice.backward(gradients_.of_run(run), accumulate);
  });
  if (reducer_) reducer_->reduce(gradients_.data());
  reduce_losses();
}

namespace detail {

// Throws Error for targets of a wrong shape.
[[noreturn]] GPUNET_INLINE void refuse_targets(const Sizes& sizes, const Sizes& want) {
  const index_t batch = want[0];
  if (want.rank() == 1 && sizes.numel() != batch)
    throw_error(Error(concat("gpunet::Model: ", sizes.numel(), " targets for a batch of ", batch,
                             " (want one for each sample), give the labels of the same batch")));
  const char* advice = want.rank() == 1 ? ", one for each sample), give targets.view().flatten()"
                       : want.rank() > 2 && sizes.rank() == 1
                           ? "), give one of that shape for each output, or put a Flatten before "
                             "the last Linear, which maps the last dimension"
                           : "), give one of that shape for each output";
  throw_error(Error(concat("gpunet::Model: targets of shape ", to_string(sizes), " for a batch of ",
                           batch, " (want ", to_string(want), advice)));
}

}  // namespace detail

template <class D, class T>
nn::LossTraits Network<D, T>::check_loss(const TargetsOf<D, T>& targets, index_t batch) {
  targets.loss.check_sizes(output_sizes());
  const nn::LossTraits traits = targets.loss.traits(output_sizes());
  const auto outputs = std::max(static_cast<int>(graph_.outputs.size()), 1);
  require(outputs == 1 || traits.output, "gpunet::Model: a loss of a network with ", outputs,
          " outputs (a loss takes one), compute the loss in the function of the network, with the "
          "targets as inputs, and return it as the only output, or as the last with "
          "nn::OutputLoss({.output = -1})");
  const int output = traits.output.value_or(0);
  require(-outputs <= output && output < outputs, "gpunet::Model: the loss is output ", output,
          " of a network with ", outputs, " (want ", -outputs, " to ", outputs - 1, ")");
  loss_begin_ = 0, loss_end_ = plan_.output_features;
  if (outputs > 1) {
    loss_end_ = 0;
    for (int i = 0; i <= (output < 0 ? output + outputs : output); ++i)
      loss_begin_ =
          std::exchange(loss_end_, loss_end_ + graph_.outputs[static_cast<std::size_t>(i)].numel());
  }
  if (const Sizes want = traits.target.with_front(batch); targets.sizes != want)
    detail::refuse_targets(targets.sizes, want);
  targets.loss.check(device_, targets.data, targets.sizes, plan_.output_features);
  return traits;
}

template <class D, class T>
void Network<D, T>::begin_loss(const TargetsOf<D, T>& targets) {
  const nn::LossTraits traits = check_loss(targets, slicing_.batch);
  require(
      traits.reduction != nn::Reduction::none,
      "gpunet::Model: a loss with Reduction::none is not one number (backward() starts from one), "
      "take Reduction::mean or sum, or look at all numbers by criterion.each(output, targets)");
  reduction_ = traits.reduction;
  is_weighted_ = traits.is_weighted;
  if (is_weighted_ && total_weight_.size() == 0) total_weight_.reset(device_, 1);
  use_constants(traits.constants);
  ++losses_computed_;
  if (losses_.size() < slicing_.batch) losses_.reset(device_, slicing_.batch);
}

template <class D, class T>
void Network<D, T>::use_constants(std::span<const double> constants) {
  const auto same = [](double now, T before) {
    return static_cast<T>(now) == before;
  };
  if (std::equal(constants.begin(), constants.end(), constants_.begin(), constants_.end(), same))
    return;
  constants_.clear();  // on the device, which an error below leaves without any
  if (device_constants_.size() < std::ssize(constants))
    device_constants_.reset(device_, std::ssize(constants));
  constants_.assign(constants.begin(), constants.end());
  device_.upload(device_constants_.data(), constants_.data(), constants_.size() * sizeof(T));
}

template <class D, class T>
void Network<D, T>::weigh(const TargetsOf<D, T>& targets) {
  if (!is_weighted_) return;
  nn::LossPass<T, void> batch{};
  batch.targets = targets.data;
  batch.channels = channels();
  batch.constants = device_constants_.data();
  targets.loss.total_weight(device_, batch, targets.sizes.numel(), total_weight_.data());
}

template <class D, class T>
void Network<D, T>::evaluate(const TargetsOf<D, T>& targets, index_t s, const T* y,
                             const SliceMemory<T>& memory) {
  const index_t first = slicing_.first_sample(s);
  const void* of_slice =
      static_cast<const std::byte*>(targets.data) +
      targets.bytes() / static_cast<std::size_t>(slicing_.batch) * static_cast<std::size_t>(first);
  targets.loss.evaluate(
      device_,
      {slicing_.slice(s), plan_.output_features, y, of_slice, T{1} / static_cast<T>(reduced_by()),
       losses_.data() + first, memory.output_gradient, channels(), device_constants_.data(),
       is_weighted_ ? total_weight_.data() : nullptr, 1, loss_begin_, loss_end_});
}

template <class D, class T>
LossValue<D, T> Network<D, T>::apply(const TargetsOf<D, T>& targets) {
  begin_loss(targets);
  weigh(targets);
  for (index_t s = 0; s < slicing_.slices(); ++s)
    evaluate(targets, s, output_of(s), workspace_.at(s, 0));
  reduce_losses();
  if (detects_anomaly_ && !is_loss_finite()) find_anomaly(nullptr, &targets, T{1}, false);
  return LossValue<D, T>(*this, losses_computed_);
}

template <class D, class T>
Tensor<T, D> Network<D, T>::each(const Tensor<T, D>& outputs, const TargetsOf<D, T>& targets) {
  const index_t batch = outputs.sizes()[0], features = plan_.output_features;
  const nn::LossTraits traits = check_loss(targets, batch);
  use_constants(traits.constants);
  // Every loss is that of a sample of its own, whose numbers are made neighbors.
  const index_t places = traits.each.numel(), losses = batch * places,
                numbers = traits.target.numel();
  const auto gathered = [&](const T* data, index_t of_output) {
    Buffer<T, D> rows(device_, batch * of_output);
    deinterleave(device_, Slice{losses, batch, places}, of_output / places, data, rows.data());
    return rows;
  };
  const auto are_apart = [places](index_t of_output) {
    return places > 1 && of_output > places;
  };
  const T* x = outputs.data();
  const void* t = targets.data;
  Buffer<T, D> x_rows, t_rows;
  if (are_apart(features)) x = (x_rows = gathered(x, features)).data();
  if (are_apart(numbers)) t = (t_rows = gathered(static_cast<const T*>(t), numbers)).data();
  Buffer<T, D> gradients(device_, batch * features);
  Tensor<T, D> result(device_, traits.each.with_front(batch));
  targets.loss.evaluate(device_, {{losses, losses, 1},
                                  features / places,
                                  x,
                                  t,
                                  T{1},
                                  result.data(),
                                  gradients.data(),
                                  channels(),
                                  device_constants_.data(),
                                  nullptr,
                                  places,
                                  places > 1 ? 0 : loss_begin_,
                                  places > 1 ? features / places : loss_end_});
  return result;
}

template <class D, class T>
void Network<D, T>::reduce_losses() {
  mean(device_, slicing_.batch, static_cast<const T*>(losses_.data()), loss_.data(), reduced_by());
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
bool Network<D, T>::is_finite(index_t n, const T* x) {
  const index_t sums = norm_scratch_bytes(n) / static_cast<index_t>(sizeof(double));
  if (checked_.size() < sums + 1) checked_.reset(device_, sums + 1);
  T* const result = reinterpret_cast<T*>(checked_.data() + checked_.size() - 1);
  norm<IsFinite>(device_, n, x, checked_.data(), result);
  T total;
  device_.download(&total, result, sizeof total);
  return std::isfinite(total);
}

template <class D, class T>
void Network<D, T>::check_output() {
  for (index_t s = 0; s < slicing_.slices(); ++s)
    if (!is_finite(plan_.output_features * slicing_.slice(s).samples(), output_of(s)))
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
      evaluate(*targets, s, y, memory);
      search.look_at_losses(losses_.data() + run.first_sample);
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
    search.look_at_array(search.loss_order(), AnomalyIn::batch_loss, nullptr, {}, {}, loss_.data());
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
