// Bodies of resize.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/data/resize.hpp>

namespace gpunet::data {

namespace detail {

// The pixels from which one resized pixel is computed: the first one, and their weights in order.
struct Taps {
  index_t first;
  std::vector<float> weights;
};

// Returns the taps for resizing a line of `from` pixels to `to` pixels. The weights are a triangle
// around the source position, wide enough for the two neighbors (bilinear) or for all pixels that
// map to this one (antialias). Weights inside the image sum to 1.
GPUNET_INLINE std::vector<Taps> bilinear_taps(index_t from, index_t to, bool antialias) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double reach = antialias ? std::max(scale, 1.0) : 1.0;
  std::vector<Taps> all;
  for (index_t i = 0; i < to; ++i) {
    const double center = scale * (static_cast<double>(i) + 0.5);
    const index_t first = std::max(index_t{0}, static_cast<index_t>(center - reach + 0.5));
    const index_t end = std::min(from, static_cast<index_t>(center + reach + 0.5));
    std::vector<double> weights;
    double sum = 0;
    for (index_t k = first; k < end; ++k) {
      weights.push_back(
          std::max(0.0, 1 - std::abs((static_cast<double>(k) + 0.5 - center) / reach)));
      sum += weights.back();
    }
    Taps taps{first, {}};
    for (double weight : weights)
      taps.weights.push_back(static_cast<float>(weight / sum));
    all.push_back(std::move(taps));
  }
  return all;
}

// Writes the resized image to `to`, row by row: first along rows, then along columns. row(channel,
// y) returns `from.width` floats.
template <class Row>
void resize_rows(const ImageSizes& from, const HeightWidth& size, bool antialias, float* to,
                 Row row) {
  const std::vector<Taps> along_x = bilinear_taps(from.width, size.width, antialias);
  const std::vector<Taps> along_y = bilinear_taps(from.height, size.height, antialias);
  std::vector<float> line(static_cast<std::size_t>(size.width));
  for (index_t c = 0; c < from.channels; ++c, to += size.height * size.width) {
    std::fill_n(to, size.height * size.width, 0.0f);
    auto begin = along_y.begin();  // the first taps that use row y or a later one
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

GPUNET_INLINE void resize(Pixels<float>& image, const HeightWidth& size, bool antialias) {
  const ImageSizes from = image.sizes;
  image.renew({from.channels, size.height, size.width});
  detail::resize_rows(from, size, antialias, image.values.data(), [&](index_t c, index_t y) {
    return image.before.data() + (c * from.height + y) * from.width;
  });
}
GPUNET_INLINE void resize(const ByteImage& from, const PixelTable& table, Pixels<float>& to,
                          const HeightWidth& size, bool antialias) {
  std::vector<float> row(static_cast<std::size_t>(from.sizes.width));
  to.renew({from.sizes.channels, size.height, size.width});
  detail::resize_rows(from.sizes, size, antialias, to.values.data(), [&](index_t c, index_t y) {
    table.transform_row(from, c, y, row.data());
    return row.data();
  });
}

}  // namespace functional

GPUNET_INLINE Resize::Resize(const HeightWidth& size, const ResizeOptions& options, bool is_shorter)
    : size_(size), options_(options) {
  constexpr index_t most = 1 << 20;
  require(1 <= size.height && size.height <= most &&
              (is_shorter || (1 <= size.width && size.width <= most)),
          "gpunet::data::Resize: sides of ", size.height,
          is_shorter ? "" : concat(" and ", size.width), " pixels (want 1 to ", most, ")");
}

GPUNET_INLINE ImageSizes Resize::output(const ImageSizes& input) const {
  if (size_.width > 0) return {input.channels, size_.height, size_.width};
  const index_t shorter = std::min(input.height, input.width),
                longer = std::max(input.height, input.width);
  const auto other = static_cast<index_t>(static_cast<double>(size_.height * longer) /
                                          static_cast<double>(shorter));
  return input.height <= input.width ? ImageSizes{input.channels, size_.height, other}
                                     : ImageSizes{input.channels, other, size_.height};
}

GPUNET_INLINE void Resize::operator()(Pixels<float>& image) const {
  const ImageSizes to = checked_output(image.sizes);
  if (to != image.sizes) functional::resize(image, {to.height, to.width}, options_.antialias);
}
GPUNET_INLINE void Resize::operator()(const ByteImage& from, const PixelTable& table,
                                      Pixels<float>& image) const {
  const ImageSizes to = checked_output(from.sizes);
  if (to != from.sizes)
    return functional::resize(from, table, image, {to.height, to.width}, options_.antialias);
  image.renew(to);
  table.transform(from, image.values.data());
}

GPUNET_INLINE ImageSizes Resize::checked_output(const ImageSizes& input) const {
  constexpr index_t most_pixels = 1 << 28;
  const ImageSizes to = output(input);
  require(to.pixels() <= most_pixels, "gpunet::data::Resize: an image of ", input.height, " x ",
          input.width, " would become one of ", to.height, " x ", to.width, " (want at most ",
          most_pixels, " pixels), give both sides, as Resize{{32, 32}}");
  return to;
}

}  // namespace gpunet::data
