#include <doctest/doctest.h>

#include <gpunet/nn/flatten.hpp>

using namespace gpunet;

TEST_CASE("Flatten is another shape of the same memory") {
  CHECK(nn::Flatten{}.traits({}, {}).is_view);
  static_assert(std::is_same_v<decltype(nn::Flatten{}.output(Shape<16, 5, 4>{})), Shape<320>>);
  static_assert(std::is_same_v<decltype(nn::Flatten{}.output(Shape<7>{})), Shape<7>>);
  CHECK(nn::Flatten{}.output(Shape(Dim<2>{}, Dim(index_t{5}))).sizes() == Sizes{10});
}
