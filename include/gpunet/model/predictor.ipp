// Bodies of predictor.hpp.
#pragma once

#include <utility>

#include <gpunet/graph/fuse.hpp>
#include <gpunet/model/fold_batch_norm.ipp>
#include <gpunet/model/inputs.hpp>
#include <gpunet/model/network.ipp>
#include <gpunet/model/predictor.hpp>
#include <gpunet/model/published_weights.ipp>
#include <gpunet/ops/interleave.hpp>

namespace gpunet {

namespace detail {

// Returns a graph without anything that only training needs.
GPUNET_INLINE Graph for_inference(Graph graph, FusePolicy policy) {
  policy.clamps_convolutions = true;
  graph.watched.clear();
  for (ParameterInfo& parameter : graph.parameters)
    parameter.requires_grad = false;
  return fuse(std::move(graph), policy);
}

template <class D>
void require_shared_memory(const D& device, const D& of_network) {
  require(DeviceTraits<D>::share_memory(device, of_network),
          "gpunet::Predictor: the network is on ", of_network.name(),
          ", this device is another GPU (parameters are shared), take one of the same GPU");
}

}  // namespace detail

template <class D, class T>
Predictor<D, T>::Predictor(D& device, const Graph& graph, Storage storage)
    : device_(device),
      graph_(detail::for_inference(graph, fuse_policy<D, T>)),
      plan_(graph_, DeviceTraits<D>::rectifies_gradients, InputGradient::skip,
            {.element_bytes = sizeof(T), .storage = storage, .forward_only = true}),
      conversions_(conversions_of<D, T>(storage, "gpunet::Predictor")),
      graph_constants_(constants_on<T>(device_, graph_)),
      random_step_(device_, plan_.uses_random ? 1 : 0) {
  require_storable_constants(graph_, plan_, "gpunet::Predictor");
  fill(device_, random_step_.size(), std::uint64_t{0}, random_step_.data());
}

template <class D, class T>
Predictor<D, T>::Predictor(D& device, const Network<D, T>& network, const PredictorOptions& options)
    : Predictor(device, network,
                options.fold_batch_norm ? detail::fold_batch_norm(network.graph())
                                        : detail::unfolded(network.graph()),
                options) {}

template <class D, class T>
Predictor<D, T>::Predictor(D& device, const Network<D, T>& network,
                           const detail::FoldedGraph& folded, const PredictorOptions& options)
    : Predictor(device, folded.graph, options.storage) {
  detail::require_shared_memory(device, network.device());
  random_seed_ = network.random_seed_;
  const ModelUse::Shared use = network.shared_use();
  if (&device != &network.device()) network.device().synchronize();
  arena_ = network.arena_;
  if (!conversions_ && !options.fold_batch_norm) return;
  const Arena<D, T>& shared = *network.arena_;
  arena_ = std::make_shared<Arena<D, T>>();
  arena_->buffers.reset(device_, graph_.buffer_elements);
  if (options.fold_batch_norm) {
    arena_->parameters.reset(device_, graph_.parameter_elements);
    detail::fold_arrays<D, T>(device_, folded, shared.parameters.data(), shared.buffers.data(),
                              arena_->parameters.data(), arena_->buffers.data());
  } else {
    device_.copy(arena_->buffers.data(), shared.buffers.data(), shared.buffers.bytes());
  }
  if (conversions_) {
    arena_->narrow_parameters.reset(device_, graph_.parameter_elements);
    const Buffer<T, D>& wide = options.fold_batch_norm ? arena_->parameters : shared.parameters;
    conversions_->narrow(device_, wide.size(), wide.data(), arena_->narrow_parameters.data());
    arena_->parameters = Buffer<T, D>();
  }
  // Until the shared arrays are read, the network has to stay as it is.
  if (&device != &network.device()) device_.synchronize();
}

template <class D, class T>
Predictor<D, T>::Predictor(D& device, const PublishedWeights<D, T>& weights)
    : Predictor(device, weights.published_->folded.graph, weights.storage()) {
  detail::require_shared_memory(device, weights.device());
  random_seed_ = weights.published_->random_seed;
  published_ = weights.published_;
}

template <class D, class T>
Tensor<T, D> Predictor<D, T>::operator()(std::initializer_list<ViewArgument<T, D>> inputs) {
  const ModelUse::Exclusive use = alone();
  return outputs_of(detail::join_inputs(device_, graph_, plan_, inputs, joined_));
}

template <class D, class T>
Tensor<T, D> Predictor<D, T>::operator()(const ViewArgument<T, D>& inputs) {
  const ModelUse::Exclusive use = alone();
  return outputs_of(inputs);
}

template <class D, class T>
Tensor<T, D> Predictor<D, T>::outputs_of(const View<const T, D>& inputs) {
  detail::check_input(graph_, plan_, inputs.sizes());
  Tensor<T, D> outputs(device_, output_sizes().with_front(inputs.size(0)));
  run(inputs, outputs.data());
  return outputs;
}

template <class D, class T>
void Predictor<D, T>::into(const View<T, D>& outputs,
                           std::initializer_list<ViewArgument<T, D>> inputs) {
  const ModelUse::Exclusive use = alone();
  write(outputs, detail::join_inputs(device_, graph_, plan_, inputs, joined_));
}

template <class D, class T>
void Predictor<D, T>::into(const View<T, D>& outputs, const ViewArgument<T, D>& inputs) {
  const ModelUse::Exclusive use = alone();
  write(outputs, inputs);
}

template <class D, class T>
void Predictor<D, T>::write(const View<T, D>& outputs, const View<const T, D>& inputs) {
  detail::check_input(graph_, plan_, inputs.sizes());
  const index_t batch = inputs.size(0);
  require(outputs.sizes().rank() > 0 && outputs.size(0) == batch &&
              outputs.numel() == batch * plan_.output_features,
          "gpunet::Predictor::into: outputs of shape ", to_string(outputs.sizes()), " (want ",
          to_string(output_sizes().with_front(batch)),
          ", one row for each input), make them of that shape");
  run(inputs, outputs.data());
}

template <class D, class T>
void Predictor<D, T>::run(const View<const T, D>& inputs, T* outputs) {
  Arena<D, T>& arena = published_ ? published_->acquire() : *arena_;
  const ModelUse::Shared use =
      published_ ? ModelUse::Shared(arena.use, std::adopt_lock) : ModelUse::Shared(arena.use);
  const Slicing slicing =
      slice_batch(device_, inputs.size(0), {graph_.parameter_elements, plan_.activations});
  const Slice largest = slicing.slice(0);
  const index_t workers = slicing.side_by_side ? DeviceTraits<D>::workers(device_) : 1;
  workspace_.reserve(device_, plan_, largest, workers, workers,
                     scratch_elements<D, T>(device_, graph_, plan_, largest));
  DeviceTraits<D>::run(
      device_, slicing.side_by_side, slicing.slices(), [&](index_t s, index_t worker) {
        const Slice slice = slicing.slice(s);
        const SliceMemory<T> memory = workspace_.at(worker, worker);
        const index_t first = slicing.first_sample(s);
        const T* x = inputs.data() + first * plan_.input_features;
        if (slicing.inner > 1) {
          interleave(device_, slice, plan_.input_features, x, memory.input);
          x = memory.input;
        }
        const T* y = SliceRun<D, T>{.device = device_,
                                    .graph = graph_,
                                    .plan = plan_,
                                    .slice = slice,
                                    .first_sample = first,
                                    .x = x,
                                    .parameters = arena.parameters.data(),
                                    .state = {arena.buffers.data(),
                                              nn::Mode::eval,
                                              {random_seed_, random_step_.data()},
                                              graph_constants_.data()},
                                    .memory = memory,
                                    .conversions = conversions_,
                                    .narrow_parameters = arena.narrow_parameters.data()}
                         .forward();
        deinterleave(device_, slice, plan_.output_features, y,
                     outputs + first * plan_.output_features);
      });
  if (published_) device_.synchronize();  // publish() may write to weights that are no longer read
}

GPUNET_COMPILE_TEMPLATES(GPUNET_PREDICTOR)

}  // namespace gpunet
