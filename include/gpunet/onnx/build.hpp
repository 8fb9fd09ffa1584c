// The network of an ONNX model: its nodes, lowered by the functions of values (nn/functional.hpp).
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <gpunet/graph/graph.hpp>
#include <gpunet/model/network.hpp>
#include <gpunet/nn/value.hpp>
#include <gpunet/onnx/model.hpp>

namespace gpunet::onnx {

namespace detail {

// A graph with the values of its parameters and buffers.
struct BuiltNetwork {
  Graph graph;
  // In the order of the graph; without bytes where the file has none (counts of batches).
  std::vector<io::TensorEntry> parameters = {}, buffers = {};
  std::shared_ptr<const ModelData> data = {};      // which entries borrow, and
  std::deque<std::vector<std::byte>> folded = {};  // tensors that were computed

  // Called by Network.
  template <class D, class T>
  void copy_to(Network<D, T>& net) const {
    const auto copy = [&](const auto& infos, const auto& entries, const View<T, D>& arena) {
      std::vector<T> values(static_cast<std::size_t>(arena.numel()));
      for (std::size_t i = 0; i < entries.size(); ++i)
        if (entries[i].bytes.data())
          io::copy_as(entries[i],
                      std::span(values).subspan(static_cast<std::size_t>(infos[i].offset),
                                                static_cast<std::size_t>(infos[i].sizes.numel())));
      net.device().upload(arena.data(), values.data(), values.size() * sizeof(T));
    };
    const ModelUse::Exclusive use = net.exclusive_use();
    copy(net.named_parameters(), parameters, net.parameters());
    copy(net.named_buffers(), buffers, net.buffers());
    net.note_update();
  }
};

}  // namespace detail

inline namespace GPUNET_BACKENDS {

// Returns the graph for a device and element type, with its weights. The constructor of Network
// from a Model calls it. Throws an Error that names the node, its operator and the opset for
// operators that gpunet does not have and for sizes that do not fit.
detail::BuiltNetwork build_network(const Model& model, nn::detail::Backend backend);

}  // namespace GPUNET_BACKENDS

// Returns the operators that gpunet reads, in alphabetical order.
std::vector<std::string_view> supported_operators();

}  // namespace gpunet::onnx

#if !GPUNET_COMPILED
#include <gpunet/onnx/build.ipp>
#endif
