#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "support/errors.hpp"
#include "support/tensor_cases.hpp"

using namespace gpunet;

namespace {

// Elements are from -1.5 to 1.6, differences below 4. In units of 2^-24: a difference is off by 4,
// its exponential by 2 more (one unit in the last place), their sum by as much in all, 1 more for
// its rounding.
constexpr double unit = 0x1p-24, of_sum = (4 + 2 + 1) * unit;

}  // namespace

TEST_CASE_TEMPLATE("softmax and its logarithm are PyTorch's in double", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  // The quotient of two such numbers, its rounding and that of the reference.
  ExpectedResults<float> softmaxes("softmax", 2 * of_sum + 2 * unit);
  // Below 8: the difference; the logarithm of the sum, which is off by of_sum and, below 4, by 8
  // units; three roundings of 8.
  ExpectedResults<float> logarithms("log_softmax", 4 * unit + of_sum + 8 * unit + 3 * 8 * unit);
  for (const auto& x : all_views<float>(device))
    for (int d = -1; d < std::max(x.view.sizes().rank(), 0); ++d) {
      softmaxes.next(softmax(x.view, d));
      logarithms.next(log_softmax(x.view, d),
                      std::vector<double>(static_cast<std::size_t>(x.view.numel()), 1));
    }
}

TEST_CASE_TEMPLATE("logarithms of sums of exponentials are PyTorch's in double", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  ExpectedResults<float> expected("logsumexp", of_sum + 8 * unit + 2 * 8 * unit);
  for (const auto& x : all_views<float>(device)) {
    const int rank = x.view.sizes().rank();
    const auto next = [&](const detail::Dims& dims, bool keepdim) {
      const Tensor y = logsumexp(x.view, dims, keepdim);
      expected.next(y, std::vector<double>(static_cast<std::size_t>(y.numel()), 1));
    };
    next({}, false);
    if (rank == 0) {
      next(-1, true);
      continue;
    }
    next(0, true);
    next(-1, false);
    if (rank > 1) next({0, -1}, true);
    if (rank > 2) {
      next(1, false);
      next({2, 1}, true);
    }
  }
}

TEST_CASE_TEMPLATE("softmax of temporaries, of double, and of const tensors are the same", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Tensor<float, D> x(device, {2, 3}, {1, 2, 3, -1, 5, 0.5f});
  const Tensor<float, D> same = x.clone();
  const std::vector<float> expected = softmax(x, 1).to_vector();
  CHECK(softmax(same, 1).to_vector() == expected);
  CHECK(softmax(x.clone(), -1).to_vector() == expected);
  CHECK(softmax(x + 0, -1).to_vector() == expected);
  CHECK(Tensor(t(softmax(t(x), 0))).to_vector() == expected);
  CHECK(allclose(exp(log_softmax(cast<double>(x), 1)), softmax(cast<double>(x), 1), 1e-15));
  CHECK(allclose(logsumexp(cast<double>(x), 1), log(sum(exp(cast<double>(x)), 1)), 1e-15));
  CHECK(logsumexp(2 * x, {0, 1}, true).sizes() == Sizes{1, 1});
}

TEST_CASE_TEMPLATE("softmax of large numbers, of none and of infinities is PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor<float, D> x(device, {4, 2}, {1000, 1000, -inf, 0, -inf, -inf, inf, 0}),
      none(device, {2, 0}), number(device, {}, {3});
  CHECK(softmax(x, 1).to_vector()[0] == 0.5f);
  CHECK(slice(softmax(x, 1), 0, {1, 2}).to_vector() == std::vector<float>{0, 1});
  CHECK(all(isnan(slice(softmax(x, 1), 0, {.start = 2}))).item());
  CHECK(slice(log_softmax(x, 1), 0, {1, 2}).to_vector() == std::vector<float>{-inf, 0});
  const std::vector<float> sums = logsumexp(x, 1).to_vector();
  CHECK(sums[0] == 1000 + std::log(2.0f));
  CHECK(std::vector<float>(sums.begin() + 1, sums.end()) == std::vector<float>{0, -inf, inf});
  CHECK(softmax(none, 1).sizes() == Sizes{2, 0});
  CHECK(log_softmax(none, 0).sizes() == Sizes{2, 0});
  CHECK(logsumexp(none, 1).to_vector() == std::vector<float>{-inf, -inf});
  CHECK(softmax(number, 0).item() == 1);
  CHECK(log_softmax(number, -1).item() == 0);
  CHECK(logsumexp(number).item() == 3);
  CHECK(error_of([&] { softmax(x, 2); }) ==
        "gpunet::softmax: dimension 2 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] { softmax(std::as_const(none), 2); }) ==
        "gpunet::softmax: dimension 2 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] { log_softmax(2 * x, -3); }) ==
        "gpunet::log_softmax: dimension -3 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] { logsumexp(x, 5); }) ==
        "gpunet::logsumexp: dimension 5 of a tensor with 2 dimensions (want -2 to 1)");
}
