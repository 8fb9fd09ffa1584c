// Bodies of transform_image.hpp.
#pragma once

#include <cstddef>

#include <gpunet/data/transform_image.hpp>

namespace gpunet::data::detail {

GPUNET_INLINE ImageSizes sizes_to_transform(const io::Image& image) {
  io::detail::check_image("gpunet::data::transform_image", image);
  return {image.channels, image.height, image.width};
}

GPUNET_INLINE Sample transform_image(const Pipeline& pipeline, const io::Image& image) {
  Sample sample{{}, pipeline.output(), 0};
  sample.values.resize(static_cast<std::size_t>(sample.sizes.numel()));
  Random random = pipeline.is_random() ? any_random() : Random(0);
  const ByteImage bytes{
      image.pixels.data(), {image.channels, image.height, image.width}, 1, image.channels};
  ImageScratch scratch;
  pipeline.transform(bytes, sample.values.data(), random, scratch);
  return sample;
}

}  // namespace gpunet::data::detail
