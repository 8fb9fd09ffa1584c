// Bodies of crops.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/data/crops.hpp>
#include <gpunet/data/resize.hpp>

namespace gpunet::data {

namespace detail {

// Throws Error unless an image can have this size.
inline void check_part(std::string_view transform, const HeightWidth& size) {
  constexpr index_t most = 1 << 20;
  require(std::min(size.height, size.width) >= 1 && std::max(size.height, size.width) <= most,
          "gpunet::data::", transform, ": a part of ", size.height, " x ", size.width,
          " (want sides of 1 to ", most, ")");
}

// Returns where a part of `part` pixels in the middle of `all` begins; Python's round() is to even.
inline index_t middle_of(index_t all, index_t part) {
  if (part > all) return -((part - all) / 2);
  return static_cast<index_t>(std::nearbyint(static_cast<double>(all - part) / 2));
}

template <class T>
void center_crop(Pixels<T>& image, const HeightWidth& size) {
  functional::crop(image, middle_of(image.sizes.height, size.height),
                   middle_of(image.sizes.width, size.width), size);
}

}  // namespace detail

GPUNET_INLINE CenterCrop::CenterCrop(const HeightWidth& size) : size_(size) {
  detail::check_part("CenterCrop", size);
}

GPUNET_INLINE void CenterCrop::operator()(Pixels<std::uint8_t>& image) const {
  detail::center_crop(image, size_);
}
GPUNET_INLINE void CenterCrop::operator()(Pixels<float>& image) const {
  detail::center_crop(image, size_);
}

GPUNET_INLINE RandomResizedCrop::RandomResizedCrop(const HeightWidth& size,
                                                   const RandomResizedCropOptions& options)
    : size_(size), options_(options) {
  detail::check_part("RandomResizedCrop", size);
  detail::check_ranges("gpunet::data::RandomResizedCrop: ", options.scale, options.ratio,
                       "width by height");
}

GPUNET_INLINE Rectangle RandomResizedCrop::draw(const ImageSizes& image, Random& random) const {
  const auto& [low, high] = options_.ratio;
  const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
  for (int i = 0; i < 10; ++i) {
    const auto [w, h] = detail::draw_sides(image, options_.scale, options_.ratio, random);
    if (1 <= h && h <= height && 1 <= w && w <= width)
      return detail::draw_place(image, h, w, random);
  }
  const auto whole = [](double side) {
    return static_cast<index_t>(std::nearbyint(side));
  };
  HeightWidth size{image.height, image.width};
  if (width / height < low) size.height = std::max(index_t{1}, whole(width / low));
  if (width / height > high) size.width = std::max(index_t{1}, whole(height * high));
  return {(image.height - size.height) / 2, (image.width - size.width) / 2, size};
}

GPUNET_INLINE void RandomResizedCrop::operator()(Pixels<float>& image, Random& random) const {
  const Rectangle part = draw(image.sizes, random);
  functional::crop(image, part.top, part.left, part.size);
  if (image.sizes != output(image.sizes)) functional::resize(image, size_, options_.antialias);
}

}  // namespace gpunet::data
