#include <cmath>
#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

constexpr index_t rows = 7, dim = 3, length = 5;
using Words = nn::Embedding<rows, dim>;
using Padded = nn::Embedding<rows, dim, nn::PaddingIdx<2>>;

// Indices of a batch [count, length], many of them more than once.
std::vector<float> indices(index_t count) {
  std::vector<float> x;
  for (index_t i = 0; i < count * length; ++i)
    x.push_back(static_cast<float>((i * i + 3 * i) % (rows - 1)));  // the last one has no gradient
  return x;
}

// The gradient of the weight: the sum of dy [count, length, dim] over the positions of an index.
std::vector<float> weight_gradient(const std::vector<float>& x, const std::vector<float>& dy,
                                   index_t padding) {
  std::vector<float> dw(rows * dim);
  for (std::size_t p = 0; p < x.size(); ++p)
    for (std::size_t d = 0; d < dim; ++d)
      if (const auto row = static_cast<std::size_t>(x[p]); static_cast<index_t>(row) != padding)
        dw[row * dim + d] += dy[p * dim + d];
  return dw;
}

template <class L, class D>
void check_embedding(D& device, const Slice& slice, index_t padding) {
  CAPTURE(slice.inner);
  nn::LayerRun<float, D> run(device, L{}, Shape<length>{}, slice);
  const std::vector<float> weight = pattern<float>(rows * dim, 5, 1, 23), x = indices(slice.count);
  // Sums are exact.
  const std::vector<float> dy = pattern<float>(slice.count * length * dim, 7, 2, 19);
  run.set_parameters(weight);
  const std::vector<float> y = run.forward(x);
  std::vector<float> want;
  for (const float index : x)
    for (std::size_t d = 0; d < dim; ++d)
      want.push_back(weight[static_cast<std::size_t>(index) * dim + d]);
  CHECK(y == want);
  std::vector<float> dw = weight_gradient(x, dy, padding);
  const nn::LayerGradients<float> gradients = run.backward(dy);
  CHECK(gradients.parameters == dw);
  CHECK(gradients.dx == std::vector<float>(x.size()));
  const std::vector<float> before = pattern<float>(rows * dim, 3, 1, 17);
  for (std::size_t i = 0; i < dw.size(); ++i)
    dw[i] += before[i];
  CHECK(run.backward(dy, Accumulate::yes, before).parameters == dw);
}

}  // namespace

TEST_CASE_TEMPLATE("Embedding takes rows, and its gradient adds them", D, GPUNET_TEST_DEVICES) {
  for (const Slice& slice : test_slices<D>()) {
    check_embedding<Words>(test_device<D>(), slice, -1);
    check_embedding<Padded>(test_device<D>(), slice, 2);
  }
}

TEST_CASE("Embedding prints as PyTorch's, and adds a dimension") {
  using Net =
      nn::Sequential<nn::Input<length>, nn::Embedding<7, 3, nn::PaddingIdx<2>>, nn::Linear<2>>;
  CHECK(to_string(Net{}) ==
        "Sequential(\n"
        "  (0): Embedding(7, 3, padding_idx=2)\n"
        "  (1): Linear(in_features=3, out_features=2, bias=True)\n"
        ")");
  static_assert(std::is_same_v<decltype(Words{}.output(Shape<4, 5>{})), Shape<4, 5, 3>>);
}

TEST_CASE_TEMPLATE("what is no index", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const float bad :
       {7.0f, -1.0f, 0.5f, std::nanf(""), 1e30f, -1e30f, std::numeric_limits<float>::infinity()}) {
    nn::LayerRun<float, D> run(device, Words{}, Shape<2>{}, Slice{1, 1, 1});
    const std::vector<float> weight = pattern<float>(rows * dim, 5, 1, 23);
    run.set_parameters(weight);
    if constexpr (std::same_as<D, Host>) {
      CHECK_THROWS_AS(run.forward({3, bad}), Error);
    } else {
      const std::vector<float> y = run.forward({3, bad});
      CHECK(y[0] == weight[9]);
      for (std::size_t d = 0; d < dim; ++d)
        CHECK(std::isnan(y[dim + d]));
      const std::vector<float> dw = run.backward({1, 1, 1, 1, 1, 1}).parameters;
      for (std::size_t i = 0; i < dw.size(); ++i)
        CHECK(dw[i] == (i / dim == 3 ? 1 : 0));
    }
  }
}

TEST_CASE("the message for an index that is too large") {
  Host device({.threads = 1});
  Model<nn::Sequential<nn::Input<2>, Words>, Host> model(device);
  CHECK(error_of([&] {
          model(Tensor<float, Host>(device, {1, 2}, {0, 7}));
        }) ==
        "gpunet::nn::Embedding: index 7 at position 1 of a sample (want a whole number from 0 to "
        "6), check the "
        "data, or "
        "give the layer more embeddings");
}
