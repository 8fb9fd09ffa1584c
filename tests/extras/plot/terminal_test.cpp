#include <doctest/doctest.h>

#include <gpunet/extras/plot/terminal.hpp>

#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE("two pixels are one character, and the same colors are said once") {
  const io::Image image{2, 2, 3, {1, 2, 3, 1, 2, 3, 40, 50, 60, 40, 50, 60}};
  CHECK(plot::half_blocks(image) == "\x1b[38;2;1;2;3;48;2;40;50;60m▀▀\x1b[0m");
}

TEST_CASE("a row without one below has the terminal's background") {
  const io::Image gray{1, 3, 1, {7, 8, 9}};
  CHECK(plot::half_blocks(gray) == "\x1b[38;2;7;7;7;48;2;8;8;8m▀\x1b[0m\n\x1b[38;2;9;9;9m▀\x1b[0m");
  const io::Image alpha{2, 1, 4, {1, 2, 3, 99, 4, 5, 6, 99}};
  CHECK(plot::half_blocks(alpha) == "\x1b[38;2;1;2;3m▀\x1b[38;2;4;5;6m▀\x1b[0m");
}

TEST_CASE("an image with other sizes than bytes") {
  const auto error = [](const io::Image& image) {
    return error_of([&] { plot::half_blocks(image); });
  };
  CHECK(error({2, 2, 3, {1, 2, 3}}) ==
        "gpunet::plot::half_blocks: an image of 2 x 2 with 3 channels has 3 bytes (want one for "
        "each channel of each "
        "pixel)");
  CHECK(contains(error({0, 0, 3, {}}), "an image of 0 x 0 (want 1 to 2147483647 each way)"));
  CHECK(contains(error({2, 2, 0, {}}), "an image with 0 channels (want 1 to 4)"));
  CHECK(contains(error({-1, -1, 1, {7}}), "an image of -1 x -1"));
  CHECK(contains(error({index_t{1} << 32, index_t{1} << 32, 1, {}}),
                 "an image of 4294967296 x 4294967296"));
  CHECK(contains(error({2147483647, 2147483647, 4, {}}), "has 0 bytes"));
}
