// Tensors of random numbers, bitwise identical to PyTorch's on a CPU.
#pragma once

#include <cstdint>
#include <vector>

#include <gpunet/device/host/draw.hpp>
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

// Other arguments than a device and sizes in braces do not compile.
#define GPUNET_REFUSED_SIZES(name)                                                              \
  template <class T = float, class First = std::initializer_list<index_t>, class... More>       \
  requires(!(std::is_convertible_v<const More&, Sizes> || ...)) auto name(const First&,         \
                                                                          const More&...) {     \
    static_assert(detail::never<First>,                                                         \
                  "gpunet::" #name ": these are not a device and sizes in braces, write " #name \
                  "(host, {2, 3})");                                                            \
  }
GPUNET_REFUSED_SIZES(rand)
GPUNET_REFUSED_SIZES(randn)

// Returns a tensor of uniform numbers from 0 to 1, as torch.rand(sizes).
template <class T = float, class D>
Tensor<T, D> rand(D& device, const Sizes& sizes, Generator& generator = default_generator()) {
  return detail::drawn<T>(device, sizes, generator, [&](std::vector<T>& values) {
    draw_uniform(generator, sizes.numel(), values.data(), 0, 1);
  });
}

// Returns a tensor of normal numbers with mean 0 and standard deviation 1, as torch.randn(sizes).
template <class T = float, class D>
Tensor<T, D> randn(D& device, const Sizes& sizes, Generator& generator = default_generator()) {
  return detail::drawn<T>(device, sizes, generator, [&](std::vector<T>& values) {
    draw_normal(generator, sizes.numel(), values.data(), 0, 1);
  });
}

// Returns a tensor of whole numbers from low to high - 1, as torch.randint(low, high, sizes).
// Throws Error unless low < high.
template <class D>
Tensor<index_t, D> randint(D& device, index_t low, index_t high, const Sizes& sizes,
                           Generator& generator = default_generator()) {
  require(low < high && static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) <
                            std::uint64_t{1} << 63,
          "gpunet::randint: numbers from ", low, " to ", high,
          " (want the lower one first, which may be drawn, and fewer than 2^63)");
  return detail::drawn<index_t>(device, sizes, generator, [&](std::vector<index_t>& values) {
    for (index_t& value : values)
      value = low + generator.below(high - low);
  });
}

}  // namespace gpunet
