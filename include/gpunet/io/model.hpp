// The parameters and buffers of a model in a file.
#pragma once

#include <string>
#include <vector>

#include <gpunet/io/state_dict.hpp>
#include <gpunet/model/model.hpp>

namespace gpunet::io {

namespace detail {

// A copy of the state of a model on the host: its parameters and its buffers as they lie in their arenas.
template <class T>
class StateCopy {
 public:
  template <class Model>
  explicit StateCopy(const Model& model) {
    const ModelUse::Shared use = model.shared_use();
    parameters_ = download(model.device(), model.parameters());
    buffers_ = download(model.device(), model.buffers());
  }

  // What belongs to the state dict, in the order of torch.nn: layer by layer, parameters before buffers.
  template <class Net>
  std::vector<NamedArray<T>> named_arrays(const NetworkPlan<Net>& plan) {
    std::vector<NamedArray<T>> arrays;
    for (std::size_t layer = 0; layer < plan.depth; ++layer) {
      for (const ParameterInfo& parameter : plan.parameters_of(layer))
        arrays.push_back({parameter.name, parameter.sizes, parameters_.data() + parameter.offset});
      for (const BufferInfo& buffer : plan.buffers_of(layer)) {
        T* data = buffers_.data() + buffer.offset;
        if (!buffer.persistent) continue;
        if (buffer.kind == nn::BufferKind::count)
          arrays.push_back({buffer.name, buffer.sizes, nullptr, reinterpret_cast<index_t*>(data)});
        else
          arrays.push_back({buffer.name, buffer.sizes, data});
      }
    }
    return arrays;
  }

  template <class Model>
  void upload_to(Model& model) const {
    const ModelUse::Exclusive use = model.exclusive_use();
    model.device().upload(model.parameters().data(), parameters_.data(), parameters_.size() * sizeof(T));
    model.device().upload(model.buffers().data(), buffers_.data(), buffers_.size() * sizeof(T));
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

// Writes the parameters and buffers of a model, with the keys and shapes of PyTorch's state_dict: as a file of torch.save for a name
// that ends in .pth or .pt, of NumPy for .npz, as a safetensors file for .safetensors; other endings are refused. The old file stays whole until the new one is
// on the disk. Throws Error where that is not possible.
template <class Net, class D, class T>
void save(const Model<Net, D, T>& model, const std::string& path) {
  detail::StateCopy<T> state(model);
  save_arrays(state.named_arrays(model.plan()), path);
}

// Reads the parameters and buffers of a model from a file of any of these formats, which its content tells:
//   io::load(net, "checkpoint.pth", {.key = "model_state_dict"});
// Throws one Error that names keys which are missing, unexpected or of another shape; the model then keeps what it
// had. With {.strict = false}, returns the keys that are missing in the file or unexpected, as load_state_dict() of PyTorch:
// missing parameters keep the values that they had, in a new model random ones.
template <class Net, class D, class T>
IncompatibleKeys load(Model<Net, D, T>& model, const std::string& path, const LoadOptions& options = {}) {
  detail::StateCopy<T> state(model);  // the gaps between the arrays stay as they are
  const TensorFile file =
      open_tensors(path, {.map = options.map, .max_unpacked_bytes = options.max_unpacked_bytes});
  IncompatibleKeys keys = load_arrays(state.named_arrays(model.plan()), file, options);
  state.upload_to(model);
  return keys;
}

}  // namespace gpunet::io
