// Bodies of random_transforms.hpp.
#pragma once

#include <cmath>

#include <gpunet/core/error.hpp>
#include <gpunet/data/random_transforms.hpp>

namespace gpunet::data {

namespace functional {

GPUNET_INLINE void erase(Pixels<float>& image, index_t top, index_t left, const HeightWidth& size,
                         float value) {
  for (index_t c = 0; c < image.sizes.channels; ++c)
    for (index_t y = top; y < top + size.height; ++y)
      std::fill_n(&image.at(c, y, left), size.width, value);
}

}  // namespace functional

namespace detail {

GPUNET_INLINE void check_ranges(std::string_view where, const std::array<double, 2>& scale,
                                const std::array<double, 2>& ratio, std::string_view sides) {
  require(0 <= scale[0] && scale[0] <= scale[1] && scale[1] <= 1, where, "a scale of ", scale[0],
          " to ", scale[1], " (want parts of the image, the smaller one first, 0 to 1)");
  require(0 < ratio[0] && ratio[0] <= ratio[1] && std::isfinite(ratio[1]), where, "a ratio of ",
          ratio[0], " to ", ratio[1], " (want ", sides, ", the smaller one first, more than 0)");
}

GPUNET_INLINE std::array<double, 2> draw_sides(const ImageSizes& image,
                                               const std::array<double, 2>& scale,
                                               const std::array<double, 2>& ratio, Random& random) {
  const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
  const double area = height * width * random.uniform(scale[0], scale[1]);
  const double aspect = std::exp(random.uniform(std::log(ratio[0]), std::log(ratio[1])));
  return {std::nearbyint(std::sqrt(area * aspect)), std::nearbyint(std::sqrt(area / aspect))};
}

GPUNET_INLINE Rectangle draw_place(const ImageSizes& image, double height, double width,
                                   Random& random) {
  const HeightWidth size{static_cast<index_t>(height), static_cast<index_t>(width)};
  const index_t top = random.integer(index_t{0}, image.height - size.height);
  return {top, random.integer(index_t{0}, image.width - size.width), size};
}

}  // namespace detail

GPUNET_INLINE RandomCrop::RandomCrop(const HeightWidth& size, const RandomCropOptions& options)
    : size_(size), padding_(options.padding) {
  constexpr index_t most = 1 << 20;
  const bool possible = std::max({size.height, size.width, padding_}) <= most;
  require(size.height >= 1 && size.width >= 1 && padding_ >= 0 && possible,
          "gpunet::data::RandomCrop: a part of ", size.height, " x ", size.width, " with padding ",
          padding_, " (want sides of 1 to ", most, ", padding of 0 to ", most, ")");
}

GPUNET_INLINE ImageSizes RandomCrop::output(const ImageSizes& input) const {
  require(
      size_.height <= input.height + 2 * padding_ && size_.width <= input.width + 2 * padding_,
      "gpunet::data::RandomCrop: a part of ", size_.height, " x ", size_.width, " of an image of ",
      input.height + 2 * padding_, " x ", input.width + 2 * padding_,
      ", padding included (want no more than there is), give more padding or put Resize before it");
  return {input.channels, size_.height, size_.width};
}

template <class T>
void RandomCrop::run(Pixels<T>& image, Random& random) const {
  output(image.sizes);
  const index_t top = random.integer(index_t{0}, image.sizes.height + 2 * padding_ - size_.height);
  const index_t left = random.integer(index_t{0}, image.sizes.width + 2 * padding_ - size_.width);
  functional::crop(image, top - padding_, left - padding_, size_);
}
GPUNET_INLINE void RandomCrop::operator()(Pixels<std::uint8_t>& image, Random& random) const {
  run(image, random);
}
GPUNET_INLINE void RandomCrop::operator()(Pixels<float>& image, Random& random) const {
  run(image, random);
}

GPUNET_INLINE RandomHorizontalFlip::RandomHorizontalFlip(double p) : p_(p) {
  require(0 <= p && p <= 1, "gpunet::data::RandomHorizontalFlip: a probability of ", p,
          " (want 0 to 1)");
}

GPUNET_INLINE void RandomHorizontalFlip::operator()(Pixels<std::uint8_t>& image,
                                                    Random& random) const {
  if (random.uniform(0, 1) < p_) functional::hflip(image);
}
GPUNET_INLINE void RandomHorizontalFlip::operator()(Pixels<float>& image, Random& random) const {
  if (random.uniform(0, 1) < p_) functional::hflip(image);
}

GPUNET_INLINE RandomErasing::RandomErasing(const RandomErasingOptions& options)
    : options_(options) {
  constexpr std::string_view where = "gpunet::data::RandomErasing: ";
  const auto& [p, scale, ratio, value] = options_;
  require(0 <= p && p <= 1, where, "a probability of ", p, " (want 0 to 1)");
  detail::check_ranges(where, scale, ratio, "height by width");
}

GPUNET_INLINE std::optional<Rectangle> RandomErasing::draw(const ImageSizes& image,
                                                           Random& random) const {
  const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
  for (int i = 0; i < 10; ++i) {
    const auto [h, w] = detail::draw_sides(image, options_.scale, options_.ratio, random);
    if (h < height && w < width) return detail::draw_place(image, h, w, random);
  }
  return std::nullopt;
}

GPUNET_INLINE void RandomErasing::operator()(Pixels<float>& image, Random& random) const {
  if (random.uniform(0, 1) >= options_.p) return;
  if (const auto rectangle = draw(image.sizes, random))
    functional::erase(image, rectangle->top, rectangle->left, rectangle->size, options_.value);
}

}  // namespace gpunet::data
