// Resizing of images.
#pragma once

#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

namespace functional {

// Resizes an image by bilinear interpolation, first along rows, then along columns, as torchvision
// resizes a float tensor.
void resize(Pixels<float>& image, const HeightWidth& size, bool antialias = true);
// The same for the floats of an image of bytes; only one row of them is in memory at a time.
void resize(const ByteImage& from, const PixelTable& table, Pixels<float>& to,
            const HeightWidth& size, bool antialias = true);

}  // namespace functional

// Options of Resize, as in torchvision.
struct ResizeOptions {
  bool antialias = true;  // when shrinking, average over all pixels that map to one
};

// Resizes an image by bilinear interpolation, in floats (torchvision rounds images of bytes to
// bytes):
//   data::Resize{32}           the shorter side becomes 32, the aspect ratio is preserved
//   data::Resize{{32, 48}}     height and width
class Resize {
 public:
  // Throws Error for a side less than 1 or greater than 2^20.
  explicit Resize(index_t shorter, const ResizeOptions& options = {})
      : Resize(HeightWidth{shorter, 0}, options, true) {}
  explicit Resize(const HeightWidth& size, const ResizeOptions& options = {})
      : Resize(size, options, false) {}

  ImageSizes output(const ImageSizes& input) const;

  // Throws Error if the result would have more than 2^28 pixels, as for a very long and thin image.
  void operator()(Pixels<float>& image) const;
  void operator()(const ByteImage& from, const PixelTable& table, Pixels<float>& image) const;

 private:
  ImageSizes checked_output(const ImageSizes& input) const;

  Resize(const HeightWidth& size, const ResizeOptions& options, bool is_shorter);

  HeightWidth size_;  // width 0: height is the size of the shorter side
  ResizeOptions options_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/resize.ipp>
#endif
