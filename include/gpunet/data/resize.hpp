// Images of another size.
#pragma once

#include <gpunet/data/pixels.hpp>
#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

namespace functional {

// The image with another height and width, as torchvision's resize of a float tensor: bilinear, first along rows, then along
// columns.
void resize(Pixels<float>& image, const HeightWidth& size, bool antialias = true);
// The same of the floats that a table makes of bytes, of which there is one row at a time.
void resize(const ByteImage& from, const PixelTable& table, Pixels<float>& to, const HeightWidth& size,
            bool antialias = true);

}  // namespace functional

// As torchvision's Resize takes them.
struct ResizeOptions {
  bool antialias = true;  // weigh all pixels that become one, so that small things do not vanish by chance
};

// The image with another height and width, bilinear, in floats (torchvision's of bytes rounds to whole ones):
//   data::Resize{32}           the shorter side becomes 32, the other one keeps its ratio
//   data::Resize{{32, 48}}     height and width
class Resize {
 public:
  explicit Resize(index_t shorter, const ResizeOptions& options = {})
      : Resize(HeightWidth{shorter, 0}, options, true) {}
  explicit Resize(const HeightWidth& size, const ResizeOptions& options = {}) : Resize(size, options, false) {}

  ImageSizes output(const ImageSizes& input) const;

  // Throws Error for an image that is so long and thin that it would become huge.
  void operator()(Pixels<float>& image) const;
  void operator()(const ByteImage& from, const PixelTable& table, Pixels<float>& image) const;

 private:
  ImageSizes checked_output(const ImageSizes& input) const;

  Resize(const HeightWidth& size, const ResizeOptions& options, bool is_shorter);

  HeightWidth size_;  // width 0: the height is the shorter side
  ResizeOptions options_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/resize.ipp>
#endif
