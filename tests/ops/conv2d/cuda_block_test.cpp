// A convolution, its rectifier and its pooling at once on Cuda, compared with the three plain ops
// of Host.
#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <doctest/doctest.h>
#include <functional>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/conv2d/cuda/convolution_products.cuh>
#include <gpunet/ops/max_pool2d/host/windows.hpp>

#include "support/devices.hpp"
#include "support/geometry_text.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

using Block = Conv2dBlock<Conv2dGeometry>;

Block random_block(RandomShapes& random) {
  // Two rows of output to pool.
  Conv2dGeometry g = random_axes(random, {5, 3, 3, 6, 7, 2});
  g.in_channels = random.pick(1, 7);
  g.out_channels = random.pick(0, 3) ? random.pick(1, 9) : random.pick(10, 40);
  return {g, random.pick(0, 2) ? Activation::relu : Activation::none, random.pick(0, 2) > 0};
}

template <class T>
struct Results {
  std::vector<T> y, dx, dw, db;
  std::vector<PoolChoice> choice;
};

// Multiples of 1/8, so that every sum is exact and equal numbers, the first of which a pooling
// takes, are frequent.
template <class T>
struct Numbers {
  Block block;
  index_t samples, outputs, inputs, weights;
  std::vector<T> x, w, b, dy, dw, db;

  Numbers(RandomShapes& random, const Block& what, index_t count)
      : block(what),
        samples(count),
        outputs(count * what.out_features()),
        inputs(count * what.g.in_features()),
        weights(what.g.out_channels * what.g.taps()) {
    const auto values = [&](index_t n) {
      return pattern<T>(n, 2 * random.pick(3, 40) + 1, random.pick(0, 20), 23);
    };
    x = values(inputs);
    w = values(weights);
    b = values(block.g.out_channels);
    dy = values(outputs);
    dw = values(weights);
    db = values(block.g.out_channels);
  }
  Slice slice() const { return {samples, samples, 1}; }
};

template <class T>
Results<T> plain(const Numbers<T>& n, Accumulate accumulate, bool needs_dx, bool rectify_dx) {
  Host& host = test_device<Host>();
  const Block& block = n.block;
  const auto size = [](index_t count) {
    return static_cast<std::size_t>(count);
  };
  std::vector<T> z(size(n.samples * block.g.out_features())), dz(z.size());
  Results<T> r{std::vector<T>(size(n.outputs)), {}, n.dw, n.db, {}};
  conv2d_forward<Host, T>(
      host, Conv2dForwardArgs<T>{n.slice(), block, n.x.data(), n.w.data(), n.b.data(), z.data()});
  const index_t all = static_cast<index_t>(z.size());
  if (block.activation == Activation::relu) rectify(host, all, z.data(), z.data());
  if (block.pool) {
    r.choice.resize(r.y.size());
    const Pool2dGeometry pooling = block.pooling(block.g.rows.outputs);
    max_pool2d_forward<Host, T>(host, n.slice(), pooling, z.data(), r.y.data(), r.choice.data());
    max_pool2d_backward<Host, T>(host, n.slice(), pooling, n.dy.data(), r.choice.data(), dz.data());
  } else {
    r.y = z;
    dz = n.dy;
  }
  if (block.activation == Activation::relu)
    rectify_gradient(host, all, z.data(), dz.data(), dz.data());
  Conv2dBackwardArgs<T> args{.slice = n.slice(),
                             .block = block,
                             .x = n.x.data(),
                             .dy = dz.data(),
                             .w = n.w.data(),
                             .dw = r.dw.data(),
                             .db = r.db.data(),
                             .accumulate = accumulate};
  if (needs_dx) {
    r.dx.resize(size(n.inputs));
    args.dx = r.dx.data();
    conv2d_backward_input<Host, T>(host, args);
    if (rectify_dx) rectify_gradient(host, n.inputs, n.x.data(), r.dx.data(), r.dx.data());
  }
  conv2d_backward_parameters<Host, T>(host, args);
  return r;
}

template <class T>
Results<T> fused(Cuda& device, const Numbers<T>& n, Accumulate accumulate, bool needs_dx,
                 bool rectify_dx) {
  const auto buffer = [&](const std::vector<T>& values) {
    GuardedBuffer<T, Cuda> made(device, static_cast<index_t>(values.size()));
    made.upload(values);
    return made;
  };
  const auto x = buffer(n.x), w = buffer(n.w), b = buffer(n.b), dy = buffer(n.dy),
             dw = buffer(n.dw), db = buffer(n.db);
  GuardedBuffer<T, Cuda> y(device, n.outputs), dx(device, needs_dx ? n.inputs : 0);
  Results<T> r;
  r.choice.resize(n.block.pool ? static_cast<std::size_t>(n.outputs) : 0);
  Buffer<PoolChoice, Cuda> choice(device, n.outputs);
  GuardedBuffer<T, Cuda> scratch(device, conv2d_block_scratch(device, n.slice(), n.block, T{}));
  conv2d_block_forward(
      device, Conv2dForwardArgs<T>{n.slice(), n.block, x.data(), w.data(), b.data(), y.data(),
                                   scratch.data(), choice.data()});
  scratch.fill_with_nan();
  conv2d_block_backward(
      device, Conv2dBackwardArgs<T>{n.slice(), n.block, x.data(), y.data(), dy.data(), w.data(),
                                    needs_dx ? dx.data() : nullptr, dw.data(), db.data(),
                                    accumulate, scratch.data(), choice.data(), rectify_dx});
  scratch.download();
  device.download(r.choice.data(), choice.data(), r.choice.size() * sizeof(PoolChoice));
  r.y = y.download();
  r.dx = dx.download();
  r.dw = dw.download();
  r.db = db.download();
  return r;
}

template <class T>
void compare(RandomShapes& random, const Block& block, index_t samples) {
  const Conv2dGeometry& g = block.g;
  CAPTURE(text_of(g));
  CAPTURE(block.pool);
  CAPTURE(static_cast<int>(block.activation));
  CAPTURE(samples);
  const Numbers<T> numbers(random, block, samples);
  const Accumulate accumulate = random.pick(0, 1) ? Accumulate::yes : Accumulate::no;
  const bool needs_dx = random.pick(0, 2) > 0;
  const bool rectify_dx = random.pick(0, 1);
  CAPTURE(rectify_dx);
  const Results<T> want = plain(numbers, accumulate, needs_dx, rectify_dx);
  const Results<T> got = fused(test_device<Cuda>(), numbers, accumulate, needs_dx, rectify_dx);
  CHECK(got.choice == want.choice);
  CHECK(got.y == want.y);
  CHECK(got.dx == want.dx);
  CHECK(got.dw == want.dw);
  CHECK(got.db == want.db);
}

// How many kernels `work` gives the device.
index_t launches(Cuda& device, const std::function<void()>& work) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(device.stream(), cudaStreamCaptureModeThreadLocal));
  work();
  check(cudaStreamEndCapture(device.stream(), &graph));
  const detail::GraphHandle owner(graph);
  std::size_t nodes = 0;
  check(cudaGraphGetNodes(graph, nullptr, &nodes));
  return static_cast<index_t>(nodes);
}

}  // namespace

TEST_CASE(
    "a convolution, its rectifier and its pooling at once on Cuda do what they do one by one") {
  RandomShapes random(31);
  for (int shapes = 0; shapes < 100;) {
    const Block block = random_block(random);
    const index_t samples = random.pick(1, 4);
    if (samples * block.g.out_features() * block.g.taps() > 100000) continue;
    if (shapes % 4 == 0)
      compare<double>(random, block, samples);
    else
      compare<float>(random, block, samples);
    ++shapes;
  }
}

TEST_CASE("the blocks of LeNet at once on Cuda") {
  RandomShapes random(32);
  compare<float>(random, {square_convolution(3, 32, 32, 6, 5), Activation::relu, true}, 1);
  compare<float>(random, {square_convolution(6, 14, 14, 16, 5), Activation::relu, true}, 2);
  compare<float>(random, {square_convolution(6, 14, 14, 16, 5), Activation::relu, true}, 0);
}

TEST_CASE("what is no number goes through a block of Cuda") {
  const Block block{square_convolution(1, 4, 4, 1, 1), Activation::relu, true};
  RandomShapes random(33);
  Numbers<float> n(random, block, 1);
  n.x[5] = std::numeric_limits<float>::quiet_NaN();  // the last corner of the first window
  const Results<float> got = fused(test_device<Cuda>(), n, Accumulate::no, true, false);
  CHECK(got.y[0] != got.y[0]);
  CHECK(got.choice[0] == 3);
  CHECK(got.y[1] == got.y[1]);
  CHECK(got.dx[5] == n.w[0] * n.dy[0]);
}

TEST_CASE(
    "a block of Cuda is one launch forward and one back, where the layer above rectifies, with the "
    "same bits "
    "always") {
  Cuda& device = test_device<Cuda>();
  const Block block{square_convolution(3, 9, 8, 7, 3, 1, 1), Activation::relu, true};
  const Slice slice{30, 30, 1};
  RandomShapes random(34);
  const auto on_device = [&](index_t count) {
    GuardedBuffer<float, Cuda> buffer(device, count);
    buffer.upload(random.values(count));
    return buffer;
  };
  const index_t outputs = slice.samples() * block.out_features();
  const auto x = on_device(slice.samples() * block.g.in_features()),
             w = on_device(block.g.out_channels * block.g.taps());
  const auto b = on_device(block.g.out_channels), dy = on_device(outputs);
  GuardedBuffer<float, Cuda> y(device, outputs),
      dx(device, slice.samples() * block.g.in_features());
  GuardedBuffer<float, Cuda> dw(device, block.g.out_channels * block.g.taps()),
      db(device, block.g.out_channels);
  Buffer<PoolChoice, Cuda> choice(device, outputs);
  // The sums of the weights' gradient are parted.
  CHECK(conv2d_block_scratch(device, slice, block, float{}) > 0);
  GuardedBuffer<float, Cuda> scratch(device, conv2d_block_scratch(device, slice, block, float{}));
  const auto forward = [&] {
    conv2d_block_forward(
        device, Conv2dForwardArgs<float>{slice, block, x.data(), w.data(), b.data(), y.data(),
                                         scratch.data(), choice.data()});
  };
  const Block rectified{block.g, Activation::none, block.pool};
  const auto backward = [&] {
    conv2d_block_backward(
        device, Conv2dBackwardArgs<float>{slice, rectified, x.data(), y.data(), dy.data(), w.data(),
                                          dx.data(), dw.data(), db.data(), Accumulate::no,
                                          scratch.data(), choice.data(), true});
  };
  forward();
  backward();
  const std::vector<float> first_dw = dw.download(), first_db = db.download(),
                           first_dx = dx.download();
  backward();
  CHECK(dw.download() == first_dw);
  CHECK(db.download() == first_db);
  CHECK(dx.download() == first_dx);
  CHECK(launches(device, forward) == 1);
  CHECK(launches(device, backward) == 1);
}

#endif
