#include <doctest/doctest.h>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/nn/gradient_check.hpp>
#include <gpunet/ops/for_each_random.hpp>

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
  past_dx,
  past_scratch,
  past_cache,
  behind_parameter,
  other_parameter,
  other_gradient,
  other_buffer,
  random,
  null_dx
};

template <class T>
struct Clear {
  T* y;
  void operator()(index_t i, float) const { y[i] = 0; }
};

// y = weight x for all elements, with a mistake.
struct Scaled {
  Fault fault = Fault::none;

  constexpr auto output(auto in) const { return in; }
  constexpr auto parameters(auto) const { return std::array{nn::constant("weight", {1}, 1)}; }
  OpTraits traits(const Sizes&, const Sizes&) const { return {.cache_bytes = 4}; }
  index_t scratch(const Host&, const Slice&, auto) const { return 2; }

  template <class T>
  void forward(Host& device, const ForwardPass<T>& pass) const {
    const index_t n = pass.in_elements();
    for (index_t i = 0; i < n; ++i)
      pass.y[i] = *pass.parameters[0] * pass.x[i];
    if (fault == Fault::past_end) pass.y[n] = 0;
    if (fault == Fault::past_scratch) pass.scratch[2] = 0;
    if (fault == Fault::past_cache) pass.cache[16 * pass.slice.samples() + 3] = std::byte{0};
    if (fault == Fault::other_parameter) pass.y[0] += *pass.parameters[1];
    if (fault == Fault::other_buffer) pass.buffers[0][0] = 0;
    if (fault == Fault::random) for_each_random(device, pass, Clear<T>{pass.y});
  }
  template <class T>
  __attribute__((no_sanitize("undefined"))) void backward(Host&,
                                                          const BackwardPass<T>& pass) const {
    const index_t n = pass.in_elements();
    T sum{};
    for (index_t i = 0; i < n; ++i)
      sum += pass.x[i] * pass.dy[i];
    if (fault == Fault::parameters) sum *= static_cast<T>(1.0001);
    if (fault == Fault::dx_needed && !pass.dx) sum = 0;
    store_gradient(*pass.gradients[0], sum,
                   fault == Fault::no_adding ? Accumulate::no : pass.accumulate);
    if (fault == Fault::behind_parameter) pass.gradients[0][1] = 0;
    if (fault == Fault::other_gradient) pass.gradients[1][0] = 0;
    if (!pass.dx && fault != Fault::null_dx) return;
    for (index_t i = fault == Fault::not_written; i < n; ++i)
      pass.dx[i] = *pass.parameters[0] * pass.dy[i] *
                   (fault == Fault::inputs && i == n - 1 ? static_cast<T>(1.0001) : T{1});
    if (fault == Fault::past_dx) pass.dx[n] = 0;
    if (fault == Fault::padding) pass.dx[n - 1] = 1;
  }
};

std::string problem(Fault fault, const Slice& slice = {3, 3, 1}) {
  return error_of(
      [&] { nn::check_layer_gradients(test_device<Host>(), Scaled{fault}, Shape<2>{}, slice); });
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
          pass.dx[at] =
              n < pass.slice.count ? (fault == Fault::wrong_gradient ? 2 : 1) * pass.scale : T{};
      }
      if (n < pass.slice.count && fault != Fault::no_losses) pass.losses[n] = sum;
    }
  }
};

std::string problem(const SumLoss& loss, index_t features = 2) {
  return error_of([&] {
    nn::check_loss_gradients(test_device<Host>(), loss, {features}, Slice{3, 3, 1});
  });
}

// torch.nn.Hardshrink: x where |x| > bound, else 0. It jumps at the bounds. The other numbers are
// its gradient, right or wrong.
struct Hardshrink {
  double bound = 0.3;
  double outside = 1, inside = 0, at_bound = 0;

  template <class T>
  GPUNET_FN T value(T x) const {
    return x > static_cast<T>(bound) || x < -static_cast<T>(bound) ? x : T{};
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    const T size = x < T{} ? -x : x, edge = static_cast<T>(bound);
    return dy * static_cast<T>(size == edge ? at_bound : size > edge ? outside : inside);
  }
};

// Checks an element-wise layer at these inputs of one sample.
template <class F, std::size_t n>
nn::GradientReport check_at(const F& layer, const double (&inputs)[n]) {
  return nn::check_layer_gradients(test_device<Host>(), layer, Shape<static_cast<int>(n)>{},
                                   Slice{1, 1, 1},
                                   {.inputs = std::vector<double>(inputs, inputs + n)});
}
template <std::size_t n>
std::string problem(const Hardshrink& f, const double (&inputs)[n]) {
  return error_of([&] { check_at(nn::Elementwise(f), inputs); });
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
  CHECK(
      has(problem(Fault::inputs),
          where + "the gradient of the inputs differs from the finite differences (relative error ",
          differs));
  CHECK(has(
      problem(Fault::parameters),
      where + "the gradient of the parameters differs from the finite differences (relative error ",
      differs));
  CHECK(problem(Fault::not_written) == where +
                                           "the gradient of the inputs or its finite differences "
                                           "contain NaN (elements that were not written are "
                                           "NaN), check forward and backward");
  CHECK(problem(Fault::padding, {3, 1, 4}) == "");  // what a layer writes there is set to 0
  CHECK(
      problem(Fault::no_adding) ==
      where +
          "with Accumulate::yes the gradient of the parameters is not added to what is there, use "
          "store_gradient");
  CHECK(problem(Fault::dx_needed) ==
        where +
            "the gradient of the parameters is another one where pass.dx is null, check backward");
  const auto past = [](const char* array) {
    return concat("gpunet::GuardedBuffer: a kernel wrote past the end of ", array,
                  " elements, check the sizes that it is given");
  };
  CHECK(problem(Fault::past_end) == past("pass.y, an array of 6"));
  CHECK(problem(Fault::past_dx) == past("pass.dx, an array of 6"));
  CHECK(problem(Fault::past_scratch) == past("pass.scratch, an array of 2"));
  CHECK(problem(Fault::past_cache) == past("pass.cache (floats), an array of 12"));
  CHECK(problem(Fault::behind_parameter) ==
        "gpunet::nn::LayerRun: a layer wrote behind gradient 0 of its parameters, which has 1 "
        "elements: check the "
        "sizes in backward");
  const auto undeclared = [](int i, int size) {
    return concat(
        "gpunet::ForwardPass: a layer uses element ", i,
        " of pass.parameters, gradients or buffers and declares ", size,
        " (want an index below that), add it to what parameters(in) or buffers(in) returns");
  };
  CHECK(problem(Fault::other_parameter) == undeclared(1, 1));
  CHECK(problem(Fault::other_gradient) == undeclared(1, 1));
  CHECK(problem(Fault::other_buffer) == undeclared(0, 0));
  const std::string no_random =
      "gpunet::OpPass: an op uses pass.random and its traits lack uses_random (the network has no "
      "random numbers "
      "for "
      "it), return {.uses_random = true} from traits(in, out)";
  CHECK(problem(Fault::random) == no_random);
  CHECK(error_of([&] {
          Model<nn::Sequential<nn::Input<2>, Scaled>, Host> net(
              test_device<Host>(), nn::Sequential(nn::Input<2>{}, Scaled{Fault::random}));
          net(Tensor<float, Host>(test_device<Host>(), {1, 2}));
        }) == no_random);
  CHECK(problem(Fault::null_dx) ==
        "gpunet::nn::LayerRun: backward writes to pass.dx where it is null (the first layer of a "
        "network gets no "
        "dx), "
        "test it: if (pass.dx)");
}

TEST_CASE("a layer is run on arrays of its sizes") {
  Host& device = test_device<Host>();
  const auto message = [&](auto action, const Slice& slice = {3, 1, 4}) {
    return error_of([&] {
      nn::LayerRun<float, Host> run(device, Scaled{}, Shape<2>{}, slice);
      action(run);
    });
  };
  const auto wrong = [](int found, const char* what, int want) {
    return concat("gpunet::nn::LayerRun: ", found, " numbers of ", what, " (want ", want,
                  "), give those of the real samples, row by row");
  };
  CHECK(message([](auto& run) { run.forward(std::vector<float>(7)); }) == wrong(7, "x", 6));
  CHECK(message([](auto& run) { run.set_parameters({1, 2}); }) == wrong(2, "parameters", 1));
  const auto backward = [&](const std::vector<float>& dy, const std::vector<float>& before) {
    return message([&](auto& run) {
      run.forward(std::vector<float>(6));
      run.backward(dy, Accumulate::yes, before);
    });
  };
  CHECK(backward(std::vector<float>(8), {1}) == wrong(8, "dy", 6));
  CHECK(backward(std::vector<float>(6), {1, 2}) == wrong(2, "before", 1));
  CHECK(message([](auto& run) { run.buffer(0, 1); }) ==
        "gpunet::nn::LayerRun: 1 elements of buffer 0, which the layer does not have");
  for (const Slice& slice : {Slice{1, 1, 0}, Slice{1, 0, 4}, Slice{0, 1, 4}, Slice{5, 1, 4}})
    CHECK(message([](auto&) {}, slice) ==
          concat("gpunet::nn::LayerRun: a slice of ", slice.count, " samples in ", slice.outer,
                 " x ", slice.inner,
                 " (want 1 to outer * inner samples), give Slice{count, outer, inner}"));
}

TEST_CASE("the gradient check says what is wrong with a loss") {
  const std::string where = "gpunet::nn::check_loss_gradients, slice of 3 samples in 3 x 1: ";
  const std::string nan = where +
                          "the gradient or its finite differences contain NaN (elements that were "
                          "not written are NaN), check evaluate";
  CHECK(problem(SumLoss(SumLoss::Fault::none)) == "");
  CHECK(problem(SumLoss(SumLoss::Fault::refuses)) == "SumLoss: refused");
  CHECK(problem(SumLoss(SumLoss::Fault::no_losses)) ==
        where + "the loss of a sample is NaN, check evaluate");
  CHECK(problem(SumLoss(SumLoss::Fault::no_gradient)) == nan);
  CHECK(has(problem(SumLoss(SumLoss::Fault::wrong_gradient)),
            where + "the gradient differs from the finite differences (relative error ",
            ", want less than 1e-07), check evaluate"));
  CHECK(problem(SumLoss(SumLoss::Fault::none), 0) ==
        where + "an output of shape [0] (want 1 number or more)");
}

TEST_CASE("at a kink a gradient between the slopes of both sides passes") {
  for (const double right : {0.0, 0.5, 1.0}) {
    const Hardshrink f{.at_bound = right};
    const auto report = check_at(nn::Elementwise(f), {0.1, 0.3, -0.3, 1.5});
    CHECK(report.points == 4);
    CHECK(report.kinks == 2);
    CHECK(report.first_kink == "input 1 of sample 0, which is 0.3");
    CHECK(report.error < nn::gradient_tolerance);
  }
  for (const double wrong : {-0.01, 1.01, 100.0})
    CHECK(contains(
        problem(Hardshrink{.at_bound = wrong}, {0.1, 0.3, -0.3, 1.5}),
        "; 2 of 4 are at kinks, the first: input 1 of sample 0, which is 0.3), check forward and"));
}

TEST_CASE("the gradient check is exact beside a kink") {
  for (const double distance : {1e-4, 3e-4, 2e-3 / 3, 1e-3, 1.9e-3, 2e-3, 2.1e-3, 0.1})
    for (const double sign : {1.0, -1.0}) {
      CAPTURE(distance);
      const double inputs[] = {0.1, sign * (0.3 + distance), sign * (0.3 - distance), 1.5};
      CHECK(check_at(nn::Elementwise(Hardshrink{}), inputs).kinks == 0);
      CHECK(contains(problem(Hardshrink{.outside = 1.00001}, inputs),
                     "differs from the finite differences"));
      CHECK(contains(problem(Hardshrink{.inside = 0.00001}, inputs),
                     "differs from the finite differences"));
    }
  CHECK(check_at(nn::Elementwise(Hardshrink{}), {0.3 + 1e-7, 0.3 - 1e-7, -0.3 - 1e-9, 1}).kinks ==
        3);
  CHECK(contains(problem(Hardshrink{.outside = 1.01}, {0.3 + 1e-7, 0}),
                 "differs from the finite differences"));
}

TEST_CASE("inputs that are all at kinks do not pass") {
  const auto message = problem(Hardshrink{}, {0.3, -0.3});
  CHECK(message ==
        "gpunet::nn::check_layer_gradients, slice of 1 samples in 1 x 1: the gradient of the "
        "inputs is only compared "
        "at kinks (2 of 2 are at kinks, the first: input 0 of sample 0, which is 0.3), give other "
        "inputs");
}

TEST_CASE("random inputs keep away from kinks that have a name") {
  // The random inputs are -1.875, -1.375, ..., 1.625.
  const auto check = [](const std::vector<double>& kinks) {
    return nn::check_layer_gradients(test_device<Host>(),
                                     nn::Elementwise(Hardshrink{.bound = 0.375}), Shape<8>{},
                                     Slice{1, 1, 1}, {.kinks = kinks});
  };
  CHECK(check({}).kinks == 1);
  CHECK(contains(check({}).first_kink, " of sample 0, which is -0.375"));
  CHECK(check({0.375, -0.375}).kinks == 0);
  const auto all_slices =
      nn::check_layer_gradients(test_device<Host>(), nn::Elementwise(Hardshrink{.bound = 0.375}),
                                Shape<8>{}, {.seed = 2, .kinks = {0.375, -0.375}});
  CHECK(all_slices.kinks == 0);
  CHECK(all_slices.points > 8);
}

TEST_CASE("layers and losses pass at their kinks") {
  Host& host = test_device<Host>();
  CHECK(check_at(nn::ReLU{}, {0, 1e-4, -1e-4, 1e-8, 1}).kinks == 2);
  CHECK(check_at(nn::ReLU6{}, {0, 6, 6 + 1e-4, 6 - 1e-4, 3}).kinks == 2);
  CHECK(check_at(nn::Hardtanh{}, {-1, 1, 1 + 1e-4, -1 + 1e-4, 0.5}).kinks == 2);
  CHECK(check_at(nn::Hardswish{}, {-3, 3, 3 + 1e-4, 3 - 1e-4, 0.5}).kinks == 2);
  const auto clamp_at = [&](const std::vector<double>& inputs) {
    return nn::check_function_gradients(host,
                                        [](const nn::Value& x) { return nn::clamp(x, -0.5, 0.25); },
                                        {Sizes{5}}, {.inputs = inputs});
  };
  CHECK(clamp_at({-0.5, 0.25, 0.25 + 1e-4, -0.5 + 1e-4, 0}).kinks > 0);
  // Pools {1, 1, 0.5, 0} and {2, -1, 2.0001, 0.25}: two inputs share a maximum, and one is little
  // larger than another.
  const double ties[] = {1, 1, 2, -1, 0.5, 0, 2 + 1e-4, 0.25};
  CHECK(nn::check_layer_gradients(host, nn::MaxPool2d<2>{}, Shape<1, 2, 4>{}, Slice{1, 1, 1},
                                  {.inputs = std::vector<double>(ties, ties + 8)})
            .kinks == 2);
  const nn::LossRange halves{
      .target_low = 0.5, .target_high = 0.5, .outputs = {0.5, 0.5 + 1e-4, 0.5 - 1e-4, 2}};
  CHECK(nn::check_loss_gradients(host, nn::L1Loss{}, {2}, Slice{3, 3, 1}, halves).kinks == 1);
  CHECK(error_of([&] {
          nn::check_loss_gradients(host, nn::L1Loss{}, {2}, Slice{3, 3, 1}, {1, 1, 1, 1});
        }) ==
        "gpunet::nn::check_loss_gradients, slice of 3 samples in 3 x 1: the gradient is only "
        "compared at kinks "
        "(6 of 6 are at kinks, the first: output 0 of sample 0, which is 1), give other inputs");
}
