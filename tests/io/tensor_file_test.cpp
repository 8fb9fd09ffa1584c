#include <cstddef>
#include <doctest/doctest.h>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/io/formats.hpp>

#include "corpus.hpp"

using namespace gpunet;
using io::Dtype;
using io::TensorEntry;
using io::detail::reach;

TEST_CASE("strides reach from the first element to the last") {
  constexpr index_t largest = std::numeric_limits<index_t>::max();
  CHECK(reach({}, {}) == 1);
  CHECK(reach({2, 3}, {3, 1}) == 6);
  CHECK(reach({2, 3}, {1, 3}) == 8);
  CHECK(reach({2, 3}, {0, 0}) == 1);
  CHECK(reach({1, 3}, {largest, 2}) == 5);  // the stride of one element is never walked
  CHECK(reach({0, 3}, {largest, largest}) == 0);
  CHECK(reach({3, 0}, {largest, largest}) == 0);
  CHECK(reach({2}, {largest}) == -1);  // the element `largest` is the last of more than can be counted
  CHECK(reach({3}, {largest}) == -1);
  CHECK(reach({2, 2}, {largest - 1, 1}) == -1);
}

TEST_CASE("an entry whose strides leave its bytes is neither copied nor written") {
  const TempFolder folder;
  const std::vector<float> values{0, 1, 2, 3, 4, 5};
  const auto check = [&](const Sizes& sizes, const Sizes& strides, std::string_view message) {
    const auto says = [&](const std::string& error) {
      return message.empty() ? error.empty() : contains(error, message);
    };
    const TensorEntry entry{"w", Dtype::F32, sizes, std::as_bytes(std::span(values)), strides};
    std::vector<double> out(static_cast<std::size_t>(sizes.numel()));
    CHECK(says(error_of([&] { io::copy_as(entry, std::span(out)); })));
    for (const char* name : {"x.safetensors", "x.pth", "x.npy", "x.npz"}) {
      CAPTURE(name);
      CHECK(says(error_of([&] { io::write_tensors(folder / name, std::span(&entry, 1)); })));
    }
  };
  check({2, 3}, {3, 1}, "");
  check({2, 4}, {1, 1}, "");  // several elements may be the same
  check({2, 3}, {4, 1},
        "\"w\" of shape [2, 3], strides [4, 1] and dtype F32 exceeds its 24 bytes, give strides in elements, one "
        "for each "
        "dimension, and all bytes");
  check({2, 3}, {1}, "exceeds its 24 bytes");
  check({2, 3}, {std::numeric_limits<index_t>::max(), 1}, "exceeds its 24 bytes");
  check({2, 4}, {}, "\"w\" has 24 bytes, which do not fit its shape [2, 4] and dtype F32, give all elements");
  CHECK(folder.count() == 4);  // those of the first two
}
