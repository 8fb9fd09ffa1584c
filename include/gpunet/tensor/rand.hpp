// Tensors of random numbers, bitwise identical to those that PyTorch draws on a CPU.
#pragma once

#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet {

namespace detail {

// Returns a tensor of the values that draw(values) writes.
template <class T, class D, class Draw>
Tensor<T, D> drawn(D& device, const Sizes& sizes, Generator& generator, Draw draw) {
  Tensor<T, D> tensor(device, sizes);  // first: it refuses impossible sizes
  std::vector<T> values(static_cast<std::size_t>(tensor.numel()));
  {
    const auto lock = generator.lock();
    draw(values);
  }
  device.upload(tensor.data(), values.data(), values.size() * sizeof(T));
  return tensor;
}

}  // namespace detail

// Returns a tensor of uniform numbers from 0 to 1, as torch.rand(sizes).
template <class T = float, class D>
Tensor<T, D> rand(D& device, const Sizes& sizes, Generator& generator = default_generator()) {
  return detail::drawn<T>(device, sizes, generator, [&](std::vector<T>& values) {
    for (T& value : values)
      value = generator.uniform(T{0}, T{1});
  });
}

// Returns a tensor of normal numbers with mean 0 and standard deviation 1, as torch.randn(sizes).
template <class T = float, class D>
Tensor<T, D> randn(D& device, const Sizes& sizes, Generator& generator = default_generator()) {
  return detail::drawn<T>(device, sizes, generator, [&](std::vector<T>& values) {
    draw_normal(generator, sizes.numel(), values.data(), 0, 1);
  });
}

}  // namespace gpunet
