// Functions of values that are wrong: the texts of their errors.
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using nn::Value;

TEST_CASE("functions of values that cannot be built") {
  Host& host = test_device<Host>();
  const auto error = [&](auto f, const Sizes& sizes = {3, 4}) {
    return error_of([&] { Network net(host, f, sizes); });
  };
  CHECK(error([](Value x) {
          return x + reshape(x, {4, 3});
        }) ==
        "gpunet::nn::add: values of shapes [batch, 3, 4] and [batch, 4, 3] (want the same extents, "
        "counted from the "
        "last dimension, or 1), reshape one of them");
  CHECK(error([](Value x) { return sum(x, 3); }) ==
        "gpunet::nn::sum: dimension 3 of a value of shape [batch, 3, 4] (want 1 to 2, or -1 to "
        "-2), give one of a "
        "sample");
  CHECK(error([](Value x) { return mean(x, 0); }) ==
        "gpunet::nn::mean: dimension 0 is the batch (samples are computed one by one), give one of "
        "a sample: 1 is "
        "its "
        "first");
  CHECK(error([](Value x) {
          return sum(x, {1, -2});
        }) == "gpunet::nn::sum: dimension -2 is given twice, give it once");
  CHECK(error([](Value x) {
          return reshape(x, {5, -1});
        }) ==
        "gpunet::nn::reshape: a value of shape [batch, 3, 4] has 12 elements in a sample (want a "
        "multiple of 5), "
        "give "
        "sizes of a sample, without the batch");
  CHECK(error([](Value x) { return conv2d(x, 4, 3); }) ==
        "gpunet::nn::conv2d: a value of shape [batch, 3, 4] (want images [batch, channels, height, "
        "width] with 4 "
        "dimensions), reshape it");
  CHECK(error([](Value x) { return conv2d(x, 4, 3, {.groups = 2}); }, {3, 8, 8}) ==
        "gpunet::nn::conv2d: 2 groups for 3 input and 4 output channels (want a number that "
        "divides both), change "
        "one");
  CHECK(error([](Value x) {
          return nn::cat({x, flatten(x)}, 1);
        }) ==
        "gpunet::nn::cat: values of shapes [batch, 3, 4] and [batch, 12], joined along dimension 1 "
        "(want the other "
        "extents to be the same), reshape one");
  CHECK(error([](Value x) { return linear(linear(x, 4, {.name = "a"}), 4, {.name = "a"}); }) ==
        "gpunet::Model: two layers are called a (their parameters would be one key), rename one");
  CHECK(error([](Value x) { return mse_loss(x, flatten(x)); }) ==
        "gpunet::nn::mse_loss: targets of shape [batch, 12] for values of shape [batch, 3, 4] "
        "(want the same), "
        "reshape one");
  CHECK(error([](Value x) { return multihead_attention(x, x, 3); }) ==
        "gpunet::nn::multihead_attention: 4 features in 3 heads (want a number that the heads "
        "divide), change one");
  CHECK(error([](Value x) { return scaled_dot_product_attention(x, x, transpose(x, 1, 2)); }) ==
        "gpunet::nn::scaled_dot_product_attention: query [batch, 3, 4], key [batch, 3, 4], value "
        "[batch, 4, 3] (want "
        "[batch, heads, queries, features], [batch, heads, keys, features], [batch, heads, keys, "
        "value features], or "
        "all without heads)");
  CHECK(error([](Value) { return std::vector<Value>{}; }) ==
        "gpunet::Network: the function returns no value (want 1 or more), return the outputs");
  CHECK(error([](Value x) { return x; }, {3, 0}) ==
        "gpunet::Network: an input of [3, 0] (want extents of 1 or more)");
  // Dimensions.
  CHECK(error([](Value x) { return sum(sum(x), -1); }) ==
        "gpunet::nn::sum: dimension -1 of a value of shape [batch] (a sample is one number), "
        "reshape it");
  CHECK(error([](Value x) { return softmax(x, -3); }) ==
        "gpunet::nn::softmax: dimension -3 is the batch (samples are computed one by one), give "
        "one of a sample: 1 "
        "is its "
        "first");
  CHECK(error([](Value x) {
          return permute(x, {1, 0, 2});
        }) ==
        "gpunet::nn::permute: dimension 1 first (want 0: the batch stays where it is), as in "
        "permute(x, {0, 2, 1})");
  CHECK(error([](Value x) {
          return permute(x, {0, 1});
        }) ==
        "gpunet::nn::permute: 2 dimensions for a value of shape [batch, 3, 4] (want each once, "
        "first 0, the "
        "batch), as in "
        "permute(x, {0, 2, 1})");
  CHECK(error([](Value x) {
          return permute(x, {0, 3, 1});
        }) ==
        "gpunet::nn::permute: dimension 3 of a value of shape [batch, 3, 4] (want 1 to 2, or -1 to "
        "-2), give one "
        "of a "
        "sample");
  CHECK(error([](Value x) {
          return nn::cat({x, x}, 3);
        }) ==
        "gpunet::nn::cat: dimension 3 of a value of shape [batch, 3, 4] (want 1 to 2, or -1 to "
        "-2), give one of a "
        "sample");
  CHECK(error([](Value x) { return narrow(x, 1, 2, 2); }) ==
        "gpunet::nn::narrow: length 2 from start 2 along dimension 1 of a value of shape [batch, "
        "3, 4] (want 1 or "
        "more, "
        "within its extent of 3)");
  CHECK(error([](Value x) { return narrow(x, 1, 0, 0); }) ==
        "gpunet::nn::narrow: length 0 from start 0 along dimension 1 of a value of shape [batch, "
        "3, 4] (want 1 or "
        "more, "
        "within its extent of 3)");
  // Options of convolutions.
  CHECK(error([](Value x) { return conv2d(x, 4, 3, {.dilation = 4}); }, {3, 8, 8}) ==
        "gpunet::nn::conv2d: the kernel (9) is larger than the padded image (8 x 8), use a smaller "
        "kernel, a "
        "larger image or "
        "padding");
  CHECK(error([](Value x) { return conv2d(x, 4, 3, {.dilation = 0}); }, {3, 8, 8}) ==
        "gpunet::nn::conv2d: 4 output channels, kernel 3, stride 1, padding 0, dilation 0 (want at "
        "least 1, 1, 1, "
        "0, 1), change what is less");
  // Parameters.
  CHECK(
      error([](Value x) {
        const Value a = parameter(x, nn::constant("gain", {4}, 1));
        return x * a * parameter(x, nn::constant("gain", {3, 1}, 1));
      }) ==
      "gpunet::Model: two layers are called gain (their parameters would be one key), rename one");
  const auto with_bias = [](const Value& v) {
    return linear(v, 4);
  };
  const auto without = [](const Value& v) {
    return linear(v, 4, {.bias = false});
  };
  const auto shared_by = [&](const auto& first, const auto& second) {
    return error([&](Value x) {
      const Value a = shared("e", first, x);
      return a + shared("e", second, x);
    });
  };
  CHECK(shared_by(without, with_bias) ==
        "gpunet::Model: the parameters shared as e.0 were made by a different layer (it has no "
        "e.0.bias), use the "
        "same layer with inputs of the same features, or another name");
  CHECK(
      shared_by(with_bias, without) ==
      "gpunet::Model: the parameters shared as e.0 were made by a different layer (this one has no "
      "e.0.bias), use the same layer for both, or another name");
  // Targets.
  CHECK(error([](Value x) { return cross_entropy(x, x); }) ==
        "gpunet::nn::cross_entropy: targets of shape [batch, 3, 4] for values of shape [batch, 3, "
        "4] (want [batch, "
        "4], the "
        "index of a class for each), reshape one");
  CHECK(error([](Value x) { return nll_loss(mean(x), mean(x)); }) ==
        "gpunet::nn::nll_loss: a value of shape [batch] (want [batch, classes, ...]), reshape it");
  CHECK(error([](Value x) { return mse_loss(x, sum(x, 1)); }) ==
        "gpunet::nn::mse_loss: targets of shape [batch, 4] for values of shape [batch, 3, 4] (want "
        "the same), "
        "reshape one");
  for (const float label : {3.0f, 0.5f, -1.0f}) {
    Network loss(host, [](Value x, Value t) { return cross_entropy(x, t); }, {3}, {});
    CHECK(error_of([&] {
            loss(Tensor<float, Host>(host, {1, 3}), Tensor<float, Host>(host, {1}, {label}));
          }) == concat("gpunet::nn::gather, nll_loss, cross_entropy: index ", label,
                       " (want a whole number from 0 to 2), check the labels of the batch"));
  }
  // Sequences of 0 steps.
  CHECK(error([](Value x) { return lstm(x, 2).output; }, {0, 4}) ==
        "gpunet::Network: an input of [0, 4] (want extents of 1 or more)");
  std::vector<Value> kept;
  Network first(host, [&](Value x) { return kept.emplace_back(linear(x, 2)); }, {3});
  CHECK(error_of([&] { kept[0] + kept[0]; }) ==
        "gpunet::nn::Value: a value of a network that has been built already, use only values of "
        "the function that "
        "is "
        "running");
  std::vector<Value> outer;
  CHECK(error_of([&] {
          Network net(host,
                      [&](Value x) {
                        Network inner(host, [&](Value y) { return y + x; }, {3});
                        return x;
                      },
                      {3});
        }) ==
        "gpunet::nn::add: values of two networks, use only values of the function that is running");
  const Tensor<float, Host> wrong(host, {2, 3});
  CHECK(error_of([&] { first(wrong, wrong); }) ==
        "gpunet::Model: 2 inputs (want 1), give as many as the function of the network takes");
  Network two(host, [](Value a, Value b) { return a + b; }, {3}, {3});
  CHECK(error_of([&] {
          two(wrong, Tensor<float, Host>(host, {4, 3}));
        }) == "gpunet::Model: input 1 has shape [4, 3] (want [2, 3], the batch of input 0)");
  CHECK(error_of([&] { two(wrong); }) ==
        "gpunet::Model: 1 inputs (want 2), give as many as the function of the network takes");
  CHECK(
      error([](Value x) { return transformer_decoder_layer(x, x, 2, {.activation = nullptr}); }) ==
      "gpunet::nn::transformer_decoder_layer: the activation is null, give a function of a value, "
      "such as relu");
}

TEST_CASE("a network of several outputs or inputs where one is wanted") {
  Host& host = test_device<Host>();
  Network net(host,
              [](Value x) {
                return std::vector<Value>{linear(x, 3, {.name = "classes"}),
                                          linear(x, 2, {.name = "numbers"})};
              },
              {4});
  const Tensor<float, Host> x = randn(host, {2, 4});
  const Tensor<label_t, Host> labels(host, {2}, {0, 4});
  const std::string loss_of_two =
      "gpunet::Model: a loss of a network with 2 outputs (a loss takes one), compute the loss in "
      "the function of "
      "the network, with the targets as inputs, and return it as the only output, or as the last "
      "with "
      "nn::OutputLoss({.output = -1})";
  CHECK(error_of([&] { nn::CrossEntropyLoss{}(net(x), labels); }) == loss_of_two);
  CHECK(error_of([&] { mean(net(x)); }) == loss_of_two);
  optim::SGD optimizer(net, {.lr = 0.1f});
  const nn::CrossEntropyLoss criterion;
  train::Step step(net, criterion, optimizer);
  CHECK(error_of([&] { step(x, labels); }) == loss_of_two);
  CHECK(error_of([&] { net(x).argmax(1); }) ==
        "gpunet::Output::argmax: a network with 2 outputs, take argmax(output[0], dim)");
  CHECK(error_of([&] { net(x).softmax(1); }) ==
        "gpunet::Output::softmax: a network with 2 outputs, take softmax(output[0], dim)");
  CHECK(argmax(net(x)[0], 1).sizes() == Sizes{2});

  Network other(host, [](Value a) { return linear(a, 3); }, {4});
  CHECK(error_of([&] { net.copy_state(other); }) ==
        "gpunet::Network::copy_state: the other network has no classes.weight (want the names and "
        "shapes of all to "
        "be "
        "the same), copy those that both have by io::load(net, other, {.strict = false})");
}

TEST_CASE("clamp has no gradient at its bounds, as in PyTorch") {
  Host& host = test_device<Host>();
  Network net(host,
              [](Value x) { return sum(clamp(x + parameter(x, nn::constant("p", {5}, 0)), 0, 1)); },
              {5});
  net.zero_grad();
  mean(net(Tensor<float, Host>(host, {1, 5}, {-1, 0, 0.5f, 1, 2}))).backward();
  CHECK(net.named_parameters().size() == 1);
  CHECK(to_vector(host, View<const float, Host>(net.gradients().data(), Sizes{5})) ==
        std::vector<float>{0, 0, 1, 0, 0});
}
