#include <doctest/doctest.h>
#include <vector>

#include <gpunet/data/color_jitter.hpp>
#include <gpunet/data/pipeline.hpp>
#include <gpunet/data/random_transforms.hpp>
#include <gpunet/data/resize.hpp>

#include "support/errors.hpp"

using namespace gpunet;
using namespace gpunet::data;

TEST_CASE("what makes no transform is refused") {
  CHECK(error_of([] { RandomCrop{0}; }) ==
        "gpunet::data::RandomCrop: a part of 0 x 0 with padding 0 (want sides of 1 to 1048576, padding of 0 to "
        "1048576)");
  CHECK(error_of([] {
          Pipeline(Compose(RandomCrop{8, {.padding = 2}}, ToTensor{}), {1, 2, 3});
        }) ==
        "gpunet::data::RandomCrop: a part of 8 x 8 of an image of 6 x 7, padding included (want no more than there "
        "is), "
        "give more padding or put Resize before it");
  CHECK(error_of([] { RandomHorizontalFlip(1.5); }) ==
        "gpunet::data::RandomHorizontalFlip: a probability of 1.5 (want 0 to 1)");
  CHECK(error_of([] { RandomErasing({.p = -1}); }) ==
        "gpunet::data::RandomErasing: a probability of -1 (want 0 to 1)");
  CHECK(error_of([] {
          RandomErasing({.scale = {0.5, 0.1}});
        }) ==
        "gpunet::data::RandomErasing: a scale of 0.5 to 0.1 (want parts of the image, the smaller one first, 0 to "
        "1)");
  CHECK(
      error_of([] {
        RandomErasing({.ratio = {0, 1}});
      }) ==
      "gpunet::data::RandomErasing: a ratio of 0 to 1 (want height by width, the smaller one first, more than 0)");
  CHECK(error_of([] { Resize{0}; }) == "gpunet::data::Resize: sides of 0 pixels (want 1 to 1048576)");
  CHECK(error_of([] { Resize{{3, -1}}; }) == "gpunet::data::Resize: sides of 3 and -1 pixels (want 1 to 1048576)");
  CHECK(contains(error_of([] {
                   Pixels<float> line{{1, 1, 100000}, std::vector<float>(100000)};
                   Resize{4096}(line);
                 }),
                 "would become one of 4096 x 409600000 (want at most 268435456 pixels), give both sides"));
  CHECK(error_of([] { ColorJitter({.hue = 0.6}); }) == "gpunet::data::ColorJitter: hue 0.6 (want 0 to 0.5)");
  CHECK(error_of([] { ColorJitter({.contrast = -1}); }) ==
        "gpunet::data::ColorJitter: contrast -1 (want 0 to 1e+06)");
  CHECK(error_of([] {
          Pipeline(Compose(ToTensor{}, ColorJitter({.hue = 0.1})), {2, 3, 3});
        }) == "gpunet::data::ColorJitter: images of 2 channels (want 1, gray, or 3: red, green, blue)");
  CHECK(contains(error_of([] {
                   Pipeline(Compose(ToTensor{}, RandomErasing{}, Normalize({1.0f, 1.0f}, {1.0f, 1.0f})), {1, 2, 3});
                 }),
                 "gpunet::data::Normalize: 2 means and stds for images of 1 channels"));
}
