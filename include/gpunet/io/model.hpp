// The parameters of a model in a file.
#pragma once

#include <string>
#include <vector>

#include <gpunet/io/state_dict.hpp>
#include <gpunet/model/model.hpp>

namespace gpunet::io {

namespace detail {

// The parameters of a model as they lie in `values`, a copy of its arena.
template <class Model, class T>
std::vector<NamedArray<T>> named_arrays(const Model& model, T* values) {
  std::vector<NamedArray<T>> arrays;
  for (const ParameterInfo& parameter : model.named_parameters())
    arrays.push_back({parameter.name, parameter.sizes, values + parameter.offset});
  return arrays;
}

template <class Model>
std::vector<typename Model::value_type> download_parameters(const Model& model) {
  const auto view = model.parameters();
  std::vector<typename Model::value_type> values(static_cast<std::size_t>(view.numel()));
  model.device().download(values.data(), view.data(), values.size() * sizeof values[0]);
  return values;
}

}  // namespace detail

// Writes the parameters of a model, with the keys and shapes of PyTorch's state_dict: as a file of torch.save for a name
// that ends in .pth or .pt, of NumPy for .npz, else as a safetensors file. The old file stays whole until the new one is
// on the disk. Throws Error where that is not possible.
template <class Net, class D, class T>
void save(const Model<Net, D, T>& model, const std::string& path) {
  std::vector<T> values = detail::download_parameters(model);
  save_arrays(detail::named_arrays(model, values.data()), path);
}

// Reads the parameters of a model from a file of any of these formats, which its content tells:
//   io::load(net, "checkpoint.pth", {.key = "model_state_dict"});
// Throws one Error that names all keys which are missing, unexpected or of another shape; the model then keeps what it
// had.
template <class Net, class D, class T>
void load(Model<Net, D, T>& model, const std::string& path, const LoadOptions& options = {}) {
  std::vector<T> values = detail::download_parameters(model);  // the gaps between the parameters stay as they are
  load_arrays(detail::named_arrays(model, values.data()), read_tensors(path), options);
  model.device().upload(model.parameters().data(), values.data(), values.size() * sizeof values[0]);
}

}  // namespace gpunet::io
