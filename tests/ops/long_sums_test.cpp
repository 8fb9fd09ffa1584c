// Long sums of functions of values and layers against the same in double. GPUNET_LONG_SUMS=64000000
// runs another length, 2^14 or more; GPUNET_LONG_SUMS_TABLE=1 prints every error,
// GPUNET_LONG_SUMS_ONLY=mse runs some cases.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/nn/layer_run.hpp>
#include <gpunet/tensors.hpp>

#include "support/devices.hpp"
#include "support/isas.hpp"
#include "support/sanitizers.hpp"

using namespace gpunet;
using nn::Value;

namespace {

// Numbers that are summed: uniform in [0, 1), or all the same, where every addition of a run rounds
// alike.
enum class Numbers { uniform, equal };

std::vector<float> numbers(index_t n, Numbers kind, std::uint64_t seed) {
  Generator generator(seed);
  std::vector<float> x(static_cast<std::size_t>(n), 0.1f);
  if (kind == Numbers::uniform)
    for (float& value : x)
      value = generator.uniform(0.0f, 1.0f);
  return x;
}

// Returns the largest relative error of sums of terms with one sign.
double largest_error(const std::vector<float>& results, const std::vector<double>& exact) {
  REQUIRE(results.size() == exact.size());
  double largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (exact[i] != 0)
      largest = std::max(largest, std::abs(static_cast<double>(results[i]) / exact[i] - 1));
  return largest;
}

// Shorter on Cuda, whose simulator is slow, and under sanitizers.
template <class D>
index_t long_length() {
  const char* const wanted = std::getenv("GPUNET_LONG_SUMS");
  return wanted ? std::atoll(wanted)
                : index_t{1} << (std::is_same_v<D, Host> && !under_sanitizers ? 18 : 14);
}

void check_error(const std::string& name, index_t length, Numbers kind, double error,
                 double bound) {
  static const bool prints = std::getenv("GPUNET_LONG_SUMS_TABLE") != nullptr;
  if (prints)
    std::printf("%-40s %10lld %-8s %.1e%s\n", name.c_str(), static_cast<long long>(length),
                kind == Numbers::uniform ? "uniform" : "equal", error,
                error <= bound ? "" : "  OVER");
  CAPTURE(name);
  CAPTURE(length);
  CHECK(error <= bound);
}

constexpr double unit = 0x1p-24;  // of one rounding

using Inputs = std::vector<Value>;

// A function of values with a long sum in its output, or in the gradients of its parameters, of
// `length` terms.
struct Case {
  std::string name;
  std::vector<Sizes> inputs;
  std::function<Value(const Inputs&)> function;
  index_t length;
  double roundings;             // of one result, beside the sum's
  bool output = true;           // whether the output is such a sum, or only gradients are
  index_t first_parameter = 0;  // whose gradient is such a sum; earlier ones have products
  index_t samples = 1;
};

template <class D, class T>
Graph graph_of(const Case& one) {
  return nn::detail::graph_of_call(nn::detail::backend_of<D, T>(), one.inputs, one.function);
}

struct Results {
  std::vector<double> y, parameters;
};

template <class T, class D>
Results run_case(D& device, const Case& one, const Slice& slice, Numbers kind) {
  nn::LayerRun<T, D> run(device, graph_of<D, T>(one), slice);
  const auto values = [&](index_t n, std::uint64_t seed) {
    const std::vector<float> x = numbers(n, kind, seed);
    return std::vector<T>(x.begin(), x.end());
  };
  if (run.parameter_count() > 0) run.set_parameters(values(run.parameter_count(), 3));
  const std::vector<T> y = run.forward(values(slice.count * run.in_features(), 1));
  const std::vector<T> gradients =
      run.backward(values(slice.count * run.out_features(), 2)).parameters;
  return {std::vector<double>(y.begin(), y.end()),
          std::vector<double>(gradients.begin() + one.first_parameter, gradients.end())};
}

double largest_error(const std::vector<double>& results, const std::vector<double>& exact) {
  return largest_error(std::vector<float>(results.begin(), results.end()), exact);
}

template <class D>
void check_case(D& device, const Case& one, const Slice& slice, Numbers kind) {
  const Results exact = run_case<double>(device, one, slice, kind);
  const Results results = run_case<float>(device, one, slice, kind);
  const double bound = one.roundings * unit;
  const std::string inner = " / " + std::to_string(slice.inner);
  if (one.output)
    check_error(one.name + inner, one.length, kind, largest_error(results.y, exact.y), bound);
  if (!exact.parameters.empty())
    check_error(one.name + inner + " d", one.length, kind,
                largest_error(results.parameters, exact.parameters), bound);
}

std::vector<Case> cases(index_t n) {
  const index_t side = static_cast<index_t>(std::sqrt(static_cast<double>(n)));
  const index_t area = side * side, small = side / 4;  // of images of 16 channels
  const index_t window = std::min<index_t>(127, side);
  const auto convolution = [small](const std::string& name, index_t in, index_t out, index_t kernel,
                                   index_t stride) {
    const auto f = [=](const Inputs& x) {
      return nn::apply<3>(nn::Conv2d(out, kernel, stride, kernel / 2), x[0]);
    };
    const index_t terms = (small / stride) * (small / stride);
    return Case{name, {{in, small, small}}, f, terms, 8, false, in * out * kernel * kernel};
  };
  const auto linear_of_rows = [n](index_t in, index_t out) {
    return Case{concat("rows of linear ", in, " to ", out),
                {{n / in, in}},
                [out](const Inputs& x) { return nn::apply<2>(nn::Linear(out), x[0]); },
                n / in,
                8,
                false,
                in * out};
  };
  const auto linear_of_samples = [n](index_t in, index_t out) {
    return Case{concat("linear ", in, " to ", out),
                {{in}},
                [out](const Inputs& x) { return nn::apply<1>(nn::Linear(out), x[0]); },
                n / in,
                8,
                false,
                in * out,
                n / in};
  };
  const auto of_pair = [n](const std::string& name, Value (*f)(const Value&, const Value&),
                           double roundings = 4) {
    return Case{name, {{n}, {n}}, [f](const Inputs& x) { return f(x[0], x[1]); }, n, roundings};
  };
  return {
      {"sum", {{n}}, [](const Inputs& x) { return sum(x[0]); }, n, 4},
      {"mean of squares", {{n}}, [](const Inputs& x) { return mean(square(x[0])); }, n, 4},
      {"sum over a dimension",
       {{n / 3, 3}},
       [](const Inputs& x) { return sum(x[0], 1); },
       n / 3,
       4},
      {"mean over the last", {{3, n / 3}}, [](const Inputs& x) { return mean(x[0], 2); }, n / 3, 4},
      of_pair("mse_loss", [](const Value& x, const Value& t) { return mse_loss(x, 0 * t); }),
      of_pair("l1_loss", [](const Value& x, const Value& t) { return l1_loss(x, -t); }),
      of_pair("smooth_l1_loss",
              [](const Value& x, const Value& t) { return smooth_l1_loss(x, -t); }),
      of_pair("huber_loss", [](const Value& x, const Value& t) { return huber_loss(x, -t); }),
      of_pair(
          "bce",
          [](const Value& x, const Value& t) { return binary_cross_entropy(0.5 * x + 0.25, t); },
          8),
      of_pair(
          "bce_with_logits",
          [](const Value& x, const Value& t) { return binary_cross_entropy_with_logits(x, t); }, 8),
      of_pair(
          "kl_div", [](const Value& x, const Value& t) { return kl_div(-6 - x, t); }, 8),
      of_pair(
          "hinge",
          [](const Value& x, const Value& t) { return hinge_embedding_loss(x, t * 0 + 1); }, 4),
      of_pair(
          "cosine_similarity",
          [](const Value& x, const Value& t) { return cosine_similarity(x, t); }, 8),
      of_pair(
          "pairwise_distance",
          [](const Value& x, const Value& t) { return pairwise_distance(x, -t); }, 8),
      {"broadcast sum",
       {{n}, {n}},
       [](const Inputs& x) { return (x[0] + parameter(x[0], nn::constant("p", {1}, 1))) * x[1]; },
       n,
       4,
       false},
      {"broadcast product",
       {{n / 2, 2}},
       [](const Inputs& x) { return x[0] * parameter(x[0], nn::constant("p", {2}, 1)); },
       n / 2,
       4,
       false},
      {"softmax", {{n}}, [](const Inputs& x) { return softmax(x[0], 1); }, n, 8},
      {"log_softmax", {{n, 2}}, [](const Inputs& x) { return log_softmax(x[0], 1); }, n, 8},
      {"cross_entropy of classes",
       {{n}, {}},
       [](const Inputs& x) { return cross_entropy(x[0], detach(0 * x[1])); },
       n,
       8},
      {"cross_entropy of places",
       {{2, n / 2}, {n / 2}},
       [](const Inputs& x) { return cross_entropy(x[0], detach(0 * x[1])); },
       n / 2,
       8},
      {"prelu",
       {{n}},
       [](const Inputs& x) { return nn::apply<1>(nn::PReLU<>{}, -x[0]); },
       n,
       4,
       false},
      {"global average",
       {{1, side, side}},
       [](const Inputs& x) { return adaptive_avg_pool2d(x[0], 1, 1); },
       area,
       4},
      {"average of windows",
       {{1, side, side}},
       [window](const Inputs& x) { return avg_pool2d(x[0], window); },
       window * window,
       4},
      linear_of_rows(8, 8),
      linear_of_rows(4, 3),
      linear_of_rows(64, 33),
      linear_of_samples(8, 8),
      linear_of_samples(4, 3),
      linear_of_samples(64, 33),
      convolution("conv 3x3 of 16", 16, 16, 3, 1),
      convolution("conv 3x3 of 3", 3, 5, 3, 1),
      convolution("conv 1x1 of 48", 16, 48, 1, 1),
      convolution("conv 5x5 of 16", 16, 32, 5, 1),
      convolution("conv 7x7 of 3 with a stride", 3, 16, 7, 2),
      {"transposed convolution",
       {{4, small, small}},
       [](const Inputs& x) { return nn::apply<3>(nn::ConvTranspose2d(6, 2, 2), x[0]); },
       4 * small * small,
       8,
       false,
       4 * 6 * 2 * 2},
      {"batch norm",
       {{2, side, side}},
       [](const Inputs& x) { return nn::apply<3>(nn::BatchNorm2d{}, x[0]); },
       area,
       8,
       false,
       2},
      {"layer norm of rows",
       {{n / 16, 16}},
       [](const Inputs& x) { return nn::apply<2>(nn::LayerNorm<1>{}, x[0]); },
       n / 16,
       8,
       false,
       16},
      {"group norm",
       {{4, side / 2, side / 2}},
       [](const Inputs& x) { return nn::apply<3>(nn::GroupNorm<2>{}, x[0]); },
       area / 4,
       8,
       false,
       4},
  };
}

}  // namespace

TEST_CASE_TEMPLATE("long sums of values and layers", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const index_t n = long_length<D>();
  const char* only = std::getenv("GPUNET_LONG_SUMS_ONLY");
  for (const Numbers kind : {Numbers::uniform, Numbers::equal})
    for (const index_t inner : {1, 4, 16})
      for (const Case& one : cases(n / inner)) {
        if ((!std::is_same_v<D, Host> && inner > 1) ||
            (only && one.name.find(only) == std::string::npos))
          continue;
        CAPTURE(one.name);
        check_case(device, one, Slice{one.samples * inner, one.samples, inner}, kind);
      }
}

TEST_CASE_TEMPLATE("long sums of tensors", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const index_t n = long_length<D>();
  for (const Numbers kind : {Numbers::uniform, Numbers::equal})
    for (const Sizes& sizes :
         {Sizes{1, n}, Sizes{n, 1}, Sizes{n / 3, 3}, Sizes{7, n / 7}, Sizes{n / 300, 300}})
      for (const int dim : {0, 1}) {
        const std::vector<float> values = numbers(sizes.numel(), kind, 1);
        const Tensor<float, D> x(device, sizes, values);
        const Tensor<double, D> wide(device, sizes,
                                     std::vector<double>(values.begin(), values.end()));
        const auto check = [&](const char* name, const auto& f) {
          const std::vector<double> exact = f(wide).to_vector();
          const std::vector<float> results = f(x).to_vector();
          const std::string what =
              concat(name, " of a tensor over ", dim, " of ", to_string(sizes));
          check_error(what, sizes[dim], kind, largest_error(results, exact), 4 * unit);
        };
        check("sum", [&](const auto& t) { return Tensor(sum(t, {dim})); });
        check("mean", [&](const auto& t) { return Tensor(mean(t, {dim})); });
        check("norm", [&](const auto& t) { return Tensor(norm(t, 2, {dim})); });
        if (kind == Numbers::uniform && sizes[dim] > 1)
          check("var", [&](const auto& t) { return Tensor(var(t, {dim})); });
      }
}
