// Layers without a bias; tests/nn/layer_shapes_test.cpp compares them with PyTorch.
#include <gpunet/gpunet.hpp>

#include "io/temp_folder.hpp"
#include "support/check_gradients.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/isas.hpp"

using namespace gpunet;

namespace {

template <bool bias>
using Tiny = nn::Sequential<nn::Input<4>, nn::Linear<10, nn::Bias<bias>>, nn::ReLU,
                            nn::Linear<3, nn::Bias<bias>>>;

template <bool bias>
auto dense(index_t in, index_t between) {
  return nn::Sequential{nn::Input{in}, nn::Linear{between, nn::Bias<bias>{}}, nn::ReLU{},
                        nn::Linear{5, nn::Bias<bias>{}}};
}

// Convolutions that are fused with ReLU and pooling, and others.
template <bool bias>
auto convolutions(index_t channels) {
  const auto conv = [](index_t out, index_t kernel, index_t stride, index_t padding) {
    return nn::Conv2d{out, kernel, stride, padding, nn::Bias<bias>{}};
  };
  return nn::Sequential{nn::Input{channels, 12, 12},
                        conv(channels + 3, 5, 1, 0),
                        nn::ReLU{},
                        nn::MaxPool2d<2>{},
                        conv(2 * channels, 3, 1, 1),
                        nn::ReLU{},
                        conv(5, 2, 2, 0),
                        nn::Flatten{},
                        nn::Linear{3, nn::Bias<bias>{}}};
}

// Copies the parameters of a network to those of the same names in one that has more, which are 0
// then.
template <class From, class To>
void copy_by_name(const From& from, To& to) {
  using T = typename To::value_type;
  const std::vector<T> given = parameters_of(from);
  std::vector<T> all(static_cast<std::size_t>(to.parameters().numel()));
  for (const ParameterInfo& source : from.named_parameters())
    for (const ParameterInfo& target : to.named_parameters())
      if (target.name == source.name)
        std::copy_n(given.begin() + source.offset, source.sizes.numel(),
                    all.begin() + target.offset);
  to.device().upload(to.parameters().data(), all.data(), all.size() * sizeof(T));
}

// Returns the gradients of a network that have a name in another.
template <class From, class Names>
std::vector<float> gradients_by_name(const From& from, const Names& names) {
  const std::vector<float> all = gradients_of(from);
  std::vector<float> some;
  for (const ParameterInfo& wanted : names.named_parameters())
    for (const ParameterInfo& parameter : from.named_parameters())
      if (parameter.name == wanted.name)
        some.insert(some.end(), all.begin() + parameter.offset,
                    all.begin() + parameter.offset + parameter.sizes.numel());
  return some;
}

// Compares a network without biases with one whose biases are 0, on every vector path.
template <class D, class Without, class With>
void check_like_zero(D& device, const Without& without_layers, const With& with_layers,
                     index_t batch) {
  CAPTURE(batch);
  manual_seed(3);
  Model without(device, without_layers);
  Model with(device, with_layers);
  REQUIRE(with.parameters().numel() > without.parameters().numel());
  copy_by_name(without, with);
  Generator generator(batch);
  const TestBatch<float, D> data(device, without_layers, batch, generator);
  const nn::CrossEntropyLoss criterion;
  const KeepIsa keep;
  for (Isa path : std::same_as<D, Host> ? isas() : std::vector{isa()}) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    CHECK(without(data.inputs).to_vector() == with(data.inputs).to_vector());
    for (int pass = 0; pass < 2; ++pass) {  // the second adds
      without.forward_backward(data.inputs, criterion, data.labels.view());
      with.forward_backward(data.inputs, criterion, data.labels.view());
    }
    CHECK(gradients_by_name(without, without) == gradients_by_name(with, without));
    without.zero_grad();
    with.zero_grad();
  }
}

}  // namespace

TEST_CASE_TEMPLATE("a layer without a bias computes the bits of one with a bias of 0", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (index_t batch : {1, 4, 16, 50}) {
    check_like_zero(device, Tiny<false>{}, Tiny<true>{}, batch);
    check_like_zero(device, dense<false>(20, 30), dense<true>(20, 30), batch);
    check_like_zero(device, dense<false>(300, 257), dense<true>(300, 257), batch);
  }
  for (index_t batch : {1, 4, 18}) {
    check_like_zero(device, convolutions<false>(3), convolutions<true>(3), batch);
    check_like_zero(device, convolutions<false>(17), convolutions<true>(17), batch);
  }
}

TEST_CASE_TEMPLATE("gradients of networks without biases", D, GPUNET_TEST_DEVICES) {
  check_network_gradients(test_device<D>(), Tiny<false>{}, 3, nn::CrossEntropyLoss{});
}

TEST_CASE("parameters and description of layers without a bias") {
  CHECK(nn::Linear<3, nn::Bias<false>>{}.parameters(Shape<7>{}).size() == 1);
  CHECK(nn::Linear{3, nn::Bias<false>{}}.parameters(Shape<7>{}).size() == 1);
  CHECK(nn::Linear{3, nn::Bias<true>{}}.parameters(Shape<7>{}).size() == 2);
  CHECK(nn::Conv2d<3, 2, nn::Bias<false>>{}.parameters(Shape<1, 4, 4>{})[0].name == "weight");
  using Net = nn::Sequential<nn::Input<1, 4, 4>, nn::Conv2d<2, 3, nn::Bias<false>, nn::Padding<1>>,
                             nn::Flatten, nn::Linear<3, nn::Bias<false>>>;
  CHECK(to_string(Net{}) ==
        "Sequential(\n"
        "  (0): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)\n"
        "  (1): Flatten(start_dim=1, end_dim=-1)\n"
        "  (2): Linear(in_features=32, out_features=3, bias=False)\n"
        ")");
}

TEST_CASE(
    "a file without biases, or with biases that a network lacks, says which option is missing") {
  const TempFolder folder;
  Host device;
  Model without(device, Tiny<false>{});
  Model with(device, Tiny<true>{});
  io::save(without, folder / "without.safetensors");
  io::save(with, folder / "with.safetensors");
  CHECK(error_of([&] { io::load(with, folder / "without.safetensors"); })
            .ends_with("missing keys: 0.bias, 2.bias\n"
                       "give these layers the option nn::Bias<false>, which is PyTorch's "
                       "bias=False, or load a file "
                       "that was saved from this network, or build the network that the file was "
                       "saved from"));
  CHECK(error_of([&] { io::load(without, folder / "with.safetensors"); })
            .ends_with("unexpected keys: 0.bias, 2.bias\n"
                       "give these layers a bias (leave out nn::Bias<false>), or load a file that "
                       "was saved from "
                       "this network, or build the network that the file was saved from"));
  const io::IncompatibleKeys keys =
      io::load(with, folder / "without.safetensors", {.strict = false});
  CHECK(keys.missing_keys == std::vector<std::string>{"0.bias", "2.bias"});
}
