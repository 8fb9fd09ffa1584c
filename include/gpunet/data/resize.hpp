// Images of another size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/data/pixels.hpp>

namespace gpunet::data {

namespace detail {

// What one line of `to` pixels takes from one of `from`: the first pixel and the weights of those from there on.
struct Taps {
  index_t first;
  std::vector<float> weights;
};

// A triangle around the place that a pixel comes from, which is wide enough to reach its neighbours (bilinear), or all
// pixels that become this one (antialias). What it would take beyond the edge goes to the others.
inline std::vector<Taps> bilinear_taps(index_t from, index_t to, bool antialias) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double reach = antialias ? std::max(scale, 1.0) : 1.0;
  std::vector<Taps> all;
  for (index_t i = 0; i < to; ++i) {
    const double centre = scale * (static_cast<double>(i) + 0.5);
    const index_t first = std::max(index_t{0}, static_cast<index_t>(centre - reach + 0.5));
    const index_t end = std::min(from, static_cast<index_t>(centre + reach + 0.5));
    std::vector<double> weights;
    double sum = 0;
    for (index_t k = first; k < end; ++k) {
      weights.push_back(std::max(0.0, 1 - std::abs((static_cast<double>(k) + 0.5 - centre) / reach)));
      sum += weights.back();
    }
    Taps taps{first, {}};
    for (double weight : weights)
      taps.weights.push_back(static_cast<float>(weight / sum));
    all.push_back(std::move(taps));
  }
  return all;
}

}  // namespace detail

namespace functional {

// The image with another height and width, as torchvision's resize of a float tensor: bilinear, first along rows, then along
// columns.
inline void resize(Pixels<float>& image, const HeightWidth& size, bool antialias = true) {
  const auto [channels, height, width] = image.sizes;
  const std::vector<detail::Taps> along_x = detail::bilinear_taps(width, size.width, antialias);
  const std::vector<detail::Taps> along_y = detail::bilinear_taps(height, size.height, antialias);
  image.renew({channels, height, size.width});
  for (index_t row = 0; row < channels * height; ++row)
    for (index_t x = 0; x < size.width; ++x) {
      const auto& [first, weights] = along_x[static_cast<std::size_t>(x)];
      const float* from = image.before.data() + row * width + first;
      float sum = 0;
      for (const float weight : weights)
        sum += weight * *from++;
      image.values[static_cast<std::size_t>(row * size.width + x)] = sum;
    }
  image.renew({channels, size.height, size.width});
  for (index_t c = 0; c < channels; ++c)
    for (index_t y = 0; y < size.height; ++y) {
      const auto& [first, weights] = along_y[static_cast<std::size_t>(y)];
      const float* from = image.before.data() + (c * height + first) * size.width;
      float* const to = &image.at(c, y, 0);
      std::fill_n(to, size.width, 0.0f);
      for (const float weight : weights)
        for (index_t x = 0; x < size.width; ++x)
          to[x] += weight * *from++;
    }
}

}  // namespace functional

// As torchvision's Resize takes them.
struct ResizeOptions {
  bool antialias = true;  // weigh all pixels that become one, so that small things do not vanish by chance
};

// The image with another height and width, bilinear, in floats (torchvision's of bytes rounds to whole ones):
//   data::Resize{32}           the shorter side becomes 32, the other one keeps its ratio
//   data::Resize{{32, 48}}     height and width
class Resize {
 public:
  explicit Resize(index_t shorter, const ResizeOptions& options = {})
      : Resize(HeightWidth{shorter, 0}, options, true) {}
  explicit Resize(const HeightWidth& size, const ResizeOptions& options = {}) : Resize(size, options, false) {}

  ImageSizes output(const ImageSizes& input) const {
    if (size_.width > 0) return {input.channels, size_.height, size_.width};
    const index_t shorter = std::min(input.height, input.width), longer = std::max(input.height, input.width);
    const auto other =
        static_cast<index_t>(static_cast<double>(size_.height * longer) / static_cast<double>(shorter));
    return input.height <= input.width ? ImageSizes{input.channels, size_.height, other}
                                       : ImageSizes{input.channels, other, size_.height};
  }

  // Throws Error for an image that is so long and thin that it would become huge.
  void operator()(Pixels<float>& image) const {
    const ImageSizes to = output(image.sizes);
    require(to.pixels() <= most_pixels, "gpunet::data::Resize: an image of ", image.sizes.height, " x ",
            image.sizes.width, " would become one of ", to.height, " x ", to.width, " (want at most ", most_pixels,
            " pixels), give both sides, as Resize{{32, 32}}");
    if (to != image.sizes) functional::resize(image, {to.height, to.width}, options_.antialias);
  }

 private:
  static constexpr index_t most_pixels = 1 << 28;

  Resize(const HeightWidth& size, const ResizeOptions& options, bool is_shorter) : size_(size), options_(options) {
    constexpr index_t most = 1 << 20;
    require(1 <= size.height && size.height <= most && (is_shorter || (1 <= size.width && size.width <= most)),
            "gpunet::data::Resize: sides of ", size.height, is_shorter ? "" : concat(" and ", size.width),
            " pixels (want 1 to ", most, ")");
  }

  HeightWidth size_;  // width 0: the height is the shorter side
  ResizeOptions options_;
};

}  // namespace gpunet::data
