// Tensors in files: NumPy's .npy and .npz, safetensors, PyTorch's. A header of its own; not in tensors.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/io/formats.hpp>
#include <gpunet/tensor/strided_view.hpp>

namespace gpunet::io {

namespace detail {

// Returns the entry of a name, or the only one if the name is empty. Throws Error naming the file.
const TensorEntry& find_entry(const TensorFile& file, std::string_view name);

}  // namespace detail

// Reads one array as floats or doubles: read_tensor<float>(host, "x.npy"), read_tensor<double>(host, "x.npz", "mean"). The name may
// be left out where the file has one array. Throws Error.
template <class T = float, class D>
Tensor<T, D> read_tensor(D& device, const std::string& path, std::string_view name = {}) {
  const TensorFile file = open_tensors(path);
  const TensorEntry& entry = detail::find_entry(file, name);
  std::vector<T> values(static_cast<std::size_t>(entry.sizes.numel()));
  copy_as(entry, std::span(values));
  return {device, entry.sizes, values};
}

// Writes one array in the format of the extension. Throws Error.
template <class T, class D>
void write_tensor(const std::string& path, const Tensor<T, D>& tensor, const std::string& name = "") {
  const std::vector<T> values = tensor.to_vector();
  const TensorEntry entry{
      .name = name, .dtype = dtype_of<T>(), .sizes = tensor.sizes(), .bytes = std::as_bytes(std::span(values))};
  write_tensors(path, std::span(&entry, 1));
}

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/tensor/files.ipp>
#endif
