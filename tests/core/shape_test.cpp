#include <doctest/doctest.h>
#include <type_traits>

#include <gpunet/core/shape.hpp>

using namespace gpunet;

TEST_CASE("a static shape is known to the compiler") {
  constexpr Shape<3, 32, 16> shape;
  static_assert(shape.rank == 3);
  static_assert(std::is_same_v<decltype(shape.at<1>()), Dim<32>>);
  static_assert(std::is_same_v<decltype(shape.numel()), Dim<1536>>);
  CHECK(shape.sizes() == Sizes{3, 32, 16});
}

TEST_CASE("a shape with extents given at run time") {
  const Shape shape(Dim<3>{}, Dim(index_t{5}), Dim(index_t{7}));
  static_assert(std::is_same_v<decltype(shape), const Shape<3, dyn, dyn>>);
  static_assert(std::is_same_v<decltype(shape.at<0>()), Dim<3>>);
  static_assert(std::is_same_v<decltype(shape.numel()), Dim<dyn>>);
  CHECK(index_t{shape.at<1>()} == 5);
  CHECK(index_t{shape.at<2>()} == 7);
  CHECK(index_t{shape.numel()} == 105);
  CHECK(shape.sizes() == Sizes{3, 5, 7});
}

TEST_CASE("equal extents are not mixed up") {
  const Shape shape(Dim(index_t{4}), Dim(index_t{4}), Dim<4>{}, Dim<4>{});
  CHECK(shape.sizes() == Sizes{4, 4, 4, 4});
  CHECK(index_t{shape.numel()} == 256);
}

TEST_CASE("the shape of a single number") {
  static_assert(Shape<>::rank == 0);
  static_assert(std::is_same_v<decltype(Shape<>{}.numel()), Dim<1>>);
  CHECK(Shape<>{}.sizes() == Sizes{});
}
