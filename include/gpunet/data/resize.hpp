// Images of another size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/data/pixels.hpp>
#include <gpunet/data/transforms.hpp>

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

// The image of such sizes with another height and width, into `to`, row by row: first along rows, then along columns.
// row(channel, y) gives `from.width` floats.
template <class Row>
void resize_rows(const ImageSizes& from, const HeightWidth& size, bool antialias, float* to, Row row) {
  const std::vector<Taps> along_x = bilinear_taps(from.width, size.width, antialias);
  const std::vector<Taps> along_y = bilinear_taps(from.height, size.height, antialias);
  std::vector<float> line(static_cast<std::size_t>(size.width));
  for (index_t c = 0; c < from.channels; ++c, to += size.height * size.width) {
    std::fill_n(to, size.height * size.width, 0.0f);
    auto begin = along_y.begin();  // of those that take something from row y
    for (index_t y = 0; y < from.height; ++y) {
      while (begin != along_y.end() && begin->first + std::ssize(begin->weights) <= y)
        ++begin;
      if (begin == along_y.end()) break;
      if (begin->first > y) continue;
      const float* const values = row(c, y);
      for (std::size_t x = 0; x < line.size(); ++x) {
        const float* value = values + along_x[x].first;
        float sum = 0;
        for (const float weight : along_x[x].weights)
          sum += weight * *value++;
        line[x] = sum;
      }
      for (auto taps = begin; taps != along_y.end() && taps->first <= y; ++taps) {
        const float weight = taps->weights[static_cast<std::size_t>(y - taps->first)];
        float* const sums = to + (taps - along_y.begin()) * size.width;
        for (std::size_t x = 0; x < line.size(); ++x)
          sums[x] += weight * line[x];
      }
    }
  }
}

}  // namespace detail

namespace functional {

// The image with another height and width, as torchvision's resize of a float tensor: bilinear, first along rows, then along
// columns.
inline void resize(Pixels<float>& image, const HeightWidth& size, bool antialias = true) {
  const ImageSizes from = image.sizes;
  image.renew({from.channels, size.height, size.width});
  detail::resize_rows(from, size, antialias, image.values.data(), [&](index_t c, index_t y) {
    return image.before.data() + (c * from.height + y) * from.width;
  });
}
// The same of the floats that a table makes of bytes, of which there is one row at a time.
inline void resize(const ByteImage& from, const PixelTable& table, Pixels<float>& to, const HeightWidth& size,
                   bool antialias = true) {
  std::vector<float> row(static_cast<std::size_t>(from.sizes.width));
  to.renew({from.sizes.channels, size.height, size.width});
  detail::resize_rows(from.sizes, size, antialias, to.values.data(), [&](index_t c, index_t y) {
    table.transform_row(from, c, y, row.data());
    return row.data();
  });
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
    const ImageSizes to = checked_output(image.sizes);
    if (to != image.sizes) functional::resize(image, {to.height, to.width}, options_.antialias);
  }
  void operator()(const ByteImage& from, const PixelTable& table, Pixels<float>& image) const {
    const ImageSizes to = checked_output(from.sizes);
    if (to != from.sizes) return functional::resize(from, table, image, {to.height, to.width}, options_.antialias);
    image.renew(to);
    table.transform(from, image.values.data());
  }

 private:
  static constexpr index_t most_pixels = 1 << 28;

  ImageSizes checked_output(const ImageSizes& input) const {
    const ImageSizes to = output(input);
    require(to.pixels() <= most_pixels, "gpunet::data::Resize: an image of ", input.height, " x ", input.width,
            " would become one of ", to.height, " x ", to.width, " (want at most ", most_pixels,
            " pixels), give both sides, as Resize{{32, 32}}");
    return to;
  }

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
