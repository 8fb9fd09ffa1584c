// The image that transforms work on.
#pragma once

#include <concepts>
#include <cstddef>
#include <vector>

#include <gpunet/core/sizes.hpp>
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

// A transform of images is a function of Pixels<float>&, and where it draws numbers of a Random& behind. If it only moves
// pixels, it takes Pixels<std::uint8_t>& too. Where it changes sizes it has
//   ImageSizes output(const ImageSizes& input) const;   // throws Error for images that it is not made for
template <class Transform, class T>
concept DrawsForImages = std::invocable < const Transform&,
        Pixels<T>
&, Random& > ;
template <class Transform, class T>
concept TransformsImages = DrawsForImages<Transform, T> || std::invocable < const Transform&,
        Pixels<T>
& > ;

}  // namespace gpunet::data
