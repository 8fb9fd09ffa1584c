// Tensors from and to images. Part of images.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/io/image.hpp>
#include <gpunet/tensor/expression.hpp>

namespace gpunet::io {

namespace detail {

// Returns the bytes of an image as [channels, height, width]. Throws Error unless their number is
// that of its sizes.
inline std::vector<std::uint8_t> planes_of(std::string_view where, const Image& image) {
  check_image(where, image);
  const auto channels = static_cast<std::size_t>(image.channels),
             pixels = image.pixels.size() / channels;
  std::vector<std::uint8_t> planes(image.pixels.size());
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t i = 0; i < pixels; ++i)
      planes[c * pixels + i] = image.pixels[i * channels + c];
  return planes;
}

}  // namespace detail

// Returns the bytes of an image as a tensor [channels, height, width], as torchvision's
// pil_to_tensor:
//   const Tensor cat = io::pil_to_tensor(host, io::read_image("cat.png"));
// Throws Error for an image whose number of bytes does not match its sizes.
template <class D>
Tensor<std::uint8_t, D> pil_to_tensor(D& device, const Image& image) {
  return {device, Sizes{image.channels, image.height, image.width},
          detail::planes_of("gpunet::io::pil_to_tensor", image)};
}
// The same as floats from 0 to 1, as torchvision's to_tensor.
template <class D>
Tensor<float, D> to_tensor(D& device, const Image& image) {
  std::vector<float> values;
  values.reserve(image.pixels.size());
  for (const std::uint8_t byte : detail::planes_of("gpunet::io::to_tensor", image))
    values.push_back(static_cast<float>(byte) / 255.0f);
  return {device, Sizes{image.channels, image.height, image.width}, values};
}

// Returns the image of a tensor, a view or an expression [channels, height, width] or [height,
// width] of bytes, or of floats from 0 to 1 (others are clamped, NaN is 0), as torchvision's
// to_pil_image: io::save_png("cat.png", io::to_image(x)). Waits for the device. Throws Error for
// another shape.
template <class T, class D>
Image to_image(const Tensor<T, D>& tensor) {
  constexpr bool is_color = std::is_same_v<T, std::uint8_t> || std::is_floating_point_v<T>;
  static_assert(is_color,
                "gpunet::io::to_image: the elements are neither bytes (0 to 255) nor floats (0 to "
                "1), convert them: cast<std::uint8_t>(x)");
  if constexpr (is_color) return to_image(tensor.to_vector(), tensor.sizes());
}
template <class T, class D>
Image to_image(const StridedView<T, D>& view) {
  return to_image(view.contiguous());
}
template <class T, class D>
Image to_image(Expression<T, D>&& expression) {
  return to_image(std::move(expression).eval());
}

}  // namespace gpunet::io
