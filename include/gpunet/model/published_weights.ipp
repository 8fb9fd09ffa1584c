// Bodies of published_weights.hpp.
#pragma once

#include <gpunet/model/fold_batch_norm.ipp>
#include <gpunet/model/network.ipp>
#include <gpunet/model/published_weights.hpp>

namespace gpunet::detail {

template <class D, class T>
Published<D, T>::Published(D& device_of, const Network<D, T>& network,
                           const PredictorOptions& options)
    : device(device_of),
      network_graph(network.graph()),
      folded(options.fold_batch_norm ? fold_batch_norm(network_graph) : unfolded(network_graph)),
      storage(options.storage),
      random_seed(network.random_state().first),
      conversions_(conversions_of<D, T>(storage, "gpunet::PublishedWeights")) {
  publish(network);
}

template <class D, class T>
Arena<D, T>& Published<D, T>::acquire() {
  // One that publish() has begun to write again is not the newest any more.
  for (;;)
    if (Arena<D, T>& arena = *newest_.load(std::memory_order_acquire); arena.use.try_shared())
      return arena;
}

template <class D, class T>
Arena<D, T>& Published<D, T>::free_arena() {
  const Arena<D, T>* const newest = newest_.load(std::memory_order_relaxed);
  for (const auto& arena : arenas_)
    if (arena.get() != newest && arena->use.try_exclusive()) return *arena;
  auto arena = std::make_unique<Arena<D, T>>();
  if (conversions_)
    arena->narrow_parameters.reset(device, folded.graph.parameter_elements);
  else
    arena->parameters.reset(device, folded.graph.parameter_elements);
  arena->buffers.reset(device, folded.graph.buffer_elements);
  arena->use.try_exclusive();
  arenas_.push_back(std::move(arena));
  return *arenas_.back();
}

template <class D, class T>
template <class From>
void Published<D, T>::publish(const Network<From, T>& network) {
  const CommonRanges ranges =
      common_ranges("gpunet::PublishedWeights::publish", network_graph, network.graph());
  const std::lock_guard lock(publishing_);
  const ModelUse::Shared reads = network.shared_use();
  Arena<D, T>& arena = free_arena();
  {
    const ModelUse::Exclusive writes(arena.use, std::adopt_lock);
    const auto copy = [&](const std::vector<CommonRange>& all, const T* from, T* to) {
      for (const auto& [here, there, size] : all)
        transfer(network.device(), from + there, device, to + here,
                 static_cast<std::size_t>(size) * sizeof(T));
    };
    const auto reserve = [&](Buffer<T, D>& buffer, index_t size) {
      if (buffer.size() == 0) buffer.reset(device, size);
    };
    if (conversions_) reserve(wide_parameters_, folded.graph.parameter_elements);
    T* const parameters = conversions_ ? wide_parameters_.data() : arena.parameters.data();
    if (folded.layers.empty()) {
      copy(ranges.parameters, network.parameters().data(), parameters);
      copy(ranges.buffers, network.buffers().data(), arena.buffers.data());
    } else {
      reserve(unfolded_, network_graph.parameter_elements);
      reserve(unfolded_buffers_, network_graph.buffer_elements);
      copy(ranges.parameters, network.parameters().data(), unfolded_.data());
      copy(ranges.buffers, network.buffers().data(), unfolded_buffers_.data());
      fold_arrays<D, T>(device, folded, unfolded_.data(), unfolded_buffers_.data(), parameters,
                        arena.buffers.data());
    }
    if (conversions_)
      conversions_->narrow(device, folded.graph.parameter_elements, parameters,
                           arena.narrow_parameters.data());
    device.synchronize();  // for predictors on streams of their own
  }
  newest_.store(&arena, std::memory_order_release);
  version_.fetch_add(1, std::memory_order_release);
}

}  // namespace gpunet::detail

namespace gpunet {

GPUNET_COMPILE_TEMPLATES(GPUNET_PUBLISHED)
GPUNET_COMPILE_TEMPLATES(GPUNET_PUBLISH)

}  // namespace gpunet
