// PyTorch's lesson "training a deep learning model on a GPU", line for line: the same network is trained on every device of
// the machine, and what a step's time goes to is measured for small batches and large ones.
#include <chrono>
#include <cstdio>

#include <gpunet/gpunet.hpp>
#include <gpunet/plot/plot.hpp>

#include "support/options.hpp"

using namespace gpunet;

using Net = nn::Sequential<nn::Input<3, 32, 32>,                                                      //
                           nn::Conv2d<6, 5>, nn::ReLU, nn::MaxPool2d<2>,                              //
                           nn::Conv2d<16, 5, nn::Padding<3>>, nn::ReLU, nn::Conv2d<16, 5>, nn::ReLU,  //
                           nn::MaxPool2d<2>, nn::Conv2d<16, 3>, nn::ReLU, nn::MaxPool2d<2>,           //
                           nn::Flatten, nn::Linear<120>, nn::ReLU, nn::Linear<84>, nn::ReLU, nn::Linear<10>>;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The same numbers on the device; on the processor they are there.
template <class T>
View<const T, Host> copy_to(Host&, Host&, const View<const T, Host>& batch) {
  return batch;
}
template <Device D, class T>
Tensor<T, D> copy_to(D& device, Host& host, const View<const T, Host>& batch) {
  Tensor<T, D> copy(device, batch.sizes());
  transfer(host, batch.data(), device, copy.data(), sizeof(T) * static_cast<std::size_t>(batch.numel()));
  return copy;
}

// What one step takes, in milliseconds.
struct Parts {
  double waiting = 0, copying = 0, computing = 0;
  double total() const { return waiting + copying + computing; }
};

// Trains for some steps, or an epoch if that is less; each part of a step waits for the one before. The losses go to the
// writer, if there is one.
template <Device D>
Parts train_network(D& device, const data::DatasetView& set, index_t batch_size, index_t most_steps,
                    io::SummaryWriter* writer = nullptr) {
  manual_seed(0);
  Host host;
  Model<Net, D> net(device);
  nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net);
  train::Step step(net, criterion, optimizer);
  data::DataLoader loader(set, {.batch_size = batch_size, .shuffle = true, .num_workers = 2});
  Parts parts;
  index_t steps = 0;
  double begin = seconds();
  for (auto [inputs, labels] : loader.to(host)) {
    const double there = seconds();
    const auto x = copy_to(device, host, inputs);
    const auto y = copy_to(device, host, labels);
    device.synchronize();
    const double copied = seconds();
    const auto loss = step(x, y);
    device.synchronize();
    const double computed = seconds();
    parts.waiting += there - begin;
    parts.copying += copied - there;
    parts.computing += computed - copied;
    if (writer) writer->add_scalar("Train/Loss", static_cast<double>(loss.item()), steps);
    if (++steps == most_steps) break;
    begin = seconds();
  }
  const double each = 1e3 / static_cast<double>(steps);
  return {parts.waiting * each, parts.copying * each, parts.computing * each};
}

struct Arguments {
  std::string data, logs = "runs/03_cpu_vs_gpu", picture = "cpu_vs_gpu.svg";
  index_t batch_size = 256, most_batch_size = 4096, steps = 10;
};

// Calls f(name, device) for every device: each GPU, or where there is none, one thread of the processor and then all.
template <class F>
void on_every_device(F f) {
  if (cuda::is_available()) {
    for (int i = 0; i < cuda::device_count(); ++i)
      with_device(concat("cuda:", i), [&](auto& device) { f(device.name(), device); });
  } else {
    std::printf("No GPU is used (%s): one thread is compared with all.\n", cuda::why_not().c_str());
    with_device("cpu", {.threads = 1}, [&](auto& device) { f("cpu, 1 thread", device); });
  }
  with_device("cpu", [&](auto& device) {
    if constexpr (std::same_as<decltype(device), Host&>) f(concat("cpu, ", device.threads(), " threads"), device);
  });
}

void run(const data::DatasetView& set, const Arguments& arguments) {
  for (const char* wrong : {"gpu", "cuda:99"})  // as the lesson shows what PyTorch says
    try {
      with_device(wrong, [](auto&) {});
    } catch (const Error& error) {
      std::printf("%s: %s\n", wrong, error.what());
    }

  double slowest = 0;
  on_every_device([&](const std::string& name, auto& device) {
    io::SummaryWriter writer(arguments.logs + "/" + name);
    const double begin = seconds();
    train_network(device, set, arguments.batch_size, set.size(), &writer);
    const double time = seconds() - begin;
    if (slowest == 0) slowest = time;
    std::printf("%-14s one epoch at batch size %lld: %6.2f s, %.2f times as fast as the first\n", name.c_str(),
                static_cast<long long>(arguments.batch_size), time, slowest / time);
  });

  std::vector<std::string> sizes;
  plot::Part waiting{"waiting for data", {}}, copying{"copying", {}}, computing{"computing", {}};
  with_device("auto", [&](auto& device) {
    std::printf("\nA step on %s\n batch size        ms   waiting   copying  computing\n", device.name().c_str());
    for (index_t batch = 4; batch <= std::min(arguments.most_batch_size, set.size()); batch *= 4) {
      const Parts parts = train_network(device, set, batch, arguments.steps);
      const double all = parts.total() / 100;
      std::printf("%11lld %9.3f %8.1f%% %8.1f%% %9.1f%%\n", static_cast<long long>(batch), parts.total(),
                  parts.waiting / all, parts.copying / all, parts.computing / all);
      sizes.push_back(std::to_string(batch));
      waiting.values.push_back(parts.waiting / all);
      copying.values.push_back(parts.copying / all);
      computing.values.push_back(parts.computing / all);
    }
  });
  plot::save(arguments.picture,
             plot::stacked_bars(sizes, {computing, copying, waiting},
                                {.titles = {"Where the time of a step goes", "batch size", "%"}}));
  std::printf("\nSaved %s; the losses: tensorboard --logdir %s\n", arguments.picture.c_str(),
              arguments.logs.c_str());
}

int main(int argc, char** argv) try {
  Arguments arguments;
  if (const char* data = std::getenv("GPUNET_DATA")) arguments.data = data;
  examples::Options options("03_cpu_vs_gpu", "Trains a network on every device and shows where the time goes.");
  options.add("--data", "DIR", "folder of the CIFAR-10 binary files (also GPUNET_DATA); built-in images without it",
              arguments.data);
  options.add<index_t>("--batch-size", "N", "images per step of the epoch (256)", arguments.batch_size, 1);
  options.add<index_t>("--most-batch-size", "N", "where the sweep from 4 on ends (4096)", arguments.most_batch_size,
                       4);
  options.add<index_t>("--steps", "N", "steps of the sweep at each size (10)", arguments.steps, 1);
  options.add("--logs", "DIR", "where the losses go, for TensorBoard (runs/03_cpu_vs_gpu)", arguments.logs);
  options.add("--picture", "FILE", "where the picture goes, .svg or .png (cpu_vs_gpu.svg)", arguments.picture);
  options.parse(argc, argv);
  const data::Compose transform(data::ToTensor{}, data::Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}});
  if (arguments.data.empty())
    run(data::Shapes::train(10000, transform), arguments);
  else
    run(data::CIFAR10::train(arguments.data, transform), arguments);
  return 0;
} catch (const std::exception& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
