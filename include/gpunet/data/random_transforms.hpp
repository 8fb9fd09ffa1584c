// Random transforms of images.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

// The operations without random numbers, as in torchvision.transforms.functional. Each changes its
// argument.
namespace functional {

// Replaces the image by a part of it with the top left corner (top, left). Pixels outside of the
// image are 0.
template <class T>
void crop(Pixels<T>& image, index_t top, index_t left, const HeightWidth& size) {
  const ImageSizes from = image.sizes;
  image.renew({from.channels, size.height, size.width});
  std::fill(image.values.begin(), image.values.end(), T{});
  const index_t x0 = std::max(index_t{0}, -left), x1 = std::min(size.width, from.width - left);
  for (index_t c = 0; c < from.channels; ++c)
    for (index_t y = std::max(index_t{0}, -top);
         y < std::min(size.height, from.height - top) && x0 < x1; ++y)
      std::copy_n(image.before.data() + (c * from.height + y + top) * from.width + x0 + left,
                  x1 - x0, &image.at(c, y, x0));
}

// Mirrors the image: left becomes right.
template <class T>
void hflip(Pixels<T>& image) {
  for (auto row = image.values.begin(); row != image.values.end(); row += image.sizes.width)
    std::reverse(row, row + image.sizes.width);
}

// Fills a rectangle with a value.
void erase(Pixels<float>& image, index_t top, index_t left, const HeightWidth& size, float value);

}  // namespace functional

// A part of an image, in pixels from the top left.
struct Rectangle {
  index_t top, left;
  HeightWidth size;
};

namespace detail {

// Throws Error for ranges of random rectangles that are out of range; `sides` names the ratio.
void check_ranges(std::string_view where, const std::array<double, 2>& scale,
                  const std::array<double, 2>& ratio, std::string_view sides);
// Draws the area, a fraction of the image's, and the ratio of the sides of a rectangle. Returns the
// sides, rounded: first the numerator of the ratio.
std::array<double, 2> draw_sides(const ImageSizes& image, const std::array<double, 2>& scale,
                                 const std::array<double, 2>& ratio, Random& random);
// Draws the place of a rectangle that fits into the image.
Rectangle draw_place(const ImageSizes& image, double height, double width, Random& random);

}  // namespace detail

// Options of RandomCrop, as in torchvision.
struct RandomCropOptions {
  index_t padding = 0;  // pixels of 0 added on each side before cropping
};

// Crops the image at a random position:
//   data::RandomCrop{32, {.padding = 4}}     data::RandomCrop{{24, 32}}   height and width
class RandomCrop {
 public:
  explicit RandomCrop(index_t side, const RandomCropOptions& options = {})
      : RandomCrop(HeightWidth{side, side}, options) {}
  explicit RandomCrop(const HeightWidth& size, const RandomCropOptions& options = {});

  ImageSizes output(const ImageSizes& input) const;

  void operator()(Pixels<std::uint8_t>& image, Random& random) const;
  void operator()(Pixels<float>& image, Random& random) const;

 private:
  template <class T>
  void run(Pixels<T>& image, Random& random) const;

  HeightWidth size_;
  index_t padding_;
};

// Mirrors the image (left becomes right) with probability p.
class RandomHorizontalFlip {
 public:
  explicit RandomHorizontalFlip(double p = 0.5);

  void operator()(Pixels<std::uint8_t>& image, Random& random) const;
  void operator()(Pixels<float>& image, Random& random) const;

 private:
  double p_;
};

// Options of RandomErasing, as in torchvision.
struct RandomErasingOptions {
  double p = 0.5;                              // probability
  std::array<double, 2> scale = {0.02, 0.33};  // smallest and largest fraction of the image's area
  std::array<double, 2> ratio = {0.3, 3.3};    // smallest and largest height / width
  float value = 0;                             // the value written
};

// Fills a random rectangle of the image with a value (Zhong et al., Random Erasing Data
// Augmentation, 2017).
class RandomErasing {
 public:
  explicit RandomErasing(const RandomErasingOptions& options = {});

  // Returns a random rectangle: the first of ten that fits, as RandomErasing.get_params in
  // torchvision, or nothing.
  std::optional<Rectangle> draw(const ImageSizes& image, Random& random) const;

  void operator()(Pixels<float>& image, Random& random) const;

 private:
  RandomErasingOptions options_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/random_transforms.ipp>
#endif
