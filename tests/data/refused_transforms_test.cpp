#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/data/color_jitter.hpp>
#include <gpunet/data/crops.hpp>
#include <gpunet/data/pipeline.hpp>
#include <gpunet/data/random_transforms.hpp>
#include <gpunet/data/resize.hpp>
#include <gpunet/data/rotation.hpp>

#include "support/errors.hpp"

using namespace gpunet;
using namespace gpunet::data;

TEST_CASE("each bound of the numbers of a transform") {
  const float infinite = std::numeric_limits<float>::infinity();
  const double not_finite = infinite;
  CHECK(contains(error_of([] { RandomCrop({1, 0}); }), "a part of 1 x 0 with padding 0"));
  CHECK(contains(error_of([] { RandomCrop(1, {.padding = -1}); }),
                 "a part of 1 x 1 with padding -1"));
  CHECK(contains(error_of([] { RandomCrop(1, {.padding = (1 << 20) + 1}); }),
                 "with padding 1048577"));
  CHECK(contains(error_of([] {
                   Pipeline(Compose(RandomCrop{{2, 8}}, ToTensor{}), {1, 2, 3});
                 }),
                 "a part of 2 x 8 of an image of 2 x 3"));
  CHECK(contains(error_of([] { RandomHorizontalFlip(-0.5); }), "a probability of -0.5"));
  CHECK(contains(error_of([] { RandomErasing({.p = 1.5}); }), "a probability of 1.5"));
  CHECK(contains(error_of([] {
                   RandomErasing({.scale = {-0.1, 0.5}});
                 }),
                 "a scale of -0.1 to 0.5"));
  CHECK(contains(error_of([] { RandomErasing({.scale = {0.5, 1.5}}); }), "a scale of 0.5 to 1.5"));
  CHECK(contains(error_of([] { RandomErasing({.ratio = {2, 1}}); }), "a ratio of 2 to 1"));
  CHECK(contains(error_of([&] {
                   RandomErasing({.ratio = {1, not_finite}});
                 }),
                 "a ratio of 1 to inf"));
  CHECK(contains(error_of([] { Resize{(1 << 20) + 1}; }), "sides of 1048577 pixels"));
  CHECK(contains(error_of([] { Resize{{3, (1 << 20) + 1}}; }), "sides of 3 and 1048577 pixels"));
  CHECK(contains(error_of([&] { Normalize({0.0f}, {infinite}); }), "the std of channel 0 is inf"));
  CHECK(contains(error_of([] { Normalize({0.0f}, {0.0f}); }), "the std of channel 0 is 0"));
  CHECK(error_of([] {
          Pipeline(Compose(ToTensor{}, ColorJitter({.hue = 0.1})), {1, 3, 3});
        }).empty());
}

TEST_CASE("what makes no transform is refused") {
  CHECK(error_of([] { RandomCrop{0}; }) ==
        "gpunet::data::RandomCrop: a part of 0 x 0 with padding 0 (want sides of 1 to 1048576, "
        "padding of 0 to "
        "1048576)");
  CHECK(error_of([] {
          Pipeline(Compose(RandomCrop{8, {.padding = 2}}, ToTensor{}), {1, 2, 3});
        }) ==
        "gpunet::data::RandomCrop: a part of 8 x 8 of an image of 6 x 7, padding included (want no "
        "more than there "
        "is), "
        "give more padding or put Resize before it");
  CHECK(error_of([] { RandomHorizontalFlip(1.5); }) ==
        "gpunet::data::RandomHorizontalFlip: a probability of 1.5 (want 0 to 1)");
  CHECK(error_of([] { RandomErasing({.p = -1}); }) ==
        "gpunet::data::RandomErasing: a probability of -1 (want 0 to 1)");
  CHECK(error_of([] {
          RandomErasing({.scale = {0.5, 0.1}});
        }) ==
        "gpunet::data::RandomErasing: a scale of 0.5 to 0.1 (want parts of the image, the smaller "
        "one first, 0 to "
        "1)");
  CHECK(error_of([] {
          RandomErasing({.ratio = {0, 1}});
        }) ==
        "gpunet::data::RandomErasing: a ratio of 0 to 1 (want height by width, the smaller one "
        "first, more than 0)");
  CHECK(error_of([] { Resize{0}; }) ==
        "gpunet::data::Resize: sides of 0 pixels (want 1 to 1048576)");
  CHECK(error_of([] {
          Resize{{3, -1}};
        }) == "gpunet::data::Resize: sides of 3 and -1 pixels (want 1 to 1048576)");
  CHECK(contains(
      error_of([] {
        Pixels<float> line{{1, 1, 100000}, std::vector<float>(100000)};
        Resize{4096}(line);
      }),
      "would become one of 4096 x 409600000 (want at most 268435456 pixels), give both sides"));
  CHECK(error_of([] { CenterCrop{0}; }) ==
        "gpunet::data::CenterCrop: a part of 0 x 0 (want sides of 1 to 1048576)");
  CHECK(contains(error_of([] {
                   RandomResizedCrop{{2, (1 << 20) + 1}};
                 }),
                 "RandomResizedCrop: a part of 2 x 1048577"));
  CHECK(contains(error_of([] {
                   RandomResizedCrop(2, {.scale = {0.5, 0.1}});
                 }),
                 "RandomResizedCrop: a scale of 0.5 to 0.1 (want parts of the image, the smaller "
                 "one first, 0 to 1)"));
  CHECK(contains(error_of([] {
                   RandomResizedCrop(2, {.scale = {0.5, 2}});
                 }),
                 "a scale of 0.5 to 2"));
  CHECK(contains(error_of([] {
                   RandomResizedCrop(2, {.ratio = {2, 1}});
                 }),
                 "RandomResizedCrop: a ratio of 2 to 1 (want width by height, the smaller one "
                 "first, more than 0)"));
  CHECK(error_of([] { RandomRotation{-10}; }) ==
        "gpunet::data::RandomRotation: -10 degrees (want 0 or more, the angle goes from -degrees "
        "to degrees), give "
        "two "
        "for other angles, as RandomRotation{{0, 90}}");
  CHECK(error_of([] {
          RandomRotation{{20, 10}};
        }) ==
        "gpunet::data::RandomRotation: 20 to 10 degrees (want finite numbers, the smaller one "
        "first)");
  CHECK(error_of([] { ColorJitter({.hue = 0.6}); }) ==
        "gpunet::data::ColorJitter: hue 0.6 (want 0 to 0.5)");
  CHECK(error_of([] { ColorJitter({.contrast = -1}); }) ==
        "gpunet::data::ColorJitter: contrast -1 (want 0 to 1e+06)");
  CHECK(error_of([] {
          Pipeline(Compose(ToTensor{}, ColorJitter({.hue = 0.1})), {2, 3, 3});
        }) ==
        "gpunet::data::ColorJitter: images of 2 channels (want 1, gray, or 3: red, green, blue)");
  CHECK(contains(error_of([] {
                   Pipeline(
                       Compose(ToTensor{}, RandomErasing{}, Normalize({1.0f, 1.0f}, {1.0f, 1.0f})),
                       {1, 2, 3});
                 }),
                 "gpunet::data::Normalize: 2 means and stds for images of 1 channels"));
}
