// Synthetic color images of ten shapes: no download, no files.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <gpunet/data/image_dataset.hpp>

namespace gpunet::data {

// 32 x 32 color images of ten shapes, drawn when they are read. An image depends on the seed and
// its index only. Position, size, rotation, colors, background and noise vary; image i is of class
// i % 10.
class Shapes : public ImageDataset {
 public:
  // The first `size` images of a seed. Throws Error if `size` is negative.
  template <class Transform = ToTensor>
  Shapes(index_t size, std::uint64_t seed, const Transform& transform = {})
      : ImageDataset(Pipeline(transform, sizes)), size_(size), seed_(seed) {
    require(size >= 0, "gpunet::data::Shapes: ", size, " images (want 0 or more)");
  }
  template <class Transform = ToTensor>
  static Shapes train(index_t size = 40000, const Transform& transform = {}) {
    return Shapes(size, 1, transform);
  }
  template <class Transform = ToTensor>
  static Shapes test(index_t size = 10000, const Transform& transform = {}) {
    return Shapes(size, 2, transform);
  }

  // The names of the classes.
  static constexpr std::array<std::string_view, 10> classes() {
    return {"disc",  "ring", "square", "frame",    "triangle",
            "cross", "star", "bar",    "crescent", "hourglass"};
  }

  index_t size() const override { return size_; }
  // Draws image i, [3, 32, 32], into `buffer`, before it is transformed.
  GPUNET_INLINE_VIRTUAL ImageBytes image(index_t i,
                                         std::vector<std::uint8_t>& buffer) const override;

 private:
  static constexpr ImageSizes sizes{3, 32, 32};

  index_t size_;
  std::uint64_t seed_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/extras/data/painted_shapes.ipp>
#endif
