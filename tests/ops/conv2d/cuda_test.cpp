// Convolutions of Cuda, compared with the plain ones of Host.
#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <doctest/doctest.h>
#include <optional>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/conv2d/cuda/convolution_products.cuh>
#include <gpunet/ops/conv2d/host/block.hpp>

#include "support/devices.hpp"
#include "support/geometry_text.hpp"
#include "support/tensor_rounding.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

Conv2dGeometry geometry(index_t in_channels, index_t height, index_t width, index_t out_channels,
                        index_t kernel, index_t stride, index_t padding) {
  return square_convolution(in_channels, height, width, out_channels, kernel, stride, padding);
}

Conv2dGeometry random_geometry(RandomShapes& random) {
  Conv2dGeometry g = random_axes(random, {7, 3, 4, 5, 7});
  const bool many = random.pick(0, 2) == 0;
  g.in_channels = random.pick(1, many ? 40 : 5);
  g.out_channels = random.pick(1, many ? 40 : 9);
  if (random.pick(0, 4) > 0) return g;
  g.groups = random.pick(2, 3);
  g.in_channels = g.groups * random.pick(1, 10);
  g.out_channels = g.groups * random.pick(1, 10);
  return g;
}

// The numbers of one convolution, and what a device makes of them; c is added to dx.
template <class T>
struct Convolution {
  Conv2dGeometry g;
  index_t samples;
  std::vector<T> x, w, b, c, dy, dw, db;

  Convolution(RandomShapes& random, const Conv2dGeometry& geometry, index_t count)
      : g(geometry), samples(count) {
    const auto values = [&](index_t n) {
      const std::vector<float> floats = random.values(n);
      return std::vector<T>(floats.begin(), floats.end());
    };
    x = values(samples * g.in_features());
    w = values(g.out_channels * g.taps());
    b = values(g.out_channels);
    c = values(g.in_channels);
    dy = values(samples * g.out_features());
    dw = values(g.out_channels * g.taps());
    db = values(g.out_channels);
  }
  std::size_t work() const { return dy.size() * static_cast<std::size_t>(g.taps()); }
};

template <class T>
struct Results {
  std::vector<T> y, dx, dw, db;
};

template <class T, class D>
Results<T> compute(D& device, const Convolution<T>& c, Accumulate accumulate) {
  const Slice slice{c.samples, c.samples, 1};
  const auto size = [](const std::vector<T>& values) {
    return static_cast<index_t>(values.size());
  };
  const auto on_device = [&](const std::vector<T>& values) {
    GuardedBuffer<T, D> buffer(device, size(values));
    buffer.upload(values);
    return buffer;
  };
  const auto x = on_device(c.x), w = on_device(c.w), b = on_device(c.b), dy = on_device(c.dy);
  const auto bias_of_dx = on_device(c.c);
  const auto dw = on_device(c.dw), db = on_device(c.db);
  GuardedBuffer<T, D> y(device, size(c.dy)), dx(device, size(c.x));
  GuardedBuffer<T, D> scratch(device, conv2d_scratch(device, slice, c.g, T{}));
  conv2d_forward(device, Conv2dForwardArgs<T>{
                             slice, {c.g}, x.data(), w.data(), b.data(), y.data(), scratch.data()});
  scratch.fill_with_nan();
  Conv2dBackwardArgs<T> backward{slice,     {c.g},      x.data(),      nullptr,
                                 dy.data(), w.data(),   dx.data(),     dw.data(),
                                 db.data(), accumulate, scratch.data()};
  backward.b = bias_of_dx.data();
  conv2d_backward_input(device, backward);
  scratch.fill_with_nan();
  conv2d_backward_parameters(device, backward);
  scratch.download();
  return {y.download(), dx.download(), dw.download(), db.download()};
}

// The convolution by the plain version, in double.
Results<double> plain(const Convolution<double>& c, Accumulate accumulate) {
  Host& host = test_device<Host>();
  const Slice slice{c.samples, c.samples, 1};
  Results<double> r{std::vector<double>(c.dy.size()), std::vector<double>(c.x.size()), c.dw, c.db};
  std::vector<double> dy = c.dy;
  conv2d_forward<Host, double>(
      host,
      Conv2dForwardArgs<double>{slice, {c.g}, c.x.data(), c.w.data(), c.b.data(), r.y.data()});
  Conv2dBackwardArgs<double> backward{slice,       {c.g},      c.x.data(),  nullptr,
                                      dy.data(),   c.w.data(), r.dx.data(), r.dw.data(),
                                      r.db.data(), accumulate};
  backward.b = c.c.data();
  conv2d_backward_input<Host, double>(host, backward);
  conv2d_backward_parameters<Host, double>(host, backward);
  return r;
}

template <class T>
Convolution<double> in_double(const Convolution<T>& c, RandomShapes& random, Precision precision) {
  Convolution<double> wide(random, c.g, 0);
  wide.samples = c.samples;
  const auto copy = [](const std::vector<T>& from, std::vector<double>& to) {
    to.assign(from.begin(), from.end());
  };
  copy(c.x, wide.x), copy(c.w, wide.w), copy(c.b, wide.b), copy(c.c, wide.c), copy(c.dy, wide.dy),
      copy(c.dw, wide.dw), copy(c.db, wide.db);
  for (auto* factor : {&wide.x, &wide.w, &wide.dy})
    for (double& value : *factor)
      value = precision == Precision::exact ? value
                                            : tensor_rounded(static_cast<float>(value), precision);
  return wide;
}

// Returns whether sums may be added one after another. The longest has 2000 products: it errs by
// sqrt(2000) * 2^-24 where the errors are independent, and four times that is allowed. Our own
// tiles add in parts.
bool by_cudnn() {
  return backends::cudnn::is_available() && detail::library_use() == detail::LibraryUse::always;
}

template <class T>
void compare(Cuda& device, RandomShapes& random, const Conv2dGeometry& g, index_t samples,
             Precision precision = Precision::exact) {
  CAPTURE(text_of(g));
  CAPTURE(samples);
  const Convolution<T> c(random, g, samples);
  const Accumulate accumulate = random.pick(0, 1) ? Accumulate::yes : Accumulate::no;
  const Results<double> expected = plain(in_double(c, random, precision), accumulate);
  // Bias gradients are sums of numbers that are not rounded.
  const std::vector<double> bias_gradient =
      plain(in_double(c, random, Precision::exact), accumulate).db;
  const Results<T> got = compute(device, c, accumulate);
  const index_t longest_sum =
      std::max({g.taps(), g.out_channels * g.area(), samples * g.out_features() / g.out_channels});
  const double tolerance = sizeof(T) == 8                  ? 1e-13
                           : precision == Precision::exact ? (by_cudnn() ? 1e-5 : 1e-6)
                                                           : tensor_core_tolerance(longest_sum);
  CHECK(relative_error(got.y, expected.y) < tolerance);
  CHECK(relative_error(got.dx, expected.dx) < tolerance);
  CHECK(relative_error(got.dw, expected.dw) < tolerance);
  CHECK(relative_error(got.db, bias_gradient) < tolerance);
}

}  // namespace

TEST_CASE("convolutions of Cuda do what the plain ones do") {
  Cuda& device = test_device<Cuda>();
  RandomShapes random(21);
  for (int shapes = 0; shapes < 140;) {
    const Conv2dGeometry g = random_geometry(random);
    const index_t samples = random.pick(0, 2) == 0 ? 1 : random.pick(1, 5);
    if (samples * g.out_features() * g.taps() > 150000) continue;
    if (shapes % 3 == 0)
      compare<double>(device, random, g, samples);
    else
      compare<float>(device, random, g, samples);
    ++shapes;
  }
}

TEST_CASE("convolutions of LeNet and between many channels on Cuda") {
  Cuda& device = test_device<Cuda>();
  RandomShapes random(22);
  compare<float>(device, random, geometry(3, 32, 32, 6, 5, 1, 0), 1);
  compare<float>(device, random, geometry(6, 14, 14, 16, 5, 1, 0), 2);
  compare<float>(device, random, geometry(16, 6, 6, 70, 3, 1, 1), 2);
  compare<float>(device, random, geometry(40, 4, 5, 40, 3, 2, 1), 3);
}

TEST_CASE("convolutions of a batch of nothing on Cuda have gradients of zero") {
  Cuda& device = test_device<Cuda>();
  RandomShapes random(23);
  const Convolution<float> c(random, geometry(2, 5, 5, 3, 3, 1, 0), 0);
  const Results<float> got = compute(device, c, Accumulate::no);
  CHECK(got.dw == std::vector<float>(c.dw.size()));
  CHECK(got.db == std::vector<float>(c.db.size()));
  CHECK(compute(device, c, Accumulate::yes).dw == c.dw);
}

TEST_CASE("convolutions of tensor cores of Cuda are those of rounded factors") {
  for (Precision precision : {Precision::tf32, Precision::bf16}) {
    CAPTURE(static_cast<int>(precision));
    Cuda device(0, {precision});
    const bool rounds = device.architecture() >= detail::tensor_architecture;
    RandomShapes random(24);
    for (const Conv2dGeometry& g :
         {geometry(40, 5, 6, 35, 3, 1, 1), geometry(36, 7, 5, 40, 3, 2, 0),
          geometry(33, 4, 4, 66, 1, 1, 0), geometry(34, 9, 9, 33, 5, 3, 4)})
      compare<float>(device, random, g, 2, rounds ? precision : Precision::exact);
    compare<float>(device, random, geometry(5, 6, 6, 7, 3, 1, 1), 2);  // few rows: exact
  }
}

#endif
