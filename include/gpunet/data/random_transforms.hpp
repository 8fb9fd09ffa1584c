// Transforms of images that draw numbers, and those that a program writes itself.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <gpunet/data/pixels.hpp>

namespace gpunet::data {

// The transforms themselves, as of torchvision.transforms.functional; each changes the image that it is given.
namespace functional {

// The part of the image that begins at (top, left); what lies outside of the image is 0.
template <class T>
void crop(Pixels<T>& image, index_t top, index_t left, const HeightWidth& size) {
  const ImageSizes from = image.sizes;
  image.renew({from.channels, size.height, size.width});
  std::fill(image.values.begin(), image.values.end(), T{});
  const index_t x0 = std::max(index_t{0}, -left), x1 = std::min(size.width, from.width - left);
  for (index_t c = 0; c < from.channels; ++c)
    for (index_t y = std::max(index_t{0}, -top); y < std::min(size.height, from.height - top) && x0 < x1; ++y)
      std::copy_n(image.before.data() + (c * from.height + y + top) * from.width + x0 + left, x1 - x0,
                  &image.at(c, y, x0));
}

// Left becomes right.
template <class T>
void hflip(Pixels<T>& image) {
  for (auto row = image.values.begin(); row != image.values.end(); row += image.sizes.width)
    std::reverse(row, row + image.sizes.width);
}

// Fills a rectangle with a value.
void erase(Pixels<float>& image, index_t top, index_t left, const HeightWidth& size, float value);

}  // namespace functional

// As torchvision's RandomCrop takes them.
struct RandomCropOptions {
  index_t padding = 0;  // pixels of 0 around the image before it is cut
};

// A part of the image, anywhere in it:
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

// Left becomes right, with probability p.
class RandomHorizontalFlip {
 public:
  explicit RandomHorizontalFlip(double p = 0.5);

  void operator()(Pixels<std::uint8_t>& image, Random& random) const;
  void operator()(Pixels<float>& image, Random& random) const;

 private:
  double p_;
};

// As torchvision's RandomErasing takes them.
struct RandomErasingOptions {
  double p = 0.5;                              // how often
  std::array<double, 2> scale = {0.02, 0.33};  // least and most of the image's area
  std::array<double, 2> ratio = {0.3, 3.3};    // height by width, least and most
  float value = 0;                             // what is put there
};

// Fills a rectangle anywhere in the image with a value (Zhong et al., Random Erasing Data Augmentation, 2017).
class RandomErasing {
 public:
  explicit RandomErasing(const RandomErasingOptions& options = {});

  // Where to erase, in pixels from the top left.
  struct Rectangle {
    index_t top, left;
    HeightWidth size;
  };
  // As RandomErasing.get_params: the first of ten rectangles that fits, if any does.
  std::optional<Rectangle> draw(const ImageSizes& image, Random& random) const;

  void operator()(Pixels<float>& image, Random& random) const;

 private:
  RandomErasingOptions options_;
};

// A function as a transform: of one value (float x), of one value and its channel (float x, index_t channel), of the image
// (Pixels<float>&), or of the image and random numbers (Pixels<float>&, Random&). The image's size stays what it is. Loader
// threads call it at the same time.
template <class Function>
class Lambda {
  static constexpr bool of_value = std::is_invocable_r_v<float, const Function&, float>;
  static constexpr bool of_value_and_channel = std::is_invocable_r_v<float, const Function&, float, index_t>;
  static constexpr bool of_image = std::invocable<const Function&, Pixels<float>&>;
  static constexpr bool of_image_and_random = std::invocable<const Function&, Pixels<float>&, Random&>;

 public:
  explicit Lambda(Function function) : function_(std::move(function)) {
    static_assert(of_value || of_value_and_channel || of_image || of_image_and_random,
                  "gpunet::data::Lambda: the function takes none of (float), (float, index_t), (Pixels<float>&), "
                  "(Pixels<float>&, Random&)");
  }

  float operator()(std::same_as<float> auto x, index_t) const requires(of_value) { return function_(x); }
  float operator()(std::same_as<float> auto x, index_t channel) const requires(of_value_and_channel) {
    return function_(x, channel);
  }
  void check(index_t) const {}

  void operator()(Pixels<float>& image) const requires(of_image) { function_(image); }
  void operator()(Pixels<float>& image, Random& random) const requires(of_image_and_random) {
    function_(image, random);
  }

 private:
  Function function_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/random_transforms.ipp>
#endif
