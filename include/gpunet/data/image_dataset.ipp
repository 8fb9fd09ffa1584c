// Bodies of image_dataset.hpp.
#pragma once

#include <gpunet/data/image_dataset.hpp>

namespace gpunet::data {

GPUNET_INLINE ImageDataset::ImageDataset(Pipeline pipeline)
    : pipeline_(std::move(pipeline)), scratches_(std::make_shared<detail::ImageScratches>()) {}
GPUNET_INLINE ImageDataset::ImageDataset(const ImageDataset& other) = default;
GPUNET_INLINE ImageDataset& ImageDataset::operator=(const ImageDataset& other) = default;
GPUNET_INLINE ImageDataset::~ImageDataset() = default;

GPUNET_INLINE label_t ImageDataset::read(index_t i, float* sample, Random& random) const {
  const detail::ImageScratches::Loan scratch(*scratches_);
  const auto [image, label, path] = this->image(i, (*scratch).buffer);
  with_path(path, [&, &bytes = image] { pipeline_.transform(bytes, sample, random, *scratch); });
  return label;
}
GPUNET_INLINE label_t ImageDataset::read(index_t i, float* sample) const {
  Random random = is_random() ? any_random() : Random(0);
  return read(i, sample, random);
}

GPUNET_INLINE label_t ImageDataset::read_bytes(index_t i, std::uint8_t* sample,
                                               Random& random) const {
  const detail::ImageScratches::Loan scratch(*scratches_);
  const auto [image, label, path] = this->image(i, (*scratch).buffer);
  with_path(path, [&, &bytes = image] { pipeline_.transform(bytes, sample, random, *scratch); });
  return label;
}
GPUNET_INLINE label_t ImageDataset::read_bytes(index_t i, std::uint8_t* sample) const {
  Random random = is_random() ? any_random() : Random(0);
  return read_bytes(i, sample, random);
}

}  // namespace gpunet::data
