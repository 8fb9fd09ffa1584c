#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/scan.hpp>

#include "support/errors.hpp"
#include "support/tensor_cases.hpp"

using namespace gpunet;

namespace {

// Sums up to each element along every dimension.
template <class T, class R, class D>
void check(D& device, const std::string& name, double tolerance,
           std::vector<T> (*fill)(index_t, int) = operand_values<T>) {
  ExpectedResults<R> expected(name, tolerance);
  for (const auto& x : all_views<T>(device, 0, fill))
    for (int d = 0; d < x.view.sizes().rank(); ++d)
      if constexpr (std::is_floating_point_v<R>)
        expected.next(cumsum(x.view, d),
                      Tensor(cumsum(abs(cast<double>(x.view)), d) * x.view.size(d)).to_vector());
      else
        expected.next(cumsum(x.view, d));
}

}  // namespace

TEST_CASE_TEMPLATE("sums up to each element are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  // One rounding for each element that PyTorch adds, relative to the sum of absolute values.
  check<float, float>(device, "cumsum.f32", 0x1p-24);
  check<double, double>(device, "cumsum.f64", 2 * 0x1p-53);  // and one of ours
  check<std::int32_t, index_t>(device, "cumsum.i32", 0);
  check<index_t, index_t>(device, "cumsum.i32", 0);
  check<float, float>(device, "cumsum exact", 0, exact_values<float>);
  ExpectedResults<index_t> of_bools("cumsum bool");
  for (const auto& x : all_views<float>(device))
    if (x.view.sizes().rank() > 0) of_bools.next(cumsum(x.view > 0, -1));
}

TEST_CASE_TEMPLATE("long rows and columns are scanned exactly", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const std::pair<index_t, index_t> shapes[] = {{1, 2000}, {2000, 1}, {3, 1025}, {1025, 3},
                                                {40, 70},  {2, 33},   {513, 2}};
  for (const auto& shape : shapes) {
    const index_t height = shape.first, width = shape.second;
    CAPTURE(height);
    CAPTURE(width);
    const std::vector<float> values = exact_values<float>(height * width, 0);
    const Tensor<float, D> x(device, {height, width}, values);
    std::vector<float> rows = values, columns = values;
    for (index_t i = 0; i < height * width; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (i % width > 0) rows[at] += rows[at - 1];
      if (i >= width) columns[at] += columns[at - static_cast<std::size_t>(width)];
    }
    CHECK(cumsum(x, 1).to_vector() == rows);
    CHECK(cumsum(x, 0).to_vector() == columns);
    const Tensor<float, D> turned = transpose(x, 0, 1);
    CHECK(cumsum(transpose(turned, 0, 1), 1).to_vector() == rows);
    CHECK(cumsum(2 * x - x, -2).to_vector() == columns);
    CHECK(cumsum(flip(flip(x, {0, 1}), {0, 1}), 1).to_vector() == rows);
  }
}

TEST_CASE("scans do not depend on the number of threads") {
  const std::vector<float> values = operand_values<float>(300 * 700, 0);
  std::vector<std::vector<float>> first;
  for (const int threads : {1, 2, 3}) {
    Host host({.threads = threads});
    const Tensor<float, Host> x(host, {300, 700}, values);
    const Tensor<float, Host> cube(host, {3, 100, 700}, values);
    const std::vector<std::vector<float>> made{cumsum(x, 0).to_vector(), cumsum(x, 1).to_vector(),
                                               cumsum(cube, 1).to_vector()};
    if (first.empty()) first = made;
    CHECK(made == first);
  }
}

TEST_CASE_TEMPLATE("scans of numbers, of nothing, and along wrong dimensions", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  CHECK(cumsum(Tensor<float, D>(device, {}, {3}), 0).item() == 3);
  CHECK(cumsum(Tensor<float, D>(device, {0, 3}), 1).sizes() == Sizes{0, 3});
  CHECK(cumsum(Tensor<float, D>(device, {3, 0}), 1).sizes() == Sizes{3, 0});
  const Tensor<float, D> x(device, {2, 3});
  CHECK(error_of([&] { cumsum(x, 2); }) ==
        "gpunet::cumsum: dimension 2 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] { cumsum(Tensor<float, D>(device, {0}), 1); }) ==
        "gpunet::cumsum: dimension 1 of a tensor with 1 dimensions (want -1 to 0)");
  CHECK(error_of([&] { cumsum(Tensor<float, D>(device, {}, {3}), 1); }) ==
        "gpunet::cumsum: dimension 1 of a tensor without dimensions, reshape it");
}

TEST_CASE_TEMPLATE("differences of neighbors are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  ExpectedResults<float> expected("diff");
  ExpectedResults<bool> of_bools("diff bool");
  const auto views = all_views<float>(device);
  for (const auto& x : views)
    for (int d = 0; d < x.view.sizes().rank(); ++d)
      for (index_t n = 0; n < 4; ++n)
        expected.next(diff(x.view, n, d));
  for (const auto& x : views)
    for (int d = 0; d < x.view.sizes().rank(); ++d)
      of_bools.next(diff(x.view > 0, 1, d));
  const Tensor<std::uint8_t, D> x(device, {3}, {1, 3, 0});
  CHECK(diff(x).to_vector() == std::vector<std::uint8_t>{2, 253});
  CHECK(diff(x + 1, 2).to_vector() == std::vector<std::uint8_t>{251});
  CHECK(error_of([&] { diff(x, -1); }) == "gpunet::diff: -1 times (want 0 or more)");
  CHECK(error_of([&] { diff(x, 1, 1); }) ==
        "gpunet::diff: dimension 1 of a tensor with 1 dimensions (want -1 to 0)");
  CHECK(error_of([&] { diff(Tensor<float, D>(device, {}, {3})); }) ==
        "gpunet::diff: dimension -1 of a tensor without dimensions, reshape it");
}
