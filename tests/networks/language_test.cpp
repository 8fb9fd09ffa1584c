// The language models of gpunet/networks against PyTorch: reference/language.py.
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/networks.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/network_keys.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;

namespace {

constexpr index_t batch = 4, length = 12, vocabulary = 11;

// As in reference/language.py.
std::vector<label_t> text(std::size_t n) {
  std::vector<label_t> characters{1, 2};
  while (characters.size() < n) {
    const std::size_t i = characters.size();
    characters.push_back(static_cast<label_t>(
        (characters[i - 1] + 2 * characters[i - 2] + (i * i % 7 == 0 ? 3 : 1)) % vocabulary));
  }
  return characters;
}

// Compares names, shapes and initial values with PyTorch's, all of them, and the losses of the
// first steps of Adam. Sums have another order here; what that changes grows from step to step.
template <class D, class Model>
void check_language_model(D& device, const std::string& name, const Model& model,
                          std::size_t steps) {
  CAPTURE(name);
  const ReferenceFile reference("language");
  manual_seed(2);
  Network<D, double> net(device, model, {length});
  check_keys(net, reference, name + ".keys");
  std::vector<double> initial;
  for (const ParameterInfo& parameter : net.named_parameters())
    for (const double value : get_parameter(net, parameter.name).to_vector())
      initial.push_back(value);
  CHECK(initial == reference.values(name + ".initial"));

  const std::vector<label_t> characters = text(1000);
  const nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net, {.lr = 0.003});
  train::Step step(net, criterion, optimizer);
  const std::vector<double> losses = reference.values(name + ".losses");
  for (std::size_t i = 0; i < steps; ++i) {
    std::vector<double> x;
    std::vector<label_t> next;
    for (std::size_t sample = 0; sample < batch; ++sample) {
      const auto begin = characters.begin() + static_cast<std::ptrdiff_t>((i * batch + sample) *
                                                                          37 % (1000 - length - 1));
      x.insert(x.end(), begin, begin + length);
      next.insert(next.end(), begin + 1, begin + length + 1);
    }
    const Tensor<double, D> inputs(device, {batch, length}, x);
    const Tensor<label_t, D> targets(device, {batch, length}, next);
    CHECK(step(inputs, targets).item() == doctest::Approx(losses[i]).epsilon(1e-9));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("an LSTM learns characters as PyTorch's does", D, GPUNET_TEST_DEVICES) {
  check_language_model(test_device<D>(), "lstm", networks::CharLSTM<16, 2>{vocabulary, 6},
                       std::is_same_v<D, Host> ? 100 : 3);
}

TEST_CASE_TEMPLATE("a transformer learns characters as PyTorch's does", D, GPUNET_TEST_DEVICES) {
  check_language_model(test_device<D>(), "transformer",
                       networks::CharTransformer<2, 32, 2>{vocabulary, 16},
                       std::is_same_v<D, Host> ? 100 : 3);
}
