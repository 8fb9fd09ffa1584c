#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;

namespace {

// The slices that hold a batch.
template <class D>
std::vector<Slice> slices_of(index_t batch) {
  if constexpr (std::same_as<D, Host>)
    return {{batch, batch, 1}, {batch, ceil_div(batch, 4), 4}, {batch, ceil_div(batch, 16), 16}};
  else
    return {{batch, batch, 1}};
}

// The cases of reference/padding.py.
class References {
 public:
  template <class D, class L, class In>
  void layer(D& device, const L& layer, In in, const std::string& name = nn::class_name<L>()) {
    for (const Slice& slice : slices_of<D>(batch)) {
      check(LayerRun<float, D>(device, layer, in, slice), name, 1e-5);
      check(LayerRun<double, D>(device, layer, in, slice), name, 1e-12);
    }
  }
  template <class D, class F>
  void function(D& device, F f, const Sizes& in, const std::string& name) {
    for (const Slice& slice : slices_of<D>(batch))
      check(LayerRun<double, D>(
                device, nn::detail::graph_of_function(nn::detail::backend_of<D, double>(), f, {in}),
                slice),
            name, 1e-12);
  }

 private:
  static constexpr index_t batch = 3;

  template <class T, class D>
  void check(LayerRun<T, D> run, const std::string& name, double tolerance) {
    CAPTURE(name);
    CAPTURE(run.slice().inner);
    std::vector<T> parameters;
    for (const ParameterInfo& parameter : run.parameters())
      for (const T value : pattern<T>(parameter.sizes.numel(), 3, 1, 13))
        parameters.push_back(value);
    run.set_parameters(parameters);
    const auto close = [&](const std::vector<T>& values, const std::string& what) {
      const std::vector<double> expected = file_.values(name + "." + what);
      REQUIRE(values.size() == expected.size());
      double most = 0;
      for (std::size_t i = 0; i < expected.size(); ++i)
        most = std::max(most, std::abs(static_cast<double>(values[i]) - expected[i]));
      CHECK(most <= tolerance);
    };
    close(run.forward(pattern<T>(batch * run.in_features(), 5, 2, 17)), "y");
    const auto gradients = run.backward(pattern<T>(batch * run.out_features(), 7, 3, 19));
    close(gradients.dx, "dx");
    close(gradients.parameters, "parameters");
  }

  ReferenceFile file_{"padding"};
};

// A padding of random sizes, as plain loops.
struct Padding {
  PadMode mode;
  Sizes in, out;
  std::vector<index_t> paddings;  // two for each dimension, the last dimension first

  static Padding draw(PadMode mode, int rank, Generator& random) {
    Padding p{mode, {}, {}, {}};
    for (int d = 0; d < rank; ++d)
      p.in.append(1 + random.below(d == 0 ? 3 : 7));
    for (int d = rank; d-- > 1;)
      for (int side = 0; side < 2; ++side) {
        const index_t n = p.in[d];
        p.paddings.push_back(mode == PadMode::reflect    ? random.below(n)
                             : mode == PadMode::circular ? random.below(n + 1)
                             : mode == PadMode::constant ? random.below(5) - (side == 0 && n > 1)
                                                         : random.below(10));
      }
    for (int d = 0; d < rank; ++d)
      p.out.append(p.in[d] + p.before(d) + p.after(d));
    return p;
  }
  index_t before(int d) const { return of(d, 0); }
  index_t after(int d) const { return of(d, 1); }

  // Returns the element of x that element i of y is, or -1.
  index_t source(index_t i) const {
    index_t at = 0, stride = 1;
    for (int d = in.rank() - 1; d >= 0; --d) {
      const index_t n = in[d];
      index_t t = i % out[d] - before(d);
      if (mode == PadMode::circular) t = (t + n) % n;
      if (mode == PadMode::replicate) t = std::clamp<index_t>(t, 0, n - 1);
      if (mode == PadMode::reflect) t = n - 1 - std::abs(n - 1 - std::abs(t));
      if (t < 0 || t >= n) return -1;
      at += t * stride;
      stride *= n;
      i /= out[d];
    }
    return at;
  }

 private:
  index_t of(int d, std::size_t side) const {
    const auto pair = static_cast<std::size_t>(in.rank() - 1 - d);
    return 2 * pair < paddings.size() ? paddings[2 * pair + side] : 0;
  }
};

template <class T, class D>
void check_padding(D& device, const Padding& p, const Slice& slice) {
  constexpr double fill = 0.375;
  Lowering<D, T> builder(p.in);
  builder.enter("pad");
  const value_t y =
      builder.add(GatherOp::padding(GatherOp::Kind::pad_with_mode, p.mode, p.in, p.paddings, fill),
                  GraphBuilder::input, p.out);
  LayerRun<T, D> run(device, std::move(builder).finish(y), slice);

  // Eighths, whose sums are exact.
  const index_t ins = p.in.numel(), outs = p.out.numel();
  const std::vector<T> x = pattern<T>(slice.count * ins, 5, 2, 17),
                       dy = pattern<T>(slice.count * outs, 7, 3, 19);
  std::vector<T> expected, dx(x.size());
  for (index_t i = 0; i < slice.count * outs; ++i) {
    const index_t sample = i / outs * ins, source = p.source(i % outs);
    expected.push_back(source < 0 ? T{fill} : x.data()[sample + source]);
    if (source >= 0) dx.data()[sample + source] += dy.data()[i];
  }
  CHECK(run.forward(x) == expected);
  CHECK(run.backward(dy).dx == dx);
}

}  // namespace

TEST_CASE_TEMPLATE("paddings are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  References expect;
  expect.layer(device, nn::ZeroPad1d<1, 2>{}, Shape<2, 3>{});
  expect.layer(device, nn::ZeroPad2d<1, -2, -1, 3>{}, Shape<2, 3, 4>{});
  expect.layer(device, nn::ZeroPad3d<0, 1, 2, 0, 1, 1>{}, Shape<2, 1, 2, 3>{});
  expect.layer(device, nn::ConstantPad1d<2, -1>{0.5}, Shape<3, 4>{});
  expect.layer(device, nn::ConstantPad2d<1, 0, 2, 3>{-3.5}, Shape<2, 1, 4>{});
  expect.layer(device, nn::ConstantPad3d<1>{7}, Shape<1, 2, 1, 2>{});
  expect.layer(device, nn::ReflectionPad1d<3, 1>{}, Shape<2, 4>{});
  expect.layer(device, nn::ReflectionPad2d<1, 3, 2, 0>{}, Shape<2, 3, 4>{});
  expect.layer(device, nn::ReflectionPad3d<1, 0, 2, 1, 1, 1>{}, Shape<2, 2, 3, 2>{});
  expect.layer(device, nn::ReplicationPad1d<3, 1>{}, Shape<2, 1>{});
  expect.layer(device, nn::ReplicationPad2d<5, 1, 0, 2>{}, Shape<2, 3, 2>{});
  expect.layer(device, nn::ReplicationPad3d<1, 2, 3, 0, 2, 1>{}, Shape<1, 1, 2, 3>{});
  expect.layer(device, nn::CircularPad1d<4, 3>{}, Shape<2, 4>{});
  expect.layer(device, nn::CircularPad2d<1, 2, 3, 0>{}, Shape<2, 3, 2>{});
  expect.layer(device, nn::CircularPad3d<2, 0, 1, 3, 1, 2>{}, Shape<2, 2, 3, 2>{});
  expect.function(
      device,
      [](const nn::Value& x) {
        const nn::Value a = pad(x, {1, 2, 1, 0}, "reflect");
        const nn::Value b = pad(pad(a, {0, 3}, "replicate"), {2, 0, 1, 1}, "circular");
        return pad(b, {-1, 1, 0, 0, 1, 0}, "constant", 0.25);
      },
      {2, 3, 4}, "pad");
}

TEST_CASE_TEMPLATE("convolutions with modes of padding are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  References expect;
  using nn::Padding;
  expect.layer(device, nn::Conv1d<3, 3, nn::Stride<2>, Padding<2>, nn::PaddingReflect>{},
               Shape<2, 5>{});
  expect.layer(device, nn::Conv1d<2, 4, nn::PaddingSame, nn::Groups<2>, nn::PaddingCircular>{},
               Shape<4, 6>{}, "Conv1d same");
  expect.layer(device, nn::Conv2d<4, 3, Padding<1, 3>, nn::PaddingCircular, nn::Bias<false>>{},
               Shape<2, 4, 5>{});
  expect.layer(device,
               nn::Conv2d<2, 2, nn::KernelWidth<3>, nn::PaddingSame, nn::Dilation<2>,
                          nn::PaddingReplicate>{},
               Shape<3, 4, 5>{}, "Conv2d same");
}

TEST_CASE_TEMPLATE("paddings of random sizes are those of a plain loop", D, GPUNET_TEST_DEVICES) {
  Host one({.threads = 1});
  Generator random(7);
  const std::vector<index_t> batches =
      std::same_as<D, Host> ? std::vector<index_t>{1, 5, 16, 17, 33} : std::vector<index_t>{1, 3};
  for (const PadMode mode :
       {PadMode::constant, PadMode::reflect, PadMode::replicate, PadMode::circular})
    for (int rank = 2; rank <= 4; ++rank)
      for (const index_t batch : batches) {
        const ::Padding p = ::Padding::draw(mode, rank, random);
        CAPTURE(name_of(mode));
        CAPTURE(to_string(p.in));
        CAPTURE(to_string(p.out));
        for (const Slice& slice : slices_of<D>(batch)) {
          check_padding<float>(test_device<D>(), p, slice);
          if constexpr (std::same_as<D, Host>)
            check_padding<double>(one, p, slice);
          else
            check_padding<double>(test_device<D>(), p, slice);
        }
      }
}

TEST_CASE_TEMPLATE("gradients of paddings", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    check_layer_gradients(device, nn::ZeroPad2d<1>{}, Shape<2, 3, 4>{}, slice);
    check_layer_gradients(device, nn::ZeroPad2d<2>{}, Shape<1, 1, 1>{}, slice);
    check_layer_gradients(device, nn::ZeroPad2d<0>{}, Shape<2, 2, 2>{}, slice);
    check_layer_gradients(device, nn::ZeroPad2d<-1, 1, 0, 2>{}, Shape<2, 2, 2>{}, slice);
    check_layer_gradients(device, nn::ReflectionPad2d<1, 2, 1, 0>{}, Shape<2, 2, 3>{}, slice);
    check_layer_gradients(device, nn::ReplicationPad3d<1>{}, Shape<1, 1, 1, 1>{}, slice);
    check_layer_gradients(device, nn::CircularPad1d<3, 2>{}, Shape<2, 3>{}, slice);
    check_layer_gradients(device, nn::Conv2d<2, 3, nn::Padding<1>, nn::PaddingReflect>{},
                          Shape<1, 3, 2>{}, slice);
  }
}

TEST_CASE_TEMPLATE("elements of a padded image", D, GPUNET_TEST_DEVICES) {
  LayerRun<float, D> run(test_device<D>(), nn::ZeroPad2d<2, 1, 0, 1>{}, Shape<1, 2, 2>{},
                         {1, 1, 1});
  CHECK(run.forward({1, 2, 3, 4}) ==
        std::vector<float>{0, 0, 1, 2, 0, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0});
  CHECK(run.backward({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}).dx ==
        std::vector<float>{2, 3, 7, 8});
  LayerRun<float, D> empty(test_device<D>(), nn::ZeroPad2d<1>{}, Shape<1, 0, 1>{}, {1, 1, 1});
  CHECK(empty.forward({}) == std::vector<float>(6));
  LayerRun<float, D> moved(test_device<D>(), nn::ZeroPad1d<1, -1>{}, Shape<1, 3>{}, {1, 1, 1});
  CHECK(moved.forward({1, 2, 3}) == std::vector<float>{0, 1, 2});
}

TEST_CASE("a padding with a mode belongs to its convolution") {
  Host host({.threads = 1});
  using Conv = nn::Conv2d<4, 3, nn::Padding<1>, nn::PaddingCircular>;
  using Net = nn::Sequential<nn::Input<2, 6, 5>, nn::ReLU, nn::Named<"conv", Conv>, nn::ReLU>;
  manual_seed(3);
  Model net(host, Net{});
  manual_seed(3);
  Model plain(host, nn::Sequential<nn::Input<2, 6, 5>, nn::ReLU,
                                   nn::Named<"conv", nn::Conv2d<4, 3, nn::Padding<1>>>>{});
  const auto numbers = [](const auto& model) {
    const auto parameters = model.parameters();
    return std::vector(parameters.data(), parameters.data() + parameters.numel());
  };
  CHECK(numbers(net) == numbers(plain));
  CHECK(net.named_parameters()[0].name == "conv.weight");
  CHECK(net.named_parameters().size() == 2);

  const Summary summary = gpunet::summary(net);
  REQUIRE(summary.layers.size() == 3);
  CHECK(summary.layers[0].output_size == Sizes{1, 2, 6, 5});
  CHECK(summary.layers[1].input_size == Sizes{1, 2, 6, 5});
  CHECK(summary.layers[1].output_size == Sizes{1, 4, 6, 5});
  CHECK(summary.layers[1].inputs == std::vector{0});
}

TEST_CASE("output of paddings") {
  static_assert(
      std::is_same_v<decltype(nn::ZeroPad2d<1>{}.output(Shape<2, 3, 4>{})), Shape<2, 5, 6>>);
  static_assert(std::is_same_v<decltype(nn::ReflectionPad2d<1, 2, 3, 4>{}.output(Shape<2, 5, 4>{})),
                               Shape<2, 12, 7>>);
  static_assert(
      std::is_same_v<decltype(nn::ZeroPad3d<-1>{}.output(Shape<2, 2, 4, 9>{})), Shape<2, 0, 2, 7>>);
  static_assert(nn::CircularPad1d<2, 1>{}.output(Shape<2, 2>{}).sizes() == Sizes{2, 5});
  const Shape dynamic(Dim<2>{}, Dim(index_t{3}), Dim<4>{});
  CHECK(nn::ZeroPad2d<1>{}.output(dynamic).sizes() == Sizes{2, 5, 6});
}

TEST_CASE("run-time sizes that a padding cannot have") {
  const auto error = [](const auto& layer, index_t height) {
    return error_of([&] { layer.output(Shape(Dim<2>{}, Dim(height), Dim<4>{})); });
  };
  CHECK(error(nn::ReflectionPad2d<0, 0, 2, 3>{}, 3) ==
        "gpunet::nn::ReflectionPad2d: paddings 2 and 3 of dimension -2 of shape [2, 3, 4] (want 0 "
        "to 2, the elements to reflect), use other paddings or a larger input");
  CHECK(error(nn::CircularPad2d<3>{}, 2) ==
        "gpunet::nn::CircularPad2d: paddings 3 and 3 of dimension -2 of shape [2, 2, 4] (want 0 to "
        "2, the elements to repeat), use other paddings or a larger input");
  CHECK(error(nn::ReplicationPad2d<1>{}, 0) ==
        "gpunet::nn::ReplicationPad2d: paddings 1 and 1 of dimension -2 of shape [2, 0, 4] (want 0 "
        "or more, and an element to repeat), use other paddings or a larger input");
  CHECK(error(nn::ConstantPad2d<-2>{1}, 3) ==
        "gpunet::nn::ConstantPad2d: paddings -2 and -2 of dimension -2 of shape [2, 3, 4] (want no "
        "more left out than 3 elements), use other paddings or a larger input");
  CHECK(error(nn::ZeroPad2d<1>{}, index_t{1} << 38) ==
        "gpunet::nn::ZeroPad2d: padding of shape [2, 274877906944, 4] (want 2^40 numbers or fewer, "
        "no memory holds more), give smaller sizes");
  CHECK(error(nn::Conv2d<4, 3, nn::Padding<2>, nn::PaddingReflect>{}, 2) ==
        "gpunet::nn::Conv2d: paddings 2 and 2 of dimension -2 of shape [2, 2, 4] (want 0 to 1, the "
        "elements to reflect), use other paddings or a larger input");

  using RunTimeConv = nn::Conv2d<dyn, dyn, nn::Stride<dyn>, nn::Padding<dyn>, nn::PaddingReflect>;
  CHECK(error(RunTimeConv(4, 3, 1, 2), 2) ==
        error(nn::Conv2d<4, 3, nn::Padding<2>, nn::PaddingReflect>{}, 2));
  CHECK(RunTimeConv(4, 3, 1, 2).output(Shape<2, 3, 4>{}).sizes() == Sizes{4, 5, 6});

  const auto pad_error = [](auto... arguments) {
    const auto function = [&](const nn::Value& x) {
      return pad(x, {1, 1}, arguments...);
    };
    return error_of([&] {
      nn::detail::graph_of_function(nn::detail::Backend::none, function, {Sizes{2, 1}});
    });
  };
  CHECK(pad_error("edge") ==
        "gpunet::nn::pad: the mode \"edge\" (want \"constant\", \"reflect\", \"replicate\" or "
        "\"circular\"), give one of these");
  CHECK(pad_error("circular", 0.5) ==
        "gpunet::nn::pad: value 0.5 for the mode \"circular\" (it adds elements of x), leave one "
        "out");
  CHECK(pad_error("reflect") ==
        "gpunet::nn::pad: paddings 1 and 1 of dimension -1 of shape [2, 1] (want 0 to 0, the "
        "elements to reflect), use other paddings or a larger input");
}

TEST_CASE("paddings are printed as by PyTorch") {
  const nn::Sequential net(
      nn::Input<2, 9, 9>{}, nn::ZeroPad2d<1, 2, 3, -4>{}, nn::ConstantPad2d<1>{3},
      nn::ReflectionPad2d<1>{}, nn::ReplicationPad2d<1>{}, nn::CircularPad2d<1, 2, 3, 4>{},
      nn::Conv2d<4, 3, nn::Padding<1, 2>, nn::PaddingReflect, nn::Groups<2>, nn::Bias<false>>{},
      nn::Conv2d<4, 3, nn::PaddingSame, nn::PaddingCircular>{});
  CHECK(nn::to_string(net) ==
        "Sequential(\n"
        "  (0): ZeroPad2d((1, 2, 3, -4))\n"
        "  (1): ConstantPad2d(padding=(1, 1, 1, 1), value=3.0)\n"
        "  (2): ReflectionPad2d((1, 1, 1, 1))\n"
        "  (3): ReplicationPad2d((1, 1, 1, 1))\n"
        "  (4): CircularPad2d((1, 2, 3, 4))\n"
        "  (5): Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 2), groups=2, "
        "bias=False, padding_mode=reflect)\n"
        "  (6): Conv2d(4, 4, kernel_size=(3, 3), stride=(1, 1), padding=same, "
        "padding_mode=circular)\n"
        ")");
  const auto function = [](const nn::Value& x) {
    return pad(pad(x, {1, 2}, "reflect"), {1, 0, 0, 2});
  };
  const Graph graph =
      nn::detail::graph_of_function(nn::detail::Backend::none, function, {Sizes{2, 3, 3}});
  CHECK(to_string(graph) ==
        "Sequential(\n"
        "  (pad): Pad((1, 2), mode='reflect')\n"
        "  (pad): Pad((1, 0, 0, 2), mode='constant', value=0.0)\n"
        ")");
}
