#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/data/dataset.hpp>
#include <gpunet/extras/data/painted_shapes.hpp>

using namespace gpunet;
using data::Shapes;

static_assert(data::ByteDataset<Shapes>);

namespace {

std::vector<float> image(const Shapes& set, index_t i) {
  std::vector<float> sample(3 * 32 * 32);
  set.read(i, sample.data());
  return sample;
}

}  // namespace

TEST_CASE("images are drawn from the seed and the index alone") {
  const Shapes few(20, 7), many(1000000000, 7), others(20, 8);
  CHECK(few.size() == 20);
  CHECK(many.size() == 1000000000);
  CHECK(few.sample_sizes() == Sizes{3, 32, 32});
  for (index_t i = 0; i < 20; ++i) {
    CHECK(image(few, i) == image(few, i));
    CHECK(image(few, i) == image(many, i));
    CHECK(image(few, i) != image(others, i));
    CHECK(image(many, i) != image(many, i + 10));
    CHECK(image(many, i) != image(many, 999999999 - i));
  }
  CHECK(image(Shapes::train(), 0) != image(Shapes::test(), 0));
}

TEST_CASE("an image is had as bytes too") {
  const Shapes set(20, 7);
  std::vector<std::uint8_t> bytes(3 * 32 * 32);
  std::vector<float> transformed(bytes.size());
  CHECK(set.read_bytes(13, bytes.data()) == 3);
  set.pixel_table().transform(bytes.data(), 32 * 32, transformed.data());
  CHECK(transformed == image(set, 13));
}

TEST_CASE("every compiler draws the same images") {
  const Shapes set = Shapes::test(100);
  std::uint64_t hash = 0;
  for (index_t i = 0; i < set.size(); ++i)
    for (float x : image(set, i))
      hash = hash * 31 + static_cast<std::uint64_t>(x * 255 + 0.5f);
  CHECK(hash == 1659187061117521654u);
}

TEST_CASE("the ten classes take turns") {
  const Shapes set = Shapes::train(20);
  std::vector<float> sample(3 * 32 * 32);
  for (index_t i = 0; i < 20; ++i)
    CHECK(set.read(i, sample.data()) == i % 10);
  CHECK(Shapes::classes()[0] == "disc");
  CHECK(Shapes::classes()[9] == "hourglass");
}

TEST_CASE("a figure differs from its background") {
  const Shapes set = Shapes::train(200);
  for (index_t i = 0; i < set.size(); ++i) {
    const std::vector<float> sample = image(set, i);
    float lowest = 3, highest = 0;  // brightness, averaged over squares of 3x3 pixels
    for (std::size_t y = 0; y + 3 <= 32; ++y)
      for (std::size_t x = 0; x + 3 <= 32; ++x) {
        float sum = 0;
        for (std::size_t k = 0; k < 27; ++k)
          sum += sample[k / 9 * 1024 + (y + k / 3 % 3) * 32 + x + k % 3];
        lowest = std::min(lowest, sum / 9);
        highest = std::max(highest, sum / 9);
      }
    CHECK(highest - lowest > 0.3f);
  }
}

TEST_CASE("a transform is applied") {
  const data::Compose transform{data::ToTensor{},
                                data::Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}}};
  const std::vector<float> plain = image(Shapes::train(5), 4),
                           normalized = image(Shapes::train(5, transform), 4);
  for (std::size_t k = 0; k < plain.size(); ++k)
    CHECK(normalized[k] == (plain[k] - 0.5f) / 0.5f);
}

TEST_CASE("a negative number of images is refused") {
  CHECK_THROWS_WITH_AS(Shapes(-1, 0), "gpunet::data::Shapes: -1 images (want 0 or more)", Error);
}
