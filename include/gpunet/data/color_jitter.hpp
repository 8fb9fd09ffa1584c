// Random changes of an image's colors.
#pragma once

#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

// For images of one or three channels with values from 0 to 1. Formulas: torchvision, float
// tensors.
namespace functional {

// Scales the brightness. 0: black, 1: unchanged.
void adjust_brightness(Pixels<float>& image, double factor);

// Scales the contrast. 0: the mean brightness everywhere, 1: unchanged.
void adjust_contrast(Pixels<float>& image, double factor);

// Scales the saturation. 0: gray, 1: unchanged. Does not change images of one channel.
void adjust_saturation(Pixels<float>& image, double factor);

// Rotates the hue by `turn` of the color circle, from -0.5 to 0.5. Does not change images of one
// channel.
void adjust_hue(Pixels<float>& image, double turn);

}  // namespace functional

// Options of ColorJitter, as in torchvision.
struct ColorJitterOptions {
  double brightness = 0, contrast = 0, saturation = 0;  // factors are from max(0, 1 - x) to 1 + x
  double hue = 0;                                       // rotations are from -x to x; at most 0.5
};

// Changes brightness, contrast, saturation and hue by random amounts and in random order. For
// images of one or three channels with values from 0 to 1, so before Normalize.
//   data::ColorJitter{{.brightness = 0.4, .hue = 0.1}}
class ColorJitter {
 public:
  // Throws Error if an option is negative or too large.
  explicit ColorJitter(const ColorJitterOptions& options);

  ImageSizes output(const ImageSizes& input) const;

  void operator()(Pixels<float>& image, Random& random) const;

 private:
  ColorJitterOptions options_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/color_jitter.ipp>
#endif
