// Tensors of random numbers, those that PyTorch draws on a CPU.
#pragma once

#include <vector>

#include <gpunet/core/normal.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet {

// Numbers from 0 to 1, as torch.rand(sizes).
template <class T = float, class D>
Tensor<T, D> rand(D& device, const Sizes& sizes, Generator& generator = default_generator()) {
  std::vector<T> values(static_cast<std::size_t>(sizes.numel()));
  const auto lock = generator.lock();
  for (T& value : values)
    value = generator.uniform(T{0}, T{1});
  return {device, sizes, values};
}

// Normal numbers, of mean 0 and standard deviation 1, as torch.randn(sizes).
template <class T = float, class D>
Tensor<T, D> randn(D& device, const Sizes& sizes, Generator& generator = default_generator()) {
  std::vector<T> values(static_cast<std::size_t>(sizes.numel()));
  const auto lock = generator.lock();
  draw_normal(generator, sizes.numel(), values.data(), 0, 1);
  return {device, sizes, values};
}

}  // namespace gpunet
