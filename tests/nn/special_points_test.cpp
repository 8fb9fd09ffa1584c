// Functions of values at 0, bounds, saturation, infinity and NaN against PyTorch: the cases of
// reference/special_points.py.
#include "support/special_points.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/nn/gradient_check.hpp>
#include <gpunet/tensors.hpp>

#include "support/devices.hpp"
#include "support/loss_reference.hpp"

using namespace gpunet;
using nn::Value;

namespace {

using Inputs = std::vector<Value>;

// A function of values, and the arrays of the file that are its inputs: with `width` numbers in a
// row.
struct Case {
  std::string name;
  std::string inputs;
  std::function<Value(const Inputs&)> function;
  int arity = 1;
  index_t width = 1;
};

// Where PyTorch loses digits or another number is right: tolerances, and inputs that a case leaves
// out.
struct Exception {
  std::string name;  // of the function
  double relative = 0, absolute = 0;
  std::function<bool(double)> skips = [](double) {
    return false;
  };
  double roundings = 0;  // absolute
};
const Exception& exception_of(const std::string& name) {
  const auto is_subnormal = [](double x) {  // the results of Host that count as 0
    const double size = std::fabs(x);
    return (size > 80 && size < 110) || (size > 700 && size < 750);
  };
  const auto is_far = [](double x) {  // squares overflow or underflow in float
    return std::fabs(x) > 1e18 || (x != 0 && std::fabs(x) < 1e-8);
  };
  const auto is_huge = [](double x) {  // sums overflow in float, unless they are multiply-adds
    return std::isfinite(x) && std::fabs(x) > 1e38;
  };
  const auto above = [](double bound) {
    return [bound](double x) {
      return std::fabs(x) > bound;
    };
  };
  constexpr double as_float = 1e-7;  // PyTorch has a constant in float: 1 / 6, 1e-12
  static const std::vector<Exception> all{
      // 1 - tanh(x)^2 cancels, and the tanh of two libraries may differ in its last bit.
      {.name = "tanh", .roundings = 2},
      {.name = "gelu_tanh", .roundings = 2},
      {"gelu", 0, 1e-6, above(1e38)},  // PyTorch's vectors overflow, and are NaN at infinity
      {"softsign", 0, 0, above(40)},   // PyTorch's gradient cancels, and is NaN at infinity
      {"hardsigmoid", as_float},
      {"bce", as_float},
      {"bce_sigmoid", as_float},
      {"cosine_embedding_1", as_float, 0, is_far},
      {"cosine_embedding_minus_1", as_float, 1e-24, is_far},
      {"silu", 0, 0, is_subnormal},
      {"mish", 0, 0, is_subnormal},
      {"log_sigmoid", 0, 0, is_subnormal},
      {"log_exp", 0, 0, is_subnormal},
      {"expm1", 0, 6e-8},       // PyTorch's float expm1(-17) is -1
      {"rsqrt", 0, 0, is_far},  // PyTorch's gradient overflows
      {"poisson", 0, 0, is_far},
      {"poisson_rate", 0, 0, is_far},
      {"bce_logits", 0, 1e-15, is_huge},
      {"log_softmax", 0, 1e-15},
      {"kl_div", 0, 0,
       [](double x) {
         return x < 0 || x > 1e38;
       }},  // no probability
      {"pairwise_distance", 0, 0, above(1e38)},
      {"pairwise_distance_0", 0, 0, is_far},
      {"cosine_similarity", 1e-6, 1e-12, is_far},
      {"layer_norm", 1e-5, 1e-6},
      {"rms_norm", 1e-4, 1e-6},
      {"group_norm", 1e-4, 1e-6},
  };
  static const Exception none{};
  for (const Exception& one : all)
    if (one.name == name) return one;
  return none;
}

std::vector<Case> functions_of_numbers() {
  using namespace nn;
  std::vector<Case> cases;
  const auto add = [&](std::string name, std::function<Value(const Value&)> f) {
    cases.push_back({std::move(name), "numbers", [f](const Inputs& x) {
                       return f(x[0]);
                     }});
  };
#define GPUNET_CASE(NAME, ...) add(NAME, [](const Value& x) { return __VA_ARGS__; });
  GPUNET_CASE("relu", relu(x))
  GPUNET_CASE("gelu", gelu(x))
  GPUNET_CASE("gelu_tanh", gelu(x, Approximate::tanh))
  GPUNET_CASE("rsqrt", rsqrt(x))
  GPUNET_CASE("pow_0", pow(x, 0))
  GPUNET_CASE("pow_1", pow(x, 1))
  GPUNET_CASE("pow_2", pow(x, 2))
  GPUNET_CASE("pow_3", pow(x, 3))
  GPUNET_CASE("pow_half", pow(x, 0.5))
  GPUNET_CASE("pow_minus_1", pow(x, -1))
  GPUNET_CASE("pow_minus_2", pow(x, -2))
  GPUNET_CASE("pow_2.5", pow(x, 2.5))
  GPUNET_CASE("pow_minus_half", pow(x, -0.5))
  GPUNET_CASE("clamp", clamp(x, -0.5, 0.75))
  GPUNET_CASE("clamp_0_1", clamp(x, 0, 1))
  GPUNET_CASE("clamp_same", clamp(x, 0.5, 0.5))
  GPUNET_CASE("two_by", 2 / x)
  GPUNET_CASE("from_3", 3 - x)
  GPUNET_CASE("neg", -x)
  GPUNET_CASE("by_4", x / 4)
  GPUNET_CASE("times_3", 3 * x)
  GPUNET_CASE("by_0", x / 0)
  GPUNET_CASE("times_0", 0 * x)
  GPUNET_CASE("log_sigmoid", log(sigmoid(x)))
  GPUNET_CASE("sqrt_square", sqrt(square(x)))
  GPUNET_CASE("log_exp", log(exp(x)))
#undef GPUNET_CASE
#define GPUNET_CASE(scope, Name)               \
  add(std::string(scope::Name::function_name), \
      [](const Value& x) { return apply_function(scope::Name(), x); });
  GPUNET_FLOAT_FUNCTIONS(GPUNET_CASE)
  GPUNET_NUMBER_FUNCTIONS(GPUNET_CASE)
  GPUNET_ACTIVATIONS(GPUNET_CASE)
  GPUNET_ACTIVATIONS_OF_1(GPUNET_CASE)
  GPUNET_ACTIVATIONS_OF_2(GPUNET_CASE)
#undef GPUNET_CASE
  return cases;
}

std::vector<Case> functions_of_pairs() {
  using namespace nn;
  std::vector<Case> cases;
  const auto add = [&](std::string name, std::string inputs, index_t width, auto f) {
    cases.push_back({std::move(name), std::move(inputs),
                     [f](const Inputs& x) { return f(x[0], x[1]); }, 2, width});
  };
#define GPUNET_CASE(NAME, INPUTS, WIDTH, ...) \
  add(NAME, INPUTS, WIDTH, [](const Value& x, const Value& t) { return __VA_ARGS__; });
  GPUNET_CASE("add", "few", 1, x + t)
  GPUNET_CASE("sub", "few", 1, x - t)
  GPUNET_CASE("mul", "few", 1, x * t)
  GPUNET_CASE("div", "few", 1, x / t)
  GPUNET_CASE("maximum", "few", 1, maximum(x, t))
  GPUNET_CASE("minimum", "few", 1, minimum(x, t))
  GPUNET_CASE("mse", "few", 1, mse_loss(x, t))
  GPUNET_CASE("l1", "few", 1, l1_loss(x, t))
  GPUNET_CASE("smooth_l1", "few", 1, smooth_l1_loss(x, t))
  GPUNET_CASE("smooth_l1_0", "few", 1, smooth_l1_loss(x, t, 0))
  GPUNET_CASE("huber", "few", 1, huber_loss(x, t, 0.5))
  GPUNET_CASE("bce_logits", "few", 1, binary_cross_entropy_with_logits(x, t))
  GPUNET_CASE("kl_div", "few", 1, kl_div(x, t))
  GPUNET_CASE("poisson", "few", 1, poisson_nll_loss(x, t))
  GPUNET_CASE("poisson_rate", "few", 1, poisson_nll_loss(x, t, {.log_input = false}))
  GPUNET_CASE("bce", "probabilities", 1, binary_cross_entropy(x, t))
  GPUNET_CASE("bce_sigmoid", "logits", 1, binary_cross_entropy(sigmoid(x), t))
  GPUNET_CASE("hinge", "hinge", 1, hinge_embedding_loss(x, t))
  GPUNET_CASE("pairwise_distance", "vectors", 3, pairwise_distance(x, t))
  GPUNET_CASE("pairwise_distance_0", "vectors", 3, pairwise_distance(x, t, 0))
  GPUNET_CASE("cosine_similarity", "vectors", 3, cosine_similarity(x, t))
  GPUNET_CASE("cosine_embedding_1", "vectors", 3,
              cosine_embedding_loss(x, t, mean(x * 0 + t * 0) + 1))
  GPUNET_CASE("cosine_embedding_minus_1", "vectors", 3,
              cosine_embedding_loss(x, t, mean(x * 0 + t * 0) - 1))
#undef GPUNET_CASE
  return cases;
}

std::vector<Case> functions_of_rows() {
  using namespace nn;
  return {
      {"softmax", "rows", [](const Inputs& x) { return softmax(x[0], 1); }, 1, 3},
      {"log_softmax", "rows", [](const Inputs& x) { return log_softmax(x[0], 1); }, 1, 3},
      {"layer_norm", "norm_rows",
       [](const Inputs& x) { return layer_norm(x[0], {.elementwise_affine = false}); }, 1, 4},
      {"rms_norm", "norm_rows",
       [](const Inputs& x) { return rms_norm(x[0], {.eps = 1e-5, .elementwise_affine = false}); },
       1, 4},
      {"group_norm", "norm_rows",
       [](const Inputs& x) { return group_norm(x[0], 2, {.affine = false}); }, 1, 4},
  };
}

template <class D>
std::vector<Slice> slices_of(index_t n) {
  std::vector<Slice> slices{{n, n, 1}};
  if constexpr (std::same_as<D, Host>)
    for (const index_t inner : {4, 16})
      slices.push_back({n, ceil_div(n, inner), inner});
  return slices;
}

template <class D, class T>
void check_case(const Case& one) {
  std::vector<std::vector<T>> inputs;
  for (int i = 0; i < one.arity; ++i)
    inputs.push_back(
        special_reference<T>(one.arity == 1 ? one.inputs : one.inputs + "." + std::to_string(i)));
  const auto width = static_cast<std::size_t>(one.width), rows = inputs[0].size() / width;
  std::vector<T> x;
  for (std::size_t n = 0; n < rows; ++n)
    for (const std::vector<T>& input : inputs)
      x.insert(x.end(), input.begin() + static_cast<std::ptrdiff_t>(n * width),
               input.begin() + static_cast<std::ptrdiff_t>((n + 1) * width));
  const std::vector<Sizes> sizes(inputs.size(), Sizes{one.width});
  const Exception& exception = exception_of(one.name);
  SpecialTolerance<T> tolerance;
  tolerance.relative = std::max(tolerance.relative, exception.relative);
  const double rounding = static_cast<double>(std::numeric_limits<T>::epsilon());
  tolerance.smallest =
      std::max({tolerance.smallest, exception.absolute, exception.roundings * rounding});
  tolerance.skips = exception.skips;
  for (const Slice& slice : slices_of<D>(static_cast<index_t>(rows))) {
    CAPTURE(slice.inner);
    nn::LayerRun<T, D> run(
        test_device<D>(),
        nn::detail::graph_of_call(nn::detail::backend_of<D, T>(), sizes, one.function), slice);
    const std::vector<T> y = run.forward(x);
    check_special(one.name + ".y", y, inputs, rows, tolerance);
    for (const T dy : {T{1}, T{0}}) {
      const auto gradients = run.backward(std::vector<T>(y.size(), dy));
      CHECK_MESSAGE(gradients.padding == std::vector<T>(gradients.padding.size()),
                    "padding of " << one.name);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        std::vector<T> dx;
        for (std::size_t n = 0; n < rows; ++n)
          for (std::size_t k = 0; k < width; ++k)
            dx.push_back(gradients.dx[(n * inputs.size() + i) * width + k]);
        check_special(one.name + (dy == 1 ? ".dx." : ".dx0.") + std::to_string(i), dx, inputs, rows,
                      tolerance);
      }
    }
  }
}

template <class D>
void check_cases(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    check_case<D, float>(one);
    check_case<D, double>(one);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("special points of functions of one number are PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  check_cases<D>(functions_of_numbers());
}
namespace {

// Compares a function of a tensor with the same of a value, bit by bit.
template <class D, class T, class F>
void check_tensor(const F& f) {
  const std::string name(F::function_name);
  CAPTURE(name);
  const std::vector<T> x = special_reference<T>("numbers");
  const auto n = static_cast<index_t>(x.size());
  nn::LayerRun<T, D> run(test_device<D>(), f, Shape<1>{}, Slice{n, n, 1});
  const std::vector<T> of_value = run.forward(x);
  const Tensor<T, D> tensor(test_device<D>(), {n}, x);
  const std::vector<T> y = Tensor(apply_function(f, tensor)).to_vector();
  for (std::size_t i = 0; i < y.size(); ++i) {
    CAPTURE(x[i]);
    // Networks count subnormal numbers as 0, also within a function.
    const bool same = std::fabs(y[i]) < 1000 * std::numeric_limits<T>::min()
                          ? of_value[i] == 0 || of_value[i] == y[i]
                          : std::memcmp(&y[i], &of_value[i], sizeof(T)) == 0;
    CHECK((same || (std::isnan(y[i]) && std::isnan(of_value[i]))));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("functions of tensors are those of values, to the bit", D, GPUNET_TEST_DEVICES) {
#define GPUNET_CASE(scope, Name)                 \
  check_tensor<D, float>(gpunet::scope::Name()); \
  check_tensor<D, double>(gpunet::scope::Name());
  GPUNET_FLOAT_FUNCTIONS(GPUNET_CASE)
  GPUNET_NUMBER_FUNCTIONS(GPUNET_CASE)
  GPUNET_ACTIVATIONS(GPUNET_CASE)
  GPUNET_ACTIVATIONS_OF_1(GPUNET_CASE)
  GPUNET_ACTIVATIONS_OF_2(GPUNET_CASE)
  GPUNET_GELUS(GPUNET_CASE)
#undef GPUNET_CASE
}
TEST_CASE_TEMPLATE("special points of functions and losses of two numbers are PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  check_cases<D>(functions_of_pairs());
}
TEST_CASE_TEMPLATE("special points of functions of rows are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_cases<D>(functions_of_rows());
}

namespace {

// Compares a loss with labels of five samples with PyTorch's, on every kind of slice.
template <class D, class T, class Loss>
void check_labels_of(const std::string& name, const Loss& criterion,
                     const std::vector<label_t>& labels) {
  const std::vector<T> x = special_reference<T>("scores");
  const auto samples = static_cast<index_t>(labels.size());
  for (const Slice& slice : slices_of<D>(samples)) {
    CAPTURE(slice.inner);
    const auto result =
        run_loss<D, Loss, label_t, T>(test_device<D>(), criterion, slice, Sizes{3}, x, labels);
    check_special(name + ".y", result.loss, {}, 1);
    check_special(name + ".dx.0",
                  std::vector<T>(result.dx.begin(), result.dx.begin() + samples * 3), {x}, 5);
    for (std::size_t i = static_cast<std::size_t>(samples * 3); i < result.dx.size(); ++i)
      CHECK(result.dx[i] == 0);  // of padding
  }
}

template <class D, class T>
void check_labels_in() {
  using R = nn::Reduction;
  const std::vector<std::pair<std::string, std::vector<label_t>>> cases{
      {"ignored", {-100, -100, -100, -100, -100}},
      {"one_left", {-100, -100, 2, -100, -100}},
      {"of_weight_0", {1, 1, 1, 1, 1}},
      {"ignored_or_0", {1, -100, 1, -100, -100}}};
  const std::vector<double> weight{1, 0, 0.5};
  for (const auto& [name, labels] : cases)
    for (const R r : {R::mean, R::sum}) {
      const std::string of = "." + name + (r == R::mean ? ".mean" : ".sum");
      check_labels_of<D, T>("ce" + of, nn::CrossEntropyLoss({.reduction = r, .ignore_index = -100}),
                            labels);
      check_labels_of<D, T>(
          "ce_smooth" + of,
          nn::CrossEntropyLoss({.reduction = r, .ignore_index = -100, .label_smoothing = 0.25}),
          labels);
      check_labels_of<D, T>(
          "ce_weight" + of,
          nn::CrossEntropyLoss({.reduction = r, .weight = weight, .ignore_index = -100}), labels);
      check_labels_of<D, T>(
          "ce_all" + of,
          nn::CrossEntropyLoss(
              {.reduction = r, .weight = weight, .ignore_index = -100, .label_smoothing = 0.25}),
          labels);
      check_labels_of<D, T>("nll" + of, nn::NLLLoss({.reduction = r, .ignore_index = -100}),
                            labels);
      check_labels_of<D, T>("nll_weight" + of,
                            nn::NLLLoss({.reduction = r, .weight = weight, .ignore_index = -100}),
                            labels);
    }
}

}  // namespace

TEST_CASE_TEMPLATE("ignored labels, and labels whose weights add up to 0, are PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  check_labels_in<D, float>();
  check_labels_in<D, double>();
}

TEST_CASE_TEMPLATE("a batch whose labels are all ignored changes no weight", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  // Samples with one label, and with one for each place: kernels of their own.
  const nn::Sequential<nn::Input<3, 2, 4>, nn::Conv2d<4, 1>> places;
  const nn::Sequential<nn::Input<3, 2, 4>, nn::Flatten, nn::Linear<4>> flat;
  const auto check = [&](const auto& net, const Sizes& target, const auto& criterion,
                         index_t batch) {
    manual_seed(3);
    Model model(device, net);
    optim::SGD optimizer(model, {.lr = 0.5, .momentum = 0.9});
    train::Step step(model, criterion, optimizer);
    const Sizes sizes = target.with_front(batch);
    const Tensor<float, D> x(device, {batch, 3, 2, 4},
                             nn::random_values<float>(batch * 24, default_generator(), -1, 1));
    const Tensor<label_t, D> ignored(
        device, sizes, std::vector<label_t>(static_cast<std::size_t>(sizes.numel()), -100));
    const auto weights = [&] {
      std::vector<float> all(static_cast<std::size_t>(model.parameters().numel()));
      device.download(all.data(), model.parameters().data(), all.size() * sizeof(float));
      return all;
    };
    const std::vector<float> before = weights();
    CHECK(std::isnan(step(x, ignored).item()));
    CHECK(weights() == before);
    model.zero_grad();
    auto loss = criterion(model(x), ignored);
    loss.backward();
    CHECK(std::isnan(loss.item()));
    std::vector<float> gradients(before.size());
    device.download(gradients.data(), model.gradients().data(), gradients.size() * sizeof(float));
    CHECK(gradients == std::vector<float>(gradients.size()));
  };
  for (const index_t batch : {1, 4, 5, 16, 19})
    for (const double smoothing : {0.0, 0.1}) {
      CAPTURE(batch);
      const nn::CrossEntropyLoss criterion({.ignore_index = -100, .label_smoothing = smoothing});
      check(places, {2, 4}, criterion, batch);
      check(flat, {}, criterion, batch);
      check(flat, {}, nn::NLLLoss({.ignore_index = -100}), batch);
    }
}

TEST_CASE_TEMPLATE("normalizations do not hide an overflow, infinity or NaN", D,
                   GPUNET_TEST_DEVICES) {
  using F = std::function<Value(const Inputs&)>;
  const std::vector<F> norms{
      [](const Inputs& x) { return nn::layer_norm(x[0]); },
      [](const Inputs& x) { return nn::rms_norm(x[0]); },
      [](const Inputs& x) {
        return nn::group_norm(reshape(x[0], {2, -1}), 1);
      },
  };
  constexpr float inf = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  for (const F& norm : norms)
    for (const index_t length : {4, 16, 34})
      for (const std::array<float, 4>& of : {std::array<float, 4>{3e38f, 3e38f, -3e38f, -3e38f},
                                             {1e30f, -1e30f, 2e30f, 0},
                                             {1, 2, inf, 3},
                                             {-inf, 0, 0, 0},
                                             {0, 1, nan, 2}})
        for (const Slice& slice : slices_of<D>(5)) {
          CAPTURE(slice.inner);
          CAPTURE(length);
          nn::LayerRun<float, D> run(test_device<D>(),
                                     nn::detail::graph_of_call(nn::detail::backend_of<D, float>(),
                                                               std::vector<Sizes>{{length}}, norm),
                                     slice);
          std::vector<float> parameters(static_cast<std::size_t>(run.parameter_count()), 1);
          run.set_parameters(parameters);
          std::vector<float> x;  // the second row is fine
          for (index_t n = 0; n < 5; ++n)
            for (index_t k = 0; k < length; ++k)
              x.push_back(n == 1 ? static_cast<float>(k % 3) : of[static_cast<std::size_t>(k % 4)]);
          const std::vector<float> y = run.forward(x);
          const std::vector<float> dx = run.backward(std::vector<float>(y.size(), 1)).dx;
          for (std::size_t i = 0; i < y.size(); ++i) {
            const bool is_fine = i / static_cast<std::size_t>(length) == 1;
            CHECK(std::isfinite(y[i]) == is_fine);
            CHECK(std::isfinite(dx[i]) == is_fine);
          }
        }
}
