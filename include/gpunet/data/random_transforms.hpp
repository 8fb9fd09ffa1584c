// Transforms of images that draw numbers, and those that a program writes itself.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>
#include <utility>

#include <gpunet/core/error.hpp>
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
inline void erase(Pixels<float>& image, index_t top, index_t left, const HeightWidth& size, float value) {
  for (index_t c = 0; c < image.sizes.channels; ++c)
    for (index_t y = top; y < top + size.height; ++y)
      std::fill_n(&image.at(c, y, left), size.width, value);
}

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
  explicit RandomCrop(const HeightWidth& size, const RandomCropOptions& options = {})
      : size_(size), padding_(options.padding) {
    constexpr index_t most = 1 << 20;
    const bool possible = std::max({size.height, size.width, padding_}) <= most;
    require(size.height >= 1 && size.width >= 1 && padding_ >= 0 && possible,
            "gpunet::data::RandomCrop: a part of ", size.height, " x ", size.width, " with padding ", padding_,
            " (want sides of 1 to ", most, ", padding of 0 to ", most, ")");
  }

  ImageSizes output(const ImageSizes& input) const {
    require(size_.height <= input.height + 2 * padding_ && size_.width <= input.width + 2 * padding_,
            "gpunet::data::RandomCrop: a part of ", size_.height, " x ", size_.width, " of an image of ",
            input.height + 2 * padding_, " x ", input.width + 2 * padding_,
            ", padding included (want no more than there is), give more padding or put Resize before it");
    return {input.channels, size_.height, size_.width};
  }

  template <class T>
  void operator()(Pixels<T>& image, Random& random) const {
    output(image.sizes);
    const index_t top = random.integer(index_t{0}, image.sizes.height + 2 * padding_ - size_.height);
    const index_t left = random.integer(index_t{0}, image.sizes.width + 2 * padding_ - size_.width);
    functional::crop(image, top - padding_, left - padding_, size_);
  }

 private:
  HeightWidth size_;
  index_t padding_;
};

// Left becomes right, with probability p.
class RandomHorizontalFlip {
 public:
  explicit RandomHorizontalFlip(double p = 0.5) : p_(p) {
    require(0 <= p && p <= 1, "gpunet::data::RandomHorizontalFlip: a probability of ", p, " (want 0 to 1)");
  }

  template <class T>
  void operator()(Pixels<T>& image, Random& random) const {
    if (random.uniform(0, 1) < p_) functional::hflip(image);
  }

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
  explicit RandomErasing(const RandomErasingOptions& options = {}) : options_(options) {
    constexpr std::string_view where = "gpunet::data::RandomErasing: ";
    const auto& [p, scale, ratio, value] = options_;
    require(0 <= p && p <= 1, where, "a probability of ", p, " (want 0 to 1)");
    require(0 <= scale[0] && scale[0] <= scale[1] && scale[1] <= 1, where, "a scale of ", scale[0], " to ",
            scale[1], " (want parts of the image, the smaller one first, 0 to 1)");
    require(0 < ratio[0] && ratio[0] <= ratio[1] && std::isfinite(ratio[1]), where, "a ratio of ", ratio[0], " to ",
            ratio[1], " (want height by width, the smaller one first, more than 0)");
  }

  // Where to erase, in pixels from the top left.
  struct Rectangle {
    index_t top, left;
    HeightWidth size;
  };
  // As RandomErasing.get_params: the first of ten rectangles that fits, if any does.
  std::optional<Rectangle> draw(const ImageSizes& image, Random& random) const {
    const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
    for (int i = 0; i < 10; ++i) {
      const double area = height * width * random.uniform(options_.scale[0], options_.scale[1]);
      const double aspect = std::exp(random.uniform(std::log(options_.ratio[0]), std::log(options_.ratio[1])));
      const double h = std::nearbyint(std::sqrt(area * aspect)), w = std::nearbyint(std::sqrt(area / aspect));
      if (h >= height || w >= width) continue;
      const HeightWidth size{static_cast<index_t>(h), static_cast<index_t>(w)};
      const index_t top = random.integer(index_t{0}, image.height - size.height);
      return Rectangle{top, random.integer(index_t{0}, image.width - size.width), size};
    }
    return std::nullopt;
  }

  void operator()(Pixels<float>& image, Random& random) const {
    if (random.uniform(0, 1) >= options_.p) return;
    if (const auto rectangle = draw(image.sizes, random))
      functional::erase(image, rectangle->top, rectangle->left, rectangle->size, options_.value);
  }

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
