// Functions of values against PyTorch: the cases of reference/values.py.
#include <functional>
#include <map>
#include <string>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/nn/gradient_check.hpp>

#include "support/arrays.hpp"
#include "support/check_gradients.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;
using nn::Value;

namespace {

constexpr index_t batch = 3;

using Inputs = std::vector<Value>;
struct Case {
  std::vector<Sizes> inputs;
  std::function<Value(const Inputs&)> function;
};

// Whole numbers from 0 to 2, without a gradient.
Value labels(const Value& t) {
  return detach(clamp(1e6 * t, 0, 1) + clamp(1e6 * (t - 0.7), 0, 1));
}

const std::map<std::string, Case>& cases() {
  static const std::map<std::string, Case> all{
      {"add",
       {{{3, 4}, {4}},
        [](const Inputs& x) {
          return x[0] + x[1];
        }}},
      {"add_same",
       {{{3, 4}, {3, 4}},
        [](const Inputs& x) {
          return x[0] + x[1] + x[0];
        }}},
      {"sub",
       {{{2, 3, 2}, {3, 1}},
        [](const Inputs& x) {
          return x[0] - x[1];
        }}},
      {"mul",
       {{{2, 1, 3}, {4, 1}},
        [](const Inputs& x) {
          return x[0] * x[1];
        }}},
      {"div",
       {{{2, 3}, {2, 3}},
        [](const Inputs& x) {
          return x[0] / (x[1] * x[1] + 1);
        }}},
      {"div_broadcast",
       {{{1, 3}, {2, 1}},
        [](const Inputs& x) {
          return x[0] / exp(x[1]);
        }}},
      {"maximum",
       {{{5}, {5}},
        [](const Inputs& x) {
          return max(x[0], x[1]) * min(x[0], x[1] * 2);
        }}},
      {"numbers",
       {{{7}},
        [](const Inputs& x) {
          const Value a = x[0];
          return 2 * a - 1 + (3 - a) / 4 - (-a) + 0.5 / (a * a + 1) - 2 * (a + 1) + (1 + a) * 3;
        }}},
      {"functions",
       {{{7}},
        [](const Inputs& x) {
          const Value a = x[0];
          return exp(a) + log(a * a + 1) + sqrt(a * a + 0.5) + square(a) + abs(a) + sin(a) + cos(a);
        }}},
      {"pow",
       {{{7}},
        [](const Inputs& x) {
          return pow(x[0], 3) + pow(exp(x[0]), -1.5) + clamp(x[0], -0.5, 0.75);
        }}},
      {"sum",
       {{{2, 3, 4}},
        [](const Inputs& x) {
          return sum(square(x[0]));
        }}},
      {"mean",
       {{{2, 3}},
        [](const Inputs& x) {
          return mean(square(x[0]));
        }}},
      {"sum_dims",
       {{{2, 3, 4}},
        [](const Inputs& x) {
          return sum(square(x[0]), {1, 3});
        }}},
      {"mean_keepdim",
       {{{2, 3}},
        [](const Inputs& x) {
          return x[0] - mean(x[0], -1, true);
        }}},
      {"mean_first",
       {{{2, 3, 2}},
        [](const Inputs& x) {
          return mean(square(x[0]), 1);
        }}},
      {"shapes",
       {{{2, 3, 2}},
        [](const Inputs& x) {
          return flatten(transpose(reshape(x[0], {4, -1}), 1, 2)) *
                 flatten(permute(x[0], {0, 3, 2, 1}));
        }}},
      {"cat",
       {{{2, 3}, {2, 2}},
        [](const Inputs& x) {
          return nn::cat({x[0], square(x[1]), x[0]}, -1);
        }}},
      {"narrow",
       {{{3, 2}},
        [](const Inputs& x) {
          return narrow(x[0], 1, 1, 2) * narrow(x[0], 1, 0, 2);
        }}},
      {"activations",
       {{{9}},
        [](const Inputs& x) {
          const Value a = x[0];
          return relu(a) + relu6(a * 3) + leaky_relu(a, 0.1) + elu(a) + selu(a) + gelu(a) +
                 gelu(a, nn::Approximate::tanh) + silu(a) + mish(a) + tanh(a) + sigmoid(a) +
                 logsigmoid(a) + softplus(a) + softsign(a) + hardtanh(a, -0.5, 0.5) + hardswish(a) +
                 hardsigmoid(a);
        }}},
      {"softmax",
       {{{3, 4}},
        [](const Inputs& x) {
          return softmax(x[0], -1) * log_softmax(x[0], 1);
        }}},
      {"linear",
       {{{2, 3}},
        [](const Inputs& x) {
          return linear(tanh(linear(x[0], 4)), 2, {.bias = false});
        }}},
      {"conv2d",
       {{{2, 5, 4}},
        [](const Inputs& x) {
          return conv2d(tanh(conv2d(x[0], 3, 3, {.stride = 2, .padding = 1})), 2, 1,
                        {.bias = false});
        }}},
      {"grouped",
       {{{4, 7, 8}},
        [](const Inputs& x) {
          return conv2d(tanh(conv2d(x[0], 6, 3, {.stride = 2, .padding = 1, .groups = 2})), 2, 2,
                        {.dilation = 2, .bias = false});
        }}},
      {"pooling",
       {{{2, 4, 6}},
        [](const Inputs& x) {
          return sum(max_pool2d(x[0], 2), {2, 3}) +
                 sum(avg_pool2d(x[0], 3, {.stride = 2, .padding = 1}), {2, 3}) +
                 sum(square(adaptive_avg_pool2d(x[0], 2, 2)), {2, 3});
        }}},
      {"norms",
       {{{2, 4}},
        [](const Inputs& x) {
          const Value layer = layer_norm(x[0]), rms = rms_norm(x[0]);
          return layer + rms * group_norm(x[0], 2);
        }}},
      {"batch_norm",
       {{{2, 3}},
        [](const Inputs& x) {
          return batch_norm(x[0]);
        }}},
      {"parameter",
       {{{2, 3}},
        [](const Inputs& x) {
          const Value p = parameter(x[0], nn::constant("p", {2, 3}, 1));
          return x[0] * p + p;
        }}},
      {"shared",
       {{{3}, {3}},
        [](const Inputs& x) {
          const auto encode = [](const Value& v) {
            return linear(v, 2);
          };
          const Value a = shared("encoder", encode, x[0]);
          return a * shared("encoder", encode, x[1]);
        }}},
      {"detach",
       {{{4}},
        [](const Inputs& x) {
          return square(x[0]) * detach(square(x[0])) + x[0];
        }}},
      {"distances",
       {{{2, 4}, {2, 4}},
        [](const Inputs& x) {
          return pairwise_distance(x[0], x[1]) + cosine_similarity(x[0], x[1]);
        }}},
      {"gather",
       {{{3, 4}, {4}},
        [](const Inputs& x) {
          return gather(x[0], labels(x[1]));
        }}},
      {"dot_product",
       {{{3, 4}, {5, 4}, {5, 2}},
        [](const Inputs& x) {
          return scaled_dot_product_attention(x[0], x[1], x[2]);
        }}},
      {"dot_product_heads",
       {{{2, 3, 4}, {2, 3, 4}},
        [](const Inputs& x) {
          return scaled_dot_product_attention(x[0], x[1], x[1], {.is_causal = true});
        }}},
      {"attention",
       {{{2, 4}, {3, 4}, {2}},
        [](const Inputs& x) {
          const Value of = labels(x[2]), first = narrow(of, 1, 0, 1), second = narrow(of, 1, 1, 1);
          const Value ignored = nn::cat({relu(first - 1), 0 * first, second}, 1);
          return multihead_attention(x[0], x[1], 2, {.key_padding_mask = ignored});
        }}},
      {"vae",  // the loss of lesson 08, with a number in place of the random ones
       {{{6}},
        [](const Inputs& x) {
          const Value image = sigmoid(x[0]), hidden = relu(linear(image, 4, {.name = "fc1"}));
          const Value mean = linear(hidden, 2, {.name = "fc21"}),
                      logvar = linear(hidden, 2, {.name = "fc22"});
          const Value z = mean + exp(0.5 * logvar) * 0.3;
          const Value logits = linear(relu(linear(z, 4, {.name = "fc3"})), 6, {.name = "fc4"});
          return 6 * binary_cross_entropy_with_logits(logits, image) -
                 0.5 * sum(1 + logvar - square(mean) - exp(logvar));
        }}},
      {"decoder",
       {{{3, 4}, {2, 4}},
        [](const Inputs& x) {
          return transformer_decoder_layer(
              x[0], x[1], 2, {.dim_feedforward = 6, .dropout = 0, .tgt_is_causal = true});
        }}},
      {"decoder_norm_first",
       {{{3, 4}, {2, 4}},
        [](const Inputs& x) {
          const auto activation = [](const Value& v) {
            return gelu(v);
          };
          return transformer_decoder_layer(x[0], x[1], 2,
                                           {.dim_feedforward = 6,
                                            .dropout = 0,
                                            .activation = activation,
                                            .norm_first = true,
                                            .tgt_is_causal = true});
        }}},
      {"mse_loss",
       {{{5}, {5}},
        [](const Inputs& x) {
          return mse_loss(x[0], x[1]);
        }}},
      {"l1_loss",
       {{{5}, {5}},
        [](const Inputs& x) {
          return l1_loss(x[0], 0.9 * x[1]);
        }}},
      {"smooth_l1_loss",
       {{{5}, {5}},
        [](const Inputs& x) {
          return smooth_l1_loss(x[0], 0.9 * x[1], 0.7);
        }}},
      {"huber_loss",
       {{{5}, {5}},
        [](const Inputs& x) {
          return huber_loss(x[0], 0.9 * x[1], 0.6);
        }}},
      {"bce",
       {{{5}, {5}},
        [](const Inputs& x) {
          return binary_cross_entropy(sigmoid(x[0]), sigmoid(x[1]));
        }}},
      {"bce_logits",
       {{{5}, {5}},
        [](const Inputs& x) {
          return binary_cross_entropy_with_logits(x[0], sigmoid(x[1]));
        }}},
      {"cross_entropy",
       {{{3, 4}, {4}},
        [](const Inputs& x) {
          return cross_entropy(x[0], labels(x[1]));
        }}},
      {"kl_div",
       {{{4}, {4}},
        [](const Inputs& x) {
          return kl_div(log_softmax(x[0], 1), softmax(x[1], 1));
        }}},
      {"embedding_losses",
       {{{4}, {4}, {4}},
        [](const Inputs& x) {
          const Value one = mean(x[0] * 0) + 1, row = reshape(one, {1});
          const Value alternating = nn::cat({row, -row, row, -row}, -1);
          return hinge_embedding_loss(x[0], alternating) + triplet_margin_loss(x[0], x[1], x[2]) +
                 cosine_embedding_loss(x[0], x[1], -one, -0.5) +
                 cosine_embedding_loss(x[1], x[2], one);
        }}},
  };
  return all;
}

template <class D>
Graph graph_of(const Case& one) {
  return nn::detail::graph_of_call(nn::detail::backend_of<D, double>(), one.inputs, one.function);
}

}  // namespace

TEST_CASE_TEMPLATE("functions of values are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const ReferenceFile reference("values");
  for (const auto& entry : cases())
    for (const Slice& slice : slices_of_three<D>()) {
      const std::string& name = entry.first;
      const Case& one = entry.second;
      CAPTURE(name);
      CAPTURE(slice.inner);
      nn::LayerRun<double, D> run(device, graph_of<D>(one), slice);
      run.set_parameters(mixed_numbers(run.parameter_count(), 5, 1, 17));
      const std::vector<double> y = run.forward(mixed_numbers(batch * run.in_features(), 7, 3, 23));
      CHECK(relative_error(y, reference.values(name + ".y")) < 1e-13);
      const auto gradients = run.backward(mixed_numbers(batch * run.out_features(), 11, 5, 19));
      CHECK(relative_error(gradients.dx, reference.values(name + ".dx")) < 1e-12);
      if (run.parameter_count() > 0)
        CHECK(relative_error(gradients.parameters, reference.values(name + ".dp")) < 1e-12);
      CHECK(gradients.padding == std::vector<double>(gradients.padding.size()));
    }
}

TEST_CASE("a decoder layer begins with PyTorch's values and names") {
  Host& host = test_device<Host>();
  manual_seed(4);
  Network net(host,
              [](Value x, Value m) {
                return transformer_decoder_layer(x, m, 2, {.dim_feedforward = 6, .name = "layer"});
              },
              {3, 4}, {2, 4});
  std::vector<double> initial;
  for (const ParameterInfo& parameter : net.named_parameters())
    for (const float value : get_parameter(net, parameter.name).to_vector())
      initial.push_back(static_cast<double>(value));
  CHECK(initial == ReferenceFile("values").values("decoder.initial"));
  CHECK(net.named_parameters()[0].name == "layer.self_attn.in_proj_weight");
  CHECK(net.named_parameters()[4].name == "layer.multihead_attn.in_proj_weight");
  CHECK(net.named_parameters().back().name == "layer.norm3.bias");
}

TEST_CASE("a function of values trains as the same layers do") {
  Host& host = test_device<Host>();
  using Net =
      nn::Sequential<nn::Input<2, 6, 6>, nn::Conv2d<4, 3>, nn::ReLU, nn::Flatten, nn::Linear<3>>;
  const auto losses = [&](auto& net) {
    Generator random(7);
    const Tensor<double, Host> x(host, {20, 2, 6, 6}, random_values<double>(20 * 72, random));
    std::vector<label_t> classes;
    for (label_t i = 0; i < 20; ++i)
      classes.push_back(i % 3);
    const Tensor<label_t, Host> labels(host, {20}, classes);
    optim::SGD optimizer(net, {.lr = 0.1, .momentum = 0.9});
    train::Step step(net, nn::CrossEntropyLoss{}, optimizer);
    std::vector<double> all;
    for (int i = 0; i < 10; ++i)
      all.push_back(step(x, labels).item());
    return all;
  };
  manual_seed(3);
  Model<Net, Host, double> model(host);
  const std::vector<double> expected = losses(model);
  manual_seed(3);
  Network<Host, double> net(host, [](Value x) { return linear(flatten(relu(conv2d(x, 4, 3))), 3); },
                            {2, 6, 6});
  CHECK(relative_error(losses(net), expected) < 1e-13);
}

TEST_CASE_TEMPLATE("a network of several inputs and outputs, which computes its loss", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(5);
  const auto model = [](Value x, Value t) -> std::vector<Value> {
    const Value y = linear(tanh(linear(x, 8, {.name = "hidden"})), 2, {.name = "out"});
    return {y, mse_loss(y, t)};
  };
  Network<D, double> net(device, model, {3}, {2});
  CHECK(net.named_parameters()[0].name == "hidden.weight");
  CHECK(net.named_parameters()[3].name == "out.bias");
  Generator random(1);
  const std::vector<double> xs = random_values<double>(15, random),
                            ts = random_values<double>(10, random);
  const Tensor<double, D> x(device, {5, 3}, xs), t(device, {5, 2}, ts);
  const auto output = net(x, t);
  CHECK(output[0].sizes() == Sizes{5, 2});
  CHECK(output[1].sizes() == Sizes{5});
  const std::vector<double> y = output[0].to_vector(), loss = output[1].to_vector();
  for (std::size_t n = 0; n < 5; ++n) {
    const double a = y[2 * n] - ts[2 * n], b = y[2 * n + 1] - ts[2 * n + 1];
    CHECK(loss[n] == doctest::Approx((a * a + b * b) / 2).epsilon(1e-13));
  }
  CHECK(error_of([&] { output[2]; }) ==
        "gpunet::Output: output 2 of a network with 2 (want 0 to 1)");

  // The loss alone: one call, and the three steps of PyTorch, do the same.
  const auto only_loss = [](Value a, Value b) {
    return mse_loss(linear(tanh(linear(a, 8)), 2), b);
  };
  manual_seed(5);
  Network<D, double> eager(device, only_loss, {3}, {2});
  manual_seed(5);
  Network<D, double> stepped(device, only_loss, {3}, {2});
  optim::SGD slow(eager, {.lr = 0.1}), fast(stepped, {.lr = 0.1});
  train::Step step(stepped, nn::OutputLoss{}, fast);
  for (int i = 0; i < 3; ++i) {
    eager.zero_grad();
    const auto value = mean(eager(x, t));
    value.backward();
    slow.step();
    CHECK(step({x, t}).item() == value.item());
  }
  CHECK(to_vector(device, std::as_const(eager).parameters()) ==
        to_vector(device, std::as_const(stepped).parameters()));
  CHECK(sum(eager(x, t)).item() == doctest::Approx(5 * mean(eager(x, t)).item()));
}

TEST_CASE("fit and evaluate take networks that compute their loss") {
  Host& host = test_device<Host>();
  Generator random(3);
  const Tensor<float, Host> x(host, {12, 3}, random_values<float>(36, random));
  const Tensor<float, Host> t(host, {12, 2}, random_values<float>(24, random));
  const data::TensorDataset set(x, t);
  const data::DataLoader loader(set, {.batch_size = 5});
  const auto model = [](Value a, Value b) {
    return mse_loss(linear(tanh(linear(a, 8)), 2), b);
  };
  const auto parameters = [&](const auto& net) {
    return to_vector(host, net.parameters());
  };

  // The loader's targets are the second input.
  manual_seed(1);
  Network fitted(host, model, {3}, {2});
  manual_seed(1);
  Network stepped(host, model, {3}, {2});
  optim::SGD fitting(fitted, {.lr = 0.1f}), stepping(stepped, {.lr = 0.1f});
  const auto history = train::fit(fitted, nn::OutputLoss{}, fitting, loader, {.epochs = 2});
  train::Step step(stepped, nn::OutputLoss{}, stepping);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto [inputs, targets] : loader.to(host))
      step({inputs, targets});
  CHECK(parameters(fitted) == parameters(stepped));
  CHECK(history.epochs[1].loss < history.epochs[0].loss);
  const train::Evaluation result = train::evaluate(fitted, nn::OutputLoss{}, loader);
  CHECK(result.loss ==
        doctest::Approx(static_cast<double>(mean(stepped(x, t)).item())).epsilon(1e-6));
  CHECK(result.samples == 12);

  // A network of one input: the targets are not used. Gradients may be clipped.
  const auto alone = [](Value a) {
    return mse_loss(linear(a, 3), a);
  };
  const Tensor<label_t, Host> classes(host, {12});
  const data::TensorDataset labeled(x, classes);
  const data::DataLoader labels(labeled, {.batch_size = 4});
  Network autoencoder(host, alone, {3});
  optim::SGD optimizer(autoencoder, {.lr = 0.1f});
  const auto epochs = train::fit(autoencoder, nn::OutputLoss{}, optimizer, labels, {.epochs = 3},
                                 train::ClipGradNorm{1}, train::Validation(labels))
                          .epochs;
  CHECK(epochs[2].val_loss < epochs[0].val_loss);
  CHECK(error_of([&] { train::fit(fitted, nn::OutputLoss{}, fitting, labels); }) ==
        "gpunet::train: the loader's targets are labels and the network has a second input (which "
        "takes numbers of "
        "the network's type), give the dataset targets of floats: Tensor<float, Host>");
}

TEST_CASE("shared parts have one set of parameters") {
  Host& host = test_device<Host>();
  using Net = nn::Sequential<nn::Input<4>, nn::Shared<"step", nn::Linear<4>>, nn::Tanh,
                             nn::Shared<"step", nn::Linear<4>>, nn::Linear<2>>;
  const Model<Net, Host> net(host);
  REQUIRE(net.named_parameters().size() == 4);
  CHECK(net.named_parameters()[0].name == "step.weight");
  CHECK(net.named_parameters()[2].name == "3.weight");
  CHECK(summary(net, 1).total_params == 4 * 4 + 4 + 4 * 2 + 2);
  for (const Slice& slice : test_slices<Host>())
    check_layer_gradients(
        host,
        nn::Sequential<nn::Shared<"a", nn::Linear<3>>, nn::Tanh, nn::Shared<"a", nn::Linear<3>>>{},
        Shape<3>{}, slice);
  nn::check_function_gradients(host,
                               [](Value a, Value b) {
                                 const auto encode = [](const Value& x) {
                                   return tanh(linear(x, 3));
                                 };
                                 return shared("e", encode, a) * shared("e", encode, b) +
                                        linear(a, 3);
                               },
                               {{2}, {2}});
  using Wrong = nn::Sequential<nn::Shared<"a", nn::Linear<3>>, nn::Shared<"a", nn::Linear<4>>>;
  CHECK(error_of([] { nn::lower<void, void>(nn::Sequential<nn::Input<3>, Wrong>{}); }) ==
        "gpunet::Model: the parameters shared as a were made by a different layer (a.weight has "
        "shape [3, 3], this "
        "one wants [4, 3]), use the same layer with inputs of the same features, or another name");
  using Norms = nn::Sequential<nn::Input<3>, nn::Shared<"n", nn::BatchNorm1d>,
                               nn::Shared<"n", nn::BatchNorm1d>>;
  CHECK(error_of([] { nn::lower<void, void>(Norms{}); }) ==
        "gpunet::Model: layer n is shared and has buffers (running statistics, which one of its "
        "places would take "
        "from the other), give each place a layer of its own");
}

TEST_CASE("gradients of layers that a detached value hides are 0") {
  Host& host = test_device<Host>();
  Network<Host, double> net(host,
                            [](Value x) {
                              const Value hidden = linear(x, 3, {.name = "hidden"});
                              return mean(square(linear(detach(hidden), 2, {.name = "head"})));
                            },
                            {4});
  Generator random(2);
  const Tensor<double, Host> x(host, {6, 4}, random_values<double>(24, random));
  mean(net(x)).backward();
  for (const ParameterInfo& parameter : net.named_parameters()) {
    bool is_zero = true;
    for (index_t i = 0; i < parameter.sizes.numel(); ++i)
      is_zero = is_zero && net.gradients().data()[parameter.offset + i] == 0;
    CHECK(is_zero == (parameter.name.substr(0, 6) == "hidden"));
  }
}

TEST_CASE_TEMPLATE("randn_like draws normal numbers, others in each training pass", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(11);
  Network<D, double> net(device, [](Value x) { return randn_like(x); }, {256});
  const Tensor<double, D> x(device, {8, 256});
  const std::vector<double> first = net(x).to_vector(), second = net(x).to_vector();
  CHECK(first != second);
  double sum = 0, squares = 0;
  for (const double value : first)
    sum += value, squares += value * value;
  // Four standard deviations of the mean and of the variance.
  const double n = static_cast<double>(first.size());
  CHECK(std::abs(sum / n) < 4 / std::sqrt(n));
  CHECK(std::abs(squares / n - 1) < 4 * std::sqrt(2 / n));
  manual_seed(11);
  Host& host = test_device<Host>();
  Network<Host, double> same(host, [](Value v) { return randn_like(v); }, {256});
  CHECK(relative_error(same(Tensor<double, Host>(host, {8, 256})).to_vector(), first) < 1e-13);
}

TEST_CASE("names of layers, and layers in functions of values") {
  Host& host = test_device<Host>();
  const auto block = [](const Value& x) {
    return relu(nn::batch_norm(linear(x, 5, {.bias = false, .name = "fc"})));
  };
  const Network net(host,
                    [&](Value x) {
                      x = named("stem", block, x);
                      x = nn::apply<1>(nn::Sequential<nn::Linear<5>, nn::Tanh, nn::Linear<5>>{}, x,
                                       "body");
                      return linear(linear(x, 2), 2);
                    },
                    {4});
  std::string names;
  for (const ParameterInfo& parameter : net.named_parameters())
    names += parameter.name + " ";
  CHECK(names ==
        "stem.fc.weight stem.0.weight stem.0.bias body.0.weight body.0.bias body.2.weight "
        "body.2.bias 0.weight "
        "0.bias "
        "1.weight 1.bias ");

  // Weights of another network, by name.
  Network other(host, [&](Value x) { return linear(named("stem", block, x), 9, {.name = "head"}); },
                {4});
  const io::IncompatibleKeys keys = io::load(other, net, {.strict = false});
  CHECK(keys.missing_keys == std::vector<std::string>{"head.weight", "head.bias"});
  CHECK(keys.unexpected_keys.size() == 8);
  CHECK(get_parameter(other, "stem.fc.weight").to_vector() ==
        get_parameter(net, "stem.fc.weight").to_vector());
}
