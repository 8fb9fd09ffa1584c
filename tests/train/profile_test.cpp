#include <doctest/doctest.h>
#include <vector>

#include <gpunet/extras/data/painted_shapes.hpp>
#include <gpunet/model/model.hpp>
#include <gpunet/nn/cross_entropy_loss.hpp>
#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/optim/sgd.hpp>
#include <gpunet/train/profile.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

using Net = nn::Sequential<nn::Input<3, 32, 32>, nn::Flatten, nn::Linear<10>>;

}  // namespace

TEST_CASE_TEMPLATE("profile trains for so many steps and tells what they took", D,
                   GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const data::Shapes images = data::Shapes::train(22);  // five batches and a short one
  data::DataLoader loader(images, {.batch_size = 4});
  nn::CrossEntropyLoss criterion;
  const auto train = [&](index_t steps) {  // by hand
    manual_seed(1);
    Model<Net, D> net(device);
    optim::SGD optimizer(net, {.lr = 0.1f});
    train::Step step(net, criterion, optimizer);
    index_t done = 0;
    for (auto [inputs, labels] : loader.to(device)) {
      step(inputs, labels);
      if (++done == steps) break;
    }
    return net(Tensor<float, D>(device, {1, 3, 32, 32}, std::vector<float>(3072, 0.5f)))
        .to_vector();
  };
  for (const index_t steps : {1, 3, 100}) {
    CAPTURE(steps);
    manual_seed(1);
    Model<Net, D> net(device);
    optim::SGD optimizer(net, {.lr = 0.1f});
    const train::StepTimes times =
        train::profile(net, criterion, optimizer, loader, {.steps = steps});
    // Behind one to warm up, of five full batches.
    CHECK(times.steps == (steps == 100 ? 4 : steps));
    CHECK(times.waiting > 0);
    CHECK(times.computing > 0);
    CHECK(times.copying < times.total());
    CHECK(
        net(Tensor<float, D>(device, {1, 3, 32, 32}, std::vector<float>(3072, 0.5f))).to_vector() ==
        train(steps + 1));
  }
}

TEST_CASE("profile says which steps it cannot measure") {
  Host host;
  Model<Net, Host> net(host);
  optim::SGD optimizer(net, {.lr = 0.1f});
  nn::CrossEntropyLoss criterion;
  const data::Shapes images = data::Shapes::train(4);
  data::DataLoader loader(images, {.batch_size = 4});
  CHECK(error_of([&] { train::profile(net, criterion, optimizer, loader, {.steps = 0}); }) ==
        "gpunet::train::profile: 0 steps after 1 (want 1 or more after 0 or more), give .steps and "
        ".warm_up that "
        "make a measurement");
  CHECK(error_of([&] { train::profile(net, criterion, optimizer, loader); }) ==
        "gpunet::train::profile: 1 full batches in an epoch, all of them to warm up (want 2 or "
        "more), give a "
        "larger set "
        "or a "
        "smaller batch_size");
}

TEST_CASE("the times of a step in words") {
  CHECK(to_string(train::StepTimes{0.001, 0.0005, 0.0025, 10}) ==
        "4.000 ms: 25.0 % waiting, 12.5 % copying, 62.5 % computing");
}
