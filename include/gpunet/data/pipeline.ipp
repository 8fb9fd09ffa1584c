// Bodies of pipeline.hpp.
#pragma once

#include <algorithm>
#include <string>

#include <gpunet/core/error.hpp>
#include <gpunet/data/pipeline.hpp>

namespace gpunet::data {

namespace detail {

GPUNET_INLINE void append(AnyTransforms& list, std::unique_ptr<const AnyTransform> transform) {
  list.push_back(std::move(transform));
}

// ToTensor followed by transforms of values.
struct ToTensorAnd {
  const AnyTransforms& transforms;

  float operator()(std::uint8_t byte, index_t channel) const {
    float x = ToTensor{}(byte, channel);
    for (const auto& transform : transforms)
      x = transform->value(x, channel);
    return x;
  }
  void check(index_t) const {}
};

}  // namespace detail

// Transforms that move pixels run on bytes if only such transforms and ToTensor precede them.
// Transforms of values become part of the table if no transform of images in floats precedes them.
// ToTensor may follow transforms of images, as in torchvision, where those get bytes; here they
// compute in floats.
GPUNET_INLINE Pipeline::Pipeline(detail::AnyTransforms list, const ImageSizes& input)
    : table_(ToTensor{}, 0), output_(input) {
  const auto parts = std::make_shared<detail::PipelineParts>();
  detail::AnyTransforms values;
  index_t channels = input.channels;  // of the images that the table is applied to
  for (auto& transform : list) {
    output_ = transform->output(output_);
    is_random_ |= transform->draws;
    if (!parts->floats.empty() ||
        (transform->is_of_images && (!values.empty() || !transform->moves_pixels))) {
      parts->floats.push_back(std::move(transform));
    } else if (transform->is_of_images) {
      parts->bytes.push_back(std::move(transform));
      channels = output_.channels;
    } else {
      values.push_back(std::move(transform));
    }
  }
  table_ = PixelTable(detail::ToTensorAnd{values}, channels);
  parts_ = parts;
}

GPUNET_INLINE void Pipeline::transform(const ByteImage& image, float* sample, Random& random,
                                       detail::ImageScratch& scratch) const {
  const ByteImage moved = move(image, random, scratch.bytes);
  if (has_bytes()) {
    check(moved.sizes, image.sizes);
    table_.transform(moved, sample);
    return;
  }
  Pixels<float>& floats = scratch.floats;
  auto next = parts_->floats.begin();
  if ((*next)->run(moved, table_, floats)) {
    ++next;
  } else {
    floats.renew(moved.sizes);
    table_.transform(moved, floats.values.data());
  }
  for (; next != parts_->floats.end(); ++next)
    (*next)->run(floats, random);
  check(floats.sizes, image.sizes);
  std::copy(floats.values.begin(), floats.values.end(), sample);
}

GPUNET_INLINE void Pipeline::transform(const ByteImage& image, std::uint8_t* sample, Random& random,
                                       detail::ImageScratch& scratch) const {
  const ByteImage moved = move(image, random, scratch.bytes);
  check(moved.sizes, image.sizes);
  moved.copy_to(sample);
}

GPUNET_INLINE ByteImage Pipeline::move(const ByteImage& from, Random& random,
                                       Pixels<std::uint8_t>& image) const {
  if (!parts_ || parts_->bytes.empty()) return from;
  image.sizes = from.sizes;
  image.values.resize(static_cast<std::size_t>(from.sizes.numel()));
  from.copy_to(image.values.data());
  for (const auto& transform : parts_->bytes)
    transform->run(image, random);
  return {image.values.data(), image.sizes};
}

GPUNET_INLINE void Pipeline::check(const ImageSizes& sizes, const ImageSizes& input) const {
  if (sizes == output_) return;
  const std::string becomes =
      sizes == input ? "" : concat(" becomes one of shape ", to_string(sizes), ",");
  throw_error(Error(concat("gpunet::data: an image of shape ", to_string(input), becomes,
                           " where the first one became ", to_string(output_),
                           " (a batch has one shape), put a Resize to one height and width, as "
                           "Resize{{32, 32}}, into the transform")));
}

}  // namespace gpunet::data
