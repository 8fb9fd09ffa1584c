// The image that transforms work on.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gpunet/core/shape.hpp>
#include <gpunet/data/random.hpp>

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

// An image [channels, height, width] of bytes, or of floats from 0 to 1 until something normalises them.
template <class T>
struct Pixels {
  ImageSizes sizes;
  std::vector<T> values = {};
  std::vector<T> before = {};  // see renew

  // One value, rows from the top.
  T& at(index_t channel, index_t y, index_t x) {
    return values[static_cast<std::size_t>((channel * sizes.height + y) * sizes.width + x)];
  }

  // Makes room for another image in place of this one, which is in `before` until the next time.
  void renew(const ImageSizes& to) {
    values.swap(before);
    values.resize(static_cast<std::size_t>(to.numel()));
    sizes = to;
  }
};

// An image of bytes where it lies: value (channel, y, x) is bytes[channel * channel_step + (y * width + x) * pixel_step].
struct ByteImage {
  const std::uint8_t* bytes;
  ImageSizes sizes;
  index_t channel_step = sizes.pixels(), pixel_step = 1;  // of [channels, height, width]

  bool is_planar() const { return pixel_step == 1 && channel_step == sizes.pixels(); }  // [channels, height, width]
  // Row y of a channel; its values are pixel_step apart.
  const std::uint8_t* row(index_t channel, index_t y) const {
    return bytes + channel * channel_step + y * sizes.width * pixel_step;
  }
  // Copies it as [channels, height, width].
  void copy_to(std::uint8_t* to) const;
};

// A transform of images is a function of Pixels<float>&, and where it draws numbers of a Random& behind. If it only moves
// pixels, it takes Pixels<std::uint8_t>& too. Where it changes sizes it has
//   ImageSizes output(const ImageSizes& input) const;   // throws Error for images that it is not made for
// Where it needs no floats of the whole image, it also has
//   void operator()(const ByteImage& from, const PixelTable& table, Pixels<float>& to) const;   // table: floats of bytes
template <class Transform, class T>
concept DrawsForImages = std::invocable < const Transform&,
        Pixels<T>
&, Random& > ;
template <class Transform, class T>
concept TransformsImages = DrawsForImages<Transform, T> || std::invocable < const Transform&,
        Pixels<T>
& > ;

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/pixels.ipp>
#endif
