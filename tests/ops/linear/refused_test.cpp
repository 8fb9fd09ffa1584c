// Affine maps where cuBLASLt has no kernel, and where it has several.
#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/device/cuda/recorded_graph.cuh>
#include <gpunet/gpunet.hpp>
#include <gpunet/ops/linear/cuda/linear_products.cuh>

#include "support/controlled_lt.hpp"
#include "support/eager_step.hpp"
#include "support/linear_problem.hpp"

using namespace gpunet;

namespace {

constexpr auto DEFAULT = CUBLASLT_EPILOGUE_DEFAULT, BIAS = CUBLASLT_EPILOGUE_BIAS,
               RELU_BIAS = CUBLASLT_EPILOGUE_RELU_BIAS,
               RELU_AUX_BIAS = CUBLASLT_EPILOGUE_RELU_AUX_BIAS, DRELU = CUBLASLT_EPILOGUE_DRELU,
               BGRADB = CUBLASLT_EPILOGUE_BGRADB;
using Epilogues = std::vector<cublasLtEpilogue_t>;
const Epilogues all_fused{BIAS, RELU_BIAS, RELU_AUX_BIAS, DRELU, BGRADB},
    everything{DEFAULT, BIAS, RELU_BIAS, RELU_AUX_BIAS, DRELU, BGRADB};
constexpr Precision precisions[] = {Precision::exact, Precision::tf32, Precision::bf16};

// Small multiples of 1/8, which bf16 holds too: sums of their products are exact in every precision
// and order. Biases are odd multiples of 1/128, so that no output is 0 before its ReLU.
LinearProblem<float> exact_problem(index_t samples, index_t in, index_t out) {
  Generator generator(1);
  LinearProblem<float> p(samples, in, out, generator);
  p.x = pattern<float>(samples * in, 7, 3, 13);
  p.w = pattern<float>(out * in, 5, 2, 11);
  p.b = pattern<float>(out, 3, 1, 7);
  for (float& b : p.b)
    b += 0x1p-7f;
  p.dy = pattern<float>(samples * out, 11, 4, 15);
  p.dw = pattern<float>(out * in, 3, 5, 9);
  p.db = pattern<float>(out, 5, 1, 13);
  return p;
}

LinearAnswer<float> exact_answer(const LinearProblem<float>& p, const LinearMode& mode) {
  const LinearProblem<double> wide(p);
  const std::vector<double> y = solve_exactly(wide, mode, wide.dy).y;
  const auto narrow = [](const std::vector<double>& values) {
    return std::vector<float>(values.begin(), values.end());
  };
  const LinearAnswer<double> a = solve_exactly(wide, mode, y);
  return {narrow(a.y), narrow(a.dx), narrow(a.dw), narrow(a.db)};
}

using Wide = nn::Sequential<nn::Input<257>, nn::Linear<256>, nn::ReLU, nn::Linear<256>>;
constexpr index_t batch = 257;  // both layers are large

// The parameters after three steps: the first as it comes, the second recorded, the third replayed.
std::vector<float> parameters_after_steps(Precision precision, bool recorded) {
  Cuda device(0, {precision});
  manual_seed(3);
  Model<Wide, Cuda> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.1f, .momentum = 0.9f});
  train::Step step(net, criterion, optimizer);
  Generator generator(4);
  const TestBatch<float, Cuda> data(device, Wide{}, batch, generator);
  int searches = 0;
  for (int i = 0; i < 3; ++i) {
    if (i == 1) searches = ControlledLt::current->searches;
    if (recorded)
      step(data.inputs, data.labels);
    else
      eager_step(net, criterion, optimizer, data);
  }
  CHECK(ControlledLt::current->searches == searches);  // all is decided in the first step
  return parameters_of(net);
}

// The gradients of two batches.
template <class D>
std::vector<float> gradients(D& device) {
  manual_seed(3);
  Model<Wide, D> net(device);
  Generator generator(4);
  for (int i = 0; i < 2; ++i) {
    const TestBatch<float, D> data(device, Wide{}, batch, generator);
    auto loss = nn::CrossEntropyLoss{}(net(data.inputs), data.labels);
    loss.backward();
  }
  return gradients_of(net);
}

// In the Euclidean norm alone.
double squared_error(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    size += double{b[i]} * b[i];
  }
  return difference / size;
}

}  // namespace

TEST_CASE(
    "affine maps on Cuda are exact whatever epilogue cuBLASLt refuses, and it is asked once") {
  struct Case {
    Epilogues refused;
    Refusal how;
    Epilogues with_relu, accumulating;  // the products that it does all the same
  };
  const Case cases[] = {
      {{}, Refusal::search_fails, {RELU_BIAS, BGRADB, DEFAULT}, {BIAS, DEFAULT, DEFAULT}},
      {{BIAS}, Refusal::call_fails, {RELU_BIAS, BGRADB, DEFAULT}, {DEFAULT, DEFAULT, DEFAULT}},
      {{RELU_BIAS}, Refusal::search_fails, {DEFAULT, BGRADB, DEFAULT}, {BIAS, DEFAULT, DEFAULT}},
      {{BGRADB}, Refusal::search_is_empty, {RELU_BIAS, DEFAULT, DEFAULT}, {BIAS, DEFAULT, DEFAULT}},
      {all_fused,
       Refusal::call_is_invalid,
       {DEFAULT, DEFAULT, DEFAULT},
       {DEFAULT, DEFAULT, DEFAULT}},
      {{DEFAULT}, Refusal::call_fails, {RELU_BIAS, BGRADB}, {BIAS}},
      {everything, Refusal::search_is_empty, {}, {}}};
  const LinearProblem<float> p = exact_problem(257, 257, 256);
  REQUIRE(detail::is_large_linear<float>({257, 257, 1}, 257, 256));
  const LinearMode with_relu{Activation::relu, Accumulate::no, false},
      accumulating{Activation::none, Accumulate::yes, true};
  const LinearAnswer<float> answer_with_relu = exact_answer(p, with_relu),
                            answer_accumulating = exact_answer(p, accumulating);
  for (const Case& each : cases)
    for (Precision precision : precisions) {
      const bool by_our_kernels =
          std::find(each.refused.begin(), each.refused.end(), DEFAULT) != each.refused.end();
      if (by_our_kernels && precision != Precision::tf32) continue;  // which are the same for all
      CAPTURE(each.refused.size());
      CAPTURE(static_cast<int>(each.how));
      CAPTURE(static_cast<int>(precision));
      Cuda device(0, {precision});
      ControlledLt control;
      control.refused = each.refused;
      control.how = each.how;
      const auto check_products = [&](const Epilogues& expected) {
        if (control.refuses_unasked)
          MESSAGE("this cuBLASLt has fewer kernels than the test refuses");
        else
          CHECK(control.products == expected);
        control.products.clear();
      };
      CHECK(solve(device, p, with_relu) == answer_with_relu);
      check_products(each.with_relu);
      CHECK(solve(device, p, accumulating) == answer_accumulating);
      check_products(each.accumulating);
      const int searches = control.searches;
      CHECK(solve(device, p, with_relu) == answer_with_relu);
      check_products(each.with_relu);
      CHECK(control.searches == searches);
    }
}

TEST_CASE(
    "a gradient on tensor cores of Cuda is rectified where cuBLASLt refuses to leave bits or to "
    "read them") {
  const LinearProblem<float> below = exact_problem(257, 257, 256),
                             above = exact_problem(257, 256, 256);
  const Slice slice{257, 257, 1};
  const std::vector<double> y =
      solve_exactly(LinearProblem<double>(below), {.activation = Activation::relu},
                    std::vector<double>(below.dy.size()))
          .y;
  LinearProblem<double> wide(above);
  wide.x = y;
  const std::vector<double> want = solve_exactly(wide, {.rectify_dx = true}, {}).dx;
  for (const Epilogues& refused :
       {Epilogues{}, Epilogues{RELU_AUX_BIAS}, Epilogues{RELU_AUX_BIAS, RELU_BIAS},
        Epilogues{DRELU}, all_fused})
    for (Precision precision : {Precision::tf32, Precision::bf16})
      for (Refusal how : {Refusal::search_fails, Refusal::call_fails}) {
        CAPTURE(refused.size());
        CAPTURE(static_cast<int>(precision));
        CAPTURE(static_cast<int>(how));
        Cuda device(0, {precision});
        ControlledLt control;
        control.refused = refused;
        control.how = how;
        const auto put = [&](const std::vector<float>& values) {
          return Tensor<float, Cuda>(device, {static_cast<index_t>(values.size())}, values);
        };
        const auto x = put(below.x), w = put(below.w), b = put(below.b), above_w = put(above.w);
        auto dy = put(above.dy);
        Tensor<float, Cuda> on_device(device, {257 * 256}), dx(device, {257 * 256}),
            dw(device, {256 * 256}), db(device, {256});
        Buffer<std::byte, Cuda> bits(device, 257 * relu_bits_bytes(256));
        Buffer<float, Cuda> scratch(device, linear_scratch(device, slice, 257, 256, float{}));
        CHECK(linear_leaves_relu_bits(device, slice, 257, 256));
        for (int i = 0; i < 2; ++i) {  // the second time all is decided
          control.products.clear();
          linear_forward(
              device, LinearForwardArgs<float>{slice, 257, 256, x.data(), w.data(), b.data(),
                                               on_device.data(), scratch.data(), Activation::relu,
                                               bits.data()});
          const bool leaves_bits = linear_leaves_relu_bits(device, slice, 257, 256);
          if (!control.refuses_unasked) CHECK(leaves_bits == !control.refuses(RELU_AUX_BIAS));
          linear_backward(
              device, AnySizes{},
              LinearBackwardArgs<float>{.slice = slice,
                                        .in = 256,
                                        .out = 256,
                                        .x = on_device.data(),
                                        .dy = dy.data(),
                                        .w = above_w.data(),
                                        .dx = dx.data(),
                                        .dw = dw.data(),
                                        .db = db.data(),
                                        .scratch = scratch.data(),
                                        .rectify_dx = true,
                                        .relu_bits = leaves_bits ? bits.data() : nullptr});
          CHECK(on_device.to_vector() == std::vector<float>(y.begin(), y.end()));
          CHECK(dx.to_vector() == std::vector<float>(want.begin(), want.end()));
          if (!control.refuses_unasked)
            CHECK(control.products.back() ==
                  (leaves_bits && !control.refuses(DRELU) ? DRELU : DEFAULT));
        }
      }
}

// A ReLU left out, or one that reads other bits, changes the gradients as much as they are;
// rounding some percent of them, through the few numbers near 0 that a ReLU treats otherwise: an
// error of e in its input moves e of them to the other side.
TEST_CASE(
    "networks on Cuda learn the same whatever cuBLASLt refuses, recorded, eager and accumulating") {
  Host host({.threads = 2});
  const std::vector<float> on_host = gradients(host);
  for (Precision precision : precisions)
    for (const Epilogues& refused :
         {Epilogues{RELU_AUX_BIAS}, Epilogues{DRELU}, all_fused, everything}) {
      // What replaces them is the same for all.
      if (refused != all_fused && precision != Precision::tf32) continue;
      CAPTURE(static_cast<int>(precision));
      CAPTURE(refused.size());
      ControlledLt control;
      control.refused = refused;
      control.how = precision == Precision::exact ? Refusal::call_fails : Refusal::search_is_empty;
      CHECK(same_bits(parameters_after_steps(precision, true),
                      parameters_after_steps(precision, false)));
      if (refused == everything) continue;  // a simulator takes its time
      Cuda device(0, {precision});
      CHECK(squared_error(gradients(device), on_host) <
            (precision == Precision::bf16 ? 2e-2 : 1e-2));
    }
}

TEST_CASE(
    "the fastest of the algorithms of cuBLASLt with the results of the first is taken on Cuda") {
  ControlledLt control;
  control.offered = {{.milliseconds = 0, .refused = true},
                     {.milliseconds = 4},
                     {.milliseconds = 1, .other_bits = true},
                     {.milliseconds = 3},
                     {.milliseconds = 2.95f},  // not clearly faster
                     {.milliseconds = 5}};
  Cuda device;
  const LinearProblem<float> p = exact_problem(257, 257, 256);
  for (Accumulate accumulate : {Accumulate::no, Accumulate::yes}) {
    const LinearMode mode{Activation::relu, accumulate, false};
    CHECK(solve(device, p, mode) == exact_answer(p, mode));
    control.algorithms.clear();
    CHECK(solve(device, p, mode) == exact_answer(p, mode));
    CHECK(control.algorithms == std::vector<std::size_t>{3, 3, 3});
  }
}

TEST_CASE("the first algorithm of cuBLASLt is taken on Cuda where none can be measured") {
  ControlledLt control;
  control.offered = {{.milliseconds = 4}, {.milliseconds = 1}};
  Cuda device;
  Tensor<float, Cuda> a(device, {64 * 64}, pattern<float>(64 * 64, 7, 3, 13)), c(device, {64 * 64});
  detail::LtProduct p{CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 64, a.data(), a.data(), 0.0f, c.data()};
  const detail::LtCall call(p, device.precision());
  const auto algorithms = call.algorithms(device);
  check(call.run(device, algorithms[0]));  // the library has loaded its kernel now
  control.algorithms.clear();
  const detail::Recorded recorded =
      detail::record(device, [&] { CHECK(detail::lt_product(device, p)); });
  detail::replay(device, recorded.graph);
  CHECK(detail::lt_product(device, p));
  CHECK(control.algorithms == std::vector<std::size_t>{0, 0});
  device.synchronize();
  p.m = p.n = p.k = index_t{1} << 21;  // more memory than there is
  CHECK(detail::fastest_identical(device, p, algorithms) == 0);
}

#endif
