#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include <gpunet/tensors.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/isas.hpp"

using namespace gpunet;

namespace {

using Values = std::vector<float>;

template <class D>
Tensor<float, D> counted(D& device, const Sizes& sizes) {
  Values values;
  for (index_t i = 0; i < sizes.numel(); ++i)
    values.push_back(static_cast<float>(i));
  return Tensor<float, D>(device, sizes, values);
}

// Checks that an expression is what the plain interpreter, which is that of Cuda, makes of it.
void check_plain(Expression<float, Host>&& x) {
  Host& host = x.device();
  Tensor<float, Host> plain(host, x.sizes());
  detail::ProgramArray out;
  out.data = reinterpret_cast<std::byte*>(plain.data());
  out.type = ElementType::f32;
  const detail::RunnableProgram program =
      detail::runnable(x.program(), {}, &out, detail::dense_strides(x.sizes()));
  for_each(host, program.elements, detail::RunElements{program, out});
  CHECK(std::move(x).to_vector() == plain.to_vector());
}

// The kinds of programs that Host runs in blocks: dense, strided, repeated, of all types.
void check_kinds(Host& host, index_t height, index_t width) {
  CAPTURE(height);
  CAPTURE(width);
  const Tensor x = counted(host, {height, width}), y = counted(host, {width, height}),
               row = counted(host, {width}), column = counted(host, {height, 1}),
               wide = counted(host, {height, 2 * width});
  check_plain(x * 0.5f - x);
  check_plain(x - transpose(y, 0, 1));
  check_plain(x + row * column);
  check_plain(column - row);
  check_plain(abs(slice(wide, 1, {.step = 2}) - narrow(wide, 1, width / 2, width)));
  check_plain(flip(x, {0, 1}) * flip(row, {0}));
  check_plain(where(x > flip(x, {1}), transpose(y, 0, 1), -1));
  check_plain(
      cast<float>(cast<double>(x) / 3 + cast<double>(cast<std::uint8_t>(transpose(y, 0, 1)))));
  check_plain(cast<float>(floor_divide(cast<index_t>(x), 7) * cast<index_t>(row)));
}

}  // namespace

TEST_CASE("blocks are what the plain interpreter makes, at every boundary") {
  for (const int threads : {1, 2}) {
    Host host({.threads = threads});
    for (const auto& [height, width] : {std::pair<index_t, index_t>{1, 1},
                                        {1, 511},
                                        {1, 512},
                                        {1, 513},
                                        {3, 1023},
                                        {2, 1024},
                                        {2, 1025},
                                        {1025, 2},
                                        {513, 3},
                                        {31, 33},
                                        {130, 300},
                                        {1, 40000}})
      check_kinds(host, height, width);
  }
}

TEST_CASE("results do not depend on the number of threads") {
  std::vector<Values> first;
  for (const int threads : {1, 2, 3}) {
    Host host({.threads = threads});
    const Tensor x = counted(host, {300, 2000}), y = counted(host, {2000, 300});
    const std::vector<Values> made{Tensor(sqrt(x) + tanh(x * 1e-3f)).to_vector(),
                                   Tensor(exp(-x / 1000) - transpose(y, 0, 1)).to_vector(),
                                   Tensor(x[7] * unsqueeze(log(x[0] + 1), 1)).to_vector()};
    if (first.empty()) first = made;
    CHECK(made == first);
  }
}

// As above for sin, cos and tan, whose loops leave large numbers to <cmath>.
TEST_CASE(
    "sin, cos and tan of an element depend neither on its place nor on the elements beside it") {
  const KeepIsa keep;
  std::vector<float> numbers(1 << 16);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] =
        std::ldexp(1.0f + static_cast<float>(i % 9973) / 9973, static_cast<int>(i % 37) - 16) *
        (i % 3 == 0 ? -1.0f : 1.0f);
  std::vector<float> mixed = numbers;
  for (const std::size_t i :
       std::initializer_list<std::size_t>{3, 1100, 2047, 40000, (1 << 16) - 1})
    mixed[i] = i % 2 == 0 ? 3e38f : std::numeric_limits<float>::quiet_NaN();
  for (const Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    Host one({.threads = 1}), two({.threads = 2});
    const auto functions = [](const auto& x) {
      return std::array{Tensor(sin(x)), Tensor(cos(x)), Tensor(tan(x))};
    };
    const Tensor x(one, {1 << 16}, numbers), y(two, {1 << 16}, mixed);
    const auto all = functions(x), beside = functions(y), moved = functions(narrow(x, 0, 5, 40000));
    for (std::size_t f = 0; f < 3; ++f) {
      const Values values = all[f].to_vector(), other = beside[f].to_vector(),
                   part = moved[f].to_vector();
      CHECK(std::equal(part.begin(), part.end(), values.begin() + 5));
      for (std::size_t i = 0; i < numbers.size(); ++i)
        if (mixed[i] == numbers[i] ? other[i] != values[i]
                                   : std::isfinite(mixed[i]) != std::isfinite(other[i]))
          FAIL_CHECK("element ", i);
    }
    Tensor in_place = y + 0.0f;
    in_place = sin(in_place);
    CHECK(in_place[3].item() != in_place[3].item());
    CHECK(static_cast<double>(in_place[1100].item()) ==
          doctest::Approx(std::sin(double{3e38f})).epsilon(1e-6));
    CHECK(narrow(in_place, 0, 4, 1100).to_vector() == narrow(beside[0], 0, 4, 1100).to_vector());
  }
}

TEST_CASE_TEMPLATE("a chain may have any number of operands and steps", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  std::vector<Tensor<float, D>> parts;
  for (int i = 0; i < 30; ++i)
    parts.push_back(full(device, {2, 3}, static_cast<float>(1 << (i % 8))));
  auto sum_of = [&](std::size_t begin, std::size_t end) {
    auto sum = parts[begin] + parts[begin + 1];
    for (std::size_t i = begin + 2; i < end; ++i) {
      auto next = std::move(sum) + parts[i];
      sum.~Expression();
      new (&sum) Expression<float, D>(std::move(next));
    }
    return sum;
  };
  for (const std::size_t n : std::initializer_list<std::size_t>{11, 12, 13, 14, 25, 30}) {
    float expected = 0;
    for (std::size_t i = 0; i < n; ++i)
      expected += static_cast<float>(1 << (i % 8));
    CHECK(sum_of(0, n).to_vector() == Values(6, expected));
  }
  // Both sides of an operator are long.
  float product = 0, other = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    product += static_cast<float>(1 << (i % 8));
    other += static_cast<float>(1 << ((i + 12) % 8));
  }
  CHECK((sum_of(0, 12) * sum_of(12, 24)).to_vector() == Values(6, product * other));
  CHECK(where(sum_of(0, 11) > sum_of(0, 12), sum_of(0, 12), sum_of(12, 24)).to_vector() ==
        Values(6, other));
  const Tensor<float, D>& x = parts[0];
  const Tensor y =
      -(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-x)))))))))))))))))))))))))))));
  CHECK(y.to_vector() == Values(6, 1));
  const Tensor z =
      ((((((((((((x + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2 + 1) *
             2 +
         1) *
            2 +
        1) *
       2) +
      x[0][0] + x[1];
  CHECK(z.to_vector() == Values(6, 6142 + 2));
}

TEST_CASE_TEMPLATE("temporaries live as long as the expression, and tensors are not copied", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto make = [&] {
    return counted(device, {2, 2});
  };
  auto later = transpose(make() + make(), 0, 1) * select(make(), 0, 1);
  CHECK(std::move(later).to_vector() == Values{0, 12, 4, 18});
  auto owned = flip(make(), {0, 1});
  CHECK(std::move(owned).to_vector() == Values{3, 2, 1, 0});
  Tensor<float, D> x = make();
  const float* memory = x.data();
  // A temporary tensor is its own result.
  Tensor<float, D> y = detail::expression(std::move(x)).eval();
  CHECK(y.data() == memory);
  CHECK(x.numel() == 0);
  auto pending = 2 * y;
  y[0] = 5;  // not computed yet
  CHECK(std::move(pending).to_vector() == Values{10, 10, 4, 6});
  const auto same = reshape(y, {4});
  CHECK(same.data() == y.data());
}

TEST_CASE_TEMPLATE("tensors change in place", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Tensor<float, D> x = counted(device, {2, 2});
  const float* memory = x.data();
  x += 1;
  x *= x;
  x -= 2 * x / 4;
  x /= 0.5f;
  CHECK(x.to_vector() == Values{1, 4, 9, 16});
  x = sqrt(x);
  CHECK(x.data() == memory);
  CHECK(x.to_vector() == Values{1, 2, 3, 4});
  x = x + transpose(x, 0, 1);
  CHECK(x.to_vector() == Values{2, 5, 5, 8});
  x += transpose(x, 0, 1) * 10;
  CHECK(x.to_vector() == Values{22, 55, 55, 88});
  x -= x[0];
  CHECK(x.to_vector() == Values{0, 0, 33, 33});
  x += counted(device, {2, 1});
  CHECK(x.to_vector() == Values{0, 0, 34, 34});
  x = x[1] + 1;
  CHECK(x.to_vector() == Values{35, 35});
  x = unsqueeze(x, 0) + counted(device, {3, 1});
  CHECK(x.to_vector() == Values{35, 35, 36, 36, 37, 37});
  x = flip(x, {0});
  CHECK(x.to_vector() == Values{37, 37, 36, 36, 35, 35});
  Tensor<bool, D> mask = x > 35;
  mask &= x < 37;
  CHECK(mask.to_vector() == std::vector<bool>{false, false, true, true, false, false});
  mask |= x == 35;
  CHECK(mask.to_vector() == std::vector<bool>{false, false, true, true, true, true});
  Tensor<std::int32_t, D> whole = full<std::int32_t>(device, {2}, 6);
  whole -= 7;
  CHECK(whole.to_vector() == std::vector<std::int32_t>{-1, -1});
  CHECK(error_of([&] { whole += Tensor<std::int32_t, D>(device, {3}); }) ==
        "gpunet::operator+: the shapes [2] and [3] do not broadcast (aligned at their last "
        "dimension, 2 meets 3 in "
        "dimension -1; want the same "
        "extent or 1), reshape one of them");
  CHECK(error_of([&] { whole += ones<std::int32_t>(device, {2, 2}); }) != "");
}

TEST_CASE_TEMPLATE("parts are assigned", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Tensor<float, D> x = zeros(device, {3, 4});
  select(x, 0, 1) = 1;
  x[2][3] = 7;
  narrow(x, 1, 0, 2) = counted(device, {2});
  slice(x, 1, {.step = 2}) = slice(x, 1, {.step = 2}) + 10;
  CHECK(x.to_vector() == Values{10, 1, 10, 0, 10, 1, 11, 1, 10, 1, 10, 7});
  transpose(x, 0, 1) = counted(device, {4, 3});
  CHECK(x.to_vector() == Values{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
  flip(x, {1})[0] = x[0];
  CHECK(x[0].to_vector() == Values{9, 6, 3, 0});
  diagonal(x) = -1;
  CHECK(x.to_vector() == Values{-1, 6, 3, 0, 1, -1, 7, 10, 2, 5, -1, 11});
  x[0] = x[1];  // a view of a view
  CHECK(x[0].to_vector() == Values{1, -1, 7, 10});
  x[1] += x[0];
  narrow(x, 0, 1, 2) *= 2;
  CHECK(x[1].to_vector() == Values{4, -4, 28, 40});
  auto part = x[0];
  part = x[2];  // a name: it views another part
  CHECK(part.to_vector() == x[2].to_vector());
  CHECK(x[0].to_vector() == Values{1, -1, 7, 10});
  x[0] = sum(x, 0);
  CHECK(x[0].to_vector() == Values{9, 5, 33, 72});
  x[0][0] = x[0][1].item() + 1;
  CHECK(x[0][0].item() == 6);
  CHECK(error_of([&] { x[0] = counted(device, {3}); }) != "");
  CHECK(error_of([&] {
          x[0] = counted(device, {2, 4});
        }) ==
        "gpunet::StridedView: elements of shape [2, 4] for a view of shape [4] (want a shape that "
        "broadcasts to "
        "it), reshape them");
  narrow(x, 0, 0, 0) = 5;  // nothing
}

TEST_CASE_TEMPLATE("elements that overlap are copied, or refused", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Tensor<float, D> x = counted(device, {6});
  const std::string refused =
      ": elements that are written are read at another place of the expression (some would be new "
      "by then), read "
      "from a copy: Tensor y = x";
  CHECK(error_of([&] { narrow(x, 0, 1, 5) = narrow(x, 0, 0, 5); }) ==
        "gpunet::StridedView" + refused);
  CHECK(error_of([&] { narrow(x, 0, 0, 5) += narrow(x, 0, 1, 5); }) ==
        "gpunet::operator+=" + refused);
  CHECK(x.to_vector() == Values{0, 1, 2, 3, 4, 5});
  narrow(x, 0, 1, 5) = Tensor(narrow(x, 0, 0, 5));
  CHECK(x.to_vector() == Values{0, 0, 1, 2, 3, 4});
  // Between each other.
  slice(x, 0, {.start = 0, .step = 2}) = slice(x, 0, {.start = 1, .step = 2});
  CHECK(x.to_vector() == Values{0, 0, 2, 2, 4, 4});
  x = counted(device, {6});
  narrow(x, 0, 0, 3) = flip(narrow(x, 0, 1, 3), {0});  // read in another order: copied
  CHECK(x.to_vector() == Values{3, 2, 1, 3, 4, 5});
  x = flip(x, {0}) + 0;
  CHECK(x.to_vector() == Values{5, 4, 3, 1, 2, 3});
  x = narrow(x, 0, 1, 5) + narrow(x, 0, 0, 5);
  CHECK(x.to_vector() == Values{9, 7, 4, 3, 5});
  x += narrow(x, 0, 0, 1);
  CHECK(x.to_vector() == Values{18, 16, 13, 12, 14});
  const std::string one =
      "several elements of the view of shape [2, 5] are one in memory (each would overwrite the "
      "other), write to a "
      "tensor or to a "
      "copy: Tensor y = x";
  CHECK(error_of([&] { expand(x, {2, 5}) = 1; }) == "gpunet::StridedView: " + one);
  CHECK(error_of([&] { expand(x, {2, 5}) += 1; }) == "gpunet::operator+=: " + one);
  expand(x, {1, 5}) = 1;
  CHECK(x.to_vector() == Values(5, 1));
  const StridedView<float, D> windows(device, x.data(), {3, 3}, {1, 1});  // rows share elements
  CHECK(error_of([&] { std::move(windows) = 0; }) != "");
  CHECK(sum(windows).item() == 9);
}

#if GPUNET_ASSERTIONS
TEST_CASE_TEMPLATE("an expression outlives its tensors only as an error", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> other = counted(device, {2});
  auto sums = [&] {
    const Tensor<float, D> x = counted(device, {2, 2});
    return x[1] + other;
  };
  auto products = [&] {
    const Tensor<float, D> x = counted(device, {2});
    return 2 * (x * other);
  };
  const std::string gone = "gpunet::Expression: a tensor in the expression no longer exists";
  CHECK(error_of([&] { Tensor y = sums(); }).find(gone) == 0);
  CHECK(error_of([&] { sum(products()); }).find(gone) == 0);
  Tensor<float, D> rows = counted(device, {2, 2});
  CHECK(error_of([&] { rows[0] += products(); }).find(gone) == 0);
  Tensor<float, D> x = counted(device, {2});
  CHECK((2 * std::move(x) + other).to_vector() == Values{0, 3});  // owned
}
#endif

TEST_CASE_TEMPLATE("a view outlives its tensor only as an error", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  auto owner = std::make_unique<Tensor<float, D>>(counted(device, {2, 2}));
  const auto row = (*owner)[1];
  Tensor<float, D> moved = std::move(*owner);
  owner.reset();
  CHECK(row.to_vector() == Values{2, 3});  // the memory moved along
  const std::string gone =
      "gpunet::StridedView: the tensor of this view of shape [2] no longer exists (its memory is "
      "gone), keep the "
      "tensor as long as "
      "the view";
  moved = counted(device, {2, 2});
  CHECK(error_of([&] { row.to_vector(); }) == gone);
  CHECK(error_of([&] { Tensor y = row + 1; }) == gone);
  CHECK(error_of([&] { sum(row); }) == gone);
  CHECK(error_of([&] { std::move(row) = 1; }) == gone);
  CHECK(error_of([&] { row[0].item(); }) != "");
  CHECK(error_of([&] { moved += row; }) == gone);
  const auto whole = detail::view_of(moved);
  { const Tensor<float, D> last = std::move(moved); }
  CHECK(error_of([&] { whole.contiguous(); }) != "");
  Tensor<float, D> used = counted(device, {2, 2});
  const auto part = used[0];
  const Tensor more = std::move(used) + 1;  // which may take the memory
  CHECK(error_of([&] { part.to_vector(); }) == gone);
}

TEST_CASE_TEMPLATE("moved tensors and default ones have no elements", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Tensor<float, D> x = counted(device, {2});
  const Tensor<float, D> y = std::move(x);
  CHECK(Tensor(x + 1).sizes() == Sizes{0});
  CHECK(sum(x).item() == 0);
  CHECK(error_of([&] { Tensor z = x + y; }) != "");
  x = 2 * y;
  CHECK(x.to_vector() == Values{0, 2});
  Tensor<float, D> none;
  CHECK(error_of([&] { Tensor z = none + 1; }) ==
        "gpunet::Expression: no device (no operand is a tensor that was given one), make the "
        "tensors on a device");
  CHECK(error_of([&] { sum(none); }) != "");
  none = y + 1;
  CHECK(none.to_vector() == Values{1, 2});
  const View<const float, D> view = y.view();
  CHECK(Tensor(y + view).to_vector() == Values{0, 2});
  CHECK(Tensor(view + 1).to_vector() == Values{1, 2});
}

TEST_CASE_TEMPLATE("shapes that do not broadcast are refused", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor x = counted(device, {2, 3}), y = counted(device, {2}),
               many = ones(device, {1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(error_of([&] { Tensor z = x + y; }) ==
        "gpunet::operator+: the shapes [2, 3] and [2] do not broadcast (aligned at their last "
        "dimension, 3 meets 2 "
        "in dimension -1; want the same "
        "extent or 1), reshape one of them");
  CHECK(error_of([&] {
          Tensor z = maximum(x, transpose(x, 0, 1));
        }).starts_with("gpunet::maximum: the shapes [2, 3] and [3, 2] do not broadcast"));
  CHECK(error_of([&] { Tensor z = where(x > 0, x, y); }).starts_with("gpunet::where: "));
  CHECK(error_of([&] { Tensor z = x > y; }).starts_with("gpunet::operator>: "));
  CHECK(Tensor(many + x).sizes() == Sizes{1, 1, 1, 1, 1, 1, 2, 3});
  CHECK(Tensor(counted(device, {0, 1}) + counted(device, {1, 3})).sizes() == Sizes{0, 3});
  CHECK(error_of([&] { Tensor z = counted(device, {0}) + counted(device, {2}); }) != "");
  CHECK(error_of([&] {
          Tensor z = expand(y[0], {index_t{1} << 30, 1}) + expand(y[0], {index_t{1} << 30});
        }) ==
        "gpunet::operator+: the shapes [1073741824, 1] and [1073741824] make more than 2^48 "
        "elements (no memory "
        "holds them), check the shapes");
}

TEST_CASE("tensors of two Hosts work together, and their results are on the first") {
  Host first({.threads = 1}), second({.threads = 2});
  const Tensor x = counted(first, {3}), y = counted(second, {3});
  const Tensor z = x + y;
  CHECK(z.to_vector() == Values{0, 2, 4});
  CHECK(&z.device() == &first);
  CHECK(&Tensor(1 / (y + x)).device() == &second);
  Tensor w = ones(second, {3});
  w += x;
  CHECK(w.to_vector() == Values{1, 2, 3});
  CHECK(&w.device() == &second);
  CHECK(where(x > 1, y, w).to_vector() == Values{1, 2, 2});
  CHECK(cat({x, y}, 0).numel() == 6);
  CHECK(matmul(x, y).item() == 5);
  narrow(w, 0, 0, 2) = narrow(y, 0, 1, 2);
  CHECK(w.to_vector() == Values{1, 2, 3});
}

#if GPUNET_CUDA
TEST_CASE("tensors of two objects Cuda do not work together, because nothing orders their work") {
  Cuda& first = test_device<Cuda>();
  Cuda second(0);
  Tensor<float, Cuda> x = counted(first, {2, 2}), y = counted(second, {2, 2});
  const std::string refused =
      ": operands of two devices of one kind, move one of them with to(device)";
  CHECK(error_of([&] { Tensor z = x + y; }) == "gpunet::operator+" + refused);
  CHECK(error_of([&] { x += y; }) == "gpunet::operator+" + refused);
  CHECK(error_of([&] { x[0] = y[1]; }) == "gpunet::StridedView" + refused);
  CHECK(error_of([&] { cat({x, y}, 0); }) == "gpunet::StridedView" + refused);
  CHECK(error_of([&] { matmul(x, y); }) == "gpunet::matmul" + refused);
  x[0] = y.to(first)[1];
  CHECK(x.to_vector() == Values{2, 3, 2, 3});
  x = 2 * y;  // it becomes a tensor of the other
  CHECK(&x.device() == &second);
}
#endif

TEST_CASE_TEMPLATE("views of const tensors, numbers and types", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor x = counted(device, {2, 2});
  static_assert(std::is_same_v<decltype(x[0]), StridedView<const float, D>>);
  static_assert(std::is_same_v<decltype(Tensor(x[0])), Tensor<float, D>>);
  static_assert(std::is_same_v<decltype(Tensor(x > 1)), Tensor<bool, D>>);
  static_assert(std::is_same_v<decltype(Tensor(cast<index_t>(x) / 2)), Tensor<float, D>>);
  static_assert(
      // A double is rounded to the tensor's type.
      std::is_same_v<decltype(Tensor(x * 2.5)), Tensor<float, D>>);
  static_assert(!std::is_assignable_v<const Tensor<float, D>&, Expression<float, D>>);
  CHECK((x[1] * x[0]).to_vector() == Values{0, 3});
}

TEST_CASE_TEMPLATE("views and expressions are printed as the tensors that they make", D,
                   GPUNET_TEST_DEVICES) {
  const Tensor<float, D> x(test_device<D>(), {2, 2}, {1, 2, 3, 4});
  std::ostringstream text;
  text << x[1] << x + 1.5f << ~(x > 2);
  CHECK(text.str() ==
        "tensor([3., 4.])tensor([[2.5000, 3.5000],\n        [4.5000, 5.5000]])tensor([[ True,  "
        "True],\n        "
        "[False, "
        "False]])");
  CHECK((~cast<std::int32_t>(x)).to_vector() == std::vector<std::int32_t>{-2, -3, -4, -5});
}

TEST_CASE("a tensor without a device has no elements to compute with") {
  Tensor<float, Host> none;
  CHECK(none.to_vector().empty());
  CHECK(none.clone().numel() == 0);
  CHECK(contains(error_of([&] { none[0] = 1; }), "made without a device"));
  CHECK(contains(error_of([&] { Tensor y = none + 1; }), "no device"));
}
