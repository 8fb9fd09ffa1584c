// The scratch that ops reserve on Cuda against the plans of all launches that they may make: no
// kernel runs, so geometries are many.
#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/conv2d/cuda/convolution_products.cuh>
#include <gpunet/ops/linear/cuda/linear_products.cuh>

#include "support/devices.hpp"
#include "support/geometry_text.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

constexpr int geometries = 4000;

// Returns the scratch of the launch that products() makes of these.
template <class T, detail::Known known, class First, class Second>
index_t scratch_of_launch(const Cuda& device, const First& first, const Second& second) {
  return detail::product_scratch<T, known>(device, std::array{sizes_of(first), sizes_of(second)});
}
// And product().
template <class T, detail::Known known, class P>
index_t scratch_of_launch(const Cuda& device, const P& p) {
  return detail::product_scratch<T, known>(device, std::array{sizes_of(p)});
}

Conv2dGeometry random_geometry(RandomShapes& random, index_t most_channels) {
  // Two rows of output to pool.
  Conv2dGeometry g = random_axes(random, {7, 4, 3, 70, 70, 2});
  g.in_channels = random.pick(1, most_channels);
  g.out_channels = random.pick(1, most_channels);
  return g;
}

// Returns the most scratch of all launches of a block, for each set of gradients that may be
// wanted.
template <class T, class Geometry>
index_t needed_by_block(const Cuda& device, const Slice& slice,
                        const Conv2dBlock<Geometry>& block) {
  constexpr detail::Known known = detail::known_of<Geometry>;
  const detail::ConvolutionProducts all(slice, block);
  T some{};
  const detail::OutputGradient<T> dy{&some, nullptr};
  index_t most = scratch_of_launch<T, known>(
      device, all.template forward<T>(&some, &some, {}, &some, nullptr));
  for (T* dw : {&some, static_cast<T*>(nullptr)})
    for (T* dx : {&some, static_cast<T*>(nullptr)})
      most =
          std::max(most, scratch_of_launch<T, known>(
                             device, all.template parameters<T>(&some, dy, dw, {}, Accumulate::no),
                             all.template input<T>(dy, &some, {}, dx, nullptr)));
  return most;
}

template <class T>
index_t needed_by_convolution(const Cuda& device, const Slice& slice, const Conv2dGeometry& g) {
  constexpr detail::Known known = detail::Known::nothing;
  const auto all = detail::ConvolutionProducts::of_group(slice, g);
  T some{};
  const detail::OutputGradient<T> dy{&some, nullptr};
  return std::max(
      {scratch_of_launch<T, known>(device, all.forward<T>(&some, &some, {}, &some, nullptr)),
       scratch_of_launch<T, known>(device, all.parameters<T>(&some, dy, &some, {}, Accumulate::no)),
       scratch_of_launch<T, known>(device, all.input<T>(dy, &some, {}, &some, nullptr))});
}

template <class T>
index_t needed_by_linear(const Cuda& device, index_t samples, index_t in, index_t out) {
  constexpr detail::Known known = detail::Known::little_work;
  const detail::LinearProducts all{samples, in, out};
  T some{};
  LinearForwardArgs<T> forward{};
  index_t most = scratch_of_launch<T, known>(device, all.forward(forward));
  LinearBackwardArgs<T> backward{};
  for (T* dw : {&some, static_cast<T*>(nullptr)})
    for (T* dx : {&some, static_cast<T*>(nullptr)}) {
      backward.dw = dw;
      backward.dx = dx;
      const auto parameters = all.parameters(backward);
      const auto input = all.input(backward);
      most = std::max({most, scratch_of_launch<T, known>(device, parameters, input),
                       scratch_of_launch<T, known>(device, parameters),
                       scratch_of_launch<T, known>(device, input)});
    }
  return most;
}

template <class T>
void check_reservations(Cuda& device, int seed) {
  RandomShapes random(seed);
  int too_small = 0;
  for (int i = 0; i < geometries; ++i) {
    const index_t samples = random.pick(0, 3) ? random.pick(1, 33) : random.pick(34, 256);
    const Slice slice{samples, samples, 1};
    const Activation activation = random.pick(0, 1) ? Activation::relu : Activation::none;
    const bool pool = random.pick(0, 1);
    const Conv2dGeometry few = random_geometry(random, WideConv2dGeometry::many_rows - 1);
    const Conv2dGeometry many = random_geometry(random, 300);
    const Conv2dBlock<Conv2dGeometry> narrow{few, activation, pool};
    const Conv2dBlock<WideConv2dGeometry> wide{WideConv2dGeometry{many}, activation, pool};
    const index_t in = random.pick(1, 2000), out = random.pick(1, 2000);
    std::string wrong;
    if (needed_by_block<T>(device, slice, narrow) >
        conv2d_block_scratch(device, slice, narrow, T{}))
      wrong = text_of(few);
    if (needed_by_block<T>(device, slice, wide) > conv2d_block_scratch(device, slice, wide, T{}))
      wrong = text_of(many);
    if (needed_by_convolution<T>(device, slice, many) > conv2d_scratch(device, slice, many, T{}))
      wrong = text_of(many);
    if (needed_by_linear<T>(device, samples, in, out) > linear_scratch(device, slice, in, out, T{}))
      wrong = concat("linear ", in, " ", out);
    if (wrong.empty()) continue;
    if (too_small++ == 0) MESSAGE("batch ", samples, ", pool ", pool, ": ", wrong);
  }
  CHECK(too_small == 0);
}

}  // namespace

TEST_CASE("the scratch of convolutions and linear maps on Cuda holds the parts of each launch") {
  Cuda& device = test_device<Cuda>();
  Cuda tensor_cores(device.ordinal(), {.precision = Precision::tf32});
  check_reservations<float>(device, 41);
  check_reservations<float>(tensor_cores, 42);
  check_reservations<double>(device, 43);
}

#endif
