// Bodies of predictor.hpp.
#pragma once

#include <utility>

#include <gpunet/graph/fuse.hpp>
#include <gpunet/model/inputs.hpp>
#include <gpunet/model/network.ipp>
#include <gpunet/model/predictor.hpp>
#include <gpunet/ops/interleave.hpp>

namespace gpunet {

namespace detail {

// Returns a graph without anything that only training needs.
GPUNET_INLINE Graph for_inference(Graph graph, const FusePolicy& policy) {
  graph.watched.clear();
  for (ParameterInfo& parameter : graph.parameters)
    parameter.requires_grad = false;
  return fuse(std::move(graph), policy);
}

}  // namespace detail

template <class D, class T>
Predictor<D, T>::Predictor(const Network<D, T>& network, const PredictorOptions& options)
    : device_(network.device()),
      graph_(detail::for_inference(network.graph(), fuse_policy<D, T>)),
      plan_(graph_, DeviceTraits<D>::rectifies_gradients, InputGradient::skip,
            {.element_bytes = sizeof(T), .storage = options.storage, .forward_only = true}),
      conversions_(conversions_of<D, T>(options.storage, "gpunet::Predictor")),
      arena_(network.arena_),
      graph_constants_(constants_on<T>(device_, graph_)),
      random_seed_(network.random_seed_),
      random_step_(device_, plan_.uses_random ? 1 : 0) {
  fill(device_, random_step_.size(), std::uint64_t{0}, random_step_.data());
  if (!conversions_) return;
  const ModelUse::Shared use = network.shared_use();
  const Buffer<T, D>&parameters = network.arena_->parameters, &buffers = network.arena_->buffers;
  arena_ = std::make_shared<Arena<D, T>>();
  arena_->buffers.reset(device_, buffers.size());
  device_.copy(arena_->buffers.data(), buffers.data(), buffers.bytes());
  narrow_parameters_.reset(device_, parameters.size());
  conversions_->narrow(device_, parameters.size(), parameters.data(), narrow_parameters_.data());
}

template <class D, class T>
Tensor<T, D> Predictor<D, T>::operator()(std::initializer_list<ViewArgument<T, D>> inputs) {
  return (*this)(detail::join_inputs(device_, graph_, plan_, inputs, joined_));
}

template <class D, class T>
Tensor<T, D> Predictor<D, T>::operator()(const ViewArgument<T, D>& inputs) {
  detail::check_input(graph_, plan_, inputs.sizes());
  const ModelUse::Shared use(arena_->use);
  const Slicing slicing = slice_batch(device_, inputs.size(0), {graph_.parameter_elements, plan_.activations});
  const Slice largest = slicing.slice(0);
  const index_t workers = slicing.side_by_side ? DeviceTraits<D>::workers(device_) : 1;
  workspace_.reserve(device_, plan_, largest, workers, workers,
                     scratch_elements<D, T>(device_, graph_, plan_, largest));
  Tensor<T, D> outputs(device_, graph_.values[static_cast<std::size_t>(graph_.output)].with_front(slicing.batch));
  DeviceTraits<D>::run(device_, slicing.side_by_side, slicing.slices(), [&](index_t s, index_t worker) {
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
                                .parameters = arena_->parameters.data(),
                                .state = {arena_->buffers.data(),
                                          nn::Mode::eval,
                                          {random_seed_, random_step_.data()},
                                          graph_constants_.data()},
                                .memory = memory,
                                .conversions = conversions_,
                                .narrow_parameters = narrow_parameters_.data()}
                     .forward();
    deinterleave(device_, slice, plan_.output_features, y, outputs.data() + first * plan_.output_features);
  });
  return outputs;
}

GPUNET_COMPILE_TEMPLATES(GPUNET_PREDICTOR)

}  // namespace gpunet
