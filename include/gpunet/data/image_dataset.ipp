// Bodies of image_dataset.hpp.
#pragma once

#include <gpunet/data/image_dataset.hpp>

namespace gpunet::data {

namespace detail {

// Memory for the image that a thread reads.
GPUNET_INLINE std::vector<std::uint8_t>& image_buffer() {
  static thread_local std::vector<std::uint8_t> buffer;
  return buffer;
}

}  // namespace detail

GPUNET_INLINE label_t ImageDataset::read(index_t i, float* sample, Random& random) const {
  const auto [image, label, path] = this->image(i, detail::image_buffer());
  with_path(path, [&, &bytes = image] { pipeline_.transform(bytes, sample, random); });
  return label;
}
GPUNET_INLINE label_t ImageDataset::read(index_t i, float* sample) const {
  Random random = is_random() ? any_random() : Random(0);
  return read(i, sample, random);
}

GPUNET_INLINE label_t ImageDataset::read_bytes(index_t i, std::uint8_t* sample, Random& random) const {
  const auto [image, label, path] = this->image(i, detail::image_buffer());
  with_path(path, [&, &bytes = image] { pipeline_.transform(bytes, sample, random); });
  return label;
}
GPUNET_INLINE label_t ImageDataset::read_bytes(index_t i, std::uint8_t* sample) const {
  Random random = is_random() ? any_random() : Random(0);
  return read_bytes(i, sample, random);
}

}  // namespace gpunet::data
