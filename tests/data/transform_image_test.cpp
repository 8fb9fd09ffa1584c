#include <doctest/doctest.h>
#include <vector>

#include <gpunet/data/random_transforms.hpp>
#include <gpunet/data/resize.hpp>
#include <gpunet/data/transform_image.hpp>
#include <gpunet/extras/data/painted_shapes.hpp>

#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE("a transform called with an image gives [channels, height, width]") {
  const io::Image image{2, 1, 3, {0, 51, 102, 255, 153, 204}};  // two pixels, red green blue
  const data::Compose transform(data::ToTensor{},
                                data::Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.25f, 1}});
  const data::Sample sample = transform(image);
  CHECK(sample.sizes == Sizes{3, 1, 2});
  CHECK(sample.label == 0);
  const auto value = [](int byte, float std) {
    return (static_cast<float>(byte) / 255.0f - 0.5f) / std;
  };
  CHECK(sample.values == std::vector<float>{value(0, 0.5f), value(255, 0.5f), value(51, 0.25f),
                                            value(153, 0.25f), value(102, 1), value(204, 1)});
  CHECK(data::ToTensor{}(image).values == std::vector<float>{0, 1, 0.2f, 0.6f, 0.4f, 0.8f});
}

TEST_CASE("a transform called with an image does what it does in a dataset") {
  const data::Compose transform(data::Resize{{7, 5}}, data::RandomHorizontalFlip{1.0},
                                data::ToTensor{});
  const data::Shapes set(1, 3, transform), bytes(1, 3, data::ToTensor{});
  std::vector<float> expected(static_cast<std::size_t>(set.sample_sizes().numel()));
  set.read(0, expected.data());
  std::vector<float> raw(static_cast<std::size_t>(bytes.sample_sizes().numel()));
  bytes.read(0, raw.data());
  std::vector<std::uint8_t> pixels;
  for (const float x : raw)
    pixels.push_back(static_cast<std::uint8_t>(x * 255 + 0.5f));
  const data::Sample sample = transform(io::to_image(pixels, bytes.sample_sizes()));
  CHECK(sample.sizes == Sizes{3, 7, 5});
  CHECK(sample.values == expected);
}

TEST_CASE("images that a transform is not made for") {
  const data::Compose transform(data::ToTensor{},
                                data::Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}});
  CHECK(error_of([&] {
          transform(io::Image{1, 1, 1, {9}});
        }) ==
        "gpunet::data::Normalize: 3 means and stds for images of 1 channels (want one of each for "
        "every channel)");
  CHECK(error_of([&] {
          transform(io::Image{2, 1, 3, {1, 2, 3}});
        }) ==
        "gpunet::data::transform_image: an image of 2 x 1 with 3 channels has 3 bytes (want one "
        "for each channel of "
        "each pixel)");
}
