#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/functions.hpp>

#include "support/errors.hpp"
#include "support/tensor_cases.hpp"

using namespace gpunet;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

// Zeros, numbers that are not finite, subnormal ones, halves: as in tensors.py.
const std::vector<float> special{0,
                                 -0.0f,
                                 1,
                                 -1,
                                 infinity,
                                 -infinity,
                                 not_a_number,
                                 1e-45f,
                                 -3e-39f,
                                 3.4028235e38f,
                                 1.17549435e-38f,
                                 0.5f,
                                 -0.5f,
                                 1.5f,
                                 2.5f,
                                 -2.5f,
                                 3,
                                 -7.25f,
                                 8388609,
                                 1e-3f,
                                 -100,
                                 88,
                                 0.99999994f};

// Of these, PyTorch's remainder is NaN where a / b overflows.
bool is_extreme(double x) {
  return x != 0 && (std::abs(x) < 1e-30 || (std::abs(x) > 1e30 && std::isfinite(x)));
}

template <class T, class R, class D>
struct UnaryFunction {
  const char* name;
  double tolerance;
  Tensor<R, D> (*run)(const StridedView<const T, D>&);
};

// Compares a function with PyTorch at all shapes, and where `name` has further results at numbers
// that are not usual.
template <class T, class R, class D>
void check(D& device, const UnaryFunction<T, R, D>& function, const char* suffix, bool at_special) {
  ExpectedResults<R> expected(function.name + std::string(suffix), function.tolerance);
  for (const auto& x : all_views<T>(device))
    expected.next(function.run(x.view));
  if (at_special) {
    const Tensor<T, D> x(device, {static_cast<index_t>(special.size())},
                         std::vector<T>(special.begin(), special.end()));
    expected.next(function.run(detail::view_of(x)));
  }
}

template <class T, class R, class D>
struct BinaryFunction {
  const char* name;
  double tolerance;
  Tensor<R, D> (*run)(const StridedView<const T, D>&, const StridedView<const T, D>&);
};

template <class T, class R, class D>
void check(D& device, const BinaryFunction<T, R, D>& function, const char* suffix,
           bool at_special) {
  ExpectedResults<R> expected(function.name + std::string(suffix), function.tolerance);
  const auto a = all_views<T>(device, 0), b = all_views<T>(device, 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    expected.next(function.run(a[i].view, b[i].view));
  if (at_special) {
    std::vector<T> values(special.begin(), special.end());
    if (std::string_view(function.name) == "remainder") std::erase_if(values, is_extreme);
    const Tensor<T, D> x(device, {static_cast<index_t>(values.size())}, values);
    expected.next(function.run(unsqueeze(x, 1), detail::view_of(x)));
  }
}

#define UNARY(name, tolerance, ...)   \
  {                                   \
    name, tolerance, [](const V& x) { \
      return Tensor(__VA_ARGS__);     \
    }                                 \
  }
#define BINARY(name, tolerance, ...)              \
  {                                               \
    name, tolerance, [](const V& a, const V& b) { \
      return Tensor(__VA_ARGS__);                 \
    }                                             \
  }

// Arithmetic of one operand.
template <class T, class D>
std::vector<UnaryFunction<T, T, D>> arithmetic() {
  using V = StridedView<const T, D>;
  return {UNARY("neg", 0, -x), UNARY("abs", 0, abs(x)), UNARY("sign", 0, sign(x)),
          UNARY("square", 0, square(x)), UNARY("relu", 0, relu(x))};
}

// Functions of two operands that every type of numbers has.
template <class T, class D>
std::vector<BinaryFunction<T, T, D>> arithmetic_of_two() {
  using V = StridedView<const T, D>;
  return {BINARY("add", 0, a + b),
          BINARY("sub", 0, a - b),
          BINARY("mul", 0, a * b),
          BINARY("maximum", 0, maximum(a, b)),
          BINARY("minimum", 0, minimum(a, b)),
          BINARY("maximum", 0, max(a, b)),
          BINARY("minimum", 0, min(a, b)),
          BINARY("remainder", 0, remainder(a, b)),
          BINARY("floor_divide", 0, floor_divide(a, b))};
}
template <class T, class D>
std::vector<BinaryFunction<T, bool, D>> comparisons() {
  using V = StridedView<const T, D>;
  return {BINARY("eq", 0, a == b), BINARY("ne", 0, a != b), BINARY("lt", 0, a < b),
          BINARY("le", 0, a <= b), BINARY("gt", 0, a > b),  BINARY("ge", 0, a >= b)};
}

}  // namespace

TEST_CASE_TEMPLATE("functions of floats are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  using V = StridedView<const float, D>;
  // Two of the last bits for each of both libraries, which round differently.
  constexpr double close = 1e-6;
  const UnaryFunction<float, float, D> functions[] = {
      UNARY("sqrt", 0, sqrt(x)),
      UNARY("rsqrt", 0, rsqrt(x)),
      UNARY("reciprocal", 0, reciprocal(x)),
      UNARY("exp", close, exp(x)),
      UNARY("exp2", close, exp2(x)),
      UNARY("expm1", close, expm1(x)),
      UNARY("log", close, log(x)),
      UNARY("log2", close, log2(x)),
      UNARY("log10", close, log10(x)),
      UNARY("log1p", close, log1p(x)),
      UNARY("sin", close, sin(x)),
      UNARY("cos", close, cos(x)),
      UNARY("tan", close, tan(x)),
      UNARY("asin", close, asin(x)),
      UNARY("acos", close, acos(x)),
      UNARY("atan", close, atan(x)),
      UNARY("sinh", close, sinh(x)),
      UNARY("cosh", close, cosh(x)),
      UNARY("tanh", close, tanh(x)),
      UNARY("erf", close, erf(x)),
      UNARY("sigmoid", close, sigmoid(x)),
      UNARY("floor", 0, floor(x)),
      UNARY("ceil", 0, ceil(x)),
      UNARY("round", 0, round(x)),
      UNARY("trunc", 0, trunc(x)),
  };
  for (const auto& function : functions)
    check(device, function, ".f32", true);
  for (const auto& function : arithmetic<float, D>())
    check(device, function, ".f32", true);
  const UnaryFunction<float, bool, D> tests[] = {
      UNARY("isnan", 0, isnan(x)), UNARY("isinf", 0, isinf(x)), UNARY("isfinite", 0, isfinite(x))};
  for (const auto& function : tests)
    check(device, function, ".f32", true);
}

TEST_CASE_TEMPLATE("functions of doubles are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  using V = StridedView<const double, D>;
  constexpr double close = 2e-15;  // as above; PyTorch's square root is not the nearest number
  const UnaryFunction<double, double, D> functions[] = {
      UNARY("sqrt", close, sqrt(x)), UNARY("rsqrt", close, rsqrt(x)),
      UNARY("exp", close, exp(x)),   UNARY("expm1", close, expm1(x)),
      UNARY("log", close, log(x)),   UNARY("log1p", close, log1p(x)),
      UNARY("sin", close, sin(x)),   UNARY("tan", close, tan(x)),
      UNARY("asin", close, asin(x)), UNARY("atan", close, atan(x)),
      UNARY("cosh", close, cosh(x)), UNARY("tanh", close, tanh(x)),
      UNARY("erf", close, erf(x)),   UNARY("sigmoid", close, sigmoid(x)),
      UNARY("round", 0, round(x)),
  };
  for (const auto& function : functions)
    check(device, function, ".f64", false);
}

TEST_CASE_TEMPLATE("functions of integers are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  using V = StridedView<const std::int32_t, D>;
  for (const auto& function : arithmetic<std::int32_t, D>())
    check(device, function, ".i32", false);
  for (const auto& function : arithmetic<index_t, D>())
    check(device, function, ".i32", false);
  const UnaryFunction<std::int32_t, float, D> of_floats[] = {UNARY("exp", 1e-6, exp(x)),
                                                             UNARY("sqrt", 0, sqrt(x))};
  for (const auto& function : of_floats)
    check(device, function, ".i32", false);
}

TEST_CASE_TEMPLATE("arithmetic of two tensors is PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const auto& function : arithmetic_of_two<float, D>())
    check(device, function, ".f32", true);
  for (const auto& function : arithmetic_of_two<std::int32_t, D>())
    check(device, function, ".i32", false);
  for (const auto& function : arithmetic_of_two<index_t, D>())
    check(device, function, ".i32", false);
  for (const auto& function : comparisons<float, D>())
    check(device, function, ".f32", true);
  for (const auto& function : comparisons<std::int32_t, D>())
    check(device, function, ".i32", false);
}

TEST_CASE_TEMPLATE("quotients, powers and angles are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  {
    using V = StridedView<const float, D>;
    const BinaryFunction<float, float, D> functions[] = {BINARY("true_divide", 0, a / b),
                                                         BINARY("pow", 1e-6, pow(a, b)),
                                                         BINARY("atan2", 1e-6, atan2(a, b))};
    for (const auto& function : functions)
      check(device, function, ".f32", true);
  }
  {
    using V = StridedView<const double, D>;
    const BinaryFunction<double, double, D> functions[] = {
        BINARY("add", 0, a + b),
        BINARY("true_divide", 0, a / b),
        BINARY("remainder", 0, remainder(a, b)),
        BINARY("floor_divide", 0, floor_divide(a, b)),
        BINARY("pow", 2e-15, pow(a, b)),
        BINARY("atan2", 2e-15, atan2(a, b))};
    for (const auto& function : functions)
      check(device, function, ".f64", false);
  }
  using V = StridedView<const std::int32_t, D>;
  check(device, BinaryFunction<std::int32_t, float, D> BINARY("true_divide", 0, a / b), ".i32",
        false);
}

TEST_CASE_TEMPLATE("bits, choices and powers are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto bits = [&]<class T>(T, const char* suffix) {
    using V = StridedView<const T, D>;
    const BinaryFunction<T, T, D> functions[] = {BINARY("bitwise_and", 0, a & b),
                                                 BINARY("bitwise_or", 0, a | b),
                                                 BINARY("bitwise_xor", 0, a ^ b)};
    for (const auto& function : functions)
      check(device, function, suffix, false);
  };
  bits(std::int32_t{}, ".i32");
  bits(bool{}, ".bool");
  const auto choices = [&]<class T>(T, const char* suffix) {
    using V = StridedView<const T, D>;
    check(device, BinaryFunction<T, T, D> BINARY("where", 0, where(a > 0, b, a)), suffix, false);
    check(device, UnaryFunction<T, T, D> UNARY("clamp", 0, clamp(x, -1, 1)), suffix, false);
  };
  choices(float{}, ".f32");
  choices(std::int32_t{}, ".i32");
  using V = StridedView<const float, D>;
  const UnaryFunction<float, float, D> powers[] = {
      UNARY("pow 2", 0, pow(x, 2)), UNARY("pow 3", 0, pow(x, 3)), UNARY("pow 0.5", 0, pow(x, 0.5)),
      UNARY("pow -0.5", 0, pow(x, -0.5)), UNARY("pow -1", 0, pow(x, -1)),
      UNARY("pow -2", 0, pow(x, -2)),
      // The exponent is rounded to a float: by 4.8e-8, times the logarithm of at most 8388609.
      UNARY("pow 1.7", 1e-6, pow(x, 1.7))};
  for (const auto& function : powers)
    check(device, function, "", true);
}

TEST_CASE_TEMPLATE(
    "integers stay what they are when they are rounded, and numbers beyond them are refused", D,
    GPUNET_TEST_DEVICES) {
  const Tensor<std::int32_t, D> x(test_device<D>(), {2}, {16777217, -5});
  CHECK(Tensor(round(x)).to_vector() == x.to_vector());
  CHECK(Tensor(floor(x) + ceil(x) - trunc(x)).to_vector() == x.to_vector());
  const Tensor<std::uint8_t, D> bytes(test_device<D>(), {2}, {44, 255});
  CHECK(error_of([&] { Tensor y = bytes < 300; }) ==
        "gpunet::Expression: the number 300 meets a tensor of integers from 0 to 255 (it cannot be "
        "converted without "
        "overflow), convert the tensor first: cast<index_t>(x)");
  CHECK(error_of([&] { Tensor y = bytes > -1; }) != "");
  CHECK(error_of([&] { Tensor y = x + index_t{5'000'000'000}; }) != "");
  CHECK(Tensor(~bytes).to_vector() == std::vector<std::uint8_t>{211, 0});
}

TEST_CASE_TEMPLATE("integers wrap around, and divide by zero without harm", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto of = [&]<class T>(T) {
    constexpr T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    using Values = std::vector<T>;
    const Tensor<T, D> a(device, {6}, {low, high, low, 7, -7, 0}),
        b(device, {6}, {-1, 1, 0, 0, 0, 0});
    CHECK(Tensor(a + b).to_vector() == Values{high, low, low, 7, -7, 0});
    CHECK(Tensor(a - 1).to_vector() == Values{high, high - 1, high, 6, -8, -1});
    CHECK(Tensor(a * 2).to_vector() == Values{0, -2, 0, 14, -14, 0});
    CHECK(Tensor(-a).to_vector() == Values{low, -high, low, -7, 7, 0});
    CHECK(Tensor(abs(a)).to_vector() == Values{low, high, low, 7, 7, 0});
    CHECK(Tensor(floor_divide(a, b)).to_vector() == Values{low, high, 0, 0, 0, 0});
    CHECK(Tensor(remainder(a, b)).to_vector() == Values{0, 0, low, 7, -7, 0});
    CHECK(Tensor(floor_divide(a, -2)).to_vector() ==
          Values{static_cast<T>(-(low / 2)), low / 2, static_cast<T>(-(low / 2)), -4, 3, 0});
    CHECK(Tensor(remainder(a, -2)).to_vector() == Values{0, -1, 0, -1, -1, 0});
    CHECK(Tensor(remainder(a, 2)).to_vector() == Values{0, 1, 0, 1, 1, 0});
  };
  of(std::int32_t{});
  of(index_t{});
}

TEST_CASE_TEMPLATE("small bytes wrap around", D, GPUNET_TEST_DEVICES) {
  using Bytes = Tensor<std::uint8_t, D>;
  using Values = std::vector<std::uint8_t>;
  const Bytes x(test_device<D>(), {3}, {0, 100, 255});
  CHECK(Bytes(x + x).to_vector() == Values{0, 200, 254});
  CHECK(Bytes(x * x).to_vector() == Values{0, 16, 1});
  CHECK(Bytes(-x).to_vector() == Values{0, 156, 1});
  CHECK(Bytes(x - 1).to_vector() == Values{255, 99, 254});
  CHECK(Bytes(floor_divide(x, 0)).to_vector() == Values{0, 0, 0});
  CHECK(Tensor(x / 2).to_vector() == std::vector<float>{0, 50, 127.5f});
}

TEST_CASE_TEMPLATE("conversions between all types", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<double, D> x(device, {5}, {0, -0.0, 2.75, 200, 1e-300});
  CHECK(Tensor(cast<float>(x)).to_vector() == std::vector<float>{0, -0.0f, 2.75f, 200, 0});
  CHECK(Tensor(cast<std::int32_t>(x)).to_vector() == std::vector<std::int32_t>{0, 0, 2, 200, 0});
  CHECK(Tensor(cast<index_t>(x)).to_vector() == std::vector<index_t>{0, 0, 2, 200, 0});
  CHECK(Tensor(cast<std::uint8_t>(x)).to_vector() == std::vector<std::uint8_t>{0, 0, 2, 200, 0});
  CHECK(Tensor(cast<bool>(x)).to_vector() == std::vector<bool>{false, false, true, true, true});
  CHECK(Tensor(cast<double>(x > 1)).to_vector() == std::vector<double>{0, 0, 1, 1, 0});
  CHECK(Tensor(cast<index_t>(cast<std::uint8_t>(x) - 1)).to_vector() ==
        std::vector<index_t>{255, 255, 1, 199, 255});
  CHECK(Tensor(cast<double>(cast<float>(x > -1))).to_vector() ==
        std::vector<double>{1, 1, 1, 1, 1});
}

TEST_CASE_TEMPLATE("numbers that an integer type does not have become its smallest", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<double, D> x(device, {10},
                            {std::nan(""), infinity, -infinity, 0x1p31, -0x1p31 - 1, 0x1p63,
                             -0x1p63, 0x1p31 - 1, -0x1p31, -1.75});
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  constexpr index_t lowest = std::numeric_limits<index_t>::min(), two31 = index_t{1} << 31;
  const std::vector<std::int32_t> small{least, least, least, least,
                                        least, least, least, static_cast<std::int32_t>(two31 - 1),
                                        least, -1};
  const std::vector<index_t> large{lowest, lowest, lowest,    two31,  -two31 - 1,
                                   lowest, lowest, two31 - 1, -two31, -1};
  CHECK(Tensor(cast<std::int32_t>(x)).to_vector() == small);
  CHECK(Tensor(cast<index_t>(x)).to_vector() == large);
  const Tensor<float, D> y(device, {5}, {0x1p31f, -0x1p31f, 0x1p63f, -0x1p63f, std::nanf("")});
  CHECK(Tensor(cast<std::int32_t>(y)).to_vector() == std::vector<std::int32_t>(5, least));
  CHECK(Tensor(cast<index_t>(y)).to_vector() ==
        std::vector<index_t>{two31, -two31, lowest, lowest, lowest});
}

TEST_CASE_TEMPLATE("logic of bools", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  using Bools = std::vector<bool>;
  const Tensor<bool, D> a(device, {4}, {false, false, true, true}),
      b(device, {4}, {false, true, false, true});
  CHECK(Tensor(!a).to_vector() == Bools{true, true, false, false});
  CHECK(Tensor(logical_not(a)).to_vector() == Bools{true, true, false, false});
  CHECK(Tensor(logical_and(a, b)).to_vector() == Bools{false, false, false, true});
  CHECK(Tensor(logical_or(a, b)).to_vector() == Bools{false, true, true, true});
  CHECK(Tensor(a == b).to_vector() == Bools{true, false, false, true});
  CHECK(Tensor(a < b).to_vector() == Bools{false, true, false, false});
  const Tensor<float, D> x(device, {4}, {0, 1, not_a_number, -2});
  CHECK(Tensor(logical_not(x)).to_vector() == Bools{true, false, false, false});
  CHECK(Tensor(logical_and(x, x > 0)).to_vector() == Bools{false, true, false, false});
  CHECK(Tensor(where(x > 0, 1, x)).to_vector()[1] == 1);
  CHECK(Tensor(where(isnan(x), 0, x)).to_vector() == std::vector<float>{0, 1, 0, -2});
  CHECK(Tensor(where(a, b, false)).to_vector() == Bools{false, false, false, true});
}

TEST_CASE("subnormal numbers are kept by any number of threads") {
  for (const int threads : {1, 2, 3}) {
    Host host({.threads = threads});
    const Tensor x = full(host, {70000}, -100.0f);
    const float expected = static_cast<float>(std::exp(-100.0));
    CHECK(expected > 0);
    const Tensor y = exp(x);
    CHECK(y.to_vector() == std::vector<float>(70000, expected));
    CHECK(Tensor(y * 0.5f).to_vector() == std::vector<float>(70000, expected * 0.5f));
  }
}

TEST_CASE_TEMPLATE("masked elements are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  ExpectedResults<float> expected("masked_fill");
  const auto a = all_views<float>(device, 0), b = all_views<float>(device, 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    expected.next(masked_fill(a[i].view, b[i].view > 0, 7));
  const Tensor<std::int32_t, D> x(device, {2}, {-1, 2});
  CHECK(Tensor(masked_fill(x * 2, x < 0, 5)).to_vector() == std::vector<std::int32_t>{5, 4});
}
