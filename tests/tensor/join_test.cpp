#include <array>
#include <doctest/doctest.h>
#include <limits>
#include <string_view>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/join.hpp>

#include "support/errors.hpp"
#include "support/tensor_cases.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("joined and repeated tensors are PyTorch's", D, GPUNET_TEST_DEVICES) {
  ExpectedResults<float> joined("cat"), in_rows("cat -1"), stacked("stack"), innermost("stack -1"),
      rolled("roll"), along_rows("roll -1"), repeated("repeat"), three_times("repeat 3");
  for (const auto& [owner, x] : all_views<float>(test_device<D>())) {
    const int rank = x.sizes().rank();
    if (rank > 0) {
      joined.next(cat({x, flip(x, {0}), x}, 0));
      in_rows.next(cat({x, 2 * x}, -1));
      rolled.next(roll(x, 1, 0));
      rolled.next(roll(x, -2, 0));
      along_rows.next(roll(x, 7, -1));
    }
    stacked.next(stack({x, x}));
    innermost.next(stack({x, x, -x}, -1));
    if (rank < 2) repeated.next(repeat(x, {2}));
    if (rank == 2) repeated.next(repeat(x, {2, 2}));
    if (rank == 3) repeated.next(repeat(x, {2, 2, 2}));
    if (rank == 0) three_times.next(repeat(x, {3, 1}));
    if (rank == 1) three_times.next(repeat(x, {3, 0, 1}));
    if (rank == 2) three_times.next(repeat(x, {3, 1, 1, 1}));
  }
}

TEST_CASE_TEMPLATE("padded tensors have the elements of their modes", D, GPUNET_TEST_DEVICES) {
  const std::array<index_t, 2> extents{3, 4};
  const Tensor<float, D> whole(test_device<D>(), {4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const auto x = t(whole);  // a view whose elements do not lie in order: x[i, j] = 3 j + i
  const auto check = [&](std::string_view name, std::array<index_t, 4> paddings, float value = 0) {
    CAPTURE(name);
    const auto [left, right, top, bottom] = paddings;
    const PadMode mode = pad_mode_of("", name);
    std::vector<float> expected;
    for (index_t i = -top; i < extents[0] + bottom; ++i)
      for (index_t j = -left; j < extents[1] + right; ++j) {
        const index_t row = padded_source(mode, i, extents[0]),
                      column = padded_source(mode, j, extents[1]);
        const bool inside = 0 <= row && row < extents[0] && 0 <= column && column < extents[1];
        expected.push_back(inside ? static_cast<float>(3 * column + row) : value);
      }
    const auto y = pad(x, {left, right, top, bottom}, name, value);
    CHECK(y.sizes() == Sizes{extents[0] + top + bottom, extents[1] + left + right});
    CHECK(y.to_vector() == expected);
    // Of an expression, of integers, and of one dimension.
    CHECK(pad(2 * x - x, {left, right, top, bottom}, name, value).to_vector() == expected);
    const auto of_rows = pad(cast<std::int64_t>(x), {left, right}, name).to_vector();
    const auto part = narrow(pad(x, {left, right}, name), 0, 0, extents[0]).to_vector();
    CHECK(std::vector<float>(of_rows.begin(), of_rows.end()) == part);
  };
  check("constant", {1, 2, 0, 3}, 0.5f);
  check("constant", {-1, 2, 1, -2}, 7);
  check("constant", {-4, 1, 0, 1}, 1);
  check("reflect", {3, 1, 0, 2});
  check("replicate", {5, 0, 1, 9});
  check("circular", {4, 2, 3, 1});
  CHECK(pad(x, {-2, -2}).sizes() == Sizes{3, 0});
  CHECK(pad(x, {}).to_vector() == x.to_vector());
  CHECK(error_of([&] {
          pad(x, {4, 0}, "reflect");
        }) ==
        "gpunet::pad: paddings 4 and 0 of dimension -1 of shape [3, 4] (want 0 to 3, the elements "
        "to reflect), use other paddings or a larger input");
  CHECK(error_of([&] {
          pad(x, {1, 0}, "circular", 2);
        }) ==
        "gpunet::pad: value 2 for the mode \"circular\" (it adds elements of the tensor), leave "
        "one out");
}

TEST_CASE_TEMPLATE("triangles are PyTorch's", D, GPUNET_TEST_DEVICES) {
  const auto views = all_views<float>(test_device<D>());
  for (const index_t k : {-1, 0, 2}) {
    ExpectedResults<float> lower("tril " + std::to_string(k)), upper("triu " + std::to_string(k));
    for (const auto& x : views)
      if (x.view.sizes().rank() > 1) {
        lower.next(tril(x.view, k));
        upper.next(triu(x.view, k));
      }
  }
}

TEST_CASE_TEMPLATE("tensors that follow a rule are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  ExpectedResults<index_t> whole("arange");
  whole.next(arange(device, 5));
  whole.next(arange(device, 2, 11, 3));
  whole.next(arange(device, 3, -4, -2));
  whole.next(arange(device, 4, 4));
  constexpr double close = 1e-6;  // some roundings of numbers twice as large
  ExpectedResults<float> steps("arange.f32", close), lines("linspace.f32", close),
      identities("eye");
  steps.next(arange<float>(device, 0, 1, 0.1f));
  steps.next(arange<float>(device, 1, -1, -0.3f));
  steps.next(arange<float>(device, 0.5f, 4));
  lines.next(linspace(device, 0, 1, 11));
  lines.next(linspace(device, 3, -2, 7));
  lines.next(linspace(device, 1, 2, 1));
  lines.next(linspace(device, 1, 2, 0));
  lines.next(linspace(device, -1, 1, 8));
  for (const index_t n : {0, 1, 3})
    identities.next(eye(device, n));
  CHECK(arange<float>(device, 0, 0.6, 0.2).to_vector() == std::vector<float>{0, 0.2f, 0.4f});
  CHECK(arange(device, 2.5).to_vector() == std::vector<float>{0, 1, 2});
  CHECK(arange(device, 0, 1, 0.25).to_vector() == std::vector<float>{0, 0.25f, 0.5f, 0.75f});
  CHECK(error_of([&] { arange<std::uint8_t>(device, 300); }) ==
        "gpunet::arange: numbers from 0 to 300 for elements from 0 to 255, take a wider type");
  Tensor<float, D> filled = zeros(device, {2, 2});
  fill_(filled[0], 3);
  copy_(select(filled, 1, 1), arange(device, 1.0, 3.0));
  CHECK(filled.to_vector() == std::vector<float>{3, 1, 0, 2});
  fill_(filled, -1);
  CHECK(filled.to_vector() == std::vector<float>(4, -1));
  CHECK(error_of([&] { copy_(filled, arange(device, 3.0)); }) != "");
  CHECK(error_of([&] { from_blob(device, static_cast<float*>(nullptr), {3}); }) ==
        "gpunet::from_blob: a null pointer for a shape of [3], give the address of the first "
        "element");
  CHECK(zeros(device, {2, 2}).to_vector() == std::vector<float>(4, 0));
  CHECK(ones<index_t>(device, {3}).to_vector() == std::vector<index_t>(3, 1));
  CHECK(full<bool>(device, {2}, true).to_vector() == std::vector<bool>(2, true));
  CHECK(full<double>(device, {}, -2.5).item() == -2.5);
  CHECK(full(device, {0, 3}, 1).sizes() == Sizes{0, 3});
  const Tensor<std::int32_t, D> like = full<std::int32_t>(device, {2, 1}, 7);
  CHECK(zeros_like(like).to_vector() == std::vector<std::int32_t>{0, 0});
  CHECK(ones_like(transpose(like, 0, 1)).sizes() == Sizes{1, 2});
  CHECK(empty<double>(device, {2, 3}).sizes() == Sizes{2, 3});
  Generator one(7), two(7);
  CHECK(rand_like(transpose(ones(device, {2, 3}), 0, 1), one).to_vector() ==
        rand(device, {3, 2}, two).to_vector());
  CHECK(randn_like(ones<double>(device, {40}), one).to_vector() ==
        randn<double>(device, {40}, two).to_vector());
  CHECK(full_like(like, 9).to_vector() == std::vector<std::int32_t>{9, 9});
  CHECK(tensor(device, {1.5f, -2.f}).to_vector() == std::vector<float>{1.5f, -2});
  CHECK(tensor<index_t>(device, {3, 1, 2}).to_vector() == std::vector<index_t>{3, 1, 2});
  const std::vector<double> values{0.25, 4};
  CHECK(tensor(device, std::span(values)).to_vector() == values);
}

TEST_CASE_TEMPLATE("vectors of tensors are joined, and expressions once they are tensors", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  std::vector<Tensor<float, D>> parts;
  for (int i = 0; i < 3; ++i)
    parts.push_back(full(device, {2, i}, static_cast<float>(i)));
  CHECK(cat(parts, 1).to_vector() == std::vector<float>{1, 2, 2, 1, 2, 2});
  parts.clear();
  for (int i = 0; i < 3; ++i)
    parts.push_back(full(device, {2}, static_cast<float>(i)));
  CHECK(stack(parts, -1).to_vector() == std::vector<float>{0, 1, 2, 0, 1, 2});
  CHECK(stack(parts).sizes() == Sizes{3, 2});
  CHECK(cat(parts).sizes() == Sizes{6});
  CHECK(roll(2 * parts[1] + arange<float>(device, 2), 1, 0).to_vector() ==
        std::vector<float>{3, 2});
  CHECK(repeat(parts[2] + 1, {2}).to_vector() == std::vector<float>(4, 3));
  CHECK(tril(ones(device, {2, 2}) + 1).to_vector() == std::vector<float>{2, 0, 2, 2});
}

TEST_CASE_TEMPLATE("tensors that cannot be joined or made are refused", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> x(device, {2, 3}), y(device, {3, 2}), row(device, {3}), number(device, {});
  const std::vector<Tensor<float, D>> none;
  CHECK(error_of([&] {
          cat({x, y}, 0);
        }) ==
        "gpunet::cat: tensors of shapes [2, 3] and [3, 2] (want the same extents except in "
        "dimension 0), reshape "
        "one of them");
  CHECK(error_of([&] {
          cat({x, row}, 1);
        }) ==
        "gpunet::cat: tensors of shapes [2, 3] and [3] (want the same extents except in dimension "
        "1), reshape one "
        "of them");
  CHECK(error_of([&] {
          cat({x, x}, 2);
        }) == "gpunet::cat: dimension 2 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] {
          cat({number, number}, 0);
        }) == "gpunet::cat: dimension 0 of a tensor without dimensions, reshape it");
  CHECK(error_of([&] { cat(none); }) == "gpunet::cat: no tensors, give at least one");
  CHECK(error_of([&] { stack(none); }) == "gpunet::stack: no tensors, give at least one");
  CHECK(error_of([&] {
          stack({x, y}, 0);
        }) ==
        "gpunet::stack: tensors of shapes [2, 3] and [3, 2] (want the same for all), reshape one "
        "of them");
  CHECK(error_of([&] { stack({x, x}, 4); }) != "");
  CHECK(error_of([&] { roll(x, 1, 2); }) ==
        "gpunet::roll: dimension 2 of a tensor with 2 dimensions (want -2 to 1)");
  CHECK(error_of([&] { roll(number, 1, 0); }) != "");
  CHECK(error_of([&] { repeat(x, {2}); }) ==
        "gpunet::repeat: 1 numbers for a tensor of shape [2, 3] (want one for each dimension or "
        "more)");
  CHECK(error_of([&] { repeat(x, {2, -1}); }) == "gpunet::repeat: -1 times (want 0 or more)");
  CHECK(error_of([&] {
          repeat(x, {1, 1, 1, 1, 1});
        }) == "gpunet::repeat: 5 dimensions (want at most 4)");
  CHECK(error_of([&] { repeat(x, {index_t{1} << 60, index_t{1} << 60}); }) != "");
  CHECK(error_of([&] { tril(row); }) ==
        "gpunet::tril: a tensor of shape [3] (want 2 dimensions or more)");
  CHECK(error_of([&] { arange(device, 0, 5, -1); }) ==
        "gpunet::arange: steps of -1 from 0 do not lead to 5, give another sign");
  CHECK(error_of([&] { arange(device, 0, 5, 0); }) != "");
  CHECK(error_of([&] { arange(device, -5); }) != "");
  CHECK(error_of([&] { arange<double>(device, 0, 1e20, 1); }) ==
        "gpunet::arange: 1e+20 elements (want fewer than 2^48, no memory holds more), give a "
        "larger step");
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  CHECK(error_of([&] { arange<float>(device, 0, nan, 1); }) != "");
  CHECK(error_of([&] { arange<float>(device, 0, 1, nan); }) != "");
  CHECK(error_of([&] { arange<float>(device, 0, inf, 1); }) != "");
  CHECK(error_of([&] { arange<float>(device, -inf, inf, inf); }) != "");
  CHECK(error_of([&] { linspace(device, 0, 1, -1); }) ==
        "gpunet::linspace: -1 numbers (want 0 to 2^48)");
  CHECK(error_of([&] { linspace(device, 0, 1, index_t{1} << 62); }) != "");
  CHECK(error_of([&] { eye(device, -1); }) ==
        "gpunet::Sizes: extent -1 (want 0 or more), give the extent itself");
  CHECK(error_of([&] {
          zeros(device, {2, -1});
        }) == "gpunet::Sizes: extent -1 (want 0 or more), give the extent itself");
  CHECK(error_of([&] { ones(device, {index_t{1} << 40, index_t{1} << 40}); }) != "");
}
