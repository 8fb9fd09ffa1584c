#include <array>
#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/conv2d/host/block.hpp>

#include "support/devices.hpp"
#include "support/geometry_text.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

Conv2dBlock<Conv2dGeometry> random_block(RandomShapes& random) {
  // Two rows of output to pool.
  Conv2dGeometry g = random_axes(random, {6, 3, 3, 7, 9, 2});
  g.in_channels = random.pick(1, 7);
  g.out_channels = random.pick(1, 9);
  return {g, random.pick(0, 1) ? Activation::relu : Activation::none, random.pick(0, 1) == 1};
}

// What the block computes, op by op with the plain versions.
struct PlainBlock {
  Host& host;
  Slice slice;
  Conv2dBlock<Conv2dGeometry> block;
  std::vector<float> z, dz;
  std::vector<PoolChoice> choice;

  PlainBlock(Host& device, const Slice& s, const Conv2dBlock<Conv2dGeometry>& b)
      : host(device),
        slice(s),
        block(b),
        z(size(s.samples() * b.g.out_features())),
        dz(z.size()),
        choice(z.size()) {}
  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  bool relu() const { return block.activation == Activation::relu; }
  Pool2dGeometry pooling() const { return block.pooling(block.g.rows.outputs); }

  void forward(const float* x, const float* w, const float* b, float* y) {
    const index_t n = static_cast<index_t>(z.size());
    conv2d_forward<Host, float>(host, Conv2dForwardArgs<float>{slice, block, x, w, b, z.data()});
    if (relu()) rectify(host, n, z.data(), z.data());
    if (block.pool)
      max_pool2d_forward<Host, float>(host, slice, pooling(), z.data(), y, choice.data());
    else
      std::copy(z.begin(), z.end(), y);
  }
  void backward(const float* x, const float* dy, const float* w, float* dx, float* dw, float* db,
                Accumulate accumulate) {
    if (block.pool)
      max_pool2d_backward<Host, float>(host, slice, pooling(), dy, choice.data(), dz.data());
    else
      std::copy_n(dy, dz.size(), dz.data());
    if (relu())
      rectify_gradient(host, static_cast<index_t>(dz.size()), z.data(), dz.data(), dz.data());
    const Conv2dBackwardArgs<float> args{slice, block, x,  nullptr, dz.data(),
                                         w,     dx,    dw, db,      accumulate};
    conv2d_backward_input<Host, float>(host, args);
    conv2d_backward_parameters<Host, float>(host, args);
  }
};

void compare(Host& host, RandomShapes& random, const Slice& slice,
             const Conv2dBlock<Conv2dGeometry>& block) {
  const Conv2dGeometry& g = block.g;
  CAPTURE(text_of(g));
  CAPTURE(block.pool);
  CAPTURE(static_cast<int>(block.activation));
  CAPTURE(slice.outer);
  CAPTURE(slice.inner);
  const index_t weights = g.out_channels * g.taps(),
                outputs = slice.samples() * block.out_features();
  // Some sums are negative: filters of one sign, a bias against them.
  std::vector<float> bias = random.values(g.out_channels);
  for (float& b : bias)
    b -= 0.3f * static_cast<float>(g.taps()) * 0.375f * 0.375f;
  const auto x = operand(host, random.values(slice, g.in_features()));
  const auto w = operand(host, random.values(weights)), b = operand(host, bias);
  const std::vector<float> dy = random.values(slice, block.out_features());
  const std::vector<float> dw_before = random.values(weights),
                           db_before = random.values(g.out_channels);
  Outcome y(host, outputs), dx(host, slice.samples() * g.in_features()), dw(host, weights),
      db(host, g.out_channels);
  dw.start(dw_before);
  db.start(db_before);
  const Accumulate accumulate = random.pick(0, 1) ? Accumulate::yes : Accumulate::no;

  PlainBlock plain(host, slice, block);
  plain.forward(x.data(), w.data(), b.data(), y.plain());
  plain.backward(x.data(), dy.data(), w.data(), dx.plain(), dw.plain(), db.plain(), accumulate);
  const bool rectify_dx = random.pick(0, 1);
  if (rectify_dx)
    rectify_gradient(host, slice.samples() * g.in_features(), x.data(),
                     static_cast<const float*>(dx.plain()), dx.plain());
  for (Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    GuardedBuffer<float, Host> scratch(host, conv2d_block_scratch(host, slice, block));
    std::vector<PoolChoice> choice(block.pool ? static_cast<std::size_t>(outputs) : 0);
    PoolChoice* choices = block.pool ? choice.data() : nullptr;
    conv2d_block_forward(host, Conv2dForwardArgs<float>{slice, block, x.data(), w.data(), b.data(),
                                                        y.tuned(), scratch.data(), choices});
    y.check("y");
    for (bool needs_dx : {true, false}) {
      scratch.fill_with_nan();
      std::copy(dw_before.begin(), dw_before.end(), dw.tuned());
      std::copy(db_before.begin(), db_before.end(), db.tuned());
      std::vector<float> gradient = dy;  // is used up
      Conv2dBackwardArgs<float> args{slice, block, x.data(), y.tuned(), gradient.data(), w.data()};
      if (needs_dx) args.dx = dx.tuned();
      args.dw = dw.tuned(), args.db = db.tuned();
      args.accumulate = accumulate;
      args.scratch = scratch.data();
      args.choice = choices;
      args.rectify_dx = rectify_dx;
      conv2d_block_backward(host, args);
      dx.check("dx");
      dw.check("dw");
      db.check("db");
      scratch.download();
    }
  }
}

}  // namespace

TEST_CASE("a convolution, its rectifier and its pooling at once do what they do one by one") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(3);
  constexpr index_t most_work = 150000;  // multiplications, so that the test is fast
  for (int shapes = 0; shapes < 300;) {
    const Conv2dBlock<Conv2dGeometry> block = random_block(random);
    const Slice slice = random.slice();
    if (slice.samples() * block.g.out_features() * block.g.taps() > most_work) continue;
    compare(host, random, slice, block);
    ++shapes;
  }
}

TEST_CASE("a block with zeros below the image only") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(6);
  const Conv2dGeometry g{3, 5, 1, {4, 4, 2, 1, 0}, {8, 8, 1, 1, 0}};
  for (const Slice& slice : {Slice{1, 1, 1}, Slice{3, 3, 1}})
    compare(host, random, slice, {g, Activation::relu, true});
  compare(host, random, {4, 1, 4},
          {{2, 3, 1, {6, 6, 2, 1, 0}, {3, 3, 1, 1, 0}}, Activation::relu, true});
}

TEST_CASE("the blocks of LeNet, one by one and at once") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(4);
  for (const Slice& slice : {Slice{1, 1, 1}, Slice{4, 1, 4}, Slice{7, 1, 16}}) {
    compare(host, random, slice, {square_convolution(3, 32, 32, 6, 5), Activation::relu, true});
    compare(host, random, slice, {square_convolution(6, 14, 14, 16, 5), Activation::relu, true});
  }
}

TEST_CASE("blocks have the same bits for any number of threads") {
  RandomShapes random(5);
  const auto compute = [](int threads, const Slice& slice, const auto& block, const auto& x,
                          const auto& w, const auto& b, std::vector<float> dy) {
    Host host({.threads = threads});
    CHECK(detail::conv2d_workers(host, slice, block.g) == threads);
    GuardedBuffer<float, Host> scratch(host, conv2d_block_scratch(host, slice, block));
    const index_t outputs = slice.samples() * block.out_features(),
                  weights = block.g.out_channels * block.g.taps();
    GuardedBuffer<float, Host> y(host, outputs), dx(host, slice.samples() * block.g.in_features());
    GuardedBuffer<float, Host> dw(host, weights), db(host, block.g.out_channels);
    std::vector<PoolChoice> choice(static_cast<std::size_t>(outputs));
    using Geometry = std::remove_cvref_t<decltype(block.g)>;
    conv2d_block_forward(
        host, Conv2dForwardArgs<float, Geometry>{slice, block, x.data(), w.data(), b.data(),
                                                 y.data(), scratch.data(), choice.data()});
    conv2d_block_backward(
        host, Conv2dBackwardArgs<float, Geometry>{slice, block, x.data(), y.data(), dy.data(),
                                                  w.data(), dx.data(), dw.data(), db.data(),
                                                  Accumulate::no, scratch.data(), choice.data()});
    scratch.download();
    return std::array{y.download(), dx.download(), dw.download(), db.download()};
  };
  const auto check = [&](const Slice& slice, const Conv2dGeometry& g, bool pool) {
    CAPTURE(slice.outer);
    CAPTURE(pool);
    const Conv2dBlock<Conv2dGeometry> block{g, Activation::relu, pool};
    const std::vector<float> x = random.values(slice, block.g.in_features());
    const std::vector<float> w = random.values(block.g.out_channels * block.g.taps());
    const std::vector<float> b(static_cast<std::size_t>(block.g.out_channels), -3.0f);
    const std::vector<float> dy = random.values(slice, block.out_features());
    const auto one = compute(1, slice, block, x, w, b, dy);
    CHECK(compute(2, slice, block, x, w, b, dy) == one);
    CHECK(compute(3, slice, block, x, w, b, dy) == one);
    const Conv2dBlock<WideConv2dGeometry> wide{{block.g}, block.activation, pool};
    CHECK(compute(2, slice, wide, x, w, b, dy) == one);
  };
  for (bool pool : {false, true}) {
    check({44, 3, 16}, square_convolution(3, 15, 17, 21, 3, 1, 1), pool);
    check({13, 1, 16}, square_convolution(3, 15, 17, 21, 3, 1, 1), pool);
    check({13, 1, 16}, square_convolution(4, 39, 38, 9, 5, 2, 1), pool);
    check({4, 1, 4}, square_convolution(3, 34, 36, 13, 3), pool);
    check({1, 1, 1}, square_convolution(3, 65, 62, 14, 5), pool);
  }
}
