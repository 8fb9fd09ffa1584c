#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/reduce.hpp>

#include "support/errors.hpp"
#include "support/tensor_cases.hpp"

using namespace gpunet;

namespace {

using Dims = detail::Dims;

constexpr double infinity = std::numeric_limits<double>::infinity();

// The dimensions that are reduced of a tensor, as in tensors.py.
std::vector<Dims> dims_of(int rank) {
  if (rank == 0) return {Dims(), -1};
  std::vector<Dims> all{Dims(), 0, -1};
  if (rank > 1) all.push_back({0, -1});
  if (rank > 2) {
    all.push_back(1);
    all.push_back({2, 1});
  }
  return all;
}

// Returns how many elements make one result.
index_t reduced_length(const Sizes& sizes, std::span<const int> dims) {
  if (dims.empty() || sizes.rank() == 0) return sizes.numel();
  index_t length = 1;
  for (const int d : dims)
    length *= sizes.at(d);
  return length;
}

template <class T, class R, class D>
using Reduction = Tensor<R, D> (*)(const StridedView<const T, D>&, const Dims&, bool);

// A tolerance, relative to results, or to the sum of the absolute values: of sums for each
// addition, of means for all.
enum class Scale { result, sums, means };
struct Tolerance {
  double value = 0;
  Scale scale = Scale::result;
};

// Compares a reduction with PyTorch at all shapes; `of_nothing`: those without elements, too.
template <class T, class R, class D>
void check(D& device, const std::string& name, Tolerance tolerance,
           std::type_identity_t<Reduction<T, R, D>> reduce, bool of_nothing = true,
           std::vector<T> (*fill)(index_t, int) = operand_values<T>) {
  ExpectedResults<R> expected(name, tolerance.value);
  for (const auto& x : all_views<T>(device, 0, fill)) {
    int k = 0;
    for (const Dims& dims : dims_of(x.view.sizes().rank())) {
      const bool keepdim = k++ % 2 == 1;
      const index_t length = reduced_length(x.view.sizes(), dims);
      if (!of_nothing && length == 0) continue;
      std::vector<double> scale;
      if constexpr (std::is_floating_point_v<R>)
        if (tolerance.scale != Scale::result)
          scale = Tensor((tolerance.scale == Scale::sums ? static_cast<double>(length) : 1) *
                         sum(abs(cast<double>(x.view)), dims))
                      .to_vector();
      expected.next(reduce(x.view, dims, keepdim), scale);
    }
  }
}

#define REDUCTION(...)                             \
  [](const V& x, const Dims& dims, bool keepdim) { \
    return Tensor(__VA_ARGS__);                    \
  }

// Of a matrix, a row-major array: op over each row, each column, and all, as a plain loop.
template <class T>
struct PlainSums {
  std::vector<double> rows, columns, row_scale, column_scale;  // scale: the sum of |x|
  double all = 0, scale = 0;

  PlainSums(const std::vector<T>& x, index_t height, index_t width)
      : rows(static_cast<std::size_t>(height)),
        columns(static_cast<std::size_t>(width)),
        row_scale(rows),
        column_scale(columns) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t r = i / columns.size(), c = i % columns.size();
      const double value = x[i], size = std::abs(value);
      rows[r] += value;
      columns[c] += value;
      all += value;
      row_scale[r] += size;
      column_scale[c] += size;
      scale += size;
    }
  }
};

}  // namespace

TEST_CASE_TEMPLATE("sums, products and means are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto of_floats = [&]<class T>(T, const std::string& suffix, double close) {
    using V = StridedView<const T, D>;
    check<T, T>(device, "sum." + suffix, {close, Scale::sums}, REDUCTION(sum(x, dims, keepdim)));
    check<T, T>(device, "prod." + suffix, {36 * close}, REDUCTION(prod(x, dims, keepdim)));
    check<T, T>(device, "mean." + suffix, {close, Scale::means}, REDUCTION(mean(x, dims, keepdim)));
  };
  // One rounding for each element that PyTorch adds or multiplies, at most 36.
  of_floats(float{}, "f32", 0x1p-24);
  of_floats(double{}, "f64", 2 * 0x1p-53);  // and one of ours
  using V = StridedView<const float, D>;
  check<float, float>(device, "sum exact", {}, REDUCTION(sum(x, dims, keepdim)), true,
                      exact_values<float>);
  check<float, index_t>(device, "sum bool", {}, REDUCTION(sum(x > 0, dims, keepdim)));
  using I = StridedView<const std::int32_t, D>;
  check<std::int32_t, index_t>(
      device, "sum.i32", {},
      [](const I& x, const Dims& dims, bool keepdim) { return sum(x, dims, keepdim); });
  check<std::int32_t, index_t>(
      device, "prod.i32", {},
      [](const I& x, const Dims& dims, bool keepdim) { return prod(x, dims, keepdim); });
}

TEST_CASE_TEMPLATE("variances and norms are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto spread = [&]<class T>(T, const std::string& suffix, double close) {
    using V = StridedView<const T, D>;
    check<T, T>(device, "var." + suffix, {close}, REDUCTION(var(x, dims, keepdim)));
    check<T, T>(device, "std." + suffix, {close}, REDUCTION(stddev(x, dims, keepdim, 0)));
  };
  // One rounding for each of at most 36 elements, for its square or power, and for the root.
  spread(float{}, "f32", 80 * 0x1p-24);
  spread(double{}, "f64", 80 * 0x1p-53);
  using V = StridedView<const float, D>;
  check<float, float>(device, "norm 1", {80 * 0x1p-24}, REDUCTION(norm(x, 1, dims, keepdim)));
  check<float, float>(device, "norm 2", {80 * 0x1p-24}, REDUCTION(norm(x, 2, dims, keepdim)));
  check<float, float>(device, "norm 3", {80 * 0x1p-24}, REDUCTION(norm(x, 3, dims, keepdim)));
  check<float, float>(device, "norm 0.5", {80 * 0x1p-24}, REDUCTION(norm(x, 0.5, dims, keepdim)));
  check<float, float>(device, "norm inf", {}, REDUCTION(norm(x, infinity, dims, keepdim)), false);
}

TEST_CASE_TEMPLATE("extremes, any and all are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto extremes = [&]<class T>(T, const std::string& suffix) {
    using V = StridedView<const T, D>;
    check<T, T>(device, "amax." + suffix, {}, REDUCTION(amax(x, dims, keepdim)), false);
    check<T, T>(device, "amin." + suffix, {}, REDUCTION(amin(x, dims, keepdim)), false);
  };
  extremes(float{}, "f32");
  extremes(std::int32_t{}, "i32");
  extremes(index_t{}, "i32");
  using V = StridedView<const float, D>;
  check<float, bool>(device, "any", {}, REDUCTION(any(x > 1, dims, keepdim)));
  check<float, bool>(device, "all", {}, REDUCTION(all(x > -1, dims, keepdim)));
}

TEST_CASE_TEMPLATE("places of extremes are those of the first of equal elements", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  ExpectedResults<label_t> highest("argmax"), lowest("argmin");
  const auto views = all_views<float>(device, 0, repeated_values<float>);
  for (const auto& x : views)
    if (x.view.numel() > 0) {
      highest.next(argmax(x.view.contiguous()));
      lowest.next(argmin(x.view.contiguous()));
    }
  for (const auto& x : views)
    for (int d = 0; d < x.view.sizes().rank(); ++d)
      if (x.view.size(d) > 0) {
        const bool keepdim = d % 2 == 1;
        auto [most, most_at] = max(x.view, d, keepdim);
        auto [least, least_at] = min(x.view, d, keepdim);
        CHECK(most.to_vector() == amax(x.view, d, keepdim).to_vector());
        CHECK(least.to_vector() == amin(x.view, d, keepdim).to_vector());
        CHECK(most_at.to_vector() == argmax(x.view, d, keepdim).to_vector());
        CHECK(least_at.to_vector() == argmin(x.view, d, keepdim).to_vector());
        highest.next(most_at);
        lowest.next(least_at);
      }
}

TEST_CASE_TEMPLATE("a NaN is both extremes, and the first one their place", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  const Tensor<float, D> x(device, {2, 4}, {1, nan, 3, nan, -inf, inf, -inf, 2});
  CHECK(std::isnan(max(x).item()));
  CHECK(std::isnan(min(x).item()));
  CHECK(argmax(x).item() == 1);
  CHECK(argmin(x).item() == 1);
  CHECK(argmax(x, 1).to_vector() == std::vector<label_t>{1, 1});
  CHECK(argmin(x, 1).to_vector() == std::vector<label_t>{1, 0});
  CHECK(argmax(x, 0).to_vector() == std::vector<label_t>{0, 0, 0, 0});
  CHECK(amax(x[1]).item() == inf);
  CHECK(std::isnan(sum(x[1]).item()));
  CHECK(any(isnan(x), 1).to_vector() == std::vector<bool>{true, false});
  CHECK(all(x).item() == true);  // neither NaN nor an infinity is 0
}

TEST_CASE_TEMPLATE("reductions of nothing", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> none(device, {0, 3});
  CHECK(sum(none).item() == 0);
  CHECK(prod(none, 0).to_vector() == std::vector<float>{1, 1, 1});
  CHECK(std::isnan(mean(none).item()));
  CHECK(std::isnan(var(none).item()));
  CHECK(norm(none).item() == 0);
  CHECK(any(none).item() == false);
  CHECK(all(none).item() == true);
  CHECK(amax(none, 1).sizes() == Sizes{0});
  const std::string message =
      " a tensor of shape [0, 3] has no elements to reduce (there is no largest or smallest), give "
      "some";
  CHECK(error_of([&] { max(none); }) == "gpunet::amax:" + message);
  CHECK(error_of([&] { amin(none, 0); }) == "gpunet::amin:" + message);
  CHECK(error_of([&] { argmin(none, 0); }) == "gpunet::argmin:" + message);
  CHECK(error_of([&] { max(none, 0); }) == "gpunet::max:" + message);
  CHECK(error_of([&] { argmax(none); }) == "gpunet::argmax:" + message);
  CHECK(error_of([&] { norm(none, infinity); }) == "gpunet::norm:" + message);
}

TEST_CASE_TEMPLATE("wrong dimensions of reductions are refused", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> x = Tensor<float, D>(device, {2, 3}, std::vector<float>(6, 2)),
                         number(device, {}, {4});
  CHECK(error_of([&] { sum(x, 2); }) ==
        "gpunet::sum: dimension 2 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] {
          mean(x, {0, -3});
        }) == "gpunet::mean: dimension -3 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] {
          sum(x, {1, -1});
        }) == "gpunet::sum: dimension -1 is given twice, give it once");
  CHECK(error_of([&] { argmax(2 * x, 5); }) ==
        "gpunet::argmax: dimension 5 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] { max(x, 5); }) ==
        "gpunet::max: dimension 5 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(contains(error_of([&] {
                   sum(x, {0, 1, 2, 3, 4, 5, 6, 7, 8});
                 }),
                 "gpunet::sum: 9 dimensions (want at most 8)"));
  CHECK(error_of([&] { norm(x, 0); }) ==
        "gpunet::norm: p is 0 (want a number above 0, or infinity)");
  CHECK(error_of([&] { norm(x, -1); }) ==
        "gpunet::norm: p is -1 (want a number above 0, or infinity)");
  CHECK(sum(number, 0).item() == 4);
  CHECK(sum(number, -1, true).sizes() == Sizes{});
  CHECK(amax(number).item() == 4);
  CHECK(argmax(number).item() == 0);
  CHECK(argmax(2 * number, 0).item() == 0);
  CHECK(max(number, 0).values.item() == 4);
  CHECK(error_of([&] { sum(number, 1); }) ==
        "gpunet::sum: dimension 1 of a tensor without dimensions, reshape it");
}

TEST_CASE("large sums do not depend on the number of threads, and are close to plain ones") {
  Host one({.threads = 1}), two({.threads = 2}), three({.threads = 3});
  const std::pair<index_t, index_t> shapes[] = {
      {300, 2000}, {2000, 300}, {1, 200000}, {200000, 1}, {70000, 3}, {3, 70000},
      {511, 513},  {512, 512},  {513, 511},  {1023, 65},  {64, 1024}, {65, 1025},
      {1, 1023},   {1, 1024},   {1, 1025},   {255, 257},  {7, 4097}};
  for (const auto& shape : shapes) {
    const index_t height = shape.first, width = shape.second;
    CAPTURE(height);
    CAPTURE(width);
    const std::vector<float> values = operand_values<float>(height * width, 0);
    const PlainSums plain(values, height, width);
    const auto sums = [&](Host& host) {
      const Tensor<float, Host> x(host, {height, width}, values);
      const Tensor<float, Host> turned = transpose(x, 0, 1);
      std::vector<std::vector<float>> results;
      results.push_back(sum(x).to_vector());
      results.push_back(sum(x, 1).to_vector());
      results.push_back(sum(x, 0).to_vector());
      results.push_back(sum(transpose(turned, 0, 1), 1).to_vector());
      results.push_back(sum(transpose(turned, 0, 1), 0).to_vector());
      results.push_back(sum(2 * x - x, 0).to_vector());
      results.push_back(amax(x, 0).to_vector());
      results.push_back(amax(x, 1).to_vector());
      results.push_back(amax(turned, 1).to_vector());
      results.push_back(amin(-x).to_vector());
      return results;
    };
    const auto expected = sums(one);
    CHECK(sums(two) == expected);
    CHECK(sums(three) == expected);
    // A run of 64 floats is added as such, and double from then on: 64 roundings of 2^-24.
    const auto near = [](const std::vector<float>& made, const std::vector<double>& wanted,
                         const std::vector<double>& scale) {
      REQUIRE(made.size() == wanted.size());
      double worst = 0;
      for (std::size_t i = 0; i < made.size(); ++i)
        worst = std::max(worst, std::abs(made[i] - wanted[i]) / scale[i]);
      CHECK(worst < 65 * 0x1p-24);
    };
    near(expected[0], {plain.all}, {plain.scale});
    for (const std::size_t k : std::initializer_list<std::size_t>{1, 3})
      near(expected[k], plain.rows, plain.row_scale);
    for (const std::size_t k : std::initializer_list<std::size_t>{2, 4, 5})
      near(expected[k], plain.columns, plain.column_scale);
    CHECK(expected[8] == expected[6]);
    CHECK(expected[9][0] == -*std::max_element(values.begin(), values.end()));
    CHECK(*std::max_element(expected[6].begin(), expected[6].end()) == -expected[9][0]);
    CHECK(*std::max_element(expected[7].begin(), expected[7].end()) == -expected[9][0]);
  }
}

TEST_CASE_TEMPLATE("sums of exact numbers are exact at every block boundary", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const index_t n : {1, 2, 31, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025,
                          2049, 4095, 4097, 8200}) {
    CAPTURE(n);
    const std::vector<std::int32_t> values = operand_values<std::int32_t>(n, 0);
    const std::vector<float> numbers = exact_values<float>(n, 0);
    index_t whole = 0;
    float total = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      whole += values[i];
      total += numbers[i];
    }
    const Tensor<std::int32_t, D> x(device, {n}, values);
    CHECK(sum(x).item() == whole);
    CHECK(sum(x > 0).item() ==
          std::count_if(values.begin(), values.end(), [](int v) { return v > 0; }));
    CHECK(amax(x).item() == *std::max_element(values.begin(), values.end()));
    const Tensor<float, D> y(device, {n}, numbers);
    CHECK(sum(y).item() == total);
    CHECK(sum(unsqueeze(y, 1), 0).to_vector() == std::vector<float>{total});
    CHECK(Tensor(sum(expand(y, {2, n}), 1)).to_vector() == std::vector<float>{total, total});
    CHECK(sum(expand(unsqueeze(y, 1), {n, 2}), 0).to_vector() == std::vector<float>{total, total});
    CHECK(argmax(y).item() == std::max_element(numbers.begin(), numbers.end()) - numbers.begin());
  }
}

TEST_CASE_TEMPLATE("sums of integers are index_t, and those of small floats keep what double keeps",
                   D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const std::int32_t high = std::numeric_limits<std::int32_t>::max();
  const Tensor<std::int32_t, D> large(device, {4}, {high, high, high, 1});
  CHECK(sum(large).item() == index_t{3} * high + 1);
  CHECK(sum(Tensor<std::uint8_t, D>(device, {3}, {255, 255, 255})).item() == 765);
  for (const index_t n : {127, 128, 513, 1024, 1500}) {
    CAPTURE(n);
    CHECK(sum(full<std::uint8_t>(device, {n}, 200)).item() == 200 * n);
    CHECK(sum(full<std::int32_t>(device, {n}, 1 << 27)).item() == n << 27);
    CHECK(sum(full<std::int32_t>(device, {2, n}, -high), 1).to_vector() ==
          std::vector<index_t>(2, -n * high));
    CHECK(prod(where(arange(device, n) < 62, full<std::uint8_t>(device, {n}, 2),
                     full<std::uint8_t>(device, {n}, 1)))
              .item() == index_t{1} << 62);
  }
  CHECK(Tensor<double, D>(mean(cast<double>(large))).item() == (3.0 * high + 1) / 4);
  const Tensor<float, D> mixed(device, {3}, {1e8f, 1, -1e8f});
  CHECK(sum(mixed).item() == 1);
  CHECK(sum(square(mixed - mixed)).item() == 0);
}

TEST_CASE_TEMPLATE("counts of elements that are not 0 are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  using V = StridedView<const std::int32_t, D>;
  check<std::int32_t, index_t>(device, "count_nonzero", {}, [](const V& x, const Dims& dims, bool) {
    return count_nonzero(x, dims);
  });
  const Tensor<float, D> x(device, {3}, {0, std::numeric_limits<float>::quiet_NaN(), -0.0f});
  CHECK(count_nonzero(x).item() == 1);
  CHECK(count_nonzero(x == 0, 0).item() == 2);
}

TEST_CASE_TEMPLATE("elements that are close are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const float inf = static_cast<float>(infinity), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> special{
      0, -0.0f, 1, -1, inf, -inf, nan, 1e-45f, -3e-39f, 3.4028235e38f, 1.17549435e-38f, 0.5f, -0.5f,
      // As in tensors.py.
      1.5f, 2.5f, -2.5f, 3, -7.25f, 8388609, 1e-3f, -100, 88, 0.99999994f};
  struct Options {
    double rtol = 1e-5, atol = 1e-8;
    bool equal_nan = false;
  };
  int k = 0;
  for (const Options& o : {Options{}, Options{0.5, 0, false}, Options{0, 1, true}}) {
    const std::string name = "isclose " + std::to_string(k++);
    const auto of = [&]<class T>(T, const char* suffix) {
      ExpectedResults<bool> expected(name + suffix);
      const auto a = all_views<T>(device, 0), b = all_views<T>(device, 1);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const Tensor close = isclose(a[i].view, b[i].view, o.rtol, o.atol, o.equal_nan);
        expected.next(close);
        CHECK(allclose(a[i].view, b[i].view, o.rtol, o.atol, o.equal_nan) == all(close).item());
      }
      if constexpr (std::is_same_v<T, float>) {
        const Tensor<T, D> x(device, {static_cast<index_t>(special.size())}, special);
        expected.next(isclose(unsqueeze(x, 1), x, o.rtol, o.atol, o.equal_nan));
      }
    };
    of(float{}, ".f32");
    of(std::int32_t{}, ".i32");
  }
  const Tensor<float, D> x(device, {2}, {1, 2}), none(device, {0});
  CHECK(allclose(x, x + 1e-7));
  CHECK(!allclose(x, x + 1e-4));
  CHECK(allclose(none, x[0]));
  CHECK(allclose(cast<bool>(x), x > 0));
  const Tensor<std::int32_t, D> large(device, {1}, {(1 << 24) + 1});
  CHECK(!allclose(large, large - 1, 0, 0));
  CHECK(allclose(large, large + 0, 0, 0));
  CHECK(error_of([&] { allclose(x, x, -1); }) ==
        "gpunet::isclose: rtol is -1 and atol 1e-08 (want 0 or more)");
  CHECK(error_of([&] { isclose(x, ones(device, {3})); }) != "");
}

TEST_CASE_TEMPLATE("tensors are equal in shape and elements", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> x(device, {2, 2}, {1, 2, 2, 1}), nan = x / 0 * 0, none(device, {0});
  CHECK(equal(x, t(x)));
  CHECK(equal(x + 1, 1 + x));
  CHECK(!equal(x, x[0]));
  CHECK(!equal(x, 2 * x));
  CHECK(!equal(nan, nan));
  CHECK(equal(none, none.clone()));
  CHECK(!equal(none, ones(device, {1, 0})));
  CHECK(equal(x > 1, t(x) > 1));
}
