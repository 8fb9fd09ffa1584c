// Bodies of image_dataset.hpp.
#pragma once

#include <gpunet/data/image_dataset.hpp>

namespace gpunet::data {

template <class T>
label_t ImageDataset::read_as(index_t i, T* sample, Random& random) const {
  static thread_local std::vector<std::uint8_t> room;
  const ImageBytes image = this->image(i, room);
  with_path(image.path, [&] { pipeline_.transform(image, sample, random); });
  return image.label;
}

GPUNET_INLINE label_t ImageDataset::read(index_t i, float* sample, Random& random) const {
  return read_as(i, sample, random);
}
GPUNET_INLINE label_t ImageDataset::read(index_t i, float* sample) const {
  Random random = is_random() ? any_random() : Random(0);
  return read_as(i, sample, random);
}
GPUNET_INLINE label_t ImageDataset::read_bytes(index_t i, std::uint8_t* sample, Random& random) const {
  return read_as(i, sample, random);
}
GPUNET_INLINE label_t ImageDataset::read_bytes(index_t i, std::uint8_t* sample) const {
  Random random = is_random() ? any_random() : Random(0);
  return read_as(i, sample, random);
}

}  // namespace gpunet::data
