// Tensors in files: NumPy's .npy and .npz, safetensors, PyTorch's. A header of its own; not in
// tensors.hpp.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <gpunet/io/formats.hpp>
#include <gpunet/tensor/expression.hpp>

namespace gpunet::io {

namespace detail {

// Returns the entry of a name, or the only one if the name is empty. Throws Error naming the file.
const TensorEntry& find_entry(const TensorFile& file, std::string_view name);

}  // namespace detail

// Reads one array: read_tensor<float>(host, "x.npy"), read_tensor<index_t>(host, "x.npz",
// "labels"). The name may be left out where the file has one array. Throws Error; for integers also
// if one of the numbers is none of T.
template <class T = float, class D>
Tensor<T, D> read_tensor(D& device, const std::string& path, std::string_view name = {}) {
  const TensorFile file = open_tensors(path);
  const TensorEntry& entry = detail::find_entry(file, name);
  const auto size = static_cast<std::size_t>(entry.sizes.numel());
  const auto values = std::make_unique<T[]>(size);
  copy_as(entry, std::span<T>(values.get(), size));
  Tensor<T, D> tensor(device, entry.sizes);
  if (size > 0) device.upload(tensor.data(), values.get(), size * sizeof(T));
  return tensor;
}

// Writes a tensor, a view or an expression in the format of the extension, with its element type.
// Throws Error.
template <gpunet::detail::TensorLike X>
void write_tensor(const std::string& path, X&& x, const std::string& name = "") {
  using T = gpunet::detail::ValueOf<X>;
  constexpr Dtype dtype = dtype_of<T>();
  const auto write = [&](const auto& tensor) {
    const auto size = static_cast<std::size_t>(tensor.numel());
    const auto values = std::make_unique<T[]>(size);
    if (size > 0) tensor.device().download(values.get(), tensor.data(), size * sizeof(T));
    const TensorEntry entry{.name = name,
                            .dtype = dtype,
                            .sizes = tensor.sizes(),
                            .bytes = std::as_bytes(std::span<const T>(values.get(), size))};
    write_tensors(path, std::span(&entry, 1));
  };
  if constexpr (std::is_same_v<std::remove_cvref_t<X>, Tensor<T, gpunet::detail::DeviceOf<X>>>)
    write(x);
  else
    write(gpunet::detail::expression(std::forward<X>(x)).eval());
}

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/tensor/files.ipp>
#endif
