#include <cmath>
#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

std::vector<label_t> random_labels(RandomShapes& random, index_t n, index_t classes) {
  std::vector<label_t> labels;
  for (index_t i = 0; i < n; ++i)
    labels.push_back(static_cast<label_t>(random.pick(0, classes - 1)));
  return labels;
}

}  // namespace

TEST_CASE("tuned cross-entropy does what the plain one does") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(1);
  for (int shapes = 0; shapes < 200; ++shapes) {
    const index_t classes = random.pick(1, 20), outer = random.pick(1, 4);
    const Slice slice{random.pick(1, outer * 16), outer, 16};
    CAPTURE(classes);
    CAPTURE(slice.count);
    CAPTURE(slice.outer);
    auto values = random.values(slice, classes);
    for (float& value : values)
      value *= 10;
    const auto x = operand(host, values);
    const Tensor<label_t, Host> labels(host, {slice.count},
                                       random_labels(random, slice.count, classes));
    Outcome losses(host, slice.count), dx(host, slice.samples() * classes);
    cross_entropy<Host, float>(
        host, {slice, classes, x.data(), labels.data(), 0.25f, losses.plain(), dx.plain()});
    for (Isa path : isas()) {
      CAPTURE(static_cast<int>(path));
      set_isa(path);
      cross_entropy(host,
                    {slice, classes, x.data(), labels.data(), 0.25f, losses.tuned(), dx.tuned()});
      losses.check("losses");
      dx.check("dx");
    }
  }
}

TEST_CASE("tuned cross-entropy: padding that holds no numbers, labels that are no class") {
  const KeepIsa keep;
  Host host({.threads = 1});
  const Slice slice{18, 2, 16};
  std::vector<float> values(96, std::nanf(""));
  for (index_t n = 0; n < slice.count; ++n)
    for (index_t k = 0; k < 3; ++k)
      values[static_cast<std::size_t>(slice.offset(n, k, 3))] = 0;
  const auto logits = operand(host, values);
  std::vector<label_t> all(18, 1);
  all[3] = -1;
  all[17] = 3;
  const Tensor<label_t, Host> labels(host, {18}, all);
  for (Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    GuardedBuffer<float, Host> losses(host, 18), dx(host, 96);
    cross_entropy(host, {slice, 3, logits.data(), labels.data(), 1, losses.data(), dx.data()});
    for (index_t n = 0; n < 32; ++n)
      for (index_t k = 0; k < 3; ++k) {
        const float want =
            n >= 18 ? 0 : 1.0f / 3 - (all[static_cast<std::size_t>(n)] == k ? 1.0f : 0.0f);
        CHECK(dx.download()[static_cast<std::size_t>(slice.offset(n, k, 3))] ==
              doctest::Approx(want));
      }
    for (std::size_t n = 0; n < 18; ++n) {
      const float loss = losses.download()[n];
      CHECK((n == 3 || n == 17 ? std::isnan(loss) : loss == doctest::Approx(std::log(3.0f))));
    }
  }
}
