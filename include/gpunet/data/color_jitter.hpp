// Images in other colors.
#pragma once

#include <gpunet/data/pixels.hpp>

namespace gpunet::data {

// Of images of one channel or three, with values from 0 to 1, and as torchvision computes them for float tensors.
namespace functional {

// 0: black, 1: as it is.
void adjust_brightness(Pixels<float>& image, double factor);

// 0: the mean brightness everywhere, 1: as it is.
void adjust_contrast(Pixels<float>& image, double factor);

// 0: gray, 1: as it is. Gray images stay what they are.
void adjust_saturation(Pixels<float>& image, double factor);

// Turns the colors by a part of their circle, -0.5 to 0.5. Gray images stay what they are.
void adjust_hue(Pixels<float>& image, double turn);

}  // namespace functional

// As torchvision's ColorJitter takes them.
struct ColorJitterOptions {
  double brightness = 0, contrast = 0, saturation = 0;  // factors from max(0, 1 - this) to 1 + this
  double hue = 0;                                       // turns from -this to this, at most 0.5
};

// Brightness, contrast, saturation and hue changed at random, in an order drawn too. Of images of one channel or three, with
// values from 0 to 1: before Normalize.
//   data::ColorJitter{{.brightness = 0.4, .hue = 0.1}}
class ColorJitter {
 public:
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
