#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;

TEST_CASE("tuned softmax does what the plain one does") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(1);
  for (int shapes = 0; shapes < 200; ++shapes) {
    const index_t outer = random.pick(1, 3), classes = random.pick(1, 20), rest = random.pick(1, 3);
    const Slice slice{outer * 16, outer, 16};
    const index_t width = rest * 16, columns = outer * width, n = columns * classes;
    CAPTURE(outer);
    CAPTURE(classes);
    CAPTURE(rest);
    std::vector<float> values = random.values(slice, classes * rest);
    for (float& value : values)
      value *= 10;
    const auto x = operand(host, values), dy = operand(host, random.values(slice, classes * rest));
    Outcome y(host, n), dx(host, n);
    softmax_forward<Host, float>(host, columns, {classes, width, x.data(), y.plain()});
    softmax_backward<Host, float>(host, columns,
                                  {classes, width, y.plain(), dy.data(), dx.plain()});
    for (Isa path : isas()) {
      CAPTURE(static_cast<int>(path));
      set_isa(path);
      softmax_forward(host, columns, {classes, width, x.data(), y.tuned()});
      y.check("y");
      softmax_backward(host, columns, {classes, width, y.plain(), dy.data(), dx.tuned()});
      dx.check("dx");
    }
  }
}
