// Transforms one image that is in no dataset.
#pragma once

#include <gpunet/data/dataset.hpp>
#include <gpunet/data/pipeline.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::data {

namespace detail {
// Returns the sizes of an image. Throws Error if its number of bytes does not match.
ImageSizes sizes_to_transform(const io::Image& image);
Sample transform_image(const Pipeline& pipeline, const io::Image& image);
}  // namespace detail

// Returns the sample that a dataset with this transform would make of the image, with label 0.
// transform(image) calls it:
//   data::Sample sample = transform(io::read_image("cat.png"));
// The default generator seeds random transforms. Throws Error if the transform does not accept the
// image.
template <class Transform>
Sample transform_image(const Transform& transform, const io::Image& image) {
  return detail::transform_image(Pipeline(transform, detail::sizes_to_transform(image)), image);
}

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/transform_image.ipp>
#endif
