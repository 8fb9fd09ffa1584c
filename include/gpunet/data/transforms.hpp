// From the bytes of an image to the floats of a sample.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

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
  Normalize(std::vector<float> mean, std::vector<float> std);

  float operator()(std::same_as<float> auto x, index_t channel) const {
    const auto c = static_cast<std::size_t>(channel);
    return (x - mean_[c]) / std_[c];
  }
  void check(index_t channels) const;

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
  void transform(const std::uint8_t* bytes, index_t pixels, float* sample) const;
  void transform(const ByteImage& image, float* sample) const;
  void transform_row(const ByteImage& image, index_t channel, index_t y, float* values) const;
  static void transform(const float* values, index_t channels, const std::uint8_t* bytes, index_t pixels,
                        float* sample);

  // [channels, 256]: what becomes of each byte.
  const std::vector<float>& values() const { return table_; }

 private:
  std::vector<float> table_;  // [channels][256]
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/transforms.ipp>
#endif
