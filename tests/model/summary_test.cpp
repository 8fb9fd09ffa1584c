#include <doctest/doctest.h>
#include <sstream>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/networks.hpp"
#include "support/reference_texts.hpp"

using namespace gpunet;

namespace {

using Iris =
    nn::Sequential<nn::Input<4>, nn::Named<"fc1", nn::Linear<8>>, nn::ReLU,
                   nn::Named<"fc2", nn::Linear<9>>, nn::ReLU, nn::Named<"out", nn::Linear<3>>>;
using Wide = nn::Sequential<nn::Input<64, 32, 32>, nn::Conv2d<512, 3, nn::Padding<1>>,
                            nn::BatchNorm2d, nn::Flatten, nn::Linear<5000>>;

using Nested = nn::Sequential<
    nn::Input<3, 32, 32>,
    nn::Named<"features",
              nn::Sequential<
                  nn::Conv2d<6, 5>, nn::ReLU, nn::MaxPool2d<2>,
                  nn::Named<"deep", nn::Sequential<nn::Conv2d<16, 5>, nn::Named<"act", nn::ReLU>>>,
                  nn::MaxPool2d<2>>>,
    nn::Flatten, nn::Sequential<nn::Linear<84>, nn::ReLU>, nn::Linear<10>>;

// The network of summaries.py: every option, run-time sizes.
const nn::Sequential normalized(nn::Input<3, 32, 32>(), nn::Conv2d(8, 3, 2, 1),
                                nn::BatchNorm2d({.momentum = std::nullopt}), nn::ReLU(),
                                nn::MaxPool2d<3, nn::Stride<2>, nn::Padding<1>>(), nn::Flatten(),
                                nn::Linear(10),
                                nn::Named<"a_norm_with_a_name_that_is_long", nn::BatchNorm1d>(
                                    nn::BatchNorm1d({.eps = 0.0001, .momentum = 0.25})),
                                nn::Softmax());

// What torchinfo says of a network, and how PyTorch prints it.
struct SummaryReference {
  Summary numbers;
  std::string table, repr;
};

Sizes sizes_of(const std::string& text) {
  Sizes sizes;
  std::istringstream in(text);
  for (std::string size; std::getline(in, size, 'x');)
    sizes.append(std::stoll(size));
  return sizes;
}

SummaryReference reference_of(const std::string& name) {
  static const std::vector<ReferenceText> texts = reference_texts("summaries");
  const auto text_of = [&](const std::string& title) {
    for (const ReferenceText& each : texts)
      if (each.title == name + title) return each.text;
    FAIL("no summary of ", name);
    return std::string();
  };
  Summary numbers;
  std::istringstream layers(text_of(".layers")), totals(text_of(".totals"));
  LayerSummary layer;
  std::string input, output;
  while (layers >> layer.class_name >> layer.var_name >> input >> output >> layer.num_params >>
         layer.mult_adds >> layer.output_bytes >> layer.param_bytes) {
    layer.input_size = sizes_of(input);
    layer.output_size = sizes_of(output);
    numbers.layers.push_back(layer);
  }
  totals >> numbers.total_params >> numbers.trainable_params >> numbers.total_mult_adds >>
      numbers.total_output_bytes >> numbers.total_param_bytes;
  REQUIRE(totals);
  return {numbers, text_of(".table"), text_of(".repr")};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

void check_numbers(const Summary& got, const Summary& want) {
  REQUIRE(got.layers.size() == want.layers.size());
  for (std::size_t i = 0; i < want.layers.size(); ++i) {
    CAPTURE(i);
    CHECK(got.layers[i].class_name == want.layers[i].class_name);
    CHECK(got.layers[i].var_name == want.layers[i].var_name);
    CHECK(got.layers[i].input_size == want.layers[i].input_size);
    CHECK(got.layers[i].output_size == want.layers[i].output_size);
    CHECK(got.layers[i].num_params == want.layers[i].num_params);
    CHECK(got.layers[i].mult_adds == want.layers[i].mult_adds);
    CHECK(got.layers[i].param_bytes == want.layers[i].param_bytes);
    const bool is_view = want.layers[i].class_name == "Flatten";  // takes no memory of its own
    CHECK(got.layers[i].output_bytes == (is_view ? 0 : want.layers[i].output_bytes));
  }
  CHECK(got.total_params == want.total_params);
  CHECK(got.trainable_params == want.trainable_params);
  CHECK(got.total_mult_adds == want.total_mult_adds);
  CHECK(got.total_output_bytes == want.total_output_bytes);
  CHECK(got.total_param_bytes == want.total_param_bytes);
}

// Our lines go on where torchinfo's end, with the column of bytes.
void check_table(const Summary& got, const SummaryReference& want) {
  std::string table = want.table;
  // torchinfo's name for a network without one.
  const std::string twice = "Sequential (Sequential)";
  table.replace(table.find(twice), twice.size(), "Sequential             ");
  const auto ours = lines_of(to_string(got)), theirs = lines_of(table);
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CAPTURE(ours[i]);
    CAPTURE(theirs[i]);
    CHECK(ours[i].starts_with(theirs[i].substr(0, theirs[i].find("): 0.00") + 6)));
    const bool is_row = theirs[i].starts_with("├") || theirs[i].starts_with("│");
    const bool is_total = i > 3 && !is_row && theirs[i].front() != '=';
    const bool is_rounded_to_zero = theirs[i].ends_with("): 0.00");  // ours has two digits
    if (is_total && !is_rounded_to_zero) CHECK(ours[i] == theirs[i]);
  }
}

template <class ModelOrNet>
void check(const ModelOrNet& net, index_t batch_size, const std::string& name) {
  const SummaryReference want = reference_of(name);
  CAPTURE(batch_size);
  const Summary got = summary(net, batch_size);
  check_numbers(got, want.numbers);
  check_table(got, want);
}

// A layer of a user, who says nothing but what the network needs.
struct Shift {
  constexpr auto output(auto in) const { return in; }
  template <class In>
  constexpr auto parameters(In in) const {
    const index_t n = in.numel();  // nvcc forgets the braces around a Dim
    return std::array{nn::constant("shift", {n}, 0)};
  }
};

// The same with two multiply-adds for each element.
struct Cube : Shift {
  index_t multiply_adds(const Sizes& in, const Sizes&) const { return 2 * in.numel(); }
};

using Convolutions = nn::Sequential<
    nn::Input<4, 6, 7>, nn::Conv2d<8, 3, nn::Padding<1>, nn::Groups<4>>,
    nn::Conv2d<6, 3, nn::KernelWidth<2>, nn::PaddingSame, nn::Dilation<2>>,
    nn::ConvTranspose2d<4, 3, nn::Stride<2>, nn::Padding<1>, nn::OutputPadding<1>, nn::Groups<2>>,
    nn::ConvTranspose2d<3, 2, nn::KernelWidth<3>, nn::Stride<2, 1>, nn::Padding<0, 1>,
                        nn::Bias<false>>>;
using Rows =
    nn::Sequential<nn::Input<4, 15>,
                   nn::Conv1d<6, 3, nn::Stride<2>, nn::Dilation<2>, nn::Groups<2>>,
                   nn::ConvTranspose1d<4, 4, nn::Stride<2>, nn::Padding<1>, nn::Bias<false>>>;

}  // namespace

TEST_CASE("the summary has torchinfo's numbers, and its table") {
  check(LeNet{}, 1, "lenet_of_1");
  check(LeNet{}, 4, "lenet_of_4");
  check(Iris{}, 120, "iris_of_120");
  check(Nested{}, 8, "nested_of_8");
  check(normalized, 64, "normalized_of_64");
  check(Convolutions{}, 5, "convolutions_of_5");
  check(Rows{}, 3, "rows_of_3");
  check(Wide{}, 32, "wide_of_32");
  check(Wide{}, 1024, "wide_of_1024");
}

TEST_CASE_TEMPLATE("the summary of a model knows what it computes in", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  check(Model<LeNet, D>(device), 4, "lenet_of_4");
  check(Model<LeNet, D, double>(device), 256, "lenet_of_doubles");
}

TEST_CASE("networks are printed as PyTorch prints them") {
  CHECK(nn::to_string(LeNet{}) == reference_of("lenet_of_1").repr);
  CHECK(nn::to_string(Iris{}) == reference_of("iris_of_120").repr);
  CHECK(nn::to_string(Nested{}) == reference_of("nested_of_8").repr);
  CHECK(nn::to_string(normalized) == reference_of("normalized_of_64").repr);
  CHECK(nn::to_string(Convolutions{}) == reference_of("convolutions_of_5").repr);
  CHECK(nn::to_string(Rows{}) == reference_of("rows_of_3").repr);
  CHECK(nn::to_string(Wide{}) == reference_of("wide_of_32").repr);
  Host host;
  std::ostringstream out;
  out << Model<LeNet, Host>(host);
  CHECK(out.str() == reference_of("lenet_of_1").repr);
}

TEST_CASE("the last column of the table has the bytes of outputs and parameters") {
  std::ostringstream out;
  out << summary(LeNet{}, 4);
  const auto lines = lines_of(out.str());
  CHECK(lines[1].ends_with("Bytes"));
  CHECK(lines[3].ends_with(" --"));
  CHECK(lines[4].ends_with(" 77,088"));  // 4 (4 x 6 x 28 x 28 + 456)
  CHECK(lines[10].ends_with(" --"));     // Flatten
  CHECK(lines[0].size() == 120);
}

TEST_CASE("a layer that does not say takes a multiply-add for each parameter") {
  const nn::Sequential<nn::Input<3, 5>, nn::Named<"line\nbreak", Shift>> net;
  const Summary got = summary(net, 2);
  CHECK(got.layers[0].class_name == "Shift");
  CHECK(got.total_mult_adds == 30);
  CHECK(got.total_output_bytes == 2 * 4 * 30);
  CHECK(got.total_bytes() == 4 * (30 + 60 + 15));
  CHECK(lines_of(to_string(got))[4].starts_with("├─Shift (line\\nbreak): 1-1  "));
}

TEST_CASE("a layer of one's own is asked for its multiply-adds") {
  const Summary got = summary(nn::Sequential<nn::Input<3, 5>, Cube>(), 2);
  CHECK(got.layers[0].mult_adds == 2 * 2 * 15);
  CHECK(got.total_mult_adds == 60);
}

// As torchinfo's summary and PyTorch's print show torch.nn.LSTM: its first output; moving its
// outputs is no layer.
TEST_CASE("functions of values are printed without the nodes that join inputs or outputs") {
  Host host;
  const Network net(
      host,
      [](nn::Value x, nn::Value y) {
        const auto [states, h, c] =
            lstm(x, 16, {.num_layers = 2, .bidirectional = true, .name = "rnn"});
        const auto [last, h_n] = gru(states, 4);
        return std::array{linear(last, 3, {.name = "head"}), h_n, linear(y, 2), reshape(c, {64})};
      },
      {30, 5}, {7});
  CHECK(to_string(net.graph()) ==
        "Sequential(\n"
        "  (rnn): LSTM(5, 16, num_layers=2, batch_first=True, bidirectional=True)\n"
        "  (0): GRU(32, 4, batch_first=True)\n"
        "  (head): Linear(in_features=4, out_features=3, bias=True)\n"
        "  (1): Linear(in_features=7, out_features=2, bias=True)\n"
        "  (reshape): Reshape(64)\n"
        ")");
  const Summary got = summary(net, 8);
  REQUIRE(got.layers.size() == 5);
  CHECK(got.layers[0].output_size == Sizes{8, 30, 32});
  CHECK(got.layers[0].output_bytes == 4 * 8 * 30 * 32);
  CHECK(got.layers[1].output_size == Sizes{8, 30, 4});
  CHECK(got.layers[1].inputs == std::vector{0});
  CHECK(got.layers[3].inputs == std::vector{-1});
  CHECK(got.layers[4].inputs == std::vector{0});
  CHECK(got.outputs == std::vector<Sizes>{{8, 30, 3}, {8, 1, 4}, {8, 2}, {8, 64}});
  const auto lines = lines_of(to_string(got));
  CHECK(contains(lines[3], " [8, 30, 3], ...  "));
  CHECK(contains(lines[4], " [8, 30, 32] "));
}

TEST_CASE("totals of small networks have digits") {
  const std::string text = to_string(summary(nn::Sequential<nn::Input<4>, nn::Linear<3>>(), 2));
  CHECK(contains(text, "Total mult-adds (M): 0.000030\n"));
  CHECK(contains(text, "Input size (MB): 0.000032\n"));
  CHECK(contains(text, "Forward/backward pass size (MB): 0.000048\n"));
  CHECK(contains(text, "Params size (MB): 0.000060\n"));
  CHECK(contains(text, "Estimated Total Size (MB): 0.00014\n"));
}

TEST_CASE("a batch of no samples has no summary") {
  CHECK(error_of([] { summary(LeNet{}, 0); }) ==
        "gpunet::summary: a batch of 0 samples (want 1 or more)");
}
