#include <gpunet/gpunet.hpp>

#include "support/attention_reference.hpp"
#include "support/check_gradients.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

// A layer with Options, and no dropout.
template <index_t heads, index_t feed_forward, class... Options>
using Layer = nn::TransformerEncoderLayer<heads, feed_forward, nn::DropoutRate<0>, Options...>;

template <class D, class T>
void check_attention(D& device, double tolerance) {
  using nn::MultiheadAttention, nn::Causal, nn::Bias;
  AttentionCases<D, T> cases(device, "multihead_attention", tolerance);
  constexpr bool all = std::same_as<D, Host>;  // the simulator takes seconds for the others
  cases(2, MultiheadAttention<2>{}, Shape(Dim(3), Dim(4)));
  cases(1, MultiheadAttention<1>{}, Shape(Dim(1), Dim(1)));
  cases(3, MultiheadAttention<3, Causal>{}, Shape(Dim(5), Dim(6)));
  if (!all) return;
  cases(17, MultiheadAttention<1, Bias<false>>{}, Shape(Dim(4), Dim(8)));
  cases(1, MultiheadAttention<2, Causal>{}, Shape(Dim(70), Dim(4)));
  cases(4, MultiheadAttention<2>{}, Shape(Dim(140), Dim(2)));
  cases(16, MultiheadAttention<1, Causal, Bias<false>>{}, Shape(Dim(35), Dim(4)));
  cases(5, MultiheadAttention<5>{}, Shape(Dim(7), Dim(20)));
  cases(2, MultiheadAttention<2, Causal>{}, Shape(Dim(9), Dim(34)));
  cases(33, MultiheadAttention<1>{}, Shape(Dim(2), Dim(3)));
  CHECK(cases.number() == 10);
}

template <class D, class T>
void check_encoders(D& device, double tolerance) {
  using nn::Causal, nn::NormFirst, nn::TransformerEncoder;
  AttentionCases<D, T> cases(device, "encoder_layer", tolerance);
  constexpr bool all = std::same_as<D, Host>;
  cases(2, Layer<2, 6>{}, Shape(Dim(3), Dim(4)));
  if (!all) return;
  cases(1, Layer<1, 1>{}, Shape<1, 2>{});
  cases(3, Layer<3, 4, Causal>{}, Shape<5, 6>{});
  cases(17, Layer<1, 8, NormFirst>{}, Shape<4, 4>{});
  cases(4, Layer<2, 8, nn::GELU>{}, Shape<6, 4>{});
  cases(5, Layer<2, 16, Causal, NormFirst, nn::GELU>{}, Shape(Dim(10), Dim(8)));
  cases(16, Layer<2, 3, nn::Bias<false>>{}, Shape<3, 6>{});
  cases(2, TransformerEncoder<2, Layer<2, 6>>{}, Shape<5, 4>{});
  cases(3, TransformerEncoder<3, Layer<4, 6, NormFirst>, nn::LayerNorm<>>{}, Shape<4, 4>{});
  cases(33, TransformerEncoder<1, Layer<2, 5, Causal>>{}, Shape<3, 2>{});
  CHECK(cases.number() == 10);
}

}  // namespace

TEST_CASE_TEMPLATE("ten shapes of MultiheadAttention are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_attention<D, double>(test_device<D>(), 2e-7);  // the references are in float
  check_attention<D, float>(test_device<D>(), 2e-6);
}

TEST_CASE_TEMPLATE("ten shapes of TransformerEncoderLayer and TransformerEncoder are PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  check_encoders<D, double>(test_device<D>(), 2e-7);
  if constexpr (std::same_as<D, Host>) check_encoders<D, float>(test_device<D>(), 1e-5);
}

TEST_CASE_TEMPLATE("gradients of attention, encoder layers and PositionEmbedding", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  check_layer_gradients(device, nn::PositionEmbedding{}, Shape<3, 2>{});
  for (const Slice& slice : test_slices<D>()) {
    if (std::same_as<D, Cuda> && slice.count > 1) continue;  // the simulator would take seconds
    check_layer_gradients(
        device, nn::MultiheadAttention<1, nn::Causal, nn::Bias<false>, nn::DropoutRate<3, 10>>{},
        Shape<3, 2>{}, slice);
    if (std::same_as<D, Host>)
      check_layer_gradients(device, nn::MultiheadAttention<2>{}, Shape<3, 4>{}, slice);
  }
  if (std::same_as<D, Host>)
    check_layer_gradients(device, Layer<1, 2, nn::GELU>{}, Shape<2, 3>{}, test_slices<D>()[1]);
}

namespace {

// The network of reference/attention.py.
using Words = nn::Sequential<
    nn::Input<6>, nn::Named<"words", nn::Embedding<11, 8>>,
    nn::Named<"position", nn::PositionEmbedding>,
    nn::Named<"encoder",
              nn::TransformerEncoder<2, Layer<2, 12, nn::Causal, nn::NormFirst, nn::GELU>,
                                     nn::LayerNorm<>>>,
    nn::Named<"head", nn::Linear<11>>, nn::Permute<1, 0>>;

// Returns the losses of 20 steps.
template <class D>
std::vector<double> train_words(D& device) {
  manual_seed(3);
  Model<Words, D, double> model(device);
  optim::AdamW optimizer(model, {.lr = 0.01});
  std::vector<double> losses;
  for (index_t step = 0; step < 20; ++step) {
    std::vector<double> words;
    std::vector<label_t> labels;
    for (index_t i = step; i < step + 30; ++i) {
      words.push_back(static_cast<double>(i * i % 11));
      labels.push_back(static_cast<label_t>((i + 1) * (i + 1) % 11));
    }
    const Tensor<double, D> x(device, {5, 6}, words);
    const Tensor<label_t, D> y(device, {5, 6}, labels);
    auto loss = nn::CrossEntropyLoss()(model(x), y);
    losses.push_back(loss.item());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return losses;
}

}  // namespace

TEST_CASE("a causal transformer trains as PyTorch's") {
  const std::vector<double> losses = train_words(test_device<Host>()),
                            expected = attention_reference("training");
  REQUIRE(losses.size() == expected.size());
  for (std::size_t i = 0; i < losses.size(); ++i)
    CHECK(std::abs(losses[i] - expected[i]) < 1e-10);
}

namespace {

// Returns the parameters after a few steps with random zeros, and outputs in evaluation mode.
template <class D, class T>
std::vector<T> trained(D& device, index_t batch) {
  using Net = nn::Sequential<nn::Input<40, 8>, nn::TransformerEncoderLayer<2, 8, nn::Causal>>;
  manual_seed(1);
  Model<Net, D, T> model(device);
  optim::SGD optimizer(model, {.lr = 0.1f});
  Generator generator(2);
  const auto draw = [&] {
    return Tensor<T, D>(device, {batch, 40, 8}, random_values<T>(batch * 320, generator));
  };
  for (int i = 0; i < 3; ++i) {
    const Tensor<T, D> x = draw(), y = draw();
    model.zero_grad();
    model.forward_backward(x, nn::MSELoss(), y.view());
    optimizer.step();
  }
  model.eval();
  std::vector<T> values(static_cast<std::size_t>(model.parameters().numel()));
  device.download(values.data(), model.parameters().data(), values.size() * sizeof(T));
  const std::vector<T> outputs = model(draw()).tensor().to_vector();
  values.insert(values.end(), outputs.begin(), outputs.end());
  return values;
}

}  // namespace

TEST_CASE("encoder layers give the same bits with any number of threads") {
  for (const index_t batch : {1, 5, 33}) {
    CAPTURE(batch);
    Host one({.threads = 1}), two({.threads = 2}), three({.threads = 3});
    const std::vector<float> expected = trained<Host, float>(one, batch);
    CHECK(trained<Host, float>(two, batch) == expected);
    CHECK(trained<Host, float>(three, batch) == expected);
  }
}

TEST_CASE("transformers print as PyTorch's, in the order in which they run") {
  using Net = nn::Sequential<
      nn::Input<5, 8>, nn::PositionEmbedding,
      nn::TransformerEncoder<1, nn::TransformerEncoderLayer<2, 16, nn::Causal>, nn::LayerNorm<>>>;
  CHECK(to_string(Net{}) ==
        "Sequential(\n"
        "  (0): PositionEmbedding(5, 8)\n"
        "  (1): TransformerEncoder(\n"
        "    (layers): ModuleList(\n"
        "      (0): TransformerEncoderLayer(\n"
        "        (self_attn): MultiheadAttention(\n"
        "          (in_proj): Linear(in_features=8, out_features=24, bias=True)\n"
        "          (attention): ScaledDotProductAttention(num_heads=2, is_causal=True, "
        "dropout_p=0.1)\n"
        "          (out_proj): Linear(in_features=8, out_features=8, bias=True)\n"
        "        )\n"
        "        (dropout1): Dropout(p=0.1, inplace=False)\n"
        "        (add1): Add()\n"
        "        (norm1): LayerNorm((8,), eps=1e-05, elementwise_affine=True, bias=True)\n"
        "        (linear1): Linear(in_features=8, out_features=16, bias=True)\n"
        "        (activation): ReLU()\n"
        "        (dropout): Dropout(p=0.1, inplace=False)\n"
        "        (linear2): Linear(in_features=16, out_features=8, bias=True)\n"
        "        (dropout2): Dropout(p=0.1, inplace=False)\n"
        "        (add2): Add()\n"
        "        (norm2): LayerNorm((8,), eps=1e-05, elementwise_affine=True, bias=True)\n"
        "      )\n"
        "    )\n"
        "    (norm): LayerNorm((8,), eps=1e-05, elementwise_affine=True, bias=True)\n"
        "  )\n"
        ")");
  // The keys are PyTorch's, in its order.
  Host host;
  Model<Net, Host> model(host);
  std::vector<std::string> names;
  for (const auto& parameter : model.named_parameters())
    names.push_back(parameter.name);
  const std::string layer = "1.layers.0.";
  CHECK(names == std::vector<std::string>{
                     "0.weight", layer + "self_attn.in_proj_weight",
                     layer + "self_attn.in_proj_bias", layer + "self_attn.out_proj.weight",
                     layer + "self_attn.out_proj.bias", layer + "linear1.weight",
                     layer + "linear1.bias", layer + "linear2.weight", layer + "linear2.bias",
                     layer + "norm1.weight", layer + "norm1.bias", layer + "norm2.weight",
                     layer + "norm2.bias", "1.norm.weight", "1.norm.bias"});
}

TEST_CASE("multiply-adds of attention") {
  const Graph graph =
      nn::lower<void, void>(nn::Sequential<nn::Input<5, 8>, nn::MultiheadAttention<2>>{});
  const Node& node = graph.nodes[1];
  CHECK(node.name == "0.attention");
  CHECK(node.type->multiply_adds(node.op.data(), {5, 24}, {5, 8}, 0) == 2 * 5 * 5 * (4 + 4));
}

TEST_CASE("wrong heads and rates") {
  CHECK(error_of([] { nn::MultiheadAttention<3>{}.output(Shape(Dim(5), Dim(8))); }) ==
        "gpunet::nn::MultiheadAttention: 8 features in 3 heads (want a number that the heads "
        "divide), change one");
  CHECK(error_of([] { nn::MultiheadAttention<3>(1.5); }) ==
        "gpunet::nn::MultiheadAttention: dropout 1.5 (want 0 to 1), give the probability of a "
        "zero: 0.2 for 20 %");
  CHECK(error_of([] { nn::TransformerEncoderLayer<3>(-1); }) ==
        "gpunet::nn::TransformerEncoderLayer: dropout -1 (want 0 to 1), give the probability of a "
        "zero: 0.2 for "
        "20 %");
}
