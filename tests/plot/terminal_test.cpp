#include <doctest/doctest.h>

#include <gpunet/plot/terminal.hpp>

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
  CHECK(plot::half_blocks({0, 0, 3, {}}).empty());
}

TEST_CASE("an image with too few bytes") {
  CHECK(error_of([] {
          plot::half_blocks({2, 2, 3, {1, 2, 3}});
        }) == "gpunet::plot::half_blocks: 3 bytes for 2 x 2 pixels of 3 (want one for each channel)");
}
