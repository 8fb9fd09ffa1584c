#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"

using namespace gpunet;

namespace {

template <class T>
struct Result {
  std::vector<T> losses, dx;
};

template <class T, class D>
Result<T> run(D& device, index_t samples, index_t classes, const std::vector<T>& x,
              const std::vector<label_t>& labels) {
  const Tensor<T, D> logits(device, {samples, classes}, x);
  const Tensor<label_t, D> on_device(device, {samples}, labels);
  Tensor<T, D> losses(device, {samples}), dx(device, {samples, classes});
  cross_entropy(device, CrossEntropy<T>{{samples, samples, 1},
                                        classes,
                                        logits.data(),
                                        on_device.data(),
                                        T{1} / static_cast<T>(std::max(samples, index_t{1})),
                                        losses.data(),
                                        dx.data()});
  return {losses.to_vector(), dx.to_vector()};
}

}  // namespace

TEST_CASE_TEMPLATE("cross-entropy on Cuda is that of Host", T, float, double) {
  Host host({.threads = 1});
  Generator generator(7);
  for (index_t samples : {0, 1, 3, 130})
    for (index_t classes : {1, 2, 10, 33, 1024, 1500}) {
      if (samples * classes > 10000) continue;
      CAPTURE(samples);
      CAPTURE(classes);
      const std::vector<T> x = random_values<T>(samples * classes, generator, T{-20}, T{20});
      std::vector<label_t> labels;
      for (index_t n = 0; n < samples; ++n)
        labels.push_back(static_cast<label_t>(generator.random() % classes));
      const auto expected =
          run<double>(host, samples, classes, std::vector<double>(x.begin(), x.end()), labels);
      const auto got = run<T>(test_device<Cuda>(), samples, classes, x, labels);
      const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-13;
      CHECK(relative_error(got.losses, expected.losses) < tolerance);
      CHECK(relative_error(got.dx, expected.dx) < tolerance);
    }
}

TEST_CASE("labels that are no class, and numbers that are none, on Cuda") {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const auto got = run<float>(test_device<Cuda>(), 4, 2, {0, 0, 0, 0, nan, 0, -infinity, 5},
                              std::vector<label_t>{2, -1, 0, 1});
  CHECK(std::isnan(got.losses[0]));
  CHECK(std::isnan(got.losses[1]));
  CHECK(std::isnan(got.losses[2]));
  CHECK(got.losses[3] == 0);
}

#endif
