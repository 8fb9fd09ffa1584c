// A residual network on CIFAR-10, as in He and others, "Deep Residual Learning for Image
// Recognition", section 4.2, with randomly cropped and flipped images, one cycle of the learning
// rate, and weight decay.
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/networks/resnet.hpp>

#include "support/resnet_options.hpp"

using namespace gpunet;

template <Device D>
int run(D& device, data::DatasetView train_set, data::DatasetView test_set,
        const examples::ResNetOptions& with) {
  manual_seed(with.seed);
  Network net(device, networks::CIFARResNet{.n = (with.depth - 2) / 6}, {3, 32, 32});
  networks::init_convolutions(net);
  std::printf("ResNet-%d with %ld parameters on %s\n", with.depth, summary(net, 1).total_params,
              device.name().c_str());

  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = with.lr, .momentum = 0.9, .weight_decay = 5e-4});
  data::DataLoader loader(
      train_set,
      {.batch_size = with.batch_size, .shuffle = true, .num_workers = 2, .drop_last = true});
  data::DataLoader test_loader(
      test_set, {.batch_size = std::min<index_t>(256, test_set.size()), .num_workers = 2});
  optim::lr_scheduler::OneCycleLR scheduler(optimizer, {.max_lr = with.lr,
                                                        .epochs = with.epochs,
                                                        .steps_per_epoch = loader.size(),
                                                        .cycle_momentum = false});
  const train::InterruptGuard interrupt;
  const auto history =
      train::fit(net, criterion, optimizer, loader, {.epochs = with.epochs}, train::ProgressBar(),
                 train::Validation(test_loader), train::EachStep(scheduler), train::StopOnNaN(),
                 train::StopOnInterrupt());
  require(history.end != train::End::not_finite, "07_resnet: ", history.why,
          ", use a smaller --lr");
  io::save(net, with.save);
  std::printf("saved to %s, with torchvision's names\n", with.save.c_str());
  return interrupt.exit_status();
}

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    const examples::ResNetOptions with(argc, argv);
    const data::Compose transform(data::ToTensor{}, data::Normalize{{0.4914f, 0.4822f, 0.4465f},
                                                                    {0.2470f, 0.2435f, 0.2616f}});
    const data::Compose augment(data::RandomCrop{32, {.padding = 4}}, data::RandomHorizontalFlip{},
                                transform);
    return with_device(with.device, {.threads = with.threads}, [&](auto& device) {
      return examples::with_cifar10(with.data, with.images, augment, [&](const auto& train_set) {
        const auto train = [&](const auto& test_set) {
          return run(device, train_set, test_set, with);
        };
        return examples::with_cifar10(with.data, {}, transform, train, with.images / 4 + 1);
      });
    });
  });
}
