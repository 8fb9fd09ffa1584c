#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/indexing.hpp>

#include "support/errors.hpp"
#include "support/tensor_cases.hpp"

using namespace gpunet;

using detail::Scatter;

namespace {

// Indices of a shape over a dimension of n elements, as in tensors.py.
template <class I, class D>
Tensor<I, D> index_of(D& device, const Sizes& sizes, index_t n) {
  std::vector<I> values;
  for (index_t i = 0; i < sizes.numel(); ++i)
    values.push_back(static_cast<I>((5 * i + 2) % std::max(n, index_t{1})));
  return Tensor<I, D>(device, sizes, values);
}

// The shape with another extent of a dimension.
Sizes with_extent(const Sizes& sizes, int dim, index_t extent) {
  Sizes out;
  for (int d = 0; d < sizes.rank(); ++d)
    out.append(d == dim ? extent : sizes[d]);
  return out;
}

}  // namespace

TEST_CASE_TEMPLATE("elements at indices are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  ExpectedResults<float> rows("index_select"), columns("index_select -1"), gathered("gather"),
      gathered_last("gather -1");
  for (const auto& [owner, x] : all_views<float>(device)) {
    const Sizes& sizes = x.sizes();
    const int last = sizes.rank() - 1;
    if (last < 0) continue;
    if (sizes[0] > 0) {
      rows.next(index_select(x, 0, index_of<index_t>(device, {4}, sizes[0])));
      gathered.next(gather(x, 0, index_of<index_t>(device, with_extent(sizes, 0, 3), sizes[0])));
    }
    if (sizes[last] > 0) {
      columns.next(index_select(x, -1, index_of<std::int32_t>(device, {3}, sizes[last])));
      Sizes smaller;
      for (int d = 0; d < last; ++d)
        smaller.append(std::max(sizes[d] - 1, index_t{0}));
      smaller.append(2);
      gathered_last.next(gather(x, -1, index_of<std::int32_t>(device, smaller, sizes[last])));
    }
  }
}

TEST_CASE_TEMPLATE("scattered sums are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  ExpectedResults<float> expected("scatter_add");
  for (const auto& [owner, x] : all_views<float>(device, 0, exact_values<float>)) {
    const Sizes& sizes = x.sizes();
    if (sizes.rank() == 0 || sizes[0] == 0) continue;
    const Sizes of_index = with_extent(sizes, 0, 3);
    const Tensor<float, D> source(device, of_index, exact_values<float>(of_index.numel(), 1));
    expected.next(scatter_add(x, 0, index_of<index_t>(device, of_index, sizes[0]), source));
  }
}

TEST_CASE_TEMPLATE("places, masks and classes are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  ExpectedResults<index_t> found("nonzero"), found_integers("nonzero.i32"), classes("one_hot");
  ExpectedResults<float> chosen("masked_select");
  for (const auto& x : all_views<float>(device)) {
    found.next(nonzero(x.view > 0));
    chosen.next(masked_select(x.view, x.view > 0));
  }
  for (const auto& x : all_views<std::int32_t>(device))
    found_integers.next(nonzero(x.view));
  for (const Sizes& sizes : {Sizes{}, Sizes{3}, Sizes{2, 3}, Sizes{0}})
    classes.next(one_hot(index_of<index_t>(device, sizes, 4), 4));
}

TEST_CASE_TEMPLATE("indexing of every element type", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<index_t, D> index(device, {3}, {2, 0, 2});
  const auto of = [&]<class T>(std::vector<T> values, const std::vector<T>& expected) {
    const Tensor<T, D> x(device, {3}, values);
    CHECK(index_select(x, 0, index).to_vector() == expected);
    CHECK(gather(x, 0, index).to_vector() == expected);
    CHECK(masked_select(x, x == x).to_vector() == values);
    CHECK(nonzero(x).sizes() == Sizes{2, 1});
  };
  of(std::vector<double>{1.5, 0, -2}, {-2, 1.5, -2});
  of(std::vector<std::int32_t>{1, 0, -2}, {-2, 1, -2});
  of(std::vector<index_t>{1, 0, -2}, {-2, 1, -2});
  of(std::vector<std::uint8_t>{1, 0, 254}, {254, 1, 254});
  of(std::vector<bool>{true, false, true}, {true, true, true});
}

TEST_CASE_TEMPLATE("scatter writes sources in order", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  using Values = std::vector<float>;
  const Tensor<float, D> x(device, {2, 3}, Values{1, 2, 3, 4, 5, 6}),
      source(device, {2, 3}, Values{10, 20, 30, 40, 50, 60});
  const Tensor<index_t, D> same(device, {2, 3}, {1, 1, 1, 0, 2, 0});
  CHECK(scatter(x, 1, same, source).to_vector() == Values{1, 30, 3, 60, 5, 50});
  CHECK(scatter_add(x, 1, same, source).to_vector() == Values{1, 62, 3, 104, 5, 56});
  CHECK(x.to_vector() == Values{1, 2, 3, 4, 5, 6});
  const Tensor<index_t, D> part(device, {1, 2}, {1, 0});  // fewer than x in both dimensions
  CHECK(scatter(x, 0, part, narrow(narrow(source, 0, 0, 1), 1, 0, 2)).to_vector() ==
        Values{1, 20, 3, 10, 5, 6});
  CHECK(scatter(2 * x, 0, part, full(device, {1, 2}, 0.0f) + 7).to_vector() ==
        Values{2, 7, 6, 7, 10, 12});
  CHECK(scatter_add(transpose(x, 0, 1), 1, Tensor<index_t, D>(device, {3, 1}, {0, 1, 1}),
                    ones(device, {3, 1}))
            .to_vector() == Values{2, 4, 2, 6, 3, 7});
  const Tensor<index_t, D> nothing(device, {0, 3});
  CHECK(scatter_add(x, 0, nothing, Tensor<float, D>(device, {0, 3})).to_vector() == x.to_vector());
  const Tensor<std::int32_t, D> counts = scatter_add(
      zeros<std::int32_t>(device, {3}), 0, flatten(same), ones<std::int32_t>(device, {6}));
  CHECK(counts.to_vector() == std::vector<std::int32_t>{2, 3, 1});
}

TEST_CASE_TEMPLATE("indices out of range are refused", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> x = ones(device, {2, 3}), number = ones(device, {});
  const Tensor<index_t, D> beyond(device, {3}, {0, 2, 5}), negative(device, {1}, {-1}),
      good(device, {2}, {0, 1});
  CHECK(
      error_of([&] { index_select(x, 0, beyond); }) ==
      "gpunet::index_select: index 2 at place 1 is out of range (want 0 to 1), check the indices");
  CHECK(
      error_of([&] { index_select(x, 1, beyond); }) ==
      "gpunet::index_select: index 5 at place 2 is out of range (want 0 to 2), check the indices");
  CHECK(
      error_of([&] { index_select(x, 0, negative); }) ==
      "gpunet::index_select: index -1 at place 0 is out of range (want 0 to 1), check the indices");
  CHECK(error_of([&] { index_select(x, 2, good); }) ==
        "gpunet::index_select: dimension 2 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] { index_select(x, 0, unsqueeze(good, 0)); }) ==
        "gpunet::index_select: indices of shape [1, 2] (want one dimension), flatten them");
  CHECK(error_of([&] { index_select(number, 0, good); }) != "");
  CHECK(error_of([&] {
          index_select(Tensor<float, D>(device, {0, 3}), 0, good);
        }) ==
        "gpunet::index_select: 2 indices for an empty dimension (there is no element to choose), "
        "give a tensor "
        "with elements");
  const index_t far = std::numeric_limits<index_t>::max();
  CHECK(error_of([&] { index_select(x, 0, Tensor<index_t, D>(device, {1}, {far})); }) != "");
  CHECK(error_of([&] { index_select(x, 0, Tensor<index_t, D>(device, {1}, {-far - 1})); }) != "");
  CHECK(error_of([&] { gather(x, 0, unsqueeze(beyond, 0)); }) ==
        "gpunet::gather: index 2 at place 1 is out of range (want 0 to 1), check the indices");
  const index_t many = 100000;  // shared by threads
  Tensor<index_t, D> long_index = zeros<index_t>(device, {many});
  long_index[70001] = 2;
  CHECK(error_of([&] { index_select(x, 0, long_index); }) ==
        "gpunet::index_select: index 2 at place 70001 is out of range (want 0 to 1), check the "
        "indices");
  CHECK(error_of([&] { gather(x, 0, good); }) ==
        "gpunet::gather: indices of shape [2] for a tensor of shape [2, 3] (want as many "
        "dimensions, and no larger "
        "extents than it except in "
        "dimension 0), reshape them");
  CHECK(error_of([&] { gather(x, 1, zeros<index_t>(device, {3, 1})); }) != "");
  CHECK(error_of([&] {
          scatter_add(x, 1, Tensor<index_t, D>(device, {1, 1}, {3}), ones(device, {1, 1}));
        }) ==
        "gpunet::scatter_add: index 3 at place 0 is out of range (want 0 to 2), check the indices");
  CHECK(error_of([&] {
          scatter(x, 1, zeros<index_t>(device, {2, 3}), ones(device, {2, 2}));
        }) ==
        "gpunet::scatter: a source of shape [2, 2] for indices of shape [2, 3] (want the same)");
  CHECK(error_of([&] {
          scatter(x, 1, zeros<index_t>(device, {3, 3}), ones(device, {3, 3}));
        }) != "");
  CHECK(error_of([&] { one_hot(beyond, 5); }) ==
        "gpunet::one_hot: index 5 at place 2 is out of range (want 0 to 4), check the indices");
  CHECK(error_of([&] { one_hot(beyond, 0); }) == "gpunet::one_hot: 0 classes (want 1 or more)");
  CHECK(error_of([&] { masked_select(x, good > 0); }) ==
        "gpunet::masked_select: a mask of shape [2] for a tensor of shape [2, 3] (want one that "
        "broadcasts to it)");
  CHECK(masked_select(x, ones(device, {3}) > 0).numel() == 6);
  CHECK(masked_select(x, ones(device, {2, 1}) > 1).numel() == 0);
  CHECK(index_select(x, 0, Tensor<index_t, D>(device, {0})).sizes() == Sizes{0, 3});
  CHECK(gather(x, 0, Tensor<index_t, D>(device, {0, 3})).sizes() == Sizes{0, 3});
  CHECK(nonzero(number).sizes() == Sizes{1, 0});
}

TEST_CASE("scattered subnormal numbers are kept by any number of threads") {
  const float small = 1e-42f;
  for (const int threads : {1, 3}) {
    Host host({.threads = threads});
    const Tensor x = full(host, {3, 70000}, small), zero = zeros(host, {3, 70000});
    const Tensor rows = zeros<index_t>(host, {3, 70000});
    const std::vector<float> sums = scatter_add(zero, 0, rows, x).to_vector(),
                             last = scatter(zero, 0, rows, x).to_vector();
    CHECK(std::vector<float>(sums.begin(), sums.begin() + 70000) ==
          std::vector<float>(70000, small + small + small));
    CHECK(std::vector<float>(last.begin(), last.begin() + 70000) ==
          std::vector<float>(70000, small));
  }
}

TEST_CASE("many elements are chosen by several threads as by one") {
  Host one({.threads = 1}), three({.threads = 3});
  const auto choose = [](Host& host) {
    const Tensor<float, Host> x(host, {400, 200}, operand_values<float>(80000, 0));
    const Tensor index = index_of<index_t>(host, {900}, 400);
    std::vector<std::vector<float>> made{
        index_select(x, 0, index).to_vector(),
        index_select(x, 1, index_of<index_t>(host, {500}, 200)).to_vector(),
        masked_select(x, x > 0).to_vector()};
    made.push_back(scatter_add(x, 1, index_of<index_t>(host, {400, 200}, 200), x).to_vector());
    made.push_back(scatter_add(x, 0, index_of<index_t>(host, {400, 200}, 400), x).to_vector());
    made.push_back(
        scatter(flatten(x), 0, index_of<index_t>(host, {80000}, 80000), flatten(x)).to_vector());
    made.push_back(gather(x, 1, index_of<index_t>(host, {400, 300}, 200)).to_vector());
    made.push_back(gather(x, 0, index_of<index_t>(host, {500, 200}, 400)).to_vector());
    made.push_back(
        index_select(flatten(x), 0, index_of<index_t>(host, {90000}, 80000)).to_vector());
    return made;
  };
  const auto made = choose(one);
  CHECK(choose(three) == made);
  const Tensor<float, Host> x(one, {400, 200}, operand_values<float>(80000, 0));
  const auto plain = [&](bool is_gather, Scatter how, index_t outer, index_t inner,
                         const Tensor<index_t, Host>& index) {
    const index_t length = 80000 / (outer * inner), count = index.numel() / (outer * inner);
    Tensor<float, Host> y = is_gather ? Tensor<float, Host>(one, {index.numel()}) : x.clone();
    if (is_gather)
      for (index_t at = 0; at < index.numel(); ++at)
        detail::PickElements<float>{
            length, count, inner, x.data(), index.data(), y.data(), true}(at);
    else
      for (index_t column = 0; column < outer * inner; ++column)
        detail::ScatterElements<float>{
            how, length, count, inner, x.data(), index.data(), y.data()}(column);
    return y.to_vector();
  };
  CHECK(made[3] == plain(false, Scatter::add, 400, 1, index_of<index_t>(one, {400, 200}, 200)));
  CHECK(made[4] == plain(false, Scatter::add, 1, 200, index_of<index_t>(one, {400, 200}, 400)));
  CHECK(made[5] == plain(false, Scatter::assign, 1, 1, index_of<index_t>(one, {80000}, 80000)));
  CHECK(made[6] == plain(true, {}, 400, 1, index_of<index_t>(one, {400, 300}, 200)));
  CHECK(made[7] == plain(true, {}, 1, 200, index_of<index_t>(one, {500, 200}, 400)));
  CHECK(made[8] == plain(true, {}, 1, 1, index_of<index_t>(one, {90000}, 80000)));
  const std::vector<float> values = operand_values<float>(80000, 0);
  for (const std::size_t row : std::initializer_list<std::size_t>{0, 399, 899})
    for (const std::size_t column : std::initializer_list<std::size_t>{0, 199})
      CHECK(made[0][row * 200 + column] == values[(5 * row + 2) % 400 * 200 + column]);
}

#if GPUNET_CUDA
TEST_CASE("indices and sources on another object Cuda are refused") {
  Cuda& first = test_device<Cuda>();
  Cuda second(0);
  const Tensor<float, Cuda> x = ones(first, {2, 2}), source = ones(second, {2, 2});
  const Tensor<index_t, Cuda> row = zeros<index_t>(second, {1}),
                              all = zeros<index_t>(second, {2, 2}),
                              here = zeros<index_t>(first, {2, 2});
  const std::string refused =
      ": operands of two devices of one kind, move one of them with to(device)";
  CHECK(error_of([&] { index_select(x, 0, row); }) == "gpunet::index_select" + refused);
  CHECK(error_of([&] { gather(x, 0, all); }) == "gpunet::gather" + refused);
  CHECK(error_of([&] { scatter(x, 0, all, x); }) == "gpunet::scatter" + refused);
  CHECK(error_of([&] { scatter_add(x, 0, here, source); }) == "gpunet::scatter_add" + refused);
  CHECK(error_of([&] { masked_select(x, source > 0); }) == "gpunet::masked_select" + refused);
}
#endif
