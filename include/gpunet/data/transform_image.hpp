// Transforms of images that belong to no dataset.
#pragma once

#include <cstddef>

#include <gpunet/data/dataset.hpp>
#include <gpunet/data/pipeline.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::data {

// Returns what a dataset of images with this transform makes of an image, of label 0; transform(image) calls it:
//   data::Sample sample = transform(io::read_image("cat.png"));
// Random transforms are seeded by the default generator. Throws Error if the transform is not made for the image's channels.
template <class Transform>
Sample transform_image(const Transform& transform, const io::Image& image) {
  io::detail::check_image("gpunet::data::transform_image", image);
  const ImageSizes sizes{image.channels, image.height, image.width};
  const Pipeline pipeline(transform, sizes);
  Sample sample{{}, pipeline.output(), 0};
  sample.values.resize(static_cast<std::size_t>(sample.sizes.numel()));
  Random random = pipeline.is_random() ? any_random() : Random(0);
  pipeline.read(ByteImage{image.pixels.data(), sizes, 1, sizes.channels}, sample.values.data(), random);
  return sample;
}

}  // namespace gpunet::data
