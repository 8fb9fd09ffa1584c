// The ops that have one version for all devices: on Cuda they do what they do on Host.
#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/avg_pool2d/host/rows.hpp>
#include <gpunet/ops/max_pool2d/host/windows.hpp>
#include <gpunet/ops/mean.hpp>

#include "support/devices.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

// Numbers on a device. What is computed in double on Host has rounding errors far below the
// tolerances.
template <class E, class D, class From>
Tensor<E, D> put(D& device, const std::vector<From>& values) {
  return {
      device, {static_cast<index_t>(values.size())}, std::vector<E>(values.begin(), values.end())};
}
template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-13;

template <class T>
std::vector<T> numbers(RandomShapes& random, index_t n) {
  const std::vector<float> values = random.values(n);
  return {values.begin(), values.end()};
}

template <class T>
struct Pass {
  std::vector<T> y, dx;
  std::vector<PoolChoice> choice;
  bool operator==(const Pass&) const = default;
};

template <class T, class D>
Pass<T> rectifier(D& device, const std::vector<T>& values, const std::vector<T>& gradients) {
  const auto x = put<T>(device, values), dy = put<T>(device, gradients);
  Tensor<T, D> y(device, x.sizes()), dx(device, x.sizes());
  rectify(device, x.numel(), x.data(), y.data());
  rectify_gradient(device, x.numel(), static_cast<const T*>(y.data()), dy.data(), dx.data());
  return {y.to_vector(), dx.to_vector(), {}};
}

template <class T, class D>
Pass<T> pooling(D& device, const Pool2dGeometry& g, index_t samples, const std::vector<T>& values,
                const std::vector<T>& gradients) {
  const Slice slice{samples, samples, 1};
  const auto x = put<T>(device, values), dy = put<T>(device, gradients);
  Tensor<T, D> y(device, dy.sizes()), dx(device, x.sizes());
  Tensor<PoolChoice, D> choice(device, dy.sizes());
  max_pool2d_forward<D, T>(device, slice, g, x.data(), y.data(), choice.data());
  max_pool2d_backward<D, T>(device, slice, g, dy.data(), choice.data(), dx.data());
  return {y.to_vector(), dx.to_vector(), choice.to_vector()};
}

template <class T, class D>
Pass<T> average_pooling(D& device, const AvgPool2dGeometry& g, index_t samples,
                        const std::vector<T>& values, const std::vector<T>& gradients) {
  const Slice slice{samples, samples, 1};
  const auto x = put<T>(device, values), dy = put<T>(device, gradients);
  Tensor<T, D> y(device, dy.sizes()), dx(device, x.sizes());
  avg_pool2d_forward<D, T>(device, slice, g, x.data(), y.data());
  avg_pool2d_backward<D, T>(device, slice, g, dy.data(), dx.data());
  return {y.to_vector(), dx.to_vector(), {}};
}

template <class E, class D, class T>
Pass<E> soft_maximum(D& device, index_t samples, index_t classes, index_t rest,
                     const std::vector<T>& values, const std::vector<T>& gradients) {
  const auto x = put<E>(device, values), dy = put<E>(device, gradients);
  Tensor<E, D> y(device, x.sizes()), dx(device, x.sizes());
  softmax_forward<D, E>(device, samples * rest, {classes, rest, x.data(), y.data()});
  softmax_backward<D, E>(device, samples * rest, {classes, rest, y.data(), dy.data(), dx.data()});
  return {y.to_vector(), dx.to_vector(), {}};
}

template <class E, class D, class T>
std::vector<E> average(D& device, const std::vector<T>& values) {
  const auto x = put<E>(device, values);
  Tensor<E, D> result(device, {1}, {E{-1}});
  mean(device, x.numel(), x.data(), result.data());
  return result.to_vector();
}

// What three steps of an optimizer make of the arrays that its update names, with the same
// gradients.
template <class E, class Update, class D, class T>
std::vector<E> updated(D& device, Update update, std::vector<std::vector<T>> arrays) {
  std::vector<Tensor<E, D>> on_device;
  std::vector<E*> addresses;
  for (const auto& array : arrays)
    on_device.push_back(put<E>(device, array));
  for (auto& tensor : on_device)
    addresses.push_back(tensor.data());
  addresses.resize(static_cast<std::size_t>(Update::arrays));  // null ones are not there
  update.use(addresses.data());
  for (int step = 0; step < 3; ++step)
    for_each(device, on_device[0].numel(), update);
  std::vector<E> all;
  for (const auto& tensor : on_device) {
    const std::vector<E> values = tensor.to_vector();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

template <class E>
optim::SgdStep<E> sgd(bool nesterov, bool decays) {
  return {{}, E(0.0625), E(0.75), E(0.875), decays ? E(0.125) : E{}, nesterov};
}
template <class E>
optim::AdamStep<E> adam(bool decays) {
  return {{}, E(0.0625), E(0.125), E(0.9375), E(0.0625), E(0.0078125), decays ? E(0.125) : E{},
          E{}};
}

template <class T, class MakeUpdate>
void compare_updates(RandomShapes& random, int arrays, const MakeUpdate& update) {
  for (index_t n : {0, 1, 33, 300}) {
    CAPTURE(n);
    std::vector<std::vector<T>> values;
    for (int i = 0; i < arrays; ++i) {
      values.push_back(numbers<T>(random, n));
      for (T& value : values.back())
        value = std::abs(value);  // one of Adam's is a mean of squares
    }
    CHECK(relative_error(updated<T>(test_device<Cuda>(), update(T{}), values),
                         updated<double>(test_device<Host>(), update(double{}), values)) <
          tolerance<T>);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("rectifiers of Cuda are those of Host", T, float, double) {
  RandomShapes random(41);
  for (index_t n : {0, 1, 2, 31, 33, 257, 1000}) {
    CAPTURE(n);
    const std::vector<T> x = numbers<T>(random, n), dy = numbers<T>(random, n);
    CHECK(rectifier(test_device<Cuda>(), x, dy) == rectifier(test_device<Host>(), x, dy));
  }
}

TEST_CASE_TEMPLATE("poolings of Cuda are those of Host", T, float, double) {
  RandomShapes random(42);
  for (int shapes = 0; shapes < 40; ++shapes) {
    const index_t kernel = random.pick(1, 5), stride = random.pick(1, 3),
                  padding = random.pick(0, kernel / 2);
    const index_t least = std::max(index_t{1}, kernel - 2 * padding);
    const index_t height = least + random.pick(0, 6), width = least + random.pick(0, 9);
    const Pool2dGeometry g{random.pick(1, 5),
                           height,
                           width,
                           (height + 2 * padding - kernel) / stride + 1,
                           (width + 2 * padding - kernel) / stride + 1,
                           kernel,
                           stride,
                           padding};
    const index_t samples = shapes % 10 == 0 ? 0 : shapes % 3 == 0 ? 1 : random.pick(2, 5);
    CAPTURE(height);
    CAPTURE(width);
    CAPTURE(kernel);
    CAPTURE(stride);
    CAPTURE(padding);
    CAPTURE(samples);
    std::vector<T> x = numbers<T>(random, samples * g.in_features());
    for (T& value : x)
      value = std::round(value * 4);  // many equal ones
    const std::vector<T> dy = numbers<T>(random, samples * g.out_features());
    CHECK(pooling(test_device<Cuda>(), g, samples, x, dy) ==
          pooling<T>(test_device<Host>(), g, samples, x, dy));
  }
}

TEST_CASE_TEMPLATE("average poolings of Cuda are those of Host", T, float, double) {
  RandomShapes random(44);
  for (int shapes = 0; shapes < 40; ++shapes) {
    const index_t kernel = random.pick(1, 5), stride = random.pick(1, 3),
                  padding = random.pick(0, kernel / 2);
    // Every other pooling is adaptive, every fourth global.
    const auto axis = [&](index_t outputs) {
      const index_t size = std::max(index_t{1}, kernel - 2 * padding) + random.pick(0, 9);
      return shapes % 2 == 0 ? PoolAxis{size, shapes % 4 == 0 ? 1 : outputs}
                             : PoolAxis{size, (size + 2 * padding - kernel) / stride + 1, kernel,
                                        stride, padding};
    };
    const index_t channels = random.pick(1, 5);
    const PoolAxis rows = axis(random.pick(1, 12)), columns = axis(random.pick(1, 12));
    const AvgPool2dGeometry g{channels, rows, columns};
    const index_t samples = shapes % 10 == 0 ? 0 : shapes % 3 == 0 ? 1 : random.pick(2, 5);
    CAPTURE(shapes);
    CAPTURE(samples);
    std::vector<T> x = numbers<T>(random, samples * g.in_features());
    for (T& value : x)
      value = std::round(value * 4);  // exact sums
    const std::vector<T> dy = numbers<T>(random, samples * g.out_features());
    CHECK(average_pooling(test_device<Cuda>(), g, samples, x, dy) ==
          average_pooling<T>(test_device<Host>(), g, samples, x, dy));
  }
}

TEST_CASE_TEMPLATE("softmax on Cuda is that of Host", T, float, double) {
  RandomShapes random(43);
  for (index_t samples : {0, 1, 3, 17})
    for (index_t classes : {1, 2, 10, 33})
      for (index_t rest : {1, 6}) {
        CAPTURE(samples);
        CAPTURE(classes);
        CAPTURE(rest);
        std::vector<T> x = numbers<T>(random, samples * classes * rest);
        for (T& value : x)
          value *= 10;
        const std::vector<T> dy = numbers<T>(random, samples * classes * rest);
        const auto got = soft_maximum<T>(test_device<Cuda>(), samples, classes, rest, x, dy);
        const auto expected =
            soft_maximum<double>(test_device<Host>(), samples, classes, rest, x, dy);
        CHECK(relative_error(got.y, expected.y) < tolerance<T>);
        // dx is a difference of numbers as large as dy, so its error is relative to both.
        const auto beside_dy = [&](std::vector<double> dx) {
          dx.insert(dx.end(), dy.begin(), dy.end());
          return dx;
        };
        CHECK(relative_error(beside_dy({got.dx.begin(), got.dx.end()}), beside_dy(expected.dx)) <
              tolerance<T>);
      }
}

TEST_CASE_TEMPLATE("means of Cuda are those of Host", T, float, double) {
  RandomShapes random(44);
  for (index_t n : {1, 2, 31, 33, 257, 1000, 4099}) {
    CAPTURE(n);
    const std::vector<T> x = numbers<T>(random, n);
    CHECK(relative_error(average<T>(test_device<Cuda>(), x),
                         average<double>(test_device<Host>(), x)) < tolerance<T>);
  }
}

TEST_CASE_TEMPLATE("updates of Cuda are those of Host", T, float, double) {
  RandomShapes random(45);
  for (bool decays : {false, true}) {
    CAPTURE(decays);
    for (int kind = 0; kind < 3; ++kind) {
      CAPTURE(kind);
      // Gradients, parameters, and velocities if there is a momentum.
      compare_updates<T>(random, kind > 0 ? 3 : 2,
                         [&](auto zero) { return sgd<decltype(zero)>(kind > 1, decays); });
    }
    compare_updates<T>(random, 4, [&](auto zero) { return adam<decltype(zero)>(decays); });
  }
}

#endif
