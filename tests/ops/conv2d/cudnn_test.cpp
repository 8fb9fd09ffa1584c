// What is special about convolutions by cuDNN; ctest also runs the tests of all convolutions of
// Cuda with GPUNET_CUDNN=always. On the simulator they go to cuda/cudnn_stub, which says so by a
// symbol of its own.
#include <gpunet/core/config.hpp>

#if GPUNET_CUDA && GPUNET_CUDNN

#include <cstdlib>
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <gpunet/device/cuda/memory.cuh>
#include <gpunet/gpunet.hpp>
#include <gpunet/ops/conv2d/cuda/convolution_products.cuh>
#include <gpunet/ops/conv2d/plain.hpp>
#include <gpunet/tensor/guarded_buffer.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/geometry_text.hpp"

using namespace gpunet;

namespace {

// Padded convolutions, one with stride and pooling, and ones that are followed by neither rectifier
// nor pooling; with and without bias.
using Net =
    nn::Sequential<nn::Input<2, 8, 7>, nn::Conv2d<3, 3, nn::Padding<1>>, nn::ReLU,
                   nn::Conv2d<3, 3, nn::Padding<1>, nn::Bias<false>>, nn::ReLU,
                   nn::Conv2d<4, 3, nn::Stride<2>, nn::Padding<2>>, nn::ReLU, nn::MaxPool2d<2>,
                   nn::Conv2d<5, 2>, nn::Conv2d<2, 1, nn::Bias<false>>, nn::Flatten, nn::Linear<3>>;

// How many products the stub has done; null where cuDNN itself is loaded.
const int* stub_products() {
  return static_cast<const int*>(dlsym(RTLD_DEFAULT, "gpunet_cudnn_stub_products"));
}

bool is_always_used() {
  const char* use = std::getenv("GPUNET_CUDNN");
  return use && std::string_view(use) == "always";
}

detail::BatchConvolution convolution(index_t samples, index_t in, index_t size, index_t out,
                                     index_t kernel, index_t padding) {
  return {Slice{samples, samples, 1}, square_convolution(in, size, size, out, kernel, 1, padding)};
}

// The losses of steps on two batch sizes, and the parameters after them.
template <class D, class TakeStep>
std::vector<float> train_with(D& device, TakeStep take_steps) {
  manual_seed(0);
  Model<Net, D> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.1f, .momentum = 0.9f});
  Generator generator(1);
  const TestBatch<float, D> batch(device, Net{}, 3, generator), last(device, Net{}, 1, generator);
  std::vector<float> results = take_steps(net, criterion, optimizer, batch, last);
  const std::vector<float> parameters = parameters_of(net);
  results.insert(results.end(), parameters.begin(), parameters.end());
  return results;
}
const auto recorded = [](auto& net, auto& criterion, auto& optimizer, auto& batch, auto& last) {
  train::Step step(net, criterion, optimizer);
  std::vector<float> losses;
  for (const auto* data : {&batch, &batch, &last, &batch, &batch, &last, &last})
    losses.push_back(step(data->inputs, data->labels).item());
  return losses;
};
const auto eager = [](auto& net, auto& criterion, auto& optimizer, auto& batch, auto& last) {
  std::vector<float> losses;
  for (const auto* data : {&batch, &batch, &last, &batch, &batch, &last, &last})
    losses.push_back(eager_step(net, criterion, optimizer, *data));
  return losses;
};

}  // namespace

TEST_CASE("all units of a program with cuDNN have it on Cuda") {
  CHECK(backends::cudnn::is_available());
  CHECK(backends::cudnn::version() >= 90000);
}

TEST_CASE("cuDNN does large convolutions of floats between many channels on Cuda") {
  using detail::library_pays;
  CHECK(library_pays<float>(convolution(32, 64, 32, 64, 3, 1)));
  CHECK_FALSE(library_pays<double>(convolution(32, 64, 32, 64, 3, 1)));
  CHECK_FALSE(library_pays<float>(convolution(256, 3, 32, 64, 3, 1)));
  CHECK_FALSE(library_pays<float>(convolution(256, 16, 18, 16, 5, 0)));
  CHECK_FALSE(library_pays<float>(convolution(1, 64, 16, 64, 3, 1)));
}

TEST_CASE("cuDNN does convolutions on Cuda whose outputs are as many as it counts") {
  using detail::has_even_padding;
  CHECK(has_even_padding(conv_axis(9, 3, 2, 1)));
  CHECK(has_even_padding({10, 4, 3, 2, 0}));            // an element behind the last window
  CHECK_FALSE(has_even_padding({8, 8, 2, 1, 0}));       // PaddingSame of an even kernel
  CHECK_FALSE(has_even_padding({69, 64, 3, 1, 0, 2}));  // room for another window
  CHECK_FALSE(has_even_padding({1, 1, 4, 1, 1}));
}

TEST_CASE(
    "recorded and eager steps with cuDNN have the same bits on Cuda, and the losses of Host") {
  const int* products = stub_products();
  const int before = products ? *products : 0;
  const std::vector<float> got = train_with(test_device<Cuda>(), recorded);
  if (products && is_always_used()) CHECK(*products > before);
  CHECK(same_bits(got, train_with(test_device<Cuda>(), recorded)));
  CHECK(same_bits(got, train_with(test_device<Cuda>(), eager)));
  CHECK(relative_error(got, train_with(test_device<Host>(), eager)) < 1e-5);
}

TEST_CASE(
    "models with cuDNN take no memory of Cuda after their first step, and give all of it back") {
  Cuda device(0);
  for (int cycle = 0; cycle < 3; ++cycle) {
    Model<Net, Cuda> net(device);
    const nn::CrossEntropyLoss criterion;
    optim::SGD optimizer(net, {.lr = 0.1f});
    train::Step step(net, criterion, optimizer);
    Generator generator(1);
    const TestBatch<float, Cuda> batch(device, Net{}, 2, generator);
    step(batch.inputs, batch.labels);
    const std::size_t held = device.memory_allocated();
    for (int i = 0; i < 3; ++i)
      step(batch.inputs, batch.labels);
    CHECK(device.memory_allocated() == held);
  }
  const std::size_t tickets = Cuda::most_tickets * sizeof(unsigned);
  CHECK(device.memory_allocated() <= detail::CudaMemory::in_blocks(tickets));
}

TEST_CASE(
    "factors that tf32 holds have exact products, or close ones, by cuDNN on Cuda, with a "
    "rectifier and without") {
  const Conv2dGeometry g = square_convolution(3, 6, 5, 4, 3, 1, 1);
  const Slice slice{2, 2, 1};
  const auto x = pattern<float>(slice.samples() * g.in_features(), 11, 5, 3),
             w = pattern<float>(g.out_channels * g.taps(), 7, 3, 5),
             b = pattern<float>(g.out_channels, 5, 1, 2);
  std::vector<float> want(static_cast<std::size_t>(slice.samples() * g.out_features()));
  const index_t outputs = static_cast<index_t>(want.size());
  conv2d_forward<Host, float>(
      test_device<Host>(),
      Conv2dForwardArgs<float>{slice, {g}, x.data(), w.data(), b.data(), want.data()});
  std::vector<float> rectified(want.size());
  rectify(test_device<Host>(), outputs, want.data(), rectified.data());
  REQUIRE(rectified != want);
  for (const Precision precision : {Precision::exact, Precision::tf32, Precision::bf16}) {
    Cuda device(0, {.precision = precision});
    const auto on_device = [&](const std::vector<float>& values) {
      GuardedBuffer<float, Cuda> buffer(device, static_cast<index_t>(values.size()));
      buffer.upload(values);
      return buffer;
    };
    const auto dx = on_device(x), dw = on_device(w), db = on_device(b);
    GuardedBuffer<float, Cuda> y(device, outputs);
    for (const Activation activation : {Activation::none, Activation::relu}) {
      const Conv2dBlock<Conv2dGeometry> block{g, activation, false};
      GuardedBuffer<float, Cuda> scratch(device,
                                         conv2d_block_scratch(device, slice, block, float{}));
      conv2d_block_forward(device, Conv2dForwardArgs<float>{slice, block, dx.data(), dw.data(),
                                                            db.data(), y.data(), scratch.data()});
      scratch.download();
      const std::vector<float>& expected = activation == Activation::relu ? rectified : want;
      if (precision == Precision::exact)
        CHECK(y.download() == expected);
      else  // Winograd's way is allowed, whose transformed factors tf32 does not hold
        CHECK(relative_error(y.download(), expected) < 2e-3);
    }
  }
}

TEST_CASE("an error of cuDNN on Cuda names the convolution and the place") {
  if (!stub_products() || !is_always_used()) {
    MESSAGE("skipped: only the stub refuses what this asks for");
    return;
  }
  Cuda& device = test_device<Cuda>();
  const Conv2dGeometry g = square_convolution(2, 4, 5, 3, 3, 1, 1);
  const Slice slice{7, 7, 1};
  GuardedBuffer<float, Cuda> memory(device, 1 << 12);
  conv2d_scratch(device, slice, g, float{});
  float* p = memory.data();
  const std::string message = error_of([&] {
    conv2d_forward(device, Conv2dForwardArgs<float>{slice, {g}, p, p + 1, p, p, p});
  });
  CAPTURE(message);
  CHECK(message.find("gpunet: cuDNN error: CUDNN_STATUS_BAD_PARAM (want is_array") == 0);
  CHECK(contains(message,
                 "the forward pass of a convolution of [7, 2, 4, 5] by 3 filters of 3 x 3, stride "
                 "1 x 1, padding 1 x 1, dilation 1 x 1, float"));
  CHECK(contains(message, "cudnn.cuh:"));
}

#endif
