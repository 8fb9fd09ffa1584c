// Synthetic handwritten digits: no download, no files.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <gpunet/data/image_dataset.hpp>

namespace gpunet::data {

namespace detail::digits {

// A point of a stroke. A digit is about 100 high; (0, 0) is its center.
struct Point {
  int x, y;
};

// Returns points of the Catmull-Rom spline through the given points, four per segment; through two
// points, a line.
std::vector<Point> curve(const std::vector<Point>& through);

}  // namespace detail::digits

// Grayscale 28 x 28 images of the digits 0 to 9, white on black as in MNIST, drawn when they are
// read. An image depends on the seed and its index only. Slant, size, position, thickness and the
// strokes vary; image i is of digit i % 10.
class Digits : public ImageDataset {
 public:
  // The first `size` images of a seed. Throws Error if `size` is negative.
  template <class Transform = ToTensor>
  Digits(index_t size, std::uint64_t seed, const Transform& transform = {})
      : ImageDataset(Pipeline(transform, sizes)), size_(size), seed_(seed) {
    require(size >= 0, "gpunet::data::Digits: ", size,
            " images (want 0 or more), give the number of images");
  }
  template <class Transform = ToTensor>
  static Digits train(index_t size = 60000, const Transform& transform = {}) {
    return Digits(size, 1, transform);
  }
  template <class Transform = ToTensor>
  static Digits test(index_t size = 10000, const Transform& transform = {}) {
    return Digits(size, 2, transform);
  }

  // The names of the classes.
  static constexpr std::array<std::string_view, 10> classes() {
    return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  }

  index_t size() const override { return size_; }
  // Draws image i, [1, 28, 28], into `buffer`, before it is transformed.
  GPUNET_INLINE_VIRTUAL ImageBytes image(index_t i,
                                         std::vector<std::uint8_t>& buffer) const override;

 private:
  static constexpr ImageSizes sizes{1, 28, 28};

  index_t size_;
  std::uint64_t seed_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/extras/data/digits.ipp>
#endif
