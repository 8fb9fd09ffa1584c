#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <optional>
#include <utility>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"

using namespace gpunet;

// What a model was given may be gone before backward(): everything here is a use of freed memory,
// which the sanitizer reports, where the model does not keep a copy.
namespace {

using Linear = nn::Sequential<nn::Input<2, 3>, nn::Flatten, nn::Linear<4>>;
using Convolution =
    nn::Sequential<nn::Input<1, 6, 6>, nn::Conv2d<2, 3>, nn::Flatten, nn::Linear<4>>;
using Flat = nn::Sequential<nn::Input<2, 2>, nn::Flatten>;  // its output is its input

// A batch on the host, where what a device frees cannot reach it.
template <class Net>
struct Values {
  explicit Values(index_t batch) {
    Generator generator(batch);
    sizes = Net{}.input().sizes().with_front(batch);
    inputs = random_values<float>(sizes.numel(), generator);
    labels = TestBatch<float, Host>::random_labels(batch, 4, generator);
  }
  template <class D>
  Tensor<float, D> x(D& device) const {
    return {device, sizes, inputs};
  }
  template <class D>
  Tensor<label_t, D> y(D& device) const {
    return {device, {sizes[0]}, labels};
  }

  Sizes sizes;
  std::vector<float> inputs;
  std::vector<label_t> labels;
};

// Gives out the memory that was just freed and fills it with something else.
template <class D>
void overwrite_free_memory(D& device, index_t size) {
  std::vector<Tensor<float, D>> tensors;
  for (int i = 0; i < 4; ++i)
    tensors.push_back(
        Tensor<float, D>(device, {size}, std::vector<float>(static_cast<std::size_t>(size), 1e6f)));
}

// The gradients that `train` leaves, which are those of tensors that live on.
template <class Net, class D, class Train>
void check_gradients(D& device, index_t batch, Train train) {
  const Values<Net> values(batch);
  manual_seed(1);
  Model<Net, D> kept(device);
  const Tensor<float, D> x = values.x(device);
  const Tensor<label_t, D> y = values.y(device);
  nn::CrossEntropyLoss{}(kept(x), y).backward();

  manual_seed(1);
  Model<Net, D> net(device);
  train(net, values);
  CHECK(same_bits(gradients_of(net), gradients_of(kept)));
}

template <class Net, class D>
void check_lifetimes(index_t batch) {
  CAPTURE(batch);
  D& device = test_device<D>();
  Host host({.threads = 1});
  const nn::CrossEntropyLoss criterion;
  const index_t features = Net{}.input().numel();
  const auto backward = [&](auto& loss) {
    overwrite_free_memory(device, batch * features);
    overwrite_free_memory(device, batch * 2);
    loss.backward();
  };
  check_gradients<Net>(device, batch, [&](auto& net, const auto& values) {
    auto loss = criterion(net(values.x(host).to(device)), values.y(host).to(device));
    backward(loss);
  });
  check_gradients<Net>(device, batch, [&](auto& net, const auto& values) {
    const auto output = net(values.x(device));
    overwrite_free_memory(device, batch * features);
    auto loss = criterion(output, values.y(device));
    backward(loss);
  });
  check_gradients<Net>(device, batch, [&](auto& net, const auto& values) {
    const auto loss_of = [&] {
      const auto x = values.x(device);
      const auto y = values.y(device);
      return criterion(net(x.view()), y.view());
    };
    auto loss = loss_of();
    backward(loss);
  });
  check_gradients<Net>(device, batch, [&](auto& net, const auto& values) {
    auto pair = std::pair(values.x(device), values.y(device));
    auto loss = criterion(net(pair.first), pair.second);
    pair = std::pair(Tensor<float, D>(), Tensor<label_t, D>());
    backward(loss);
  });
  // Overwritten, not freed.
  check_gradients<Net>(device, batch, [&](auto& net, const auto& values) {
    auto x = values.x(device);
    auto loss = criterion(net(x), values.y(device));
    fill(device, x.numel(), 1e6f, x.data());
    backward(loss);
  });
  check_gradients<Net>(device, batch, [&](auto& net, const auto& values) {
    net.forward_backward(values.x(device), criterion, values.y(device));
  });
}

// The samples of a Values as a dataset.
struct Samples {
  const Values<Linear>& values;
  index_t size() const { return values.sizes[0]; }
  Sizes sample_sizes() const { return values.sizes.tail(); }
  label_t read(index_t i, float* sample) const {
    std::copy_n(values.inputs.data() + i * 6, 6, sample);
    return values.labels[static_cast<std::size_t>(i)];
  }
};

}  // namespace

TEST_CASE_TEMPLATE("inputs and labels may be gone before backward()", D, GPUNET_TEST_DEVICES) {
  for (index_t batch : {1, 2, 3, 16, 100}) {
    check_lifetimes<Linear, D>(batch);
    check_lifetimes<Convolution, D>(batch);
  }
}

TEST_CASE_TEMPLATE("an output that is its input outlives it", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Flat, D> net(device);
  for (index_t batch : {1, 2, 16, 100}) {
    const std::vector<float> values(static_cast<std::size_t>(batch * 4), 0.5f);
    const auto output = net(Tensor<float, D>(device, {batch, 2, 2}, values));
    overwrite_free_memory(device, batch * 4);
    CHECK(output.to_vector() == values);
  }
}

TEST_CASE_TEMPLATE("the last loss of an epoch runs backward after the loader is gone", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (index_t batch : {1, 2, 4}) {
    CAPTURE(batch);
    const Values<Linear> values(2 * batch);
    const Samples samples{values};
    const data::DataLoader loader(samples, {.batch_size = batch});
    const nn::CrossEntropyLoss criterion;
    const auto gradients = [&](auto make_batches, bool after_the_loop) {
      manual_seed(1);
      Model<Linear, D> net(device);
      std::optional<LossValue<D, float>> loss;
      for (auto [inputs, labels] : make_batches()) {
        loss = criterion(net(inputs), labels);
        net.zero_grad();
        if (!after_the_loop) loss->backward();
      }
      if (after_the_loop) {
        overwrite_free_memory(device, batch * 6);
        loss->backward();
      }
      return gradients_of(net);
    };
    const auto batches = [&] {
      return loader.to(device);
    };
    const auto resident = [&] {
      return loader.resident_on(device);
    };
    const std::vector<float> expected = gradients(batches, false);
    CHECK(same_bits(gradients(batches, true), expected));
    CHECK(same_bits(gradients(resident, true), expected));
  }
}

TEST_CASE_TEMPLATE("steps and metrics take temporary tensors", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const nn::CrossEntropyLoss criterion;
  for (index_t batch : {1, 2, 16, 100}) {
    CAPTURE(batch);
    const Values<Linear> values(batch);
    const auto train = [&](bool temporary) {
      manual_seed(1);
      Model<Linear, D> net(device);
      optim::SGD optimizer(net, {.lr = 0.1});
      train::Step step(net, criterion, optimizer);
      const auto x = values.x(device);
      const auto y = values.y(device);
      for (int i = 0; i < 4; ++i) {
        if (temporary)
          step(values.x(device), values.y(device));
        else
          step(x, y);
        overwrite_free_memory(device, batch * 6);
      }
      const auto losses =
          temporary ? step.repeat(3, values.x(device), values.y(device)) : step.repeat(3, x, y);
      overwrite_free_memory(device, batch * 6);
      train::Accuracy accuracy(device, 4);
      train::TopK top_two(device, 2);
      train::ConfusionMatrix counts(device, 4);
      const auto output = net(values.x(device));
      accuracy.update(output, values.y(device));
      top_two.update(output, values.y(device));
      counts.update(output, values.y(device));
      CHECK(accuracy.result().total() == batch);
      CHECK(counts.result().total() == batch);
      std::vector<float> all = losses.to_vector();
      const std::vector<float> parameters = parameters_of(net);
      all.insert(all.end(), parameters.begin(), parameters.end());
      return all;
    };
    CHECK(same_bits(train(true), train(false)));
  }
}
