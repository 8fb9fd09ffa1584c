// PyTorch's lesson "training a deep learning model on a GPU", line for line: trains the same
// network on every device of the machine, and measures the parts of a step for small batches and
// large ones.
#include <gpunet/gpunet.hpp>
#include <gpunet/plot.hpp>
#include <gpunet/tensorboard.hpp>

#include "support/cpu_vs_gpu_options.hpp"

using namespace gpunet;
// .
using Features =
    nn::Sequential<nn::Conv2d<6, 5>, nn::ReLU, nn::MaxPool2d<2>,
                   // .
                   nn::Conv2d<16, 5, nn::Padding<3>>, nn::ReLU, nn::Conv2d<16, 5>, nn::ReLU,
                   nn::MaxPool2d<2>, nn::Conv2d<16, 3>, nn::ReLU, nn::MaxPool2d<2>>;
using Classifier =
    nn::Sequential<nn::Linear<120>, nn::ReLU, nn::Linear<84>, nn::ReLU, nn::Linear<10>>;
using Net = nn::Sequential<nn::Input<3, 32, 32>, nn::Named<"features", Features>, nn::Flatten,
                           nn::Named<"classifier", Classifier>>;

// Returns the seconds of one epoch; its losses are logged for TensorBoard.
template <Device D>
double train_one_epoch(D& device, const data::DatasetView& images, index_t batch_size,
                       const std::string& logs) {
  manual_seed(0);
  Model<Net, D> net(device);
  nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net);
  train::Step step(net, criterion, optimizer);
  data::DataLoader loader(images, {.batch_size = batch_size, .shuffle = true, .num_workers = 2});
  io::SummaryWriter writer(logs);
  const auto start = std::chrono::steady_clock::now();
  for (index_t i = 0; auto [inputs, labels] : loader.to(device)) {
    writer.add_scalar("Train/Loss", step(inputs, labels).item(), i++);
    examples::end_if_interrupted();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Prints and plots the times of the parts of a step, at batch sizes from 4 on.
template <Device D>
void sweep(D& device, const data::DatasetView& images, const examples::CpuVsGpuOptions& with) {
  std::printf("\nA step on %s at batch size\n", device.name().c_str());
  examples::StepParts parts;
  for (index_t batch = 4; batch <= std::min(with.most_batch_size, images.size() / 2); batch *= 4) {
    Model<Net, D> net(device);
    nn::CrossEntropyLoss criterion;
    optim::Adam optimizer(net);
    data::DataLoader loader(images, {.batch_size = batch, .shuffle = true, .num_workers = 2});
    const auto times = train::profile(net, criterion, optimizer, loader, {.steps = with.steps});
    std::printf("%4ld: %s\n", batch, to_string(times).c_str());
    parts.add(batch, times);
    examples::end_if_interrupted();
  }
  plot::save(with.picture, parts.picture());
}

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    const examples::CpuVsGpuOptions with(argc, argv);
    const train::InterruptGuard interrupt;
    for (const char* wrong : {"gpu", "cuda:99"})  // as the lesson shows what PyTorch says
      try {
        with_device(wrong, [](auto&) {});
      } catch (const Error& error) {
        std::printf("%s: %s\n", wrong, error.what());
      }
    const data::Compose transform(data::ToTensor{},
                                  data::Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}});
    examples::with_cifar10(with.data, with.images, transform, [&](const auto& images) {
      auto train_on = [&, first = 0.0](auto& device, const std::string& name) mutable {
        const double seconds =
            train_one_epoch(device, images, with.batch_size, concat(with.logs, "/", name));
        if (first == 0) first = seconds;
        std::printf("%-14s %6.2f s an epoch, %.2f times as fast\n", name.c_str(), seconds,
                    first / seconds);
      };
      if (!Cuda::is_available()) {
        std::printf("No GPU (%s): one thread is compared with all.\n", Cuda::why_not().c_str());
        with_device("cpu", {.threads = 1},
                    [&](auto& device) { train_on(device, "cpu, 1 thread"); });
      }
      for_each_device([&](auto& device) { train_on(device, device.name()); });
      with_device("auto", [&](auto& device) { sweep(device, images, with); });
    });
    std::printf("\nSaved %s; the losses: tensorboard --logdir %s\n", with.picture.c_str(),
                with.logs.c_str());
  });
}
