// Transforms of images: from the bytes of an image to the floats of a sample.
//
// A transform is a function object of one of two kinds. Transforms of values compute one float of
// one value and its channel:
//   float operator()(float x, index_t channel) const;
//   void check(index_t channels) const;  // optional; Error for a wrong number of channels
// Transforms of images change a whole image, with or without random numbers:
//   void operator()(Pixels<float>& image, Random& random) const;
//   // optional, if pixels are only moved:
//   void operator()(Pixels<std::uint8_t>& image, Random& random) const;
//   // optional; Error for an unsuitable image:
//   ImageSizes output(const ImageSizes& input) const;
// One that reads bytes row by row, so that no image of floats is in memory before it, also has
//   void operator()(const ByteImage& from, const PixelTable& table, Pixels<float>& to) const;
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/shape.hpp>
#include <gpunet/data/sample_random.hpp>

namespace gpunet::io {
struct Image;
}

namespace gpunet::data {

// The shape [channels, height, width] of an image.
struct ImageSizes {
  index_t channels = 0, height = 0, width = 0;

  constexpr index_t pixels() const { return height * width; }
  constexpr index_t numel() const { return channels * pixels(); }
  operator Sizes() const { return {channels, height, width}; }
  friend bool operator==(const ImageSizes&, const ImageSizes&) = default;
};

// The size of an image, or of a part of it, in pixels.
struct HeightWidth {
  index_t height, width;
};

// An image [channels, height, width] of bytes, or of floats (from 0 to 1 before Normalize).
template <class T>
struct Pixels {
  ImageSizes sizes;
  std::vector<T> values = {};
  std::vector<T> before = {};  // the previous image, see renew

  // Returns one value; row 0 is the top.
  T& at(index_t channel, index_t y, index_t x) {
    return values[static_cast<std::size_t>((channel * sizes.height + y) * sizes.width + x)];
  }

  // Allocates `values` for a new image of this size and moves the old image to `before`, where it
  // stays until the next call.
  void renew(const ImageSizes& to) {
    values.swap(before);
    values.resize(static_cast<std::size_t>(to.numel()));
    sizes = to;
  }
};

// A borrowed image of bytes. Value (channel, y, x) is
// bytes[channel * channel_step + (y * width + x) * pixel_step].
struct ByteImage {
  const std::uint8_t* bytes;
  ImageSizes sizes;
  index_t channel_step = sizes.pixels(), pixel_step = 1;  // by default [channels, height, width]

  // Returns whether the bytes are [channels, height, width].
  bool is_planar() const { return pixel_step == 1 && channel_step == sizes.pixels(); }
  // Returns row y of a channel; its values are pixel_step apart.
  const std::uint8_t* row(index_t channel, index_t y) const {
    return bytes + channel * channel_step + y * sizes.width * pixel_step;
  }
  // Copies the image as [channels, height, width].
  void copy_to(std::uint8_t* to) const;
};

// A transform of images that draws random numbers.
template <class Transform, class T>
concept DrawsForImages = std::is_invocable_v < const Transform&,
        Pixels<T>
&, Random& > ;
// A transform of images.
template <class Transform, class T>
concept TransformsImages = DrawsForImages<Transform, T> || std::is_invocable_v < const Transform&,
        Pixels<T>
& > ;

// Maps bytes from 0 to 255 to floats from 0 to 1.
struct ToTensor {
  float operator()(std::same_as<std::uint8_t> auto byte, index_t) const {
    return static_cast<float>(byte) / 255.0f;
  }
  // Transforms an image that is in no dataset, see transform_image.
  auto operator()(const std::same_as<io::Image> auto& image) const {
    return transform_image(*this, image);
  }
  void check(index_t) const {}
};

// Computes (x - mean) / std, with a mean and a standard deviation per channel.
class Normalize {
 public:
  // Throws Error if the lengths differ, if a number is not finite, or if a std is 0.
  Normalize(std::vector<float> mean, std::vector<float> std);

  float operator()(std::same_as<float> auto x, index_t channel) const {
    const auto c = static_cast<std::size_t>(channel);
    return (x - mean_[c]) / std_[c];
  }
  void check(index_t channels) const;

 private:
  std::vector<float> mean_, std_;  // [channels]
};

// Applies transforms in the order given.
template <class... Transforms>
class Compose {
 public:
  explicit Compose(Transforms... transforms) : transforms_(std::move(transforms)...) {}

  template <class T>
  auto operator()(T x, index_t channel) const {
    return apply<0>(x, channel);
  }
  // Transforms an image that is in no dataset, see transform_image.
  auto operator()(const std::same_as<io::Image> auto& image) const {
    return transform_image(*this, image);
  }
  const std::tuple<Transforms...>& transforms() const { return transforms_; }
  void check(index_t channels) const {
    std::apply([channels](const auto&... transform) { (transform.check(channels), ...); },
               transforms_);
  }

 private:
  template <std::size_t I, class T>
  auto apply(T x, index_t channel) const {
    if constexpr (I == sizeof...(Transforms)) {
      return x;
    } else {
      const auto& transform = std::get<I>(transforms_);
      static_assert(std::invocable<decltype(transform), T, index_t>,
                    "gpunet::data::Compose: a transform does not take what the one before it "
                    "gives, begin with ToTensor and go on with transforms of floats");
      return apply<I + 1>(transform(x, channel), channel);
    }
  }

  std::tuple<Transforms...> transforms_;
};

// A function as a transform: of a value (float x), of a value and its channel
// (float x, index_t channel), of an image (Pixels<float>&), or of an image and random numbers
// (Pixels<float>&, Random&). It must not change the size of the image. Workers of a loader call it
// concurrently.
template <class Function>
class Lambda {
  static constexpr bool of_value = std::is_invocable_r_v<float, const Function&, float>;
  static constexpr bool of_value_and_channel =
      std::is_invocable_r_v<float, const Function&, float, index_t>;
  static constexpr bool of_image = std::invocable<const Function&, Pixels<float>&>;
  static constexpr bool of_image_and_random =
      std::invocable<const Function&, Pixels<float>&, Random&>;

 public:
  explicit Lambda(Function function) : function_(std::move(function)) {
    static_assert(of_value || of_value_and_channel || of_image || of_image_and_random,
                  "gpunet::data::Lambda: the function takes none of (float), (float, index_t), "
                  "(Pixels<float>&), (Pixels<float>&, Random&)");
  }

  float operator()(std::same_as<float> auto x, index_t) const requires(of_value) {
    return function_(x);
  }
  float operator()(std::same_as<float> auto x, index_t channel) const
      requires(of_value_and_channel) {
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

// The float for each of the 256 bytes of each channel. With it, any number of transforms of values
// costs one look-up per pixel.
class PixelTable {
 public:
  // Throws Error if the transform does not accept this number of channels.
  template <class Transform>
  PixelTable(const Transform& transform, index_t channels) {
    static_assert(
        std::is_invocable_r_v<float, const Transform&, std::uint8_t, index_t>,
        "gpunet::data: the transform does not make floats of bytes, begin it with ToTensor");
    transform.check(channels);
    for (index_t channel = 0; channel < channels; ++channel)
      for (int byte = 0; byte < 256; ++byte)
        append(transform(static_cast<std::uint8_t>(byte), channel));
  }

  // Writes the floats of an image as [channels, height, width].
  void transform(const ByteImage& image, float* sample) const;
  // Writes the floats of an image of [channels, pixels] bytes.
  void transform(const std::uint8_t* bytes, index_t pixels, float* sample) const;
  // Writes the floats of one row of a channel.
  void transform_row(const ByteImage& image, index_t channel, index_t y, float* values) const;

  // Returns the floats, [channels, 256].
  const std::vector<float>& values() const { return table_; }

 private:
  void append(float value);

  std::vector<float> table_;  // [channels][256]
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/transforms.ipp>
#endif
