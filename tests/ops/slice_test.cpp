#include <doctest/doctest.h>
#include <set>

#include <gpunet/ops/slice.hpp>

using namespace gpunet;

TEST_CASE("every feature of every sample has a place of its own in a slice") {
  for (const Slice& slice : {Slice{1, 1, 1}, Slice{5, 5, 1}, Slice{3, 1, 4}, Slice{7, 2, 4}}) {
    constexpr index_t features = 6;
    std::set<index_t> places;
    for (index_t n = 0; n < slice.samples(); ++n)
      for (index_t k = 0; k < features; ++k)
        places.insert(slice.offset(n, k, features));
    CHECK(static_cast<index_t>(places.size()) == slice.samples() * features);
    CHECK(*places.begin() == 0);
    CHECK(*places.rbegin() == slice.samples() * features - 1);
  }
  static_assert(Slice{3, 3, 1}.offset(2, 5, 6) == 17);  // [sample][feature]
  static_assert(Slice{3, 1, 4}.offset(2, 5, 6) == 22);  // [feature][sample]
  static_assert(Slice{7, 2, 4}.offset(6, 5, 6) == 46);  // [group][feature][sample]
}

TEST_CASE("a gradient replaces or is added") {
  double gradient = 3;
  store_gradient(gradient, 2.0, Accumulate::yes);
  CHECK(gradient == 5);
  store_gradient(gradient, 2.0, Accumulate::no);
  CHECK(gradient == 2);
}
