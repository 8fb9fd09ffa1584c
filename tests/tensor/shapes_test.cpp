#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/create.hpp>

#include "support/errors.hpp"
#include "support/tensor_cases.hpp"

using namespace gpunet;

namespace {

// Calls f(view) for the views that `wanted` accepts; f of a view and of a temporary tensor with the
// elements are PyTorch's.
template <class D, class Wanted, class F>
void check(const std::vector<TensorAndView<float, D>>& views, const std::string& name,
           Wanted wanted, F f) {
  ExpectedResults<float> of_views(name), of_temporaries(name);
  for (const auto& x : views)
    if (wanted(x.view.sizes())) {
      of_views.next(f(x.view));
      of_temporaries.next(f(x.view.contiguous()));
    }
}

bool any_shape(const Sizes&) {
  return true;
}
bool has_dimensions(const Sizes& sizes) {
  return sizes.rank() > 0;
}

}  // namespace

TEST_CASE_TEMPLATE("other shapes are PyTorch's", D, GPUNET_TEST_DEVICES) {
  const auto views = all_views<float>(test_device<D>());
  const auto is_matrix = [](const Sizes& sizes) {
    return sizes.rank() == 2;
  };
  const auto has_last = [](const Sizes& sizes) {
    return sizes.rank() > 0 && sizes.at(-1) > 0;
  };
  check(views, "transpose", has_dimensions,
        [](auto&& x) { return transpose(std::forward<decltype(x)>(x), 0, -1); });
  check(views, "squeeze", any_shape,
        [](auto&& x) { return squeeze(std::forward<decltype(x)>(x)); });
  check(views, "squeeze -1", has_dimensions,
        [](auto&& x) { return squeeze(std::forward<decltype(x)>(x), -1); });
  check(views, "unsqueeze", any_shape,
        [](auto&& x) { return unsqueeze(std::forward<decltype(x)>(x), 0); });
  check(views, "unsqueeze -1", any_shape,
        [](auto&& x) { return unsqueeze(std::forward<decltype(x)>(x), -1); });
  check(views, "select", has_last,
        [](auto&& x) { return select(std::forward<decltype(x)>(x), -1, -1); });
  check(views, "slice 2", has_dimensions,
        [](auto&& x) { return slice(std::forward<decltype(x)>(x), -1, {.step = 2}); });
  check(views, "diagonal", is_matrix,
        [](auto&& x) { return diagonal(std::forward<decltype(x)>(x)); });
  check(views, "narrow", has_dimensions, [](auto&& x) {
    const index_t n = x.size(0);
    return narrow(std::forward<decltype(x)>(x), 0, n / 2, n - n / 2);
  });
}

TEST_CASE_TEMPLATE("shapes with lists of dimensions are PyTorch's", D, GPUNET_TEST_DEVICES) {
  const auto views = all_views<float>(test_device<D>());
  ExpectedResults<float> transposed("t"), permuted("permute"), flat("flatten"), rows("flatten 1"),
      expanded("expand"), flipped("flip"), column("reshape"), inner("slice");
  for (const auto& [owner, x] : views) {
    const Sizes& sizes = x.sizes();
    const int rank = sizes.rank();
    transposed.next(rank == 2 ? t(x) : x);
    permuted.next(rank == 0   ? permute(x, {})
                  : rank == 1 ? permute(x, {0})
                  : rank == 2 ? permute(x, {1, 0})
                  : rank == 3 ? permute(x, {2, -2, 0})
                              : permute(x, {4, 3, 2, 1, 0}));
    flat.next(flatten(x.contiguous()));
    if (rank > 1) rows.next(flatten(x.contiguous(), 1));
    expanded.next(rank == 0   ? expand(x, {2})
                  : rank == 1 ? expand(x, {2, -1})
                  : rank == 2 ? expand(x, {2, -1, sizes[1]})
                  : rank == 3 ? expand(x, {2, -1, -1, -1})
                              : expand(x, {2, -1, -1, -1, sizes[3], -1}));
    if (rank == 1) flipped.next(flip(x, {0}));
    if (rank > 1) flipped.next(flip(x, {0, -1}));
    if (x.numel() > 0) column.next(reshape(x.contiguous(), {-1, 1}));
    inner.next(rank == 0 ? x : slice(x, 0, {1, -1}));
  }
}

TEST_CASE_TEMPLATE("views can be reshaped where their elements lie evenly", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const std::vector<float> values = operand_values<float>(24, 0);
  const Tensor<float, D> x(device, {2, 3, 4}, values);
  CHECK(reshape(x, {6, -1}).sizes() == Sizes{6, 4});
  CHECK(reshape(x, {4, 1, 6}).data() == x.data());
  CHECK(reshape(narrow(x, 0, 1, 1), {12}).to_vector() ==
        std::vector<float>(values.begin() + 12, values.end()));
  const auto part = narrow(x, 1, 0, 2);  // [2, 2, 4] with strides 12, 4, 1
  CHECK(reshape(part, {2, 8}).to_vector() == part.to_vector());
  CHECK(reshape(part, {2, 1, 2, 2, 2}).to_vector() == part.to_vector());
  CHECK(error_of([&] { reshape(part, {16}); }) ==
        "gpunet::reshape: the view of shape [2, 2, 4] cannot be seen as one of shape [16] (its "
        "elements do not lie "
        "one after another), copy "
        "it first: Tensor y = x");
  CHECK(error_of([&] { reshape(part, {4, 4}); }) != "");
  CHECK(error_of([&] { flatten(part); }) ==
        "gpunet::flatten: the view of shape [2, 2, 4] cannot be seen as one of shape [16] (its "
        "elements do not lie "
        "one after another), copy "
        "it first: Tensor y = x");
  CHECK(Tensor(reshape(part.contiguous(), {16})).to_vector() == part.to_vector());
  CHECK(reshape(transpose(x, 0, 1), {3, 2, 2, 2}).to_vector() == transpose(x, 0, 1).to_vector());
  // Distances of 4.
  CHECK(reshape(select(x, 2, 1), {6}).to_vector() == select(x, 2, 1).to_vector());
  CHECK(reshape(flip(x, {0, 1, 2}), {24}).to_vector() == flip(x, {0, 1, 2}).to_vector());
  CHECK(reshape(expand(select(x, 0, 0), {2, 3, 4}), {2, 12}).to_vector() ==
        expand(select(x, 0, 0), {2, 3, 4}).to_vector());
  CHECK(error_of([&] { reshape(expand(select(x, 0, 0), {2, 3, 4}), {24}); }) != "");
  const Tensor<float, D> none(device, {0, 3});
  CHECK(reshape(none, {3, 0, 5}).sizes() == Sizes{3, 0, 5});
  CHECK(reshape(none, {-1, 3}).sizes() == Sizes{0, 3});
  CHECK(flatten(none).sizes() == Sizes{0});
  CHECK(reshape(Tensor<float, D>(device, {}, {3}), {1, 1}).to_vector() == std::vector<float>{3});
  CHECK(reshape(Tensor<float, D>(device, {1, 1}, {3}), {}).sizes() == Sizes{});
}

TEST_CASE_TEMPLATE("parts are as in Python", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<index_t, D> x = arange(device, 10);
  using Values = std::vector<index_t>;
  CHECK(slice(x, 0, {1, 8, 3}).to_vector() == Values{1, 4, 7});
  CHECK(slice(x, 0, {1, 7, 3}).to_vector() == Values{1, 4});
  CHECK(slice(x, 0, {.stop = -7}).to_vector() == Values{0, 1, 2});
  CHECK(slice(x, 0, {.start = -2}).to_vector() == Values{8, 9});
  CHECK(slice(x, 0, {.start = -99, .stop = 2}).to_vector() == Values{0, 1});
  CHECK(slice(x, 0, {.start = 8, .stop = 99}).to_vector() == Values{8, 9});
  CHECK(slice(x, 0, {8, 3}).to_vector().empty());
  CHECK(slice(x, 0, {.start = 20}).to_vector().empty());
  CHECK(slice(x, 0, {.step = 100}).to_vector() == Values{0});
  CHECK(narrow(x, 0, -3, 2).to_vector() == Values{7, 8});
  CHECK(narrow(x, 0, 10, 0).to_vector().empty());
  CHECK(x[-1].item() == 9);
  CHECK(x[3].item() == 3);
  CHECK(flip(slice(x, 0, {.step = 4}), {0}).to_vector() == Values{8, 4, 0});
}

TEST_CASE_TEMPLATE("the elements of the first dimension can be iterated over", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Tensor<float, D> x(device, {3, 2}, {1, 2, 3, 4, 5, 6});
  for (auto row : x)
    row *= 2;
  CHECK(x.to_vector() == std::vector<float>{2, 4, 6, 8, 10, 12});
  std::vector<std::vector<float>> columns;
  for (const auto column : t(std::as_const(x)))
    columns.push_back(column.to_vector());
  CHECK(columns == std::vector<std::vector<float>>{{2, 6, 10}, {4, 8, 12}});
  std::vector<float> elements;
  for (const auto row : x.clone())
    for (const auto element : row)
      elements.push_back(element.item());
  CHECK(elements == x.to_vector());
  for (const auto row : zeros(device, {0, 2}))
    FAIL(row.numel());
  const Tensor<float, D> number = ones(device, {});
  const std::string message =
      "gpunet::Tensor::end: a tensor without dimensions has no first one to iterate over, use "
      "item()";
  CHECK(error_of([&] { number.end(); }) == message);
  CHECK(error_of([&] {
          for (auto row : x[0][0])
            row += 1;
        }) == message);
}

TEST_CASE_TEMPLATE("wrong shapes are refused", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> x(device, {2, 3}), number(device, {}),
      eight(device, {1, 1, 1, 1, 1, 1, 1, 1}), none(device, {0, 3});
  const std::string of_two = " of a tensor with 2 dimensions (want -2 to 1)";
  CHECK(error_of([&] { transpose(x, 0, 2); }) == "gpunet::transpose: dimension 2" + of_two);
  CHECK(error_of([&] { select(x, -3, 0); }) == "gpunet::select: dimension -3" + of_two);
  CHECK(error_of([&] { select(number, 0, 0); }) ==
        "gpunet::select: dimension 0 of a tensor without dimensions, reshape it");
  CHECK(error_of([&] { number[0]; }) ==
        "gpunet::select: dimension 0 of a tensor without dimensions, reshape it");
  CHECK(error_of([&] { t(unsqueeze(x, 0)); }) ==
        "gpunet::t: a tensor of shape [1, 2, 3] (want at most 2 dimensions), write transpose(x, "
        "-2, -1)");
  CHECK(t(x[0]).sizes() == Sizes{3});
  CHECK(t(number).sizes() == Sizes{});
  CHECK(error_of([&] { x[2]; }) ==
        "gpunet::select: index 2 of dimension 0, which has 2 elements (want -2 to 1)");
  CHECK(error_of([&] { x[0][-4]; }) ==
        "gpunet::select: index -4 of dimension 0, which has 3 elements (want -3 to 2)");
  CHECK(error_of([&] { none[0]; }) != "");
  CHECK(error_of([&] { permute(x, {0}); }) ==
        "gpunet::permute: 1 dimensions for a tensor of shape [2, 3] (want 2), list each once");
  CHECK(error_of([&] {
          permute(x, {0, -2});
        }) == "gpunet::permute: dimension -2 is given twice, list each once");
  CHECK(error_of([&] {
          flip(x, {1, -1});
        }) == "gpunet::flip: dimension -1 is given twice, list each once");
  CHECK(error_of([&] { reshape(x, {4}); }) ==
        "gpunet::reshape: the shape [4] has not the 6 elements of the tensor, give one that has");
  CHECK(error_of([&] { reshape(x, {-1, 4}); }) != "");
  CHECK(error_of([&] {
          reshape(x, {-1, -1});
        }) == "gpunet::reshape: two extents are -1 (one can be computed), give all but one");
  CHECK(error_of([&] {
          reshape(x, {-2, 3});
        }) == "gpunet::reshape: extent -2 (want 0 or more, or -1 to compute it)");
  CHECK(error_of([&] {
          reshape(none, {-1, 0});
        }) ==
        "gpunet::reshape: the extent -1 of 0 elements cannot be computed (another one is 0), give "
        "it");
  CHECK(error_of([&] { reshape(x, {index_t{1} << 40, index_t{1} << 40}); }) != "");
  CHECK(error_of([&] { reshape(x, {index_t{1} << 62, 4, 6}); }) != "");
  CHECK(error_of([&] { reshape(x, {1, 1, 1, 1, 1, 1, 1, 1, 6}); }) != "");
  CHECK(error_of([&] { unsqueeze(eight, 0); }) ==
        "gpunet::Sizes: more than 8 dimensions, join some");
  CHECK(error_of([&] { flatten(x, 1, 0); }) ==
        "gpunet::flatten: start_dim 1 comes after end_dim 0, give them in order");
  CHECK(error_of([&] { squeeze(x, 2); }) == "gpunet::squeeze: dimension 2" + of_two);
  CHECK(error_of([&] { unsqueeze(x, 3); }) ==
        "gpunet::unsqueeze: dimension 3 of a tensor with 3 dimensions (want -3 to 2)");
  CHECK(error_of([&] { narrow(x, 1, 2, 2); }) ==
        "gpunet::narrow: 2 elements from 2 on of dimension 1, which has 3 (want a part of it)");
  CHECK(error_of([&] { narrow(x, 1, 0, -1); }) != "");
  CHECK(error_of([&] { narrow(x, 1, 1, std::numeric_limits<index_t>::max()); }) != "");
  CHECK(error_of([&] { narrow(x, 1, std::numeric_limits<index_t>::min(), 1); }) != "");
  CHECK(error_of([&] { slice(x, 0, {.step = 0}); }) ==
        "gpunet::slice: step 0 (want 1 or more; flip(x, {dim}) reverses a dimension)");
  CHECK(error_of([&] { slice(x, 0, {.step = -1}); }) != "");
  CHECK(error_of([&] {
          expand(x, {3, 3});
        }) ==
        "gpunet::expand: extent 3 of dimension 0 for one of 2 (want the same, -1, or any for an "
        "extent of 1)");
  CHECK(error_of([&] { expand(x, {3}); }) ==
        "gpunet::expand: 1 extents for a tensor of shape [2, 3] (want at least as many), give all "
        "of them");
  CHECK(error_of([&] { expand(x, {-1, 2, 3}); }) != "");
  CHECK(error_of([&] {
          expand(number, {index_t{1} << 30, index_t{1} << 30});
        }) ==
        "gpunet::expand: the shape [1073741824, 1073741824] has more than 2^48 elements (no memory "
        "holds them), "
        "check the sizes");
  CHECK(error_of([&] { diagonal(number); }) ==
        "gpunet::diagonal: a tensor of shape [] (want a matrix)");
  CHECK(slice(x, 0,
              {std::numeric_limits<index_t>::min(), std::numeric_limits<index_t>::max(),
               std::numeric_limits<index_t>::max()})
            .sizes() == Sizes{1, 3});
}

TEST_CASE_TEMPLATE("parts of a dimension are PyTorch's, and views", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto views = all_views<float>(device);
  for (const index_t n : {2, 3}) {
    ExpectedResults<float> of_length("split " + std::to_string(n)),
        of_count("chunk " + std::to_string(n));
    for (const auto& x : views)
      for (int d = 0; d < x.view.sizes().rank(); ++d) {
        for (const auto& part : split(x.view, n, d))
          of_length.next(part);
        for (const auto& part : chunk(x.view, n, d))
          of_count.next(part);
      }
  }
  Tensor<float, D> x(device, {2, 3}, {1, 2, 3, 4, 5, 6});
  for (const auto& part : split(x, {1, 2}, 1))
    fill_(part, static_cast<float>(part.numel()));
  CHECK(x.to_vector() == std::vector<float>{2, 4, 4, 2, 4, 4});
  CHECK(split(std::as_const(x), {0, 2, 0})[1].to_vector() == x.to_vector());
  CHECK(split(t(x), 2)[1].to_vector() == std::vector<float>{4, 4});
  const Tensor<float, D> none(device, {0}), number(device, {});
  CHECK(split(none, 0).size() == 1);
  CHECK(chunk(none, 3).size() == 3);
  CHECK(error_of([&] { split(x, 0); }) ==
        "gpunet::split: parts of 0 elements of a dimension of 2 (want 1 or more)");
  CHECK(error_of([&] { split(x, -1, 1); }) ==
        "gpunet::split: parts of -1 elements of a dimension of 3 (want 1 or more)");
  CHECK(error_of([&] {
          split(x, {1, 1}, 1);
        }) ==
        "gpunet::split: parts of 2 elements of a dimension of 3 (want lengths that add up to it)");
  CHECK(error_of([&] {
          split(x, {1, 3}, 1);
        }) ==
        "gpunet::split: a part of 3 elements, of 2 that are left of a dimension of 3 (want lengths "
        "that add up to "
        "it)");
  CHECK(error_of([&] { split(x, {-1, 4}, 1); }) != "");
  CHECK(error_of([&] { chunk(x, 0); }) == "gpunet::chunk: 0 chunks (want 1 or more)");
  CHECK(error_of([&] { chunk(none, std::numeric_limits<index_t>::max()); }) != "");
  CHECK(error_of([&] { chunk(x, 2, 2); }) ==
        "gpunet::chunk: dimension 2 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] { split(number, 1); }) ==
        "gpunet::split: dimension 0 of a tensor without dimensions, reshape it");
}

TEST_CASE_TEMPLATE("sizes may be in a vector", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const std::vector<index_t> wide{2, -1};
  const std::vector<int> sizes{3, 2};
  const Tensor x = zeros(device, sizes);
  CHECK(x.sizes() == Sizes{3, 2});
  CHECK(reshape(x, wide).sizes() == Sizes{2, 3});
  CHECK(reshape(x + 1, sizes).sizes() == Sizes{3, 2});
  CHECK(reshape(x, ones(device, {6, 1}).sizes()).sizes() == Sizes{6, 1});
  CHECK(zeros(device, std::vector<index_t>{}).sizes() == Sizes{});
  CHECK(error_of([&] {
          reshape(x, std::vector<int>{4, -1});
        }) == error_of([&] {
          reshape(x, {4, -1});
        }));
  CHECK(error_of([&] { reshape(x, Sizes{4}); }) ==
        "gpunet::reshape: the shape [4] has not the 6 elements of the tensor, give one that has");
  CHECK(error_of([&] { zeros(device, wide); }) ==
        "gpunet::Sizes: extent -1 (want 0 or more), give the extent itself");
}
