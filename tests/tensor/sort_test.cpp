#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/sort.hpp>

#include "support/errors.hpp"
#include "support/tensor_cases.hpp"

using namespace gpunet;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();
const std::vector<float> special{2, not_a_number,  -0.0f,  infinity, 0, -infinity, -1e-45f,
                                 2, -not_a_number, 1e-45f, 0};  // as in tensors.py

// Sorts along each dimension; numbers that are not usual are the last result.
template <class T, class D>
void check(D& device) {
  for (const bool descending : {false, true}) {
    const std::string suffix = descending ? " descending" : "";
    ExpectedResults<T> values("sort" + suffix);
    ExpectedResults<index_t> indices("argsort" + suffix);
    for (const auto& x : all_views<T>(device, 0, repeated_values<T>))
      for (int d = 0; d < x.view.sizes().rank(); ++d) {
        const auto [sorted, places] = sort(x.view, d, descending);
        values.next(sorted);
        indices.next(places);
      }
    const Tensor<T, D> x(device, {static_cast<index_t>(special.size())},
                         std::vector<T>(special.begin(), special.end()));
    values.next(sort(x, 0, descending).values);
    indices.next(argsort(x, 0, descending));
  }
}

// The order of rows of values by std::stable_sort.
template <class T>
std::vector<index_t> plain_order(const std::vector<T>& values, index_t length, bool descending) {
  std::vector<index_t> order;
  for (std::size_t first = 0; first < values.size(); first += static_cast<std::size_t>(length)) {
    std::vector<index_t> row(static_cast<std::size_t>(length));
    std::iota(row.begin(), row.end(), index_t{0});
    std::stable_sort(row.begin(), row.end(), [&](index_t a, index_t b) {
      const T x = values[first + static_cast<std::size_t>(a)],
              y = values[first + static_cast<std::size_t>(b)];
      return descending ? x > y : x < y;
    });
    order.insert(order.end(), row.begin(), row.end());
  }
  return order;
}

// Numbers without an order, some of them equal.
template <class T>
std::vector<T> scattered_values(index_t n) {
  std::vector<T> values;
  std::uint64_t state = 7;
  for (index_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(static_cast<T>(static_cast<std::int32_t>(state >> 40) - (1 << 23)));
  }
  return values;
}

}  // namespace

TEST_CASE_TEMPLATE("sorted elements and their places are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  check<float>(device);
  check<double>(device);
}

TEST_CASE_TEMPLATE("the first elements, and different ones, are PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  ExpectedResults<float> largest("topk"), smallest("topk smallest"), different("unique");
  ExpectedResults<index_t> inverse("unique inverse"), counts("unique counts");
  for (const auto& x : all_views<float>(device))
    for (int d = 0; d < x.view.sizes().rank(); ++d) {
      const index_t k = (x.view.size(d) + 1) / 2;
      const auto [most, most_at] = topk(x.view, k, d);
      const auto [least, least_at] = topk(x.view, k, d, false);
      largest.next(most);
      smallest.next(least);
      if (k > 0) {
        CHECK(gather(x.view, d, most_at).to_vector() == most.to_vector());
        CHECK(gather(x.view, d, least_at).to_vector() == least.to_vector());
      }
    }
  for (const auto& x : all_views<float>(device, 0, repeated_values<float>)) {
    const auto result = unique(x.view);
    different.next(result.values);
    inverse.next(result.inverse);
    counts.next(result.counts);
  }
}

TEST_CASE_TEMPLATE("counts are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  ExpectedResults<float> histograms("histc");
  const auto views = all_views<float>(device);
  for (const auto& x : views)
    histograms.next(histc(x.view, 4, -1, 1));
  for (const auto& x : views)
    histograms.next(histc(x.view, 5));
  ExpectedResults<index_t> occurrences("bincount");
  for (const auto& x : all_views<std::int32_t>(device))
    occurrences.next(bincount(flatten(x.view + 11)));
}

TEST_CASE_TEMPLATE("integers are sorted up to their limits", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto of = [&]<class T>(T) {
    constexpr T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    const Tensor<T, D> x(device, {6}, {3, high, 0, low, 3, 1});
    const auto [values, places] = sort(x);
    CHECK(values.to_vector()[5] == high);
    CHECK(places.to_vector() == (low == 0 ? std::vector<index_t>{2, 3, 5, 0, 4, 1}
                                          : std::vector<index_t>{3, 2, 5, 0, 4, 1}));
    CHECK(argsort(x, 0, true).to_vector() == (low == 0 ? std::vector<index_t>{1, 0, 4, 5, 2, 3}
                                                       : std::vector<index_t>{1, 0, 4, 5, 2, 3}));
    CHECK(topk(x, 2).indices.to_vector() == std::vector<index_t>{1, 0});
    CHECK(unique(x).counts.to_vector() ==
          (low == 0 ? std::vector<index_t>{2, 1, 2, 1} : std::vector<index_t>{1, 1, 1, 2, 1}));
  };
  of(std::int32_t{});
  of(index_t{});
  of(std::uint8_t{});
}

TEST_CASE_TEMPLATE("rows of any length are sorted as by a stable sort", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const auto& shape : {std::pair<index_t, index_t>{3, 17},
                            {2, 63},
                            {2, 64},
                            {2, 1023},
                            {2, 1025},
                            {40, 3},
                            {1, 8192}}) {
    const index_t rows = shape.first, length = shape.second;
    CAPTURE(length);
    const auto of = [&]<class T>(T) {
      const std::vector<T> values = scattered_values<T>(rows * length);
      const Tensor<T, D> x(device, {rows, length}, values);
      CHECK(argsort(x).to_vector() == plain_order(values, length, false));
      CHECK(argsort(x, 1, true).to_vector() == plain_order(values, length, true));
    };
    of(float{});
    of(double{});
  }
}

TEST_CASE("long rows are sorted by several threads as by a stable sort") {
  for (const int threads : {1, 2, 3}) {
    Host host({.threads = threads});
    CAPTURE(threads);
    for (const auto& shape : {std::pair<index_t, index_t>{1, 100003}, {2, 70000}, {300, 400}}) {
      const index_t rows = shape.first, length = shape.second;
      CAPTURE(length);
      std::vector<float> values = scattered_values<float>(rows * length);
      for (float& value : values)  // many are equal
        value = std::floor(value / 4096);
      const Tensor<float, Host> x(host, {rows, length}, values);
      const std::vector<index_t> order = plain_order(values, length, false);
      CHECK(argsort(x).to_vector() == order);
      const index_t k = 50;
      std::vector<index_t> first;
      for (index_t row = 0; row < rows; ++row)
        first.insert(first.end(), order.begin() + row * length, order.begin() + row * length + k);
      CHECK(topk(x, k, 1, false).indices.to_vector() == first);
      const Tensor<float, Host> turned = transpose(x, 0, 1);
      CHECK(sort(turned, 0).values.to_vector() ==
            Tensor(transpose(sort(x).values, 0, 1)).to_vector());
    }
  }
}

// In the worst order, where each element is one of the first so far, and in others; with k at both
// sides of an eighth.
TEST_CASE("the first elements are those of a sort, in its order, for each k") {
  Host host({.threads = 2});
  const auto of = [&]<class T>(T) {
    for (const index_t length : {7, 100, 512, 513, 4000}) {
      CAPTURE(length);
      std::vector<T> equal = scattered_values<T>(length), rising(equal.size());
      for (std::size_t i = 0; i < equal.size(); ++i) {
        equal[i] = static_cast<T>(static_cast<int>(equal[i]) % 5);
        rising[i] = static_cast<T>(i % 200);
      }
      if constexpr (std::is_floating_point_v<T>)
        equal[3] = equal[5] = std::numeric_limits<T>::quiet_NaN();
      for (const std::vector<T>& values : {equal, rising, scattered_values<T>(length)})
        for (const bool largest : {false, true}) {
          const Tensor<T, Host> x(host, {length}, values);
          const std::vector<index_t> order = argsort(x, 0, largest).to_vector();
          for (const index_t k :
               {index_t{1}, index_t{2}, index_t{50}, length / 8, length / 8 + 1, length}) {
            if (k < 1 || k > length) continue;
            CAPTURE(k);
            CHECK(topk(x, k, 0, largest).indices.to_vector() ==
                  std::vector<index_t>(order.begin(), order.begin() + k));
          }
        }
    }
  };
  of(float{});
  of(double{});
  of(std::int32_t{});
  of(index_t{});
  of(std::uint8_t{});
}

TEST_CASE_TEMPLATE("sorts of numbers and of nothing", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> number(device, {}, {3}), none(device, {2, 0}),
      x(device, {2, 3}, {3, 1, 2, 6, 5, 4});
  CHECK(sort(number).values.item() == 3);
  CHECK(topk(number, 1).indices.item() == 0);
  CHECK(sort(none).indices.sizes() == Sizes{2, 0});
  CHECK(sort(none, 0).values.sizes() == Sizes{2, 0});
  CHECK(topk(x, 0).values.sizes() == Sizes{2, 0});
  CHECK(topk(x, 2, 0, false).values.to_vector() == std::vector<float>{3, 1, 2, 6, 5, 4});
  CHECK(unique(none).values.numel() == 0);
  CHECK(unique(none).inverse.sizes() == Sizes{2, 0});
  CHECK(unique(number).counts.to_vector() == std::vector<index_t>{1});
  CHECK(histc(none, 3).to_vector() == std::vector<float>(3, 0));
  CHECK(bincount(Tensor<index_t, D>(device, {0})).numel() == 0);
  CHECK(bincount(Tensor<index_t, D>(device, {0}), 2).to_vector() == std::vector<index_t>{0, 0});
  CHECK(bincount(Tensor<std::uint8_t, D>(device, {3}, {1, 1, 3}), 6).to_vector() ==
        std::vector<index_t>{0, 2, 0, 1, 0, 0});
  CHECK(sort(2 * x - 1).values.to_vector() == std::vector<float>{1, 3, 5, 7, 9, 11});
  const Tensor<float, D> with_nan(device, {4}, {0, not_a_number, 1, 2});
  CHECK(histc(with_nan, 2, 0, 2).to_vector() == std::vector<float>{1, 2});
  CHECK(histc(arange<float>(device, 49), 49, 0, 49).to_vector() == std::vector<float>(49, 1));
  CHECK(histc(full(device, {3}, 5.0f), 4).to_vector() == std::vector<float>{0, 0, 3, 0});
}

TEST_CASE_TEMPLATE("sorts that cannot be are refused", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> x = ones(device, {2, 3}), number = ones(device, {});
  CHECK(error_of([&] { sort(x, 2); }) ==
        "gpunet::sort: dimension 2 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] { sort(number, 1); }) ==
        "gpunet::sort: dimension 1 of a tensor without dimensions, reshape it");
  CHECK(error_of([&] { topk(x, 4); }) ==
        "gpunet::topk: k is 4 for a dimension of 3 elements (want 0 to 3)");
  CHECK(error_of([&] { topk(x, -1); }) ==
        "gpunet::topk: k is -1 for a dimension of 3 elements (want 0 to 3)");
  CHECK(error_of([&] { topk(x, 1, 5); }) ==
        "gpunet::topk: dimension 5 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] { topk(number, 2); }) != "");
  CHECK(error_of([&] { histc(x, 0); }) == "gpunet::histc: 0 bins (want 1 or more)");
  CHECK(error_of([&] { histc(x, 4, 2, 1); }) ==
        "gpunet::histc: min is 2 and max 1 (want min below max)");
  CHECK(error_of([&] { histc(x, 4, 0, double{infinity}); }) ==
        "gpunet::histc: the range from 0 to inf (want finite numbers), give min and max");
  CHECK(error_of([&] { histc(x, 4, double{not_a_number}, 1); }) != "");
  CHECK(error_of([&] { histc(x / 0, 4); }) ==
        "gpunet::histc: the range from inf to inf (want finite numbers), give min and max");
  CHECK(error_of([&] { bincount(cast<index_t>(-x)); }) ==
        "gpunet::bincount: an element is -1 (want 0 or more), shift them");
  CHECK(error_of([&] { bincount(cast<index_t>(x), -1); }) ==
        "gpunet::bincount: a length of -1 (want 0 or more)");
  const Tensor<index_t, D> far(device, {1}, {std::numeric_limits<index_t>::max()});
  CHECK(error_of([&] { bincount(far); }) != "");
}

TEST_CASE_TEMPLATE("medians are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto of = [&](const char* name, std::vector<float> (*fill)(index_t, int)) {
    ExpectedResults<float> expected(name);
    const auto views = all_views<float>(device, 0, fill);
    for (const auto& x : views)
      if (x.view.numel() > 0) expected.next(median(x.view));
    for (const auto& x : views)
      for (int d = 0; d < x.view.sizes().rank(); ++d)
        if (x.view.size(d) > 0) {
          const auto [values, indices] = median(x.view, d, d % 2 == 1);
          expected.next(values);
          const auto kept = median(x.view, d, true);
          CHECK(gather(x.view, d, kept.indices).to_vector() == kept.values.to_vector());
          CHECK(kept.indices.to_vector() == indices.to_vector());
        }
  };
  of("median", operand_values<float>);
  of("median repeated", repeated_values<float>);
  const Tensor<float, D> x(device, {2, 5},
                           {3, not_a_number, 1, not_a_number, 0, 4, -infinity, 2, infinity, 2});
  const auto [values, indices] = median(x, 1);
  CHECK(std::isnan(values.to_vector()[0]));
  CHECK(values.to_vector()[1] == 2);
  CHECK(indices.to_vector() == std::vector<index_t>{1, 4});
  CHECK(std::isnan(median(x).item()));
  CHECK(std::isnan(median(Tensor<float, D>(device, {0})).item()));
  CHECK(median(Tensor<index_t, D>(device, {4}, {7, 1, 5, 3})).item() == 3);
  CHECK(median(Tensor<std::uint8_t, D>(device, {}, {7}), 0).values.item() == 7);
  CHECK(median(2 * x[1], 0).values.item() == 4);
  CHECK(error_of([&] { median(x, 2); }) ==
        "gpunet::median: dimension 2 of a tensor with 2 dimensions (want -2 to 1)");
  const std::string nothing = " has no elements along dimension 0, give some";
  CHECK(error_of([&] {
          median(Tensor<float, D>(device, {0, 2}), 0);
        }) == "gpunet::median: a tensor of shape [0, 2]" + nothing);
  CHECK(error_of([&] { median(Tensor<index_t, D>(device, {0})); }) ==
        "gpunet::median: a tensor of shape [0]" + nothing);
}
