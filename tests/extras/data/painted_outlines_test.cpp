#include <doctest/doctest.h>
#include <utility>

#include <gpunet/extras/data/painted_outlines.hpp>

using namespace gpunet::data::figures;

namespace {

template <int (*figure)(int, int)>
constexpr bool inside(int u, int v) {
  return figure(u, v) < 0;
}

// Whether the figure lies in the circle of radius 1.25 units, and fills between a tenth and all of
// the unit circle.
template <int (*figure)(int, int)>
bool fits() {
  int points = 0;
  for (int v = -8 * unit; v <= 8 * unit; v += unit / 16)
    for (int u = -8 * unit; u <= 8 * unit; u += unit / 16)
      if (inside<figure>(u, v)) {
        ++points;
        if (16 * (u * u / unit + v * v / unit) > 25 * unit) return false;
      }
  return points > 80 && points < 830;
}

}  // namespace

TEST_CASE("every figure fits its circle") {
  CHECK(fits<disc>());
  CHECK(fits<ring>());
  CHECK(fits<square>());
  CHECK(fits<frame>());
  CHECK(fits<triangle>());
  CHECK(fits<cross>());
  CHECK(fits<star>());
  CHECK(fits<bar>());
  CHECK(fits<crescent>());
  CHECK(fits<hourglass>());
}

TEST_CASE("discs and squares are full, rings and frames are not") {
  static_assert(inside<disc>(0, 0) && inside<disc>(700, 700) && !inside<disc>(750, 750));
  static_assert(!inside<ring>(0, 0) && inside<ring>(0, -800) && !inside<ring>(0, 1100));
  static_assert(inside<square>(0, 0) && inside<square>(-780, 780) && !inside<square>(0, 820));
  static_assert(!inside<frame>(0, 0) && inside<frame>(-780, 780) && !inside<frame>(0, 400) &&
                !inside<frame>(0, 850));
}

TEST_CASE("a triangle has three points and a star has five") {
  static_assert(inside<triangle>(0, 0) && inside<triangle>(0, -1000) && !inside<triangle>(0, 520));
  static_assert(inside<triangle>(860, 500) && inside<triangle>(-860, 500) &&
                !inside<triangle>(600, -300));
  static_assert(inside<star>(0, 0) && inside<star>(0, -1000) && inside<star>(950, -310) &&
                inside<star>(-590, 800));
  static_assert(!inside<star>(0, 600) && !inside<star>(590, -800));  // between its points
}

TEST_CASE("bars, crosses, crescents and hourglasses are where they should be") {
  static_assert(inside<bar>(990, 250) && !inside<bar>(0, 270));
  static_assert(inside<cross>(990, 250) && inside<cross>(-250, -990) && !inside<cross>(300, 300));
  static_assert(inside<crescent>(-900, 0) && inside<crescent>(300, 850) &&
                !inside<crescent>(300, 0));
  static_assert(inside<hourglass>(0, 0) && inside<hourglass>(700, 800) &&
                !inside<hourglass>(500, 300));
}
