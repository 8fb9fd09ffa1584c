#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/networks.hpp"

using namespace gpunet;

namespace {

// One slice of many groups of samples, whose ops share the threads; LeNet's slices go side by side.
using Wide = nn::Sequential<nn::Input<3, 12, 12>,                                           //
                            nn::Conv2d<16, 3, nn::Padding<1>>, nn::ReLU,                    //
                            nn::Conv2d<24, 3, nn::Padding<1>>, nn::ReLU, nn::MaxPool2d<2>,  //
                            nn::Conv2d<24, 5, nn::Padding<2>>, nn::ReLU,                    //
                            nn::Flatten, nn::Linear<256>, nn::ReLU, nn::Linear<10>>;

enum class Loop { eager, step };

// The parameters after three steps of training on random data.
template <class Net>
std::vector<float> train_network(int threads, index_t batch, Loop loop) {
  Host host({.threads = threads});
  manual_seed(3);
  Model<Net, Host> net(host);
  nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net, {.lr = 0.01});
  train::Step step(net, criterion, optimizer);
  Generator random(4);
  Tensor<float, Host> x(host, net.network().input().sizes().with_front(batch));
  Tensor<label_t, Host> labels(host, Sizes{batch});
  for (index_t i = 0; i < x.view().numel(); ++i)
    x.data()[i] = random.uniform(-1.0f, 1.0f);
  for (index_t i = 0; i < batch; ++i)
    labels.data()[i] = static_cast<label_t>(i % 10);
  for (int i = 0; i < 3; ++i) {
    if (loop == Loop::step) {
      step(x.view(), labels.view());
      continue;
    }
    optimizer.zero_grad();
    auto loss = criterion(net(x), labels);
    loss.backward();
    optimizer.step();
  }
  return {net.parameters().data(), net.parameters().data() + net.parameters().numel()};
}

template <class Net>
void check(index_t batch) {
  CAPTURE(batch);
  const std::vector<float> one = train_network<Net>(1, batch, Loop::step);
  for (int threads : {2, 3, 5, 8}) {
    CAPTURE(threads);
    CHECK(train_network<Net>(threads, batch, Loop::step) == one);
  }
  CHECK(train_network<Net>(3, batch, Loop::eager) == one);
}

}  // namespace

TEST_CASE(
    "training is bitwise identical for 1, 2, 3, 5 and 8 threads, in one step and step by step") {
  check<LeNet>(100);
  check<Wide>(40);
  check<Wide>(3);
}
