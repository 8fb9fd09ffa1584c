// Transforms of images that belong to no dataset.
#pragma once

#include <gpunet/data/dataset.hpp>
#include <gpunet/data/pipeline.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::data {

namespace detail {
// The sizes of an image. Throws Error if it has not the bytes for them.
ImageSizes sizes_to_transform(const io::Image& image);
Sample transform_image(const Pipeline& pipeline, const io::Image& image);
}  // namespace detail

// Returns what a dataset of images with this transform makes of an image, of label 0; transform(image) calls it:
//   data::Sample sample = transform(io::read_image("cat.png"));
// Random transforms are seeded by the default generator. Throws Error if the transform is not made for the image's channels.
template <class Transform>
Sample transform_image(const Transform& transform, const io::Image& image) {
  return detail::transform_image(Pipeline(transform, detail::sizes_to_transform(image)), image);
}

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/transform_image.ipp>
#endif
