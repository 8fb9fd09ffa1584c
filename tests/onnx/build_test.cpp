#include <algorithm>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/onnx.hpp>

#include "onnx_network.hpp"
#include "support/devices.hpp"

using namespace gpunet;
using namespace onnx_file;

namespace {

// Windows of a convolution or pooling in two dimensions.
struct Windows {
  index_t size[2], kernel[2], stride[2], dilation[2], before[2], after[2];
  index_t reach(int d) const { return (kernel[d] - 1) * dilation[d] + 1; }
  index_t outputs(int d) const {
    return (size[d] + before[d] + after[d] - reach(d)) / stride[d] + 1;
  }
  // Calls f(row, column, tap) for the elements of a window that are in the image.
  template <class F>
  void each(index_t row, index_t column, F f) const {
    for (index_t i = 0; i < kernel[0]; ++i)
      for (index_t j = 0; j < kernel[1]; ++j) {
        const index_t r = row * stride[0] + i * dilation[0] - before[0],
                      c = column * stride[1] + j * dilation[1] - before[1];
        if (r >= 0 && r < size[0] && c >= 0 && c < size[1]) f(r, c, i * kernel[1] + j);
      }
  }
  std::vector<index_t> pads() const { return {before[0], before[1], after[0], after[1]}; }
  static std::vector<index_t> pair(const index_t (&of)[2]) { return {of[0], of[1]}; }
};

struct Case {
  index_t batch, channels, outputs, groups;
  Windows w;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {1, 3, 5, 1, {{7, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}},
      {3, 4, 6, 2, {{8, 5}, {3, 1}, {2, 1}, {1, 1}, {1, 0}, {0, 0}}},
      {17, 6, 6, 6, {{9, 9}, {3, 3}, {2, 2}, {2, 2}, {2, 2}, {1, 3}}},
      {2, 1, 1, 1, {{5, 6}, {2, 4}, {1, 3}, {3, 1}, {0, 2}, {2, 1}}},
      {4, 2, 8, 1, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}},
      {33, 16, 32, 1, {{6, 6}, {3, 3}, {1, 1}, {1, 1}, {0, 1}, {1, 0}}},
  };
  return all;
}

Numbers convolved(const Case& c, const std::vector<float>& x, const std::vector<float>& weight,
                  const std::vector<float>& bias) {
  const Windows& w = c.w;
  const index_t ins = c.channels / c.groups, outs = c.outputs / c.groups;
  Numbers y;
  for (index_t n = 0; n < c.batch; ++n)
    for (index_t o = 0; o < c.outputs; ++o)
      for (index_t row = 0; row < w.outputs(0); ++row)
        for (index_t column = 0; column < w.outputs(1); ++column) {
          double sum = bias.empty() ? 0 : static_cast<double>(bias[static_cast<std::size_t>(o)]);
          for (index_t i = 0; i < ins; ++i)
            w.each(row, column, [&](index_t r, index_t k, index_t tap) {
              const index_t channel = o / outs * ins + i;
              const index_t at = ((n * c.channels + channel) * w.size[0] + r) * w.size[1] + k;
              const index_t of = (o * ins + i) * w.kernel[0] * w.kernel[1] + tap;
              sum += static_cast<double>(x[static_cast<std::size_t>(at)]) *
                     static_cast<double>(weight[static_cast<std::size_t>(of)]);
            });
          y.push_back(sum);
        }
  return y;
}

std::vector<ProtoMessage> attributes_of(const Windows& w) {
  return {with("strides", Windows::pair(w.stride)), with("dilations", Windows::pair(w.dilation)),
          with("pads", w.pads())};
}

// y = f(x) of a model with one node of one input [batch, 2, 3].
void check_function(const std::string& op, const std::vector<ProtoMessage>& attributes,
                    const std::function<double(double)>& f, bool of_positive = false) {
  INFO(op);
  OnnxFile file;
  file.opset = 20;
  file.input("x", {-1, 2, 3}).output("y").node(op, {"x"}, {"y"}, attributes);
  std::vector<float> x = numbers(30, 3);
  for (float& value : x)
    value = of_positive ? std::fabs(value) + 0.1f : 3 * value;
  Numbers wanted;
  for (const float value : x)
    wanted.push_back(f(static_cast<double>(value)));
  check_near(run(test_device<Host>(), file, 5, x), {5, 2, 3}, wanted, 2e-6);
}

// A model whose output is one node of "x" [batch, 2, 3, 4] and other inputs.
OnnxFile of_node(std::string_view op, std::initializer_list<std::string_view> inputs,
                 const std::vector<ProtoMessage>& attributes = {},
                 const std::vector<ProtoMessage>& tensors = {}) {
  OnnxFile file;
  file.input("x", {-1, 2, 3, 4}).output("y");
  for (const ProtoMessage& tensor : tensors)
    file.tensor(tensor);
  file.node(op, inputs, {"y"}, attributes);
  return file;
}

}  // namespace

TEST_CASE_TEMPLATE("convolutions are those of a plain loop", D, GPUNET_TEST_DEVICES) {
  unsigned seed = 1;
  for (const Case& c : cases())
    for (const bool has_bias : {false, true}) {
      const Windows& w = c.w;
      const index_t ins = c.channels / c.groups;
      const auto x = numbers(c.batch * c.channels * w.size[0] * w.size[1], ++seed);
      const auto weight = numbers(c.outputs * ins * w.kernel[0] * w.kernel[1], ++seed);
      const auto bias = numbers(has_bias ? c.outputs : 0, ++seed);
      OnnxFile file;
      file.input("x", {-1, c.channels, w.size[0], w.size[1]}).output("y");
      file.tensor(floats("c.weight", {c.outputs, ins, w.kernel[0], w.kernel[1]}, weight));
      std::vector<ProtoMessage> attributes = attributes_of(w);
      attributes.push_back(with("group", c.groups));
      if (has_bias) {
        file.tensor(floats("c.bias", {c.outputs}, bias));
        file.node("Conv", {"x", "c.weight", "c.bias"}, {"y"}, attributes);
      } else {
        file.node("Conv", {"x", "c.weight"}, {"y"}, attributes);
      }
      check_near(run(test_device<D>(), file, c.batch, x),
                 {c.batch, c.outputs, w.outputs(0), w.outputs(1)}, convolved(c, x, weight, bias),
                 1e-5);
    }
}

TEST_CASE("auto_pad is the padding of its formula") {
  const Case even{2, 2, 3, 1, {{6, 7}, {4, 3}, {1, 2}, {1, 1}, {1, 1}, {2, 1}}};
  Case lower = even;
  std::swap(lower.w.before[0], lower.w.after[0]);
  Case valid = even;
  valid.w.before[0] = valid.w.before[1] = valid.w.after[0] = valid.w.after[1] = 0;
  const auto x = numbers(2 * 2 * 42, 7), weight = numbers(3 * 2 * 12, 8);
  for (const auto& [name, c] :
       {std::pair{"SAME_UPPER", even}, std::pair{"SAME_LOWER", lower}, std::pair{"VALID", valid}}) {
    OnnxFile file;
    file.input("x", {-1, 2, 6, 7}).output("y").tensor(floats("w", {3, 2, 4, 3}, weight));
    file.node("Conv", {"x", "w"}, {"y"},
              {with("auto_pad", name), with("strides", std::vector<index_t>{1, 2})});
    check_near(run(test_device<Host>(), file, 2, x), {2, 3, c.w.outputs(0), c.w.outputs(1)},
               convolved(c, x, weight, {}), 1e-5);
  }
}

TEST_CASE("convolutions of rows are those of images of one row") {
  const Case c{5, 4, 6, 2, {{1, 11}, {1, 3}, {1, 2}, {1, 2}, {0, 3}, {0, 1}}};
  const auto x = numbers(5 * 4 * 11, 1), weight = numbers(6 * 2 * 3, 2), bias = numbers(6, 3);
  OnnxFile file;
  file.input("x", {-1, 4, 11}).output("y");
  file.tensor(floats("w", {6, 2, 3}, weight)).tensor(floats("b", {6}, bias));
  file.node("Conv", {"x", "w", "b"}, {"y"},
            {with("strides", std::vector<index_t>{2}), with("dilations", std::vector<index_t>{2}),
             with("pads", std::vector<index_t>{3, 1}), with("group", index_t{2})});
  check_near(run(test_device<Host>(), file, 5, x), {5, 6, c.w.outputs(1)},
             convolved(c, x, weight, bias), 1e-5);
}

TEST_CASE("transposed convolutions are the input gradients of convolutions") {
  for (const Case& c : cases()) {
    const Windows& w = c.w;
    const index_t ins = c.channels / c.groups, outs = c.outputs / c.groups;
    // x is the output of a convolution, y its input.
    const index_t rows = w.outputs(0), columns = w.outputs(1);
    const auto x = numbers(c.batch * c.outputs * rows * columns, 5);
    const auto weight = numbers(c.outputs * ins * w.kernel[0] * w.kernel[1], 6);
    std::vector<index_t> more;
    for (int d : {0, 1})
      more.push_back(w.size[d] -
                     ((w.outputs(d) - 1) * w.stride[d] + w.reach(d) - w.before[d] - w.after[d]));
    OnnxFile file;
    file.input("x", {-1, c.outputs, rows, columns}).output("y");
    file.tensor(floats("w", {c.outputs, ins, w.kernel[0], w.kernel[1]}, weight));
    std::vector<ProtoMessage> attributes = attributes_of(w);
    attributes.push_back(with("group", c.groups));
    attributes.push_back(with("output_padding", more));
    file.node("ConvTranspose", {"x", "w"}, {"y"}, attributes);
    Numbers wanted(static_cast<std::size_t>(c.batch * c.channels * w.size[0] * w.size[1]));
    std::size_t at = 0;
    for (index_t n = 0; n < c.batch; ++n)
      for (index_t o = 0; o < c.outputs; ++o)
        for (index_t row = 0; row < rows; ++row)
          for (index_t column = 0; column < columns; ++column, ++at)
            for (index_t i = 0; i < ins; ++i)
              w.each(row, column, [&](index_t r, index_t k, index_t tap) {
                const index_t channel = n * c.channels + o / outs * ins + i;
                const index_t of = (o * ins + i) * w.kernel[0] * w.kernel[1] + tap;
                wanted[static_cast<std::size_t>((channel * w.size[0] + r) * w.size[1] + k)] +=
                    static_cast<double>(x[at]) *
                    static_cast<double>(weight[static_cast<std::size_t>(of)]);
              });
    check_near(run(test_device<Host>(), file, c.batch, x),
               {c.batch, c.channels, w.size[0], w.size[1]}, wanted, 1e-5);
  }
}

TEST_CASE("poolings are those of plain loops") {
  const std::vector<Windows> all{{{7, 9}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
                                 {{8, 5}, {2, 3}, {2, 1}, {1, 1}, {0, 1}, {0, 2}},
                                 {{6, 6}, {4, 2}, {3, 2}, {1, 1}, {2, 0}, {1, 1}},
                                 {{1, 4}, {1, 2}, {1, 2}, {1, 1}, {0, 0}, {0, 0}}};
  for (const Windows& w : all) {
    const index_t batch = 3, channels = 2;
    const auto x = numbers(batch * channels * w.size[0] * w.size[1], 9);
    Numbers largest, mean, mean_with_zeros;
    for (index_t plane = 0; plane < batch * channels; ++plane)
      for (index_t row = 0; row < w.outputs(0); ++row)
        for (index_t column = 0; column < w.outputs(1); ++column) {
          double most = -9, sum = 0, count = 0;
          w.each(row, column, [&](index_t r, index_t c, index_t) {
            const auto value = static_cast<double>(
                x[static_cast<std::size_t>((plane * w.size[0] + r) * w.size[1] + c)]);
            most = std::max(most, value), sum += value, ++count;
          });
          largest.push_back(most), mean.push_back(sum / count);
          mean_with_zeros.push_back(sum / static_cast<double>(w.kernel[0] * w.kernel[1]));
        }
    const Sizes out{batch, channels, w.outputs(0), w.outputs(1)};
    const auto check = [&](const char* op, const Numbers& wanted, index_t counts) {
      OnnxFile file;
      file.input("x", {-1, channels, w.size[0], w.size[1]}).output("y");
      file.node(
          op, {"x"}, {"y"},
          {with("kernel_shape", Windows::pair(w.kernel)), with("strides", Windows::pair(w.stride)),
           with("pads", w.pads()), with("count_include_pad", counts)});
      check_near(run(test_device<Host>(), file, batch, x), out, wanted);
    };
    check("MaxPool", largest, 0);
    check("AveragePool", mean, 0);
    check("AveragePool", mean_with_zeros, 1);
  }
}

TEST_CASE("ceil_mode has the windows of PyTorch") {
  // A last window that begins in the image, and one that would begin behind it.
  for (const auto& [size, kernel, stride, pad, outputs] : std::vector<std::array<index_t, 5>>{
           {6, 3, 2, 0, 3}, {5, 3, 2, 0, 2}, {4, 2, 3, 1, 2}, {7, 2, 3, 0, 3}, {3, 1, 2, 0, 2}}) {
    OnnxFile file;
    file.input("x", {-1, 1, size}).output("y");
    file.node("MaxPool", {"x"}, {"y"},
              {with("kernel_shape", std::vector<index_t>{kernel}),
               with("strides", std::vector<index_t>{stride}),
               with("pads", std::vector<index_t>{pad, pad}), with("ceil_mode", index_t{1})});
    CHECK(run(test_device<Host>(), file, 1, numbers(size, 1)).sizes() == Sizes{1, 1, outputs});
  }
}

TEST_CASE("functions of elements are their formulas") {
  const auto none = std::vector<ProtoMessage>{};
  check_function("Relu", none, [](double x) { return std::max(x, 0.0); });
  check_function("LeakyRelu", none, [](double x) { return x > 0 ? x : 0.01 * x; });
  check_function("LeakyRelu", {with("alpha", 0.5f)}, [](double x) { return x > 0 ? x : 0.5 * x; });
  check_function("Sigmoid", none, [](double x) { return 1 / (1 + std::exp(-x)); });
  check_function("Tanh", none, [](double x) { return std::tanh(x); });
  check_function("Elu", {with("alpha", 0.5f)},
                 [](double x) { return x > 0 ? x : 0.5 * std::expm1(x); });
  check_function("Celu", {with("alpha", 2.f)},
                 [](double x) { return std::max(x, 0.0) + std::min(0.0, 2 * std::expm1(x / 2)); });
  check_function("Selu", none, [](double x) {
    return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
  });
  check_function("Selu", {with("alpha", 2.f), with("gamma", 3.f)},
                 [](double x) { return 3 * (x > 0 ? x : 2 * std::expm1(x)); });
  const auto clamped = [](double x) {
    return std::clamp(x, 0.0, 1.0);
  };
  check_function("HardSigmoid", none, [&](double x) { return clamped(0.2 * x + 0.5); });
  check_function("HardSigmoid", {with("alpha", 1.f / 6)},
                 [&](double x) { return clamped(x / 6 + 0.5); });
  check_function("HardSwish", none, [&](double x) { return x * clamped(x / 6 + 0.5); });
  check_function("Softplus", none, [](double x) { return std::log1p(std::exp(x)); });
  check_function("Softsign", none, [](double x) { return x / (1 + std::fabs(x)); });
  check_function("Mish", none, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); });
  check_function("Gelu", none, [](double x) { return x * std::erfc(-x * std::sqrt(0.5)) / 2; });
  check_function("Gelu", {with("approximate", "tanh")}, [](double x) {
    return x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  });
  check_function("Erf", none, [](double x) { return std::erf(x); });
  check_function("Exp", none, [](double x) { return std::exp(x); });
  check_function("Neg", none, [](double x) { return -x; });
  check_function("Abs", none, [](double x) { return std::fabs(x); });
  check_function("Identity", none, [](double x) { return x; });
  check_function("Dropout", none, [](double x) { return x; });
  check_function(
      "Log", none, [](double x) { return std::log(x); }, true);
  check_function(
      "Sqrt", none, [](double x) { return std::sqrt(x); }, true);
  check_function(
      "Reciprocal", none, [](double x) { return 1 / x; }, true);
}

TEST_CASE("arithmetic takes numbers, parameters, constants and values") {
  const auto x = numbers(2 * 24, 4);
  const auto gain = numbers(3, 5);
  const auto check = [&](const char* op, const OnnxFile& file, auto f, bool first = true) {
    INFO(op);
    Numbers wanted;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto a = static_cast<double>(x[i]), b = static_cast<double>(gain[i / 4 % 3]);
      wanted.push_back(first ? f(a, b) : f(b, a));
    }
    check_near(run(test_device<Host>(), file, 2, x), {2, 2, 3, 4}, wanted);
  };
  const auto add = [](double a, double b) {
    return a + b;
  };
  const auto sub = [](double a, double b) {
    return a - b;
  };
  const auto mul = [](double a, double b) {
    return a * b;
  };
  const auto div = [](double a, double b) {
    return a / b;
  };
  const auto greatest = [](double a, double b) {
    return std::max(a, b);
  };
  const auto least = [](double a, double b) {
    return std::min(a, b);
  };
  for (const std::vector<index_t>& dims :
       {std::vector<index_t>{3, 1}, std::vector<index_t>{1, 3, 1},
        std::vector<index_t>{1, 1, 3, 1}}) {
    const auto file = [&](const char* op, bool first) {
      OnnxFile of = first ? of_node(op, {"x", "g"}) : of_node(op, {"g", "x"});
      return of.tensor(floats("g", dims, gain));
    };
    check("Add", file("Add", true), add);
    check("Sub", file("Sub", true), sub);
    check("Sub", file("Sub", false), sub, false);
    check("Mul", file("Mul", false), mul, false);
    check("Div", file("Div", true), div);
    check("Div", file("Div", false), div, false);
    check("Max", file("Max", true), greatest);
    check("Min", file("Min", true), least);
  }
  // An initializer is a parameter, a Constant is not.
  Network net(test_device<Host>(),
              model_of(of_node("Add", {"x", "g"}).tensor(floats("g", {3, 1}, gain))));
  REQUIRE(net.named_parameters().size() == 1);
  CHECK(net.named_parameters()[0].name == "g");
  OnnxFile constant;
  constant.input("x", {-1, 2, 3, 4}).output("y");
  constant.node("Constant", {}, {"g"}, {with_tensor("value", floats("", {3, 1}, gain))})
      .node("Mul", {"x", "g"}, {"y"});
  check("Mul", constant, mul);
  CHECK(Network(test_device<Host>(), model_of(constant)).named_parameters().empty());
  // Numbers, in both places, and two values.
  OnnxFile file;
  file.input("x", {-1, 2, 3, 4}).output("y").tensor(floats("two", {}, {2}));
  file.node("Mul", {"x", "two"}, {"a"})
      .node("Sub", {"two", "a"}, {"b"})
      .node("Pow", {"b", "two"}, {"c"})
      .node("Sum", {"a", "b", "c"}, {"y"});
  Numbers wanted;
  for (const float value : x) {
    const double a = 2 * static_cast<double>(value), b = 2 - a;
    wanted.push_back(a + b + b * b);
  }
  check_near(run(test_device<Host>(), file, 2, x), {2, 2, 3, 4}, wanted);
}

TEST_CASE("comparisons choose elements") {
  OnnxFile file;
  file.input("x", {-1, 5}).output("y").tensor(floats("c", {}, {0.25f}));
  file.node("Greater", {"x", "c"}, {"g"})
      .node("Neg", {"x"}, {"n"})
      .node("Where", {"g", "x", "n"}, {"y"});
  const std::vector<float> x{-1, 0.25f, 0.5f, 0, 3};
  check_near(run(test_device<Host>(), file, 1, x), {1, 5}, {1, -0.25, 0.5, 0, 3});
}

TEST_CASE("products with weights") {
  const auto x = numbers(3 * 2 * 5, 1), weight = numbers(20, 2), bias = numbers(4, 3);
  const auto product = [&](bool transposed, bool has_bias) {
    Numbers y;
    for (std::size_t row = 0; row < 6; ++row)
      for (std::size_t o = 0; o < 4; ++o) {
        double sum = has_bias ? static_cast<double>(bias[o]) : 0;
        for (std::size_t i = 0; i < 5; ++i)
          sum += static_cast<double>(x[row * 5 + i]) *
                 static_cast<double>(weight[transposed ? o * 5 + i : i * 4 + o]);
        y.push_back(sum);
      }
    return y;
  };
  Host& host = test_device<Host>();
  const auto gemm = [&](index_t transposed, bool has_bias) {
    OnnxFile file;
    file.input("x", {-1, 5})
        .output("y")
        .tensor(floats("fc.weight",
                       transposed != 0 ? std::vector<index_t>{4, 5} : std::vector<index_t>{5, 4},
                       weight));
    file.tensor(floats("fc.bias", {4}, bias));
    if (has_bias)
      return file.node("Gemm", {"x", "fc.weight", "fc.bias"}, {"y"}, {with("transB", transposed)});
    return file.node("Gemm", {"x", "fc.weight"}, {"y"}, {with("transB", transposed)});
  };
  for (const bool transposed : {false, true})
    for (const bool has_bias : {false, true})
      check_near(run(host, gemm(transposed, has_bias), 6, x), {6, 4}, product(transposed, has_bias),
                 1e-5);
  // A sequence: the sum behind the product is its bias, from either side.
  for (const bool first : {false, true}) {
    OnnxFile file;
    file.input("x", {-1, 2, 5}).output("y");
    file.tensor(floats("w", {5, 4}, weight)).tensor(floats("b", {4}, bias));
    file.node("MatMul", {"x", "w"}, {"p"});
    first ? file.node("Add", {"p", "b"}, {"y"}) : file.node("Add", {"b", "p"}, {"y"});
    check_near(run(host, file, 3, x), {3, 2, 4}, product(false, true), 1e-5);
    Network net(host, model_of(file));
    CHECK(net.graph().nodes.size() == 1);
    CHECK(net.named_parameters()[0].sizes == Sizes{4, 5});  // as a layer has it
  }
  // A weight that is transposed in the graph.
  OnnxFile file;
  file.input("x", {-1, 2, 5}).output("y").tensor(floats("w", {4, 5}, weight));
  file.node("Transpose", {"w"}, {"t"}).node("MatMul", {"x", "t"}, {"y"});
  check_near(run(host, file, 3, x), {3, 2, 4}, product(true, false), 1e-5);
}

TEST_CASE("normalizations are their formulas, with the statistics of the file") {
  const auto x = numbers(2 * 24, 1), scale = numbers(2, 2), shift = numbers(2, 3),
             mean = numbers(2, 4);
  std::vector<float> variance = numbers(2, 5);
  for (float& value : variance)
    value = std::fabs(value) + 0.5f;
  OnnxFile file =
      of_node("BatchNormalization", {"x", "n.weight", "n.bias", "n.running_mean", "n.running_var"},
              {with("epsilon", 0.25f), with("momentum", 0.75f)});
  file.tensor(floats("n.weight", {2}, scale)).tensor(floats("n.bias", {2}, shift));
  file.tensor(floats("n.running_mean", {2}, mean)).tensor(floats("n.running_var", {2}, variance));
  Numbers wanted;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i / 12 % 2;
    wanted.push_back((static_cast<double>(x[i]) - static_cast<double>(mean[c])) /
                         std::sqrt(static_cast<double>(variance[c]) + 0.25) *
                         static_cast<double>(scale[c]) +
                     static_cast<double>(shift[c]));
  }
  check_near(run(test_device<Host>(), file, 2, x), {2, 2, 3, 4}, wanted);
  Network net(test_device<Host>(), model_of(file));
  CHECK(net.named_buffers()[0].name == "n.running_mean");
  CHECK(net.graph().nodes[0].as<BatchNormOp>()->momentum == 0.25);

  const auto normalized = [&](std::size_t length, auto weight_of, auto bias_of) {
    Numbers y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t first = i / length * length;
      double sum = 0, squares = 0;
      for (std::size_t k = first; k < first + length; ++k)
        sum += static_cast<double>(x[k]);
      sum /= static_cast<double>(length);
      for (std::size_t k = first; k < first + length; ++k)
        squares += (static_cast<double>(x[k]) - sum) * (static_cast<double>(x[k]) - sum);
      y.push_back((static_cast<double>(x[i]) - sum) /
                      std::sqrt(squares / static_cast<double>(length) + 1e-5) * weight_of(i) +
                  bias_of(i));
    }
    return y;
  };
  const auto w4 = numbers(4, 6), b4 = numbers(4, 7);
  const auto last = normalized(
      4, [&](std::size_t i) { return static_cast<double>(w4[i % 4]); },
      [&](std::size_t i) { return static_cast<double>(b4[i % 4]); });
  check_near(run(test_device<Host>(),
                 of_node("LayerNormalization", {"x", "w", "b"}, {},
                         {floats("w", {4}, w4), floats("b", {4}, b4)}),
                 2, x),
             {2, 2, 3, 4}, last, 1e-5);
  const auto channels = normalized(
      12, [&](std::size_t i) { return static_cast<double>(scale[i / 12 % 2]); },
      [&](std::size_t i) { return static_cast<double>(shift[i / 12 % 2]); });
  check_near(run(test_device<Host>(),
                 of_node("InstanceNormalization", {"x", "w", "b"}, {},
                         {floats("w", {2}, scale), floats("b", {2}, shift)}),
                 2, x),
             {2, 2, 3, 4}, channels, 1e-5);
}

TEST_CASE("shapes: what exporters write around Reshape is computed while the file is read") {
  const auto x = numbers(3 * 24, 1);
  const Numbers same(x.begin(), x.end());
  Host& host = test_device<Host>();
  const auto check = [&](OnnxFile& file, const Sizes& sizes) {
    check_near(run(host, file, 3, x), sizes, same);
  };
  const auto begin = [] {
    OnnxFile file;
    file.input("x", {-1, 2, 3, 4}).output("y");
    return file;
  };
  OnnxFile file = begin();  // [batch, channels, rows * columns]
  file.tensor(integers("two", {2})).tensor(integers("four", {4})).tensor(integers("axis", {0}));
  file.tensor(whole("one", 1)).tensor(whole("zero", 0)).tensor(whole("last", -1));
  file.node("Shape", {"x"}, {"s"})
      .node("Gather", {"s", "zero"}, {"n"})
      .node("Gather", {"s", "one"}, {"c"})
      .node("Slice", {"s", "two", "four", "axis"}, {"hw"})
      .node("ReduceProd", {"hw"}, {"p"}, {with("keepdims", index_t{0})})
      .node("Unsqueeze", {"n", "axis"}, {"n1"})
      .node("Unsqueeze", {"c", "axis"}, {"c1"})
      .node("Unsqueeze", {"p", "axis"}, {"p1"})
      .node("Concat", {"n1", "c1", "p1"}, {"t"}, {with("axis", index_t{0})})
      .node("Reshape", {"x", "t"}, {"y"});
  check(file, {3, 2, 12});
  file = begin();  // [batch, all / batch]
  file.tensor(integers("axis", {0})).tensor(integers("minus", {-1})).tensor(whole("zero", 0));
  file.node("Shape", {"x"}, {"s"}, {with("end", index_t{1})})
      .node("Size", {"x"}, {"all"})
      .node("Squeeze", {"s", "axis"}, {"n"})
      .node("Div", {"all", "n"}, {"each"})
      .node("Cast", {"each"}, {"e"}, {with("to", index_t{1})})
      .node("Cast", {"e"}, {"i"}, {with("to", index_t{7})})
      .node("Unsqueeze", {"i", "axis"}, {"i1"})
      .node("Concat", {"s", "i1"}, {"t"}, {with("axis", index_t{0})})
      .node("Reshape", {"x", "t"}, {"y"});
  check(file, {3, 24});
  file = begin();  // a shape by ConstantOfShape, Range and arithmetic: [0, 6, 4]
  file.tensor(integers("one", {1})).tensor(integers("three", {3}));
  file.tensor(whole("zero", 0)).tensor(whole("nine", 9)).tensor(whole("three0", 3));
  file.node("Range", {"zero", "nine", "three0"}, {"r"})  // 0 3 6
      .node("ConstantOfShape", {"three"}, {"o"},
            {with_tensor("value", integers("", {2}))})  // 2 2 2
      .node("Constant", {}, {"k"}, {with("value_ints", std::vector<index_t>{0, 0, -8})})
      .node("Mul", {"r", "o"}, {"m"})  // 0 6 12
      .node("Add", {"m", "k"}, {"t"})  // 0 6 4
      .node("Reshape", {"x", "t"}, {"y"});
  check(file, {3, 6, 4});
  file = begin();
  file.node("Flatten", {"x"}, {"y"});
  check(file, {3, 24});
  file = begin();
  file.tensor(integers("axes", {1, -1})).node("Unsqueeze", {"x", "axes"}, {"y"});
  check(file, {3, 1, 2, 3, 4, 1});
  file.graph = {};
  file.input("x", {-1, 1, 24, 1}).output("y").tensor(integers("axes", {1, 3}));
  file.node("Squeeze", {"x", "axes"}, {"y"});
  check(file, {3, 24});
  // A file for one sample takes any batch.
  file.graph = {};
  file.input("x", {1, 2, 3, 4}).output("y").tensor(integers("t", {1, 24}));
  file.node("Reshape", {"x", "t"}, {"y"});
  check(file, {3, 24});
}

TEST_CASE("elements are moved and chosen") {
  const auto x = numbers(2 * 24, 1);
  Host& host = test_device<Host>();
  // Element [n, c, h, w] of x, which has 2 channels, 3 rows, 4 columns.
  const auto at = [&](index_t n, index_t c, index_t h, index_t w) {
    return static_cast<double>(x[static_cast<std::size_t>(((n * 2 + c) * 3 + h) * 4 + w)]);
  };
  const auto each = [](const Sizes& sizes, auto f) {
    Numbers y;
    for (index_t n = 0; n < sizes[0]; ++n)
      for (index_t a = 0; a < sizes[1]; ++a)
        for (index_t b = 0; b < sizes[2]; ++b)
          for (index_t c = 0; c < sizes[3]; ++c)
            y.push_back(f(n, a, b, c));
    return y;
  };
  const auto check = [&](const OnnxFile& file, const Sizes& sizes, auto f) {
    check_near(run(host, file, 2, x), sizes, each(sizes, f));
  };
  check(of_node("Transpose", {"x"}, {with("perm", std::vector<index_t>{0, 3, 1, 2})}), {2, 4, 2, 3},
        [&](index_t n, index_t a, index_t b, index_t c) { return at(n, b, c, a); });
  check(of_node("Concat", {"x", "x"}, {with("axis", index_t{-2})}), {2, 2, 6, 4},
        [&](index_t n, index_t a, index_t b, index_t c) { return at(n, a, b % 3, c); });
  check(of_node("Slice", {"x", "from", "to", "axes"}, {},
                {integers("from", {1, -3}), integers("to", {99, -1}), integers("axes", {2, 3})}),
        {2, 2, 2, 2},
        [&](index_t n, index_t a, index_t b, index_t c) { return at(n, a, b + 1, c + 1); });
  check(of_node("Pad", {"x", "pads"}, {}, {integers("pads", {0, 0, 1, 2, 0, 1, 0, -1})}),
        {2, 3, 4, 5}, [&](index_t n, index_t a, index_t b, index_t c) {
          return a == 2 || b == 0 || c < 2 ? 0 : at(n, a, b - 1, c - 2);
        });
  OnnxFile split;
  split.input("x", {-1, 2, 3, 4}).output("b").tensor(integers("parts", {1, 3}));
  split.node("Split", {"x", "parts"}, {"a", "b"}, {with("axis", index_t{3})});
  check(split, {2, 2, 3, 3},
        [&](index_t n, index_t a, index_t b, index_t c) { return at(n, a, b, c + 1); });
  const Tensor<float, Host> row =
      run(host, of_node("Gather", {"x", "i"}, {with("axis", index_t{2})}, {whole("i", -1)}), 2, x);
  check_near(row, {2, 2, 4}, each({2, 2, 1, 4}, [&](index_t n, index_t a, index_t, index_t c) {
               return at(n, a, 2, c);
             }));
  const auto mean_of_rows = [&](index_t n, index_t a, index_t, index_t) {
    double sum = 0;
    for (index_t h = 0; h < 3; ++h)
      for (index_t w = 0; w < 4; ++w)
        sum += at(n, a, h, w);
    return sum / 12;
  };
  check(of_node("GlobalAveragePool", {"x"}), {2, 2, 1, 1}, mean_of_rows);
  check(of_node("ReduceMean", {"x"}, {with("axes", std::vector<index_t>{2, 3})}), {2, 2, 1, 1},
        mean_of_rows);
  const auto softmax = [&](index_t n, index_t a, index_t b, index_t c) {
    double sum = 0;
    for (index_t w = 0; w < 4; ++w)
      sum += std::exp(at(n, a, b, w));
    return std::exp(at(n, a, b, c)) / sum;
  };
  check(of_node("Softmax", {"x"}), {2, 2, 3, 4}, softmax);
  check(of_node("LogSoftmax", {"x"}), {2, 2, 3, 4},
        [&](index_t n, index_t a, index_t b, index_t c) { return std::log(softmax(n, a, b, c)); });
  OnnxFile old = of_node("Softmax", {"x"});  // over all dimensions behind the batch
  old.opset = 11;
  check(old, {2, 2, 3, 4}, [&](index_t n, index_t a, index_t b, index_t c) {
    double sum = 0;
    for (index_t i = 0; i < 24; ++i)
      sum += std::exp(at(n, i / 12, i / 4 % 3, i % 4));
    return std::exp(at(n, a, b, c)) / sum;
  });
}

TEST_CASE("several inputs and outputs") {
  OnnxFile file;
  file.input("a", {-1, 2}).input("b", {-1, 3}).output("s").output("t");
  file.node("Concat", {"a", "b"}, {"s"}, {with("axis", index_t{1})}).node("Relu", {"b"}, {"t"});
  Host& host = test_device<Host>();
  Network net(host, model_of(file));
  net.eval();
  const Tensor<float, Host> a(host, {1, 2}, {1, 2}), b(host, {1, 3}, {3, -4, 5});
  const auto y = net(a, b);
  CHECK(y.to_vector() == std::vector<float>{1, 2, 3, -4, 5, 3, 0, 5});
  REQUIRE(net.graph().outputs.size() == 2);
  CHECK(net.graph().outputs[1] == Sizes{3});
}

TEST_CASE("an initializer that layers share is one parameter") {
  OnnxFile file;
  file.input("x", {-1, 3}).output("y");
  file.tensor(floats("fc.weight", {3, 3}, numbers(9, 1)));
  file.tensor(floats("fc.bias", {3}, numbers(3, 2)));
  file.node("Gemm", {"x", "fc.weight", "fc.bias"}, {"a"}, {with("transB", index_t{1})})
      .node("Tanh", {"a"}, {"b"})
      .node("Gemm", {"b", "fc.weight", "fc.bias"}, {"y"}, {with("transB", index_t{1})});
  const Network net(test_device<Host>(), model_of(file));
  REQUIRE(net.named_parameters().size() == 2);
  CHECK(net.named_parameters()[0].name == "fc.weight");
  CHECK(net.graph().nodes[2].shares_parameters);
  // A bias that two weights have is two parameters.
  file.graph = {};
  file.input("x", {-1, 3}).output("y").tensor(floats("a.weight", {3, 3}, numbers(9, 1)));
  file.tensor(floats("b.weight", {3, 3}, numbers(9, 2))).tensor(floats("zeros", {3}, {0, 0, 0}));
  file.node("Gemm", {"x", "a.weight", "zeros"}, {"h"})
      .node("Gemm", {"h", "b.weight", "zeros"}, {"y"});
  const Network other(test_device<Host>(), model_of(file));
  REQUIRE(other.named_parameters().size() == 4);
  CHECK(other.named_parameters()[1].name == "zeros");
  CHECK(other.named_parameters()[3].name == "b.bias");
}

namespace {

// The sum of products of rows x [batch, n] with weights [n, n], and of their biases.
struct Term {
  const std::vector<float>& weight;
  std::vector<float> bias = {};
  bool transposed = false;
};
Numbers sum_of_products(const std::vector<float>& x, std::size_t n,
                        const std::vector<Term>& terms) {
  Numbers y;
  for (std::size_t at = 0; at < x.size(); ++at) {
    const std::size_t row = at / n * n, o = at % n;
    double sum = 0;
    for (const Term& term : terms) {
      if (!term.bias.empty()) sum += static_cast<double>(term.bias[o]);
      for (std::size_t i = 0; i < n; ++i)
        sum += static_cast<double>(x[row + i]) *
               static_cast<double>(term.weight[term.transposed ? o * n + i : i * n + o]);
    }
    y.push_back(sum);
  }
  return y;
}

// Checks the output for a batch of 5, and the names of the parameters.
void check_network(const OnnxFile& file, const Sizes& sizes, const std::vector<float>& x,
                   const Numbers& wanted, const std::vector<std::string>& names) {
  check_near(run(test_device<Host>(), file, 5, x), sizes, wanted, 1e-5);
  const Network net(test_device<Host>(), model_of(file));
  std::vector<std::string> found;
  for (const ParameterInfo& parameter : net.named_parameters())
    found.push_back(parameter.name);
  CHECK(found == names);
}

}  // namespace

TEST_CASE("layers share parameters where all tensors, their layout and the kind are the same") {
  const auto x = numbers(15, 1), w = numbers(9, 2), b1 = numbers(3, 3), b2 = numbers(3, 4);
  const auto begin = [&] {
    OnnxFile file;
    file.input("x", {-1, 3}).output("y").tensor(floats("fc.weight", {3, 3}, w));
    return file.tensor(floats("b1", {3}, b1)).tensor(floats("b2", {3}, b2));
  };
  const ProtoMessage transposed = with("transB", index_t{1});
  OnnxFile file = begin();
  file.node("Gemm", {"x", "fc.weight", "b1"}, {"p"})
      .node("Gemm", {"x", "fc.weight", "b2"}, {"q"})
      .node("Add", {"p", "q"}, {"y"});
  check_network(file, {5, 3}, x, sum_of_products(x, 3, {{w, b1}, {w, b2}}),
                {"fc.weight", "b1", "fc_1.weight", "b2"});
  file = begin();
  file.node("Gemm", {"x", "fc.weight"}, {"p"})
      .node("Gemm", {"x", "fc.weight"}, {"q"}, {transposed})
      .node("Add", {"p", "q"}, {"y"});
  check_network(file, {5, 3}, x, sum_of_products(x, 3, {{w}, {w, {}, true}}),
                {"fc.weight", "fc_1.weight"});
  file = begin();  // with a bias, without it, and both again
  file.node("Gemm", {"x", "fc.weight", "b1"}, {"p"}, {transposed})
      .node("Gemm", {"x", "fc.weight"}, {"q"}, {transposed})
      .node("Gemm", {"x", "fc.weight"}, {"r"}, {transposed})
      .node("Gemm", {"x", "fc.weight", "b1"}, {"s"}, {transposed})
      .node("Sum", {"p", "q", "r", "s"}, {"y"});
  check_network(file, {5, 3}, x,
                sum_of_products(x, 3, {{w, b1, true}, {w, {}, true}, {w, {}, true}, {w, b1, true}}),
                {"fc.weight", "b1", "fc_1.weight"});
  // A name that another tensor of the file has is not made up.
  file = begin();
  file.tensor(floats("fc_1.weight", {3, 3}, numbers(9, 5)));
  file.node("Gemm", {"x", "fc.weight", "b1"}, {"p"})
      .node("Gemm", {"x", "fc.weight", "b2"}, {"q"})
      .node("Gemm", {"x", "fc_1.weight"}, {"r"})
      .node("Sum", {"p", "q", "r"}, {"y"});
  const auto more = numbers(9, 5);
  check_network(file, {5, 3}, x, sum_of_products(x, 3, {{w, b1}, {w, b2}, {more}}),
                {"fc.weight", "b1", "fc_2.weight", "b2", "fc_1.weight"});
  // A weight of a layer that is a term, too.
  file = begin();
  file.node("Gemm", {"x", "fc.weight"}, {"p"})
      .node("Unsqueeze", {"p", "one"}, {"u"})
      .node("Add", {"u", "fc.weight"}, {"y"})
      .tensor(integers("one", {1}));
  Numbers wanted;
  const Numbers products = sum_of_products(x, 3, {{w}});
  for (std::size_t n = 0; n < 5; ++n)
    for (std::size_t k = 0; k < 9; ++k)
      wanted.push_back(products[n * 3 + k % 3] + static_cast<double>(w[k]));
  check_network(file, {5, 3, 3}, x, wanted, {"fc.weight", "fc.weight_2"});
}

TEST_CASE("a table and a product share a weight, a convolution and its transpose do not") {
  const auto w = numbers(15, 2);
  OnnxFile file;
  file.input("x", {-1, 1}).output("y").tensor(floats("fc.weight", {5, 3}, w));
  file.node("Gather", {"fc.weight", "x"}, {"h"})
      .node("Transpose", {"fc.weight"}, {"t"})
      .node("MatMul", {"h", "t"}, {"y"});
  const std::vector<float> rows{4, 0, 2, 2, 1};
  Numbers wanted;
  for (const float row : rows)
    for (std::size_t o = 0; o < 5; ++o) {
      double sum = 0;
      for (std::size_t i = 0; i < 3; ++i)
        sum += static_cast<double>(w[static_cast<std::size_t>(row) * 3 + i]) *
               static_cast<double>(w[o * 3 + i]);
      wanted.push_back(sum);
    }
  check_network(file, {5, 1, 5}, rows, wanted, {"fc.weight"});
  file.graph = {};
  file.input("x", {-1, 3, 1, 1})
      .output("y")
      .tensor(floats("c.weight", {3, 3, 1, 1}, numbers(9, 2)));
  file.node("Conv", {"x", "c.weight"}, {"h"}).node("ConvTranspose", {"h", "c.weight"}, {"y"});
  const auto x = numbers(15, 1);
  const Numbers once = sum_of_products(x, 3, {{w, {}, true}});
  check_network(file, {5, 3, 1, 1}, x, sum_of_products({once.begin(), once.end()}, 3, {{w}}),
                {"c.weight", "c_1.weight"});
}

TEST_CASE("normalizations with one scale and two biases have their own parameters") {
  const auto x = numbers(5 * 12, 1), scale = numbers(4, 2), b1 = numbers(4, 3), b2 = numbers(4, 4);
  const auto at = [&](const std::vector<float>& of, std::size_t i) {
    return static_cast<double>(of[i]);
  };
  // Of x [5, 4, 3]: groups of 6 numbers, channels of 3; of x [5, 3, 4]: rows of 4.
  const auto check = [&](const OnnxFile& file, std::size_t length, const Sizes& sizes,
                         auto feature) {
    Numbers wanted;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t first = i / length * length;
      double mean = 0, variance = 0;
      for (std::size_t k = first; k < first + length; ++k)
        mean += at(x, k) / static_cast<double>(length);
      for (std::size_t k = first; k < first + length; ++k)
        variance += (at(x, k) - mean) * (at(x, k) - mean) / static_cast<double>(length);
      const std::size_t f = feature(i);
      wanted.push_back(2 * (at(x, i) - mean) / std::sqrt(variance + 1e-5) * at(scale, f) +
                       at(b1, f) + at(b2, f));
    }
    check_network(file, sizes, x, wanted, {"n.weight", "b1", "n_1.weight", "b2"});
  };
  const auto file_of = [&](const char* op, const std::vector<index_t>& sizes,
                           const std::vector<ProtoMessage>& attributes) {
    OnnxFile file;
    file.opset = 21;
    file.input("x", sizes).output("y").tensor(floats("n.weight", {4}, scale));
    file.tensor(floats("b1", {4}, b1)).tensor(floats("b2", {4}, b2));
    return file.node(op, {"x", "n.weight", "b1"}, {"p"}, attributes)
        .node(op, {"x", "n.weight", "b2"}, {"q"}, attributes)
        .node("Add", {"p", "q"}, {"y"});
  };
  check(file_of("LayerNormalization", {-1, 3, 4}, {}), 4, {5, 3, 4},
        [](std::size_t i) { return i % 4; });
  check(file_of("GroupNormalization", {-1, 4, 3}, {with("num_groups", index_t{2})}), 6, {5, 4, 3},
        [](std::size_t i) { return i / 3 % 4; });
}

TEST_CASE("a weight is shared through Transpose and Identity") {
  const auto x = numbers(15, 1), w = numbers(9, 2);
  const Numbers once = sum_of_products(x, 3, {{w, {}, true}});
  const std::vector<float> between(once.begin(), once.end());
  const Numbers twice = sum_of_products(between, 3, {{w, {}, true}});
  for (const char* name : {"fc.weight", "w"})
    for (const bool has_copy : {false, true}) {
      INFO(name, has_copy);
      OnnxFile file;
      file.input("x", {-1, 3}).output("y").tensor(floats(name, {3, 3}, w));
      file.node("Transpose", {name}, {"t"});
      has_copy ? file.node("Identity", {name}, {"i"}).node("Transpose", {"i"}, {"u"})
               : file.node("Identity", {"t"}, {"u"});
      file.node("MatMul", {"x", "t"}, {"h"}).node("MatMul", {"h", "u"}, {"y"});
      check_network(file, {5, 3}, x, twice, {name});
      // A layer of another operator has the same weight.
      OnnxFile other = file;
      other.graph = {};
      other.input("x", {-1, 3}).output("y").tensor(floats(name, {3, 3}, w));
      other.node("Gemm", {"x", name}, {"h"}, {with("transB", index_t{1})})
          .node("Transpose", {name}, {"t"})
          .node("MatMul", {"h", "t"}, {"y"});
      check_network(other, {5, 3}, x, twice, {name});
    }
}

TEST_CASE("a parameter beside values of several ranks is one") {
  const auto x = numbers(10, 1);
  std::vector<double> p{0.5, -0.25};
  OnnxFile file;
  file.input("x", {-1, 1, 2}).output("y").tensor(floats("p", {1, 2}, {0.5f, -0.25f}));
  file.tensor(integers("t", {-1, 2}));
  file.node("Add", {"x", "p"}, {"a"})
      .node("Reshape", {"a", "t"}, {"b"})
      .node("Add", {"b", "p"}, {"y"});
  const auto wanted = [&] {
    Numbers y;
    for (std::size_t i = 0; i < x.size(); ++i)
      y.push_back(static_cast<double>(x[i]) + 2 * p[i % 2]);
    return y;
  };
  check_network(file, {5, 2}, x, wanted(), {"p"});
  // A step of training: the gradient is the sum of both.
  Host& host = test_device<Host>();
  Network net(host, model_of(file));
  optim::SGD optimizer(net, {.lr = 1});
  const Tensor<float, Host> inputs(host, {5, 1, 2}, x), targets(host, {5, 2}, numbers(10, 2));
  auto loss = nn::MSELoss()(net(inputs), targets);
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
  const Numbers before = wanted();
  const std::vector<float> t = targets.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i)
    p[i % 2] -= 2 * (before[i] - static_cast<double>(t[i])) / 10 * 2;
  net.eval();
  const std::vector<float> y = net(inputs).to_vector();
  check_near(Tensor<float, Host>(host, {5, 2}, y), {5, 2}, wanted(), 1e-5);
}

TEST_CASE("Where chooses infinite constants") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x{-1, 0.25f, 0.5f, 0, 3, 7};
  const auto begin = [&](const std::vector<float>& list) {
    OnnxFile file;
    file.input("x", {-1, 3}).output("y").tensor(floats("c", {}, {0.25f}));
    file.tensor(floats("below", {}, {-infinity})).tensor(floats("above", {1}, {infinity}));
    file.tensor(floats("list", {1, 3}, list));
    return file.node("Greater", {"x", "c"}, {"g"});
  };
  const std::vector<float> list{-infinity, 2, infinity};
  const auto check = [&](const char* a, const char* b) {
    INFO(a, " ", b);
    const auto value = [&](std::string_view name, std::size_t i) {
      return name == "x"       ? x[i]
             : name == "below" ? -infinity
             : name == "above" ? infinity
             : name == "list"  ? list[i % 3]
                               : 0.25f;
    };
    std::vector<float> wanted;
    for (std::size_t i = 0; i < x.size(); ++i)
      wanted.push_back(value(x[i] > 0.25f ? a : b, i));
    OnnxFile file = begin(list);
    file.node("Where", {"g", a, b}, {"y"});
    CHECK(run(test_device<Host>(), file, 2, x).to_vector() == wanted);
  };
  for (const char* a : {"x", "below", "above", "list", "c"})
    for (const char* b : {"x", "below", "above", "list", "c"})
      check(a, b);
  // No gradient where the constant is chosen, and no NaN.
  OnnxFile file = begin(list);
  file.tensor(floats("p", {3}, {1, 2, 3}))
      .node("Mul", {"x", "p"}, {"m"})
      .node("Where", {"g", "m", "below"}, {"w"})
      .node("Exp", {"w"}, {"y"});
  Host& host = test_device<Host>();
  Network net(host, model_of(file));
  optim::SGD optimizer(net, {.lr = 1});
  const Tensor<float, Host> inputs(host, {1, 3}, {0, 0.5f, 0.125f}),
      targets(host, {1, 3}, {0, 0, 0});
  auto loss = nn::MSELoss()(net(inputs), targets);
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
  // y = exp(0.5 p[1]), of which the loss has a third of the square.
  const float* p = net.parameters().data();
  CHECK(p[0] == 1);
  CHECK(static_cast<double>(p[1]) == doctest::Approx(2 - std::exp(2.0) / 3));
  CHECK(p[2] == 3);
  for (const std::vector<float>& bad : {std::vector<float>{NAN}, std::vector<float>{1, NAN, 2}}) {
    OnnxFile with_nan = begin(list);
    with_nan.tensor(floats("n", {static_cast<index_t>(bad.size())}, bad))
        .node("Where", {"g", "x", "n"}, {"y"});
    CHECK(contains(build_error(with_nan), "NaN as a constant"));
  }
}

TEST_CASE_TEMPLATE("a network of a file is trained", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Network net(device, model_of(small_model()));
  CHECK(net.mode() == nn::Mode::train);
  std::vector<std::string> names;
  for (const ParameterInfo& parameter : net.named_parameters())
    names.push_back(parameter.name);
  CHECK(names == std::vector<std::string>{"conv.weight", "conv.bias", "fc.weight"});
  const Tensor<float, D> x(device, {5, 2, 4, 4}, numbers(160, 1)),
      t(device, {5, 2}, numbers(10, 2));
  const auto [first, last] = losses_of_training(net, x, t, 0.05);
  CHECK(last < 0.5 * first);
}

TEST_CASE("errors name the node, its operator and the opset") {
  CHECK(contains(build_error(of_node("Einsum", {"x"})),
                 "m.onnx, node 0, Einsum \"Einsum_of_test\" (opset 17): gpunet does not read this "
                 "operator"));
  CHECK(contains(build_error(of_node("Softmax", {"x"}, {with("axis", index_t{0})})),
                 "an operation along the batch"));
  CHECK(contains(build_error(of_node("Softmax", {"x"}, {with("axis", index_t{4})})),
                 "axis 4 of a value with 4 dimensions"));
  CHECK(contains(build_error(of_node("MatMul", {"x", "x"})), "a product of two values"));
  CHECK(
      contains(build_error(of_node("Conv", {"x", "w"}, {}, {floats("w", {1, 3, 1, 1}, {1, 2, 3})})),
               "a weight of shape [1, 3, 1, 1] in 1 groups for a value of shape [batch, 2, 3, 4]"));
  CHECK(contains(
      build_error(of_node("Conv", {"x", "w"}, {with("strides", std::vector<index_t>{0, 1})},
                          {floats("w", {1, 2, 1, 1}, {1, 2})})),
      "attribute strides (want 2 numbers from 1 to 2^20)"));
  CHECK(contains(build_error(of_node("Conv", {"x"})), "no input 1"));
  CHECK(contains(build_error(of_node("Add", {"x", "w"}, {}, {floats("w", {5}, {1, 2, 3, 4, 5})})),
                 "node 0, Add"));
  CHECK(contains(build_error(of_node("Reshape", {"x", "t"}, {}, {integers("t", {-1, 12})})),
                 "a value of shape [batch, 2, 3, 4] as [-1, 12] (gpunet keeps the batch"));
  CHECK(contains(
      build_error(of_node("MaxPool", {"x"}, {with("kernel_shape", std::vector<index_t>{5, 1})})),
      "a kernel that is larger than the padded input"));
  OnnxFile constant;
  constant.input("x", {-1, 2}).output("y").node("Constant", {}, {"y"}, {with("value_float", 1.f)});
  CHECK(contains(build_error(constant), "the output \"y\" does not depend on the inputs"));
  // Constants that would fill the memory.
  OnnxFile large;
  large.input("x", {-1, 2}).output("y").tensor(integers("n", {1 << 16}));
  for (const char* name : {"a", "b", "c", "d"})
    large.node("ConstantOfShape", {"n"}, {name});
  large.node("Relu", {"x"}, {"y"});
  CHECK(build_error(large).empty());
  OnnxFile larger = large;
  larger.graph = {};
  larger.input("x", {-1, 2}).output("y").tensor(integers("n", {1 << 16}));
  std::vector<std::string> names;
  for (int i = 0; i < 65; ++i)
    larger.node("ConstantOfShape", {"n"}, {"k" + std::to_string(i)});
  larger.node("Relu", {"x"}, {"y"});
  CHECK(contains(build_error(larger), "constants of more than 2^22 numbers in all"));
}

TEST_CASE("unknown extents are given by the reader") {
  OnnxFile file;
  file.input("sound", {-1, 2, -1}).output("y").node("Tanh", {"sound"}, {"y"});
  CHECK(
      contains(build_error(file), "input \"sound\" has an unknown extent, batch, in dimension 2"));
  CHECK(build_error(file, {.input_sizes = {{"sound", {2, 9}}}}).empty());
  CHECK(contains(build_error(file, {.input_sizes = {{"sound", {2}}}}), "has 3 dimensions"));
  CHECK(contains(build_error(file, {.input_sizes = {{"noise", {2, 9}}}}),
                 "no input \"noise\" (input_sizes gives its sizes), the first is \"sound\""));
}
