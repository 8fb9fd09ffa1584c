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

using namespace gpunet;
using nn::Value;

namespace {

constexpr index_t batch = 3;

// As in reference/values.py.
std::vector<double> numbers(index_t n, index_t step, index_t start, index_t modulus) {
  std::vector<double> values;
  for (index_t i = 0; i < n; ++i)
    values.push_back(static_cast<double>((i * step + start) % modulus - modulus / 2) / 8 +
                     0.013 * static_cast<double>(i % 7 + 1));
  return values;
}

class Reference {
 public:
  Reference() : file_(io::read_tensors(GPUNET_TEST_REFERENCE "/values.safetensors")) {}
  std::vector<double> operator()(const std::string& name) const {
    for (const io::TensorEntry& entry : file_.entries())
      if (entry.name == name) {
        std::vector<double> values(static_cast<std::size_t>(entry.sizes.numel()));
        io::copy_as(entry, std::span(values));
        return values;
      }
    FAIL("values.safetensors has no " << name);
    return {};
  }

 private:
  io::TensorFile file_;
};

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
          return maximum(x[0], x[1]) * minimum(x[0], x[1] * 2);
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
          return flatten(transpose(reshape(x[0], {4, -1}), 1, 2)) * flatten(permute(x[0], {0, 3, 2, 1}));
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
                 gelu(a, nn::Approximate::tanh) + silu(a) + mish(a) + tanh(a) + sigmoid(a) + logsigmoid(a) +
                 softplus(a) + softsign(a) + hardtanh(a, -0.5, 0.5) + hardswish(a) + hardsigmoid(a);
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
          return conv2d(tanh(conv2d(x[0], 3, 3, {.stride = 2, .padding = 1})), 2, 1, {.bias = false});
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
          return sum(max_pool2d(x[0], 2), {2, 3}) + sum(avg_pool2d(x[0], 3, {.stride = 2, .padding = 1}), {2, 3}) +
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
      {"decoder",
       {{{3, 4}, {2, 4}},
        [](const Inputs& x) {
          return transformer_decoder_layer(x[0], x[1], 2,
                                           {.dim_feedforward = 6, .dropout = 0, .tgt_is_causal = true});
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
                 cosine_embedding_loss(x[0], x[1], -one, -0.5) + cosine_embedding_loss(x[1], x[2], one);
        }}},
  };
  return all;
}

template <class D>
Graph graph_of(const Case& one) {
  return nn::detail::graph_of_call(nn::detail::backend_of<D, double>(), one.inputs, one.function);
}

// The slices of Host that hold the batch; on Cuda there is one.
template <class D>
std::vector<Slice> slices() {
  if constexpr (std::same_as<D, Host>)
    return {{batch, batch, 1}, {batch, 1, 4}, {batch, 1, 16}, {batch, 2, 2}};
  else
    return {{batch, batch, 1}};
}

}  // namespace

TEST_CASE_TEMPLATE("functions of values are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Reference reference;
  for (const auto& entry : cases())
    for (const Slice& slice : slices<D>()) {
      const std::string& name = entry.first;
      const Case& one = entry.second;
      CAPTURE(name);
      CAPTURE(slice.inner);
      nn::LayerRun<double, D> run(device, graph_of<D>(one), slice);
      run.set_parameters(numbers(run.parameter_count(), 5, 1, 17));
      const std::vector<double> y = run.forward(numbers(batch * run.in_features(), 7, 3, 23));
      CHECK(relative_error(y, reference(name + ".y")) < 1e-13);
      const auto gradients = run.backward(numbers(batch * run.out_features(), 11, 5, 19));
      CHECK(relative_error(gradients.dx, reference(name + ".dx")) < 1e-12);
      if (run.parameter_count() > 0) CHECK(relative_error(gradients.parameters, reference(name + ".dp")) < 1e-12);
      CHECK(gradients.padding == std::vector<double>(gradients.padding.size()));
    }
}

TEST_CASE("a decoder layer begins with PyTorch's values and names") {
  Host& host = test_device<Host>();
  manual_seed(4);
  Network net(
      host,
      [](Value x, Value m) { return transformer_decoder_layer(x, m, 2, {.dim_feedforward = 6, .name = "layer"}); },
      {3, 4}, {2, 4});
  std::vector<double> initial;
  for (const ParameterInfo& parameter : net.named_parameters())
    for (const float value : get_parameter(net, parameter.name).to_vector())
      initial.push_back(static_cast<double>(value));
  CHECK(initial == Reference()("decoder.initial"));
  CHECK(net.named_parameters()[0].name == "layer.self_attn.in_proj_weight");
  CHECK(net.named_parameters()[4].name == "layer.multihead_attn.in_proj_weight");
  CHECK(net.named_parameters().back().name == "layer.norm3.bias");
}

TEST_CASE("a function of values trains as the same layers do") {
  Host& host = test_device<Host>();
  using Net = nn::Sequential<nn::Input<2, 6, 6>, nn::Conv2d<4, 3>, nn::ReLU, nn::Flatten, nn::Linear<3>>;
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
  Network<Host, double> net(host, [](Value x) { return linear(flatten(relu(conv2d(x, 4, 3))), 3); }, {2, 6, 6});
  CHECK(relative_error(losses(net), expected) < 1e-13);
}

TEST_CASE_TEMPLATE("a network of several inputs and outputs, which computes its loss", D, GPUNET_TEST_DEVICES) {
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
  const std::vector<double> xs = random_values<double>(15, random), ts = random_values<double>(10, random);
  const Tensor<double, D> x(device, {5, 3}, xs), t(device, {5, 2}, ts);
  const auto output = net(x, t);
  CHECK(output[0].sizes() == Sizes{5, 2});
  CHECK(output[1].sizes() == Sizes{5});
  const std::vector<double> y = output[0].to_vector(), loss = output[1].to_vector();
  for (std::size_t n = 0; n < 5; ++n) {
    const double a = y[2 * n] - ts[2 * n], b = y[2 * n + 1] - ts[2 * n + 1];
    CHECK(loss[n] == doctest::Approx((a * a + b * b) / 2).epsilon(1e-13));
  }
  CHECK(error_of([&] { output[2]; }) == "gpunet::Output: output 2 of a network with 2 (want 0 to 1)");

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
        host, nn::Sequential<nn::Shared<"a", nn::Linear<3>>, nn::Tanh, nn::Shared<"a", nn::Linear<3>>>{},
        Shape<3>{}, slice);
  nn::check_function_gradients(host,
                               [](Value a, Value b) {
                                 const auto encode = [](const Value& x) {
                                   return tanh(linear(x, 3));
                                 };
                                 return shared("e", encode, a) * shared("e", encode, b) + linear(a, 3);
                               },
                               {{2}, {2}});
  using Wrong = nn::Sequential<nn::Shared<"a", nn::Linear<3>>, nn::Shared<"a", nn::Linear<4>>>;
  CHECK(error_of([] { nn::lower<void, void>(nn::Sequential<nn::Input<3>, Wrong>{}); }) ==
        "gpunet::Model: the parameters shared as a were made by a different layer (a.weight has shape [3, 3], this "
        "one wants [4, 3]), use the same layer with inputs of the same features, or another name");
  using Norms = nn::Sequential<nn::Input<3>, nn::Shared<"n", nn::BatchNorm1d>, nn::Shared<"n", nn::BatchNorm1d>>;
  CHECK(error_of([] { nn::lower<void, void>(Norms{}); }) ==
        "gpunet::Model: layer n is shared and has buffers (running statistics, which one of its places would take "
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

TEST_CASE_TEMPLATE("randn_like draws normal numbers, others in each training pass", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(11);
  Network<D, double> net(device, [](Value x) { return randn_like(x); }, {256});
  const Tensor<double, D> x(device, {8, 256});
  const std::vector<double> first = net(x).to_vector(), second = net(x).to_vector();
  CHECK(first != second);
  double sum = 0, squares = 0;
  for (const double value : first)
    sum += value, squares += value * value;
  const double n = static_cast<double>(first.size());  // four standard deviations of the mean and of the variance
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
                      x = nn::apply<1>(nn::Sequential<nn::Linear<5>, nn::Tanh, nn::Linear<5>>{}, x, "body");
                      return linear(linear(x, 2), 2);
                    },
                    {4});
  std::string names;
  for (const ParameterInfo& parameter : net.named_parameters())
    names += parameter.name + " ";
  CHECK(names ==
        "stem.fc.weight stem.0.weight stem.0.bias body.0.weight body.0.bias body.2.weight body.2.bias 0.weight "
        "0.bias "
        "1.weight 1.bias ");

  // Weights of another network, by name.
  Network other(host, [&](Value x) { return linear(named("stem", block, x), 9, {.name = "head"}); }, {4});
  const io::IncompatibleKeys keys = io::load(other, net, {.strict = false});
  CHECK(keys.missing_keys == std::vector<std::string>{"head.weight", "head.bias"});
  CHECK(keys.unexpected_keys.size() == 8);
  CHECK(get_parameter(other, "stem.fc.weight").to_vector() == get_parameter(net, "stem.fc.weight").to_vector());
}

TEST_CASE("functions of values that cannot be built") {
  Host& host = test_device<Host>();
  const auto error = [&](auto f, const Sizes& sizes = {3, 4}) {
    return error_of([&] { Network net(host, f, sizes); });
  };
  CHECK(
      error([](Value x) {
        return x + reshape(x, {4, 3});
      }) ==
      "gpunet::nn::add: values of shapes [batch, 3, 4] and [batch, 4, 3] (want the same extents, counted from the "
      "last dimension, or 1), reshape one of them");
  CHECK(error([](Value x) { return sum(x, 3); }) ==
        "gpunet::nn::sum: dimension 3 of a value of shape [batch, 3, 4] (want 1 to 2, or -1 to -2), give one of a "
        "sample");
  CHECK(error([](Value x) { return mean(x, 0); }) ==
        "gpunet::nn::mean: dimension 0 is the batch (samples are computed one by one), give one of a sample: 1 is "
        "its "
        "first");
  CHECK(error([](Value x) {
          return sum(x, {1, -2});
        }) == "gpunet::nn::sum: dimension -2 is given twice, give it once");
  CHECK(error([](Value x) {
          return reshape(x, {5, -1});
        }) ==
        "gpunet::nn::reshape: a value of shape [batch, 3, 4] has 12 elements in a sample (want a multiple of 5), "
        "give "
        "sizes of a sample, without the batch");
  CHECK(error([](Value x) { return conv2d(x, 4, 3); }) ==
        "gpunet::nn::apply: a value of shape [batch, 3, 4] (want Conv2d with 4 dimensions), reshape it");
  CHECK(error([](Value x) { return conv2d(x, 4, 3, {.groups = 2}); }, {3, 8, 8}) ==
        "gpunet::nn::conv2d: 2 groups for 3 input and 4 output channels (want a number that divides both), change "
        "one");
  CHECK(error([](Value x) {
          return nn::cat({x, flatten(x)}, 1);
        }) ==
        "gpunet::nn::cat: values of shapes [batch, 3, 4] and [batch, 12], joined along dimension 1 (want the other "
        "extents to be the same), reshape one");
  CHECK(error([](Value x) { return linear(linear(x, 4, {.name = "a"}), 4, {.name = "a"}); }) ==
        "gpunet::nn::Sequential: two layers are called a (their parameters would be one key), rename one");
  CHECK(error([](Value x) { return mse_loss(x, flatten(x)); }) ==
        "gpunet::nn::mse_loss: targets of shape [batch, 12] for values of shape [batch, 3, 4] (want the same), "
        "reshape one");
  CHECK(error([](Value x) { return multihead_attention(x, x, 3); }) ==
        "gpunet::nn::multihead_attention: 4 features in 3 heads (want a number that the heads divide), change one");
  CHECK(
      error([](Value x) { return scaled_dot_product_attention(x, x, transpose(x, 1, 2)); }) ==
      "gpunet::nn::scaled_dot_product_attention: query [batch, 3, 4], key [batch, 3, 4], value [batch, 4, 3] (want "
      "[batch, heads, queries, features], [batch, heads, keys, features], [batch, heads, keys, value features], or "
      "all without heads)");
  CHECK(error([](Value) { return std::vector<Value>{}; }) ==
        "gpunet::Network: the function returns no value (want 1 or more), return the outputs");
  CHECK(error([](Value x) { return x; }, {3, 0}) ==
        "gpunet::Network: an input of [3, 0] (want extents of 1 or more)");
  std::vector<Value> kept;
  Network first(host, [&](Value x) { return kept.emplace_back(linear(x, 2)); }, {3});
  CHECK(error_of([&] { kept[0] + kept[0]; }) ==
        "gpunet::nn::Value: a value of a network that has been built already, use only values of the function that "
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
        }) == "gpunet::nn::add: values of two networks, use only values of the function that is running");
  const Tensor<float, Host> wrong(host, {2, 3});
  CHECK(error_of([&] { first(wrong, wrong); }) ==
        "gpunet::Model: 2 inputs (want 1), give as many as the function of the network takes");
  Network two(host, [](Value a, Value b) { return a + b; }, {3}, {3});
  CHECK(error_of([&] {
          two(wrong, Tensor<float, Host>(host, {4, 3}));
        }) == "gpunet::Model: input 1 has shape [4, 3] (want [2, 3], the batch of input 0)");
  CHECK(
      error_of([&] { two(wrong); }) ==
      "gpunet::Model: the input has shape [2, 3] (want [batch, 6] with a batch of 1 or more): check the dataset's "
      "samples and the network's Input");
}
