// Bodies of save_load.hpp.
#pragma once

#include <vector>

#include <gpunet/model/save_load.hpp>

namespace gpunet::io {

namespace detail {

// A copy of a model's arenas of parameters and buffers on the host.
template <class T>
class StateCopy {
 public:
  template <class D>
  explicit StateCopy(const Network<D, T>& model) {
    const ModelUse::Shared use = model.shared_use();
    parameters_ = download(model.device(), model.parameters());
    buffers_ = download(model.device(), model.buffers());
  }

  // Returns the state dict in the order of torch.nn: layer by layer, parameters before buffers.
  std::vector<NamedArray<T>> named_arrays(const Graph& graph) {
    std::vector<NamedArray<T>> arrays;
    for (const Node& node : graph.nodes) {
      if (node.shares_parameters) continue;
      for (const ParameterInfo& parameter : graph.parameters_of(node))
        arrays.push_back({parameter.name, parameter.sizes, parameters_.data() + parameter.offset});
      for (const BufferInfo& buffer : graph.buffers_of(node)) {
        T* data = buffers_.data() + buffer.offset;
        if (!buffer.persistent) continue;
        if (buffer.kind == BufferKind::count)
          arrays.push_back({buffer.name, buffer.sizes, nullptr, reinterpret_cast<index_t*>(data)});
        else
          arrays.push_back({buffer.name, buffer.sizes, data});
      }
    }
    return arrays;
  }

  template <class D>
  void upload_to(Network<D, T>& model) const {
    const ModelUse::Exclusive use = model.exclusive_use();
    model.device().upload(model.parameters().data(), parameters_.data(),
                          parameters_.size() * sizeof(T));
    model.device().upload(model.buffers().data(), buffers_.data(), buffers_.size() * sizeof(T));
    model.note_update();
  }

 private:
  template <class D>
  static std::vector<T> download(D& device, const View<const T, D>& arena) {
    std::vector<T> values(static_cast<std::size_t>(arena.numel()));
    device.download(values.data(), arena.data(), values.size() * sizeof(T));
    return values;
  }

  std::vector<T> parameters_, buffers_;
};

}  // namespace detail

namespace detail {

// The state of a network as a file in memory.
class StateAsFile : public TensorFile {
 public:
  explicit StateAsFile(std::vector<TensorEntry> entries) : TensorFile("the other network") {
    entries_ = std::move(entries);
  }
};

}  // namespace detail

template <class D, class T, class From>
IncompatibleKeys load(Network<D, T>& model, const Network<From, T>& other,
                      const LoadOptions& options) {
  detail::StateCopy<T> state(model), from(other);
  const detail::StateAsFile file(entries_of(from.named_arrays(other.graph())));
  IncompatibleKeys keys = load_arrays(state.named_arrays(model.graph()), file, options);
  state.upload_to(model);
  return keys;
}

template <class D, class T>
void save(const Network<D, T>& model, const std::string& path) {
  detail::StateCopy<T> state(model);
  save_arrays(state.named_arrays(model.graph()), path);
}

template <class D, class T>
IncompatibleKeys load(Network<D, T>& model, const std::string& path, const LoadOptions& options) {
  detail::StateCopy<T> state(model);  // gaps between the arrays stay as they are
  const TensorFile file =
      open_tensors(path, {.map = options.map, .max_unpacked_bytes = options.max_unpacked_bytes});
  IncompatibleKeys keys = load_arrays(state.named_arrays(model.graph()), file, options);
  state.upload_to(model);
  return keys;
}

GPUNET_COMPILE_TEMPLATES(GPUNET_SAVE)
GPUNET_COMPILE_TEMPLATES(GPUNET_LOAD)
#define GPUNET_LOAD_NETWORK(D, T) \
  IncompatibleKeys load(Network<D, T>&, const Network<D, T>&, const LoadOptions&)
GPUNET_COMPILE_TEMPLATES(GPUNET_LOAD_NETWORK)
#undef GPUNET_LOAD_NETWORK

}  // namespace gpunet::io
