// Fine-tuning: a ResNet-18, with torchvision's weights if there are some, gets a new last layer,
// which is trained while all others are frozen; then its last stage is trained too, more slowly.
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/images.hpp>
#include <gpunet/networks/resnet.hpp>

#include "support/finetune_options.hpp"

using namespace gpunet;

template <Device D>
int run(D& device, data::DatasetView train_set, data::DatasetView test_set,
        const examples::FinetuneOptions& with) {
  manual_seed(with.seed);
  Network net(device, networks::ResNet{.classes = 10}, {3, with.side, with.side});
  networks::init_convolutions(net);
  const nn::CrossEntropyLoss criterion;
  data::DataLoader loader(
      train_set,
      {.batch_size = with.batch_size, .shuffle = true, .num_workers = 2, .drop_last = true});
  data::DataLoader test_loader(
      test_set, {.batch_size = std::min<index_t>(256, test_set.size()), .num_workers = 2});
  const train::InterruptGuard interrupt;
  const auto fit = [&](const char* what, auto& optimizer) {
    if (interrupt.interrupted()) return;
    std::printf("training %s: %ld parameters, %.0f ms per step\n", what,
                summary(net).trainable_params,
                examples::step_milliseconds(net, criterion, loader.to(device)));
    const auto history =
        train::fit(net, criterion, optimizer, loader, {.epochs = with.epochs}, train::ProgressBar(),
                   train::Validation(test_loader), train::StopOnNaN(), train::StopOnInterrupt());
    require(history.end != train::End::not_finite, "10_finetune: ", history.why,
            ", use a smaller --lr");
  };
  if (with.weights.empty()) {  // the other layers have to learn something first
    optim::AdamW optimizer(net, {.lr = with.lr, .weight_decay = 0.01});
    fit("all layers", optimizer);
  } else {
    io::load(net, with.weights, {.skip = {"fc.*"}});  // the layer of 1000 classes
  }

  nn::init::zeros_(get_parameter(net, "fc.weight"));
  nn::init::zeros_(get_parameter(net, "fc.bias"));
  net.requires_grad(false);
  net.parameters("fc").requires_grad(true);
  optim::AdamW optimizer(net, {.lr = with.lr, .weight_decay = 0.01});
  optimizer.add_param_group(net.parameters("layer4"), {.lr = with.lr / 10});
  fit("a new last layer", optimizer);
  net.parameters("layer4").requires_grad(true);
  fit("the last stage too", optimizer);
  io::save(net, with.save);
  std::printf("saved to %s, with torchvision's names\n", with.save.c_str());
  return interrupt.exit_status();
}

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    const examples::FinetuneOptions with(argc, argv);
    const data::Compose transform(
        data::Resize{{with.side, with.side}}, data::ToTensor{},
        data::Normalize{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}});
    return with_device(with.device, {.threads = with.threads}, [&](auto& device) {
      return examples::with_cifar10(with.data, with.images, transform, [&](const auto& train_set) {
        const auto train = [&](const auto& test_set) {
          return run(device, train_set, test_set, with);
        };
        return examples::with_cifar10(with.data, {}, transform, train, with.images / 4 + 1);
      });
    });
  });
}
