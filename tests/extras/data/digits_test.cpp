#include <algorithm>
#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/data/dataset.hpp>
#include <gpunet/extras/data/digits.hpp>

#include "support/errors.hpp"

using namespace gpunet;
using data::Digits;

static_assert(data::ByteDataset<Digits>);

namespace {

std::vector<std::uint8_t> image(const Digits& set, index_t i) {
  std::vector<std::uint8_t> room;
  set.image(i, room);
  return room;
}

}  // namespace

TEST_CASE("digits are drawn from the seed and the index alone, those of one kind never alike") {
  const Digits few(20, 7), many(1000000000, 7), others(20, 8);
  CHECK(few.size() == 20);
  CHECK(few.sample_sizes() == Sizes{1, 28, 28});
  for (index_t i = 0; i < 20; ++i) {
    CHECK(image(few, i) == image(many, i));
    CHECK(image(few, i) != image(others, i));
    CHECK(image(many, i) != image(many, i + 10));
  }
  CHECK(image(Digits::train(), 0) != image(Digits::test(), 0));
}

TEST_CASE("the ten digits take turns") {
  const Digits set = Digits::test(20);
  std::vector<float> sample(28 * 28);
  for (index_t i = 0; i < 20; ++i)
    CHECK(set.read(i, sample.data()) == i % 10);
  CHECK(Digits::classes()[7] == "7");
}

// By the rounding of the C library's sine: a tie in another one would show here.
TEST_CASE("every compiler draws the same digits") {
  const Digits set = Digits::test(100);
  std::uint64_t hash = 0;
  for (index_t i = 0; i < set.size(); ++i)
    for (const std::uint8_t x : image(set, i))
      hash = hash * 31 + x;
  CHECK(hash == 4501600065144329003u);
}

TEST_CASE("a digit is white on black, whole, and about in the middle") {
  const Digits set = Digits::train(1000);
  for (index_t i = 0; i < set.size(); ++i) {
    CAPTURE(i);
    const auto pixels = image(set, i);
    CHECK(*std::max_element(pixels.begin(), pixels.end()) > 200);
    CHECK(std::count(pixels.begin(), pixels.end(), 0) > 28 * 28 / 2);
    for (std::size_t k = 0; k < 28; ++k)  // nothing is cut off
      for (const std::size_t at : {k, 27 * 28 + k, 28 * k, 28 * k + 27})
        REQUIRE(pixels[at] == 0);
  }
}

TEST_CASE("a curve goes through its points") {
  const std::vector<data::detail::digits::Point> through{{0, 0}, {40, 8}, {80, -16}, {60, 40}};
  const auto curve = data::detail::digits::curve(through);
  REQUIRE(curve.size() == 13);
  for (std::size_t i = 0; i < through.size(); ++i) {
    CHECK(curve[4 * i].x == through[i].x);
    CHECK(curve[4 * i].y == through[i].y);
  }
  // Half-way between two points, Catmull and Rom's spline is at (9 (b + c) - a - d) / 16.
  CHECK(curve[6].x == (9 * (40 + 80) - 0 - 60) / 16);
  CHECK(curve[6].y == (9 * (8 - 16) - 0 - 40) / 16);
}

TEST_CASE("a negative number of digits is refused") {
  CHECK(error_of([] { Digits(-1, 0); }) ==
        "gpunet::data::Digits: -1 images (want 0 or more), give the number of images");
}
