// Bodies of transforms.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include <gpunet/core/error.hpp>
#include <gpunet/data/transforms.hpp>
#include <gpunet/ops/gather_samples.hpp>

namespace gpunet::data {

GPUNET_INLINE void ByteImage::copy_to(std::uint8_t* to) const {
  if (is_planar()) {
    std::copy_n(bytes, sizes.numel(), to);
    return;
  }
  for (index_t c = 0; c < sizes.channels; ++c)
    for (index_t i = 0; i < sizes.pixels(); ++i)
      *to++ = bytes[c * channel_step + i * pixel_step];
}

GPUNET_INLINE Normalize::Normalize(std::vector<float> mean, std::vector<float> std)
    : mean_(std::move(mean)), std_(std::move(std)) {
  require(mean_.size() == std_.size(), "gpunet::data::Normalize: ", mean_.size(), " means and ",
          std_.size(), " stds (want one of each for every channel)");
  for (std::size_t i = 0; i < mean_.size(); ++i)
    require(std::isfinite(mean_[i]), "gpunet::data::Normalize: the mean of channel ", i, " is ",
            mean_[i], " (every value would be NaN or infinite), give another");
  for (std::size_t i = 0; i < std_.size(); ++i)
    require(std::isfinite(std_[i]) && std_[i] != 0.0f,
            "gpunet::data::Normalize: the std of channel ", i, " is ", std_[i],
            " (values are divided by it), give another");
}

GPUNET_INLINE void Normalize::check(index_t channels) const {
  require(static_cast<index_t>(mean_.size()) == channels, "gpunet::data::Normalize: ", mean_.size(),
          " means and stds for images of ", channels,
          " channels (want one of each for every channel)");
}

GPUNET_INLINE void PixelTable::append(float value) {
  table_.push_back(value);
}

GPUNET_INLINE void PixelTable::transform(const std::uint8_t* bytes, index_t pixels,
                                         float* sample) const {
  look_up_bytes(table_.data(), static_cast<index_t>(table_.size()) / 256, bytes, pixels, sample);
}
GPUNET_INLINE void PixelTable::transform(const ByteImage& image, float* sample) const {
  if (image.is_planar()) return transform(image.bytes, image.sizes.pixels(), sample);
  for (index_t c = 0; c < image.sizes.channels; ++c)
    for (index_t y = 0; y < image.sizes.height; ++y, sample += image.sizes.width)
      transform_row(image, c, y, sample);
}
GPUNET_INLINE void PixelTable::transform_row(const ByteImage& image, index_t channel, index_t y,
                                             float* values) const {
  const float* const table = table_.data() + channel * 256;
  const std::uint8_t* from = image.row(channel, y);
  for (index_t x = 0; x < image.sizes.width; ++x, from += image.pixel_step)
    values[x] = table[*from];
}
}  // namespace gpunet::data
