// From the bytes of an image to the floats of a sample.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/data/pixels.hpp>

namespace gpunet::io {
struct Image;
}

namespace gpunet::data {

// A transform is a function of one pixel's value and the channel it is in; check(channels) throws Error if it is
// not made for images of so many channels. Transforms of whole images are in pixels.hpp.

// Bytes 0 to 255 as floats 0 to 1.
struct ToTensor {
  float operator()(std::same_as<std::uint8_t> auto byte, index_t) const {
    return static_cast<float>(byte) / 255.0f;
  }
  // A whole image: see transform_image.
  auto operator()(const std::same_as<io::Image> auto& image) const { return transform_image(*this, image); }
  void check(index_t) const {}
};

// (x - mean) / std, with a mean and a standard deviation for each channel.
class Normalize {
 public:
  // Throws Error if the lengths differ or a std is 0.
  Normalize(std::vector<float> mean, std::vector<float> std) : mean_(std::move(mean)), std_(std::move(std)) {
    require(mean_.size() == std_.size(), "gpunet::data::Normalize: ", mean_.size(), " means and ", std_.size(),
            " stds (want one of each for every channel)");
    for (std::size_t i = 0; i < std_.size(); ++i)
      require(std::isfinite(std_[i]) && std_[i] != 0.0f, "gpunet::data::Normalize: the std of channel ", i, " is ",
              std_[i], " (values are divided by it), give another");
  }

  float operator()(std::same_as<float> auto x, index_t channel) const {
    const auto c = static_cast<std::size_t>(channel);
    return (x - mean_[c]) / std_[c];
  }
  void check(index_t channels) const {
    require(static_cast<index_t>(mean_.size()) == channels, "gpunet::data::Normalize: ", mean_.size(),
            " means and stds for images of ", channels, " channels (want one of each for every channel)");
  }

 private:
  std::vector<float> mean_, std_;  // [channels]
};

// Transforms one after another.
template <class... Transforms>
class Compose {
 public:
  explicit Compose(Transforms... transforms) : transforms_(std::move(transforms)...) {}

  template <class T>
  auto operator()(T x, index_t channel) const {
    return apply<0>(x, channel);
  }
  // A whole image: see transform_image.
  auto operator()(const std::same_as<io::Image> auto& image) const { return transform_image(*this, image); }
  const std::tuple<Transforms...>& transforms() const { return transforms_; }
  void check(index_t channels) const {
    std::apply([channels](const auto&... transform) { (transform.check(channels), ...); }, transforms_);
  }

 private:
  template <std::size_t I, class T>
  auto apply(T x, index_t channel) const {
    if constexpr (I == sizeof...(Transforms)) {
      return x;
    } else {
      const auto& transform = std::get<I>(transforms_);
      static_assert(std::invocable<decltype(transform), T, index_t>,
                    "gpunet::data::Compose: a transform does not take what the one before it gives, begin with "
                    "ToTensor and go on with transforms of floats");
      return apply<I + 1>(transform(x, channel), channel);
    }
  }

  std::tuple<Transforms...> transforms_;
};

// What a transform makes of each of the 256 bytes of each channel: however long the pipeline, a pixel costs one
// look-up.
class PixelTable {
 public:
  // Throws Error if the transform is not made for so many channels.
  template <class Transform>
  PixelTable(const Transform& transform, index_t channels) {
    static_assert(std::is_invocable_r_v<float, const Transform&, std::uint8_t, index_t>,
                  "gpunet::data: the transform does not make floats of bytes, begin it with ToTensor");
    transform.check(channels);
    for (index_t channel = 0; channel < channels; ++channel)
      for (int byte = 0; byte < 256; ++byte)
        table_.push_back(transform(static_cast<std::uint8_t>(byte), channel));
  }

  // Transforms one image of [channels][pixels] bytes.
  void transform(const std::uint8_t* bytes, index_t pixels, float* sample) const {
    transform(table_.data(), static_cast<index_t>(table_.size()) / 256, bytes, pixels, sample);
  }
  void transform(const ByteImage& image, float* sample) const {
    if (image.is_planar()) return transform(image.bytes, image.sizes.pixels(), sample);
    for (index_t c = 0; c < image.sizes.channels; ++c)
      for (index_t y = 0; y < image.sizes.height; ++y, sample += image.sizes.width)
        transform_row(image, c, y, sample);
  }
  void transform_row(const ByteImage& image, index_t channel, index_t y, float* values) const {
    const float* const table = table_.data() + channel * 256;
    const std::uint8_t* from = image.row(channel, y);
    for (index_t x = 0; x < image.sizes.width; ++x, from += image.pixel_step)
      values[x] = table[*from];
  }
  static void transform(const float* values, index_t channels, const std::uint8_t* bytes, index_t pixels,
                        float* sample) {
    for (const float* table = values; table != values + channels * 256; table += 256)
      for (index_t i = 0; i < pixels; ++i)
        *sample++ = table[*bytes++];
  }

  // [channels, 256]: what becomes of each byte.
  const std::vector<float>& values() const { return table_; }

 private:
  std::vector<float> table_;  // [channels][256]
};

}  // namespace gpunet::data
