// PyTorch's CIFAR-10 lesson, "training a classifier", line for line: pick a device, load the images, train a small
// convolutional network for two epochs, save it, load it again, and see how well it does, over all and per class.
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>

#include <gpunet/gpunet.hpp>

#include "support/options.hpp"

using namespace gpunet;

// A type: no device, no memory, only structure.
using Net = nn::Sequential<nn::Input<3, 32, 32>,                                               //
                           nn::Named<"conv1", nn::Conv2d<6, 5>>, nn::ReLU, nn::MaxPool2d<2>,   //
                           nn::Named<"conv2", nn::Conv2d<16, 5>>, nn::ReLU, nn::MaxPool2d<2>,  //
                           nn::Flatten,                                                        //
                           nn::Named<"fc1", nn::Linear<120>>, nn::ReLU,                        //
                           nn::Named<"fc2", nn::Linear<84>>, nn::ReLU,                         //
                           nn::Named<"fc3", nn::Linear<10>>>;

struct Arguments {
  std::string device = "auto", data, save = "cifar_net.safetensors", load, loop = "step";
  index_t epochs = 2, batch_size = 4, max_steps = 0, print_every = 2000;
  float lr = 0.001f, momentum = 0.9f;
  std::uint64_t seed = 0;
  int threads = 0, precision = 3;
};

// Trains for some epochs; false if somebody pressed Ctrl-C.
template <Device D>
bool train_network(Model<Net, D>& net, const data::DatasetView& train_set, const Arguments& arguments) {
  D& device = net.device();
  nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = arguments.lr, .momentum = arguments.momentum});
  data::DataLoader loader(train_set, {.batch_size = arguments.batch_size, .shuffle = true, .num_workers = 2});
  train::Step step(net, criterion, optimizer);
  train::RunningLoss running_loss(device);
  const train::InterruptGuard interrupt;
  const index_t steps = loader.size();
  index_t total = 0;

  for (index_t epoch = 0; epoch < arguments.epochs; ++epoch) {
    train::Progress progress(
        {.total = steps, .batch_size = arguments.batch_size, .label = concat("epoch ", epoch + 1)});
    index_t i = 0;
    for (auto [inputs, labels] : loader.to(device)) {
      if (arguments.loop == "step") {
        running_loss += step(inputs, labels);
      } else {  // the same, as PyTorch's lesson writes it
        optimizer.zero_grad();
        auto loss = criterion(net(inputs), labels);
        loss.backward();
        optimizer.step();
        running_loss += loss;
      }
      ++i, ++total;
      progress.update(i);

      const bool last = total == arguments.max_steps || i == steps || interrupt.interrupted();
      if (i % arguments.print_every == 0 || i % 100 == 0 || last) {
        const index_t bad = running_loss.first_not_finite();
        require(bad < 0, "the loss of epoch ", bad / steps + 1, ", step ", bad % steps + 1,
                " is not finite (NaN or infinite), use a smaller --lr");
      }
      if (i % arguments.print_every == 0) {
        char line[96];
        std::snprintf(line, sizeof line, "[%lld, %5lld] loss: %.*f", static_cast<long long>(epoch + 1),
                      static_cast<long long>(i), arguments.precision, running_loss.item());
        progress.line(line);
        running_loss.reset();
      }
      if (interrupt.interrupted()) return false;
      if (total == arguments.max_steps) return true;
    }
    running_loss.reset();
  }
  return true;
}

// Prints how often the network is right on images that it has not seen, over all and per class.
template <Device D>
void test_network(Model<Net, D>& net, const data::DatasetView& test_set,
                  std::span<const std::string_view> classes) {
  data::DataLoader loader(test_set, {.batch_size = std::min<index_t>(64, test_set.size()), .num_workers = 2});
  train::Accuracy accuracy(net.device(), static_cast<index_t>(classes.size()));
  for (auto [inputs, labels] : loader.to(net.device()))
    accuracy.update(net(inputs), labels);

  const auto result = accuracy.result();
  std::printf("Accuracy of the network on the %lld test images: %.2f %%\n", static_cast<long long>(result.total()),
              100 * result.accuracy());
  for (std::size_t k = 0; k < result.classes.size(); ++k)
    std::printf("Accuracy for class: %-8s is %.1f %%\n", classes[k].data(), 100 * result.classes[k].accuracy());
}

// The lesson on one device; returns the exit status. The training images are made when they are needed.
template <Device D, class MakeTrainSet, class Dataset>
int run(D& device, MakeTrainSet make_train_set, const Dataset& test_set, const Arguments& arguments) {
  std::string weights = arguments.load;
  if (weights.empty()) {
    weights = arguments.save;
    { const io::AtomicFile probe(weights); }  // if it cannot be written, better now than after the training
    const auto train_set = make_train_set();
    std::printf("Images: %lld to train on, %lld to test with\n", static_cast<long long>(train_set.size()),
                static_cast<long long>(test_set.size()));
    manual_seed(arguments.seed);
    Model<Net, D> net(device);
    const bool finished = train_network(net, train_set, arguments);
    io::save(net, weights);
    std::printf("%s, saved to %s\n", finished ? "Finished training" : "Interrupted", weights.c_str());
    if (!finished) return train::InterruptGuard::exit_status;
  }
  Model<Net, D> net(device);
  io::load(net, weights);
  test_network(net, test_set, test_set.classes());
  return 0;
}

int main(int argc, char** argv) try {
  Arguments arguments;
  if (const char* data = std::getenv("GPUNET_DATA")) arguments.data = data;
  examples::Options options("01_cifar10", "Trains the network of PyTorch's CIFAR-10 lesson and tests it.");
  options.add("--device", "auto|cpu|cuda[:N]", "where to run (auto: a GPU if there is one)", arguments.device);
  options.add("--data", "DIR", "folder of the CIFAR-10 binary files (also GPUNET_DATA); built-in images without it",
              arguments.data);
  options.add<index_t>("--epochs", "N", "times through all images (2)", arguments.epochs, 0);
  options.add<index_t>("--batch-size", "N", "images per step (4)", arguments.batch_size, 1);
  options.add("--lr", "X", "learning rate (0.001)", arguments.lr);
  options.add("--momentum", "X", "momentum (0.9)", arguments.momentum);
  options.add<std::uint64_t>("--seed", "N", "seed of weights and batches (0)", arguments.seed);
  options.add("--threads", "N", "processor threads (0: all)", arguments.threads, 0);
  options.add<index_t>("--max-steps", "N", "stop after so many steps (0: never)", arguments.max_steps, 0);
  options.add<index_t>("--print-every", "N", "steps between lines (2000)", arguments.print_every, 1);
  options.add("--precision", "P", "digits of the loss (3)", arguments.precision, 0);
  options.add("--save", "FILE", "where the weights go (cifar_net.safetensors)", arguments.save);
  options.add("--load", "FILE", "test these weights instead of training", arguments.load);
  options.add("--loop", "step|eager", "how a step is written (step)", arguments.loop);
  options.parse(argc, argv);
  require(arguments.loop == "step" || arguments.loop == "eager", "01_cifar10: --loop '", arguments.loop,
          "' (want step or eager)");
  require(arguments.precision <= 17, "01_cifar10: --precision ", arguments.precision, " (want 0 to 17)");

  const data::Compose transform(data::ToTensor{}, data::Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}});
  return with_device(arguments.device, {.threads = arguments.threads}, [&](auto& device) {
    std::printf("Device: %s\n", device.name().c_str());
    if (arguments.device == "auto" && device.name() == "cpu")
      std::printf("No GPU is used: %s\n", cuda::why_not().c_str());
    if (!arguments.data.empty())
      return run(
          device, [&] { return data::CIFAR10::train(arguments.data, transform); },
          data::CIFAR10::test(arguments.data, transform), arguments);
    std::printf(
        "Built-in images. For the real ones: scripts/get_cifar10.sh data/cifar10, then --data data/cifar10\n");
    return run(
        device, [&] { return data::Shapes::train(40000, transform); }, data::Shapes::test(10000, transform),
        arguments);
  });
} catch (const std::exception& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
