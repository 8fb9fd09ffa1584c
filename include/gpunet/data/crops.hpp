// Parts of images of one size: the center, and random parts that are resized.
#pragma once

#include <array>
#include <cstdint>

#include <gpunet/data/random_transforms.hpp>

namespace gpunet::data {

// Takes the center of the image; pixels outside of a smaller image are 0:
//   data::CenterCrop{224}     data::CenterCrop{{24, 32}}   height and width
class CenterCrop {
 public:
  // Throws Error for a side less than 1 or greater than 2^20.
  explicit CenterCrop(index_t side) : CenterCrop(HeightWidth{side, side}) {}
  explicit CenterCrop(const HeightWidth& size);

  ImageSizes output(const ImageSizes& input) const {
    return {input.channels, size_.height, size_.width};
  }

  void operator()(Pixels<std::uint8_t>& image) const;
  void operator()(Pixels<float>& image) const;

 private:
  HeightWidth size_;
};

// Options of RandomResizedCrop, as in torchvision.
struct RandomResizedCropOptions {
  // Smallest and largest fraction of the image's area.
  std::array<double, 2> scale = {0.08, 1};
  std::array<double, 2> ratio = {3.0 / 4, 4.0 / 3};  // smallest and largest width / height
  bool antialias = true;                             // see ResizeOptions
};

// Takes a random part of the image and resizes it by bilinear interpolation, in floats (Szegedy et
// al., Going Deeper with Convolutions, 2015):
//   data::RandomResizedCrop{224}
//   data::RandomResizedCrop{{24, 32}, {.scale = {0.5, 1}}}   height and width
class RandomResizedCrop {
 public:
  // Throws Error for a side less than 1 or greater than 2^20, and for options out of range.
  explicit RandomResizedCrop(index_t side, const RandomResizedCropOptions& options = {})
      : RandomResizedCrop(HeightWidth{side, side}, options) {}
  explicit RandomResizedCrop(const HeightWidth& size, const RandomResizedCropOptions& options = {});

  ImageSizes output(const ImageSizes& input) const {
    return {input.channels, size_.height, size_.width};
  }

  // Returns a random part: the first of ten that fits, or the largest in the center with an allowed
  // ratio, as RandomResizedCrop.get_params in torchvision.
  Rectangle draw(const ImageSizes& image, Random& random) const;

  void operator()(Pixels<float>& image, Random& random) const;

 private:
  HeightWidth size_;
  RandomResizedCropOptions options_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/crops.ipp>
#endif
