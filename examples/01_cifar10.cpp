// PyTorch's CIFAR-10 lesson, "training a classifier", line for line: choose a device, load the
// images, train a small convolutional network for two epochs, save it, load it again, and measure
// its accuracy, in total and per class.
#include <gpunet/gpunet.hpp>

#include "support/cifar10_options.hpp"

using namespace gpunet;

// A type: no device, no memory, only structure.
using Net =
    nn::Sequential<nn::Input<3, 32, 32>,                                               //
                   nn::Named<"conv1", nn::Conv2d<6, 5>>, nn::ReLU, nn::MaxPool2d<2>,   //
                   nn::Named<"conv2", nn::Conv2d<16, 5>>, nn::ReLU, nn::MaxPool2d<2>,  //
                   nn::Flatten, nn::Named<"fc1", nn::Linear<120>>, nn::ReLU,           //
                   nn::Named<"fc2", nn::Linear<84>>, nn::ReLU, nn::Named<"fc3", nn::Linear<10>>>;

// Trains for some epochs, or until Ctrl-C.
template <Device D>
void train_network(Model<Net, D>& net, const data::DatasetView& images,
                   const examples::CIFAR10Options& with, const train::InterruptGuard& interrupt) {
  nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = with.lr, .momentum = with.momentum});
  data::DataLoader loader(images,
                          {.batch_size = with.batch_size, .shuffle = true, .num_workers = 2});
  train::Step step(net, criterion, optimizer);
  train::RunningLoss running_loss(net.device());
  for (index_t epoch = 1, total = 0; epoch <= with.epochs; ++epoch, running_loss.reset()) {
    train::Progress progress({loader.size(), with.batch_size, concat("epoch ", epoch)});
    for (index_t i = 1; auto [inputs, labels] : loader.to(net.device())) {
      if (with.loop == "step") {
        running_loss += step(inputs, labels);
      } else {  // the same, as PyTorch's lesson writes it
        optimizer.zero_grad();
        auto loss = criterion(net(inputs), labels);
        loss.backward();
        optimizer.step();
        running_loss += loss;
      }
      progress.update(i);
      const bool ends = ++total == with.max_steps || interrupt.interrupted();
      if (ends || i == loader.size() || i % 100 == 0 || i % with.print_every == 0)
        running_loss.require_finite(loader.size());
      if (i++ % with.print_every == 0) {
        progress.print("[%ld, %5ld] loss: %.*f", epoch, i - 1, with.precision, running_loss.item());
        running_loss.reset();
      }
      if (ends) return;
    }
  }
}

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    const examples::CIFAR10Options with(argc, argv);
    const data::Compose transform(data::ToTensor{},
                                  data::Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}});
    return with_device(with.device, {.threads = with.threads}, [&]<class D>(D& device) {
      std::printf("Device: %s\n", device.name().c_str());
      if (with.load.empty()) {
        manual_seed(with.seed);
        Model<Net, D> net(device);
        std::optional<train::InterruptGuard> interrupt;  // once there are images
        examples::with_cifar10(with.data, 40000, transform, [&](auto images) {
          train_network(net, images, with, interrupt.emplace());
        });
        io::save(net, with.save);
        std::printf("%s, saved to %s\n",
                    interrupt->interrupted() ? "Interrupted" : "Finished training",
                    with.save.c_str());
        if (interrupt->interrupted()) return interrupt->exit_status();
      }
      Model<Net, D> net(device);
      io::load(net, with.load.empty() ? with.save : with.load);
      train::Accuracy accuracy(device, 10);
      examples::with_cifar10(with.data, {}, transform, [&](auto images) {
        data::DataLoader loader(images, {.batch_size = 64, .num_workers = 2});
        for (auto [inputs, labels] : loader.to(device))
          accuracy.update(net(inputs), labels);
      });
      examples::print_accuracy(accuracy.result(), with.classes());
      return 0;
    });
  });
}
