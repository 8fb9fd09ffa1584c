#include <doctest/doctest.h>
#include <vector>

#include <gpunet/core/padding.hpp>

#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE("elements that a padding copies") {
  const auto sources = [](PadMode mode) {
    std::vector<index_t> all;
    for (index_t i = -2; i < 5; ++i)
      all.push_back(padded_source(mode, i, 3));
    return all;
  };
  CHECK(sources(PadMode::constant) == std::vector<index_t>{-2, -1, 0, 1, 2, 3, 4});
  CHECK(sources(PadMode::reflect) == std::vector<index_t>{2, 1, 0, 1, 2, 1, 0});
  CHECK(sources(PadMode::replicate) == std::vector<index_t>{0, 0, 0, 1, 2, 2, 2});
  CHECK(sources(PadMode::circular) == std::vector<index_t>{1, 2, 0, 1, 2, 0, 1});
}

TEST_CASE("paddings that a dimension can have") {
  CHECK(can_pad(PadMode::constant, 3, -2, -1));
  CHECK_FALSE(can_pad(PadMode::constant, 3, -2, -2));
  CHECK_FALSE(can_pad(PadMode::constant, 3, -4, 2));
  CHECK_FALSE(can_pad(PadMode::constant, 3, 0, index_t{1} << 40));
  CHECK(can_pad(PadMode::reflect, 3, 2, 2));
  CHECK_FALSE(can_pad(PadMode::reflect, 3, 0, 3));
  CHECK(can_pad(PadMode::circular, 3, 3, 3));
  CHECK_FALSE(can_pad(PadMode::circular, 3, 4, 0));
  CHECK(can_pad(PadMode::replicate, 1, 9, 9));
  CHECK_FALSE(can_pad(PadMode::replicate, 0, 1, 0));
  for (const PadMode mode : {PadMode::reflect, PadMode::replicate, PadMode::circular})
    CHECK_FALSE(can_pad(mode, 3, -1, 1));
}

TEST_CASE("sizes of padded arrays") {
  const auto padded = [](PadMode mode, const Sizes& sizes, const std::vector<index_t>& paddings) {
    return padded_sizes("f", mode, sizes, paddings);
  };
  CHECK(padded(PadMode::constant, {2, 3, 4}, {1, 2, 3, -1}) == Sizes{2, 5, 7});
  CHECK(padded(PadMode::reflect, {2, 3}, {}) == Sizes{2, 3});
  CHECK(error_of([&] {
          padded(PadMode::constant, {2}, {1, 2, 3});
        }) ==
        "f: 3 paddings of shape [2] (want two for each dimension, at most 2), give left, right, "
        "top, bottom, ...: the last dimension first");
  CHECK(error_of([&] { padded(PadMode::constant, {2}, {1, 2, 3, 4}); }).starts_with("f: 4 padd"));
  CHECK(error_of([&] {
          padded(PadMode::replicate, {2, 3}, {1, 2, 3, -4});
        }) ==
        "f: paddings 3 and -4 of dimension -2 of shape [2, 3] (want 0 or more, and an element to "
        "repeat), use other paddings or a larger input");
}

TEST_CASE("names of modes") {
  for (const char* name : {"constant", "reflect", "replicate", "circular"})
    CHECK(name_of(pad_mode_of("f", name)) == name);
  CHECK(contains(error_of([] { pad_mode_of("f", "zeros"); }), "f: the mode \"zeros\" (want"));
}
