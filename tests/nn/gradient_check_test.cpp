#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>
#include <gpunet/nn/gradient_check.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

enum class Fault {
  none,
  not_written,
  inputs,
  parameters,
  padding,
  no_adding,
  dx_needed,
  past_end,
  behind_parameter
};

// y = weight x for all elements, with a mistake.
struct Scaled {
  Fault fault = Fault::none;

  constexpr auto output(auto in) const { return in; }
  constexpr auto parameters(auto) const { return std::array{nn::constant("weight", {1}, 1)}; }

  template <class T>
  void forward(Host&, const ForwardPass<T>& pass) const {
    const index_t n = pass.in_elements();
    for (index_t i = 0; i < n; ++i)
      pass.y[i] = *pass.parameters[0] * pass.x[i];
    if (fault == Fault::past_end) pass.y[n] = 0;
  }
  template <class T>
  void backward(Host&, const BackwardPass<T>& pass) const {
    const index_t n = pass.in_elements();
    T sum{};
    for (index_t i = 0; i < n; ++i)
      sum += pass.x[i] * pass.dy[i];
    if (fault == Fault::parameters) sum *= T{1.0001};
    if (fault == Fault::dx_needed && !pass.dx) sum = 0;
    store_gradient(*pass.gradients[0], sum, fault == Fault::no_adding ? Accumulate::no : pass.accumulate);
    if (fault == Fault::behind_parameter) pass.gradients[0][1] = 0;
    if (!pass.dx) return;
    for (index_t i = fault == Fault::not_written; i < n; ++i)
      pass.dx[i] = *pass.parameters[0] * pass.dy[i] * (fault == Fault::inputs && i == n - 1 ? T{1.0001} : T{1});
    if (fault == Fault::padding) pass.dx[n - 1] = 1;
  }
};

std::string problem(Fault fault, const Slice& slice = {3, 3, 1}) {
  return error_of([&] { nn::check_layer_gradients(test_device<Host>(), Scaled{fault}, Shape<2>{}, slice); });
}

// The sum of the outputs of each sample, with a mistake.
struct SumLoss : nn::LossFunction<SumLoss> {
  using target_type = label_t;
  enum class Fault { none, refuses, no_losses, no_gradient, wrong_gradient };
  Fault fault;

  explicit SumLoss(Fault f) : fault(f) {}

  template <class D>
  void check(D&, View<const label_t, D>, index_t) const {
    require(fault != Fault::refuses, "SumLoss: refused");
  }
  template <class T>
  void evaluate(Host&, const nn::LossPass<T, label_t>& pass) const {
    for (index_t n = 0; n < pass.slice.samples(); ++n) {
      T sum{};
      for (index_t k = 0; k < pass.features; ++k) {
        const index_t at = pass.slice.offset(n, k, pass.features);
        sum += pass.x[at];
        if (fault != Fault::no_gradient)
          pass.dx[at] = n < pass.slice.count ? (fault == Fault::wrong_gradient ? 2 : 1) * pass.scale : T{};
      }
      if (n < pass.slice.count && fault != Fault::no_losses) pass.losses[n] = sum;
    }
  }
};

std::string problem(const SumLoss& loss, index_t features = 2) {
  return error_of([&] { nn::check_loss_gradients(test_device<Host>(), loss, {features}, Slice{3, 3, 1}); });
}

// Text that has the parts in this order.
bool has(const std::string& text, const std::string& first, const std::string& last) {
  CAPTURE(text);
  CHECK(text.starts_with(first));
  CHECK(text.ends_with(last));
  return text.starts_with(first) && text.ends_with(last);
}

}  // namespace

TEST_CASE("the gradient check finds no fault with a layer that has none") {
  nn::check_layer_gradients(test_device<Host>(), Scaled{}, Shape<2, 3>{});
}

TEST_CASE("the gradient check says what is wrong with a layer") {
  const std::string where = "gpunet::nn::check_layer_gradients, slice of 3 samples in 3 x 1: ";
  const std::string differs = ", want less than 1e-07), check forward and backward";
  CHECK(has(problem(Fault::inputs),
            where + "the gradient of the inputs differs from the finite differences (relative error ", differs));
  CHECK(has(problem(Fault::parameters),
            where + "the gradient of the parameters differs from the finite differences (relative error ",
            differs));
  CHECK(problem(Fault::not_written) ==
        where +
            "the gradient of the inputs or its finite differences contain NaN (elements that were not written are "
            "NaN), check forward and backward");
  CHECK(problem(Fault::padding, {3, 1, 4}) == "");  // what a layer writes there is set to 0
  CHECK(problem(Fault::no_adding) ==
        where +
            "with Accumulate::yes the gradient of the parameters is not added to what is there, use "
            "store_gradient");
  CHECK(problem(Fault::dx_needed) ==
        where + "the gradient of the parameters is another one where pass.dx is null, check backward");
  CHECK(problem(Fault::past_end) ==
        "gpunet::GuardedBuffer: a kernel wrote past the end of an array of 6 elements, check the sizes that it is "
        "given");
  CHECK(problem(Fault::behind_parameter) ==
        "gpunet::nn::LayerRun: a layer wrote behind gradient 0 of its parameters, which has 1 elements: check the "
        "sizes in backward");
}

TEST_CASE("the gradient check says what is wrong with a loss") {
  const std::string where = "gpunet::nn::check_loss_gradients, slice of 3 samples in 3 x 1: ";
  const std::string nan =
      where +
      "the gradient or its finite differences contain NaN (elements that were not written are NaN), check evaluate";
  CHECK(problem(SumLoss(SumLoss::Fault::none)) == "");
  CHECK(problem(SumLoss(SumLoss::Fault::refuses)) == "SumLoss: refused");
  CHECK(problem(SumLoss(SumLoss::Fault::no_losses)) == where + "the loss of a sample is NaN, check evaluate");
  CHECK(problem(SumLoss(SumLoss::Fault::no_gradient)) == nan);
  CHECK(has(problem(SumLoss(SumLoss::Fault::wrong_gradient)),
            where + "the gradient differs from the finite differences (relative error ",
            ", want less than 1e-07), check evaluate"));
  CHECK(problem(SumLoss(SumLoss::Fault::none), 0) == where + "an output of shape [0] (want 1 number or more)");
}
