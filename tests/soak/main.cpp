// Trains, saves, loads and predicts in turns for a long time: gpunet_soak [seconds]. Every round is
// the same training, so its results must be bitwise those of the first, and after some rounds
// memory, threads and open files must not grow.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/create.hpp>

#include "guest/process.hpp"
#include "io/temp_folder.hpp"

using namespace gpunet;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

nn::Value layers(nn::Value x) {
  x = nn::max_pool2d(nn::relu(nn::batch_norm(nn::conv2d(x, 8, 3, {.padding = 1}))), 2);
  return nn::linear(nn::dropout(nn::relu(nn::linear(nn::flatten(x), 32)), 0.2), 4);
}

// 96 images of four classes.
struct Images {
  index_t size() const { return 96; }
  Sizes sample_sizes() const { return {2, 8, 8}; }
  label_t read(index_t i, float* sample) const {
    for (index_t k = 0; k < 128; ++k)
      sample[k] = static_cast<float>((k * (i + 3) + i) % 17) / 8 - 1;
    return static_cast<label_t>(i % 4);
  }
};

// The results of a round: the losses of its epochs, and the predictions of another thread.
struct Results {
  std::vector<double> losses;
  std::vector<float> weights, predictions;
  bool operator==(const Results&) const = default;
};

// Two epochs that are stopped after the first and go on from the checkpoint in new objects, while
// another thread predicts from the weights that are published.
Results run_round(Host& host, const std::string& folder) {
  const Images images;
  Results results;
  for (const char* name : {"run.safetensors", "run.safetensors.1"})
    std::remove((folder + name).c_str());
  manual_seed(1);
  for (const index_t epochs : {1, 2}) {
    Network net(host, layers, {2, 8, 8});
    optim::AdamW optimizer(net, {.lr = 0.01});
    optim::lr_scheduler::CosineAnnealingLR scheduler(optimizer, {.T_max = 20});
    train::Accuracy<Host> accuracy(host, 4);
    data::DataLoader loader(images, {.batch_size = 16, .shuffle = true, .num_workers = 2});
    PublishedWeights weights(net);
    std::jthread reader([&](std::stop_token stop) {
      Host own({.threads = 1});
      Predictor<Host, float> predict(own, weights);
      const Tensor<float, Host> x = full(own, {1, 2, 8, 8}, 0.5f);
      Tensor<float, Host> y(own, {1, 4});
      while (!stop.stop_requested())
        predict.into(y, x);
    });
    const train::History history =
        train::fit(net, nn::CrossEntropyLoss{}, optimizer, loader,
                   {.epochs = epochs, .resume = folder + "run.safetensors", .keep_last = 2},
                   accuracy, train::EachEpoch(scheduler), [&](auto&) { weights.publish(net); });
    reader.request_stop();
    reader.join();
    if (epochs == 1) continue;
    for (const train::Epoch& epoch : history.epochs)
      results.losses.push_back(epoch.loss);
    io::save(net, folder + "net.pth");
    Network loaded(host, layers, {2, 8, 8});
    io::load(loaded, folder + "net.pth");
    Predictor predict(loaded);
    results.predictions = predict(full(host, {3, 2, 8, 8}, 0.25f)).to_vector();
    results.weights.assign(net.parameters().data(),
                           net.parameters().data() + net.parameters().numel());
  }
  return results;
}

}  // namespace

int main(int argc, char** argv) {
  const double limit = argc > 1 ? std::strtod(argv[1], nullptr) : 10;
  if (argc > 2 || !(limit > 0)) {
    std::fprintf(stderr, "gpunet_soak: want the seconds that it may take, more than 0\n");
    return 2;
  }
  constexpr int warm_up = 20;  // rounds
  const TempFolder folder;
  Host host({.threads = 2});
  const auto start = Clock::now();
  const Results first = run_round(host, folder / "");
  std::size_t memory = 0, threads = 0, files = 0;
  std::vector<double> times;
  int different = 0;
  while (seconds_since(start) < limit || times.size() < warm_up) {
    const auto begin = Clock::now();
    different += run_round(host, folder / "") != first;
    times.push_back(seconds_since(begin));
    if (times.size() == warm_up) {
      memory = guest::resident_bytes();
      // Of the host; those of the loader and the reader have ended.
      threads = guest::threads_after_wait(2);
      files = guest::open_files();
    }
  }
  const std::ptrdiff_t grown =
      static_cast<std::ptrdiff_t>(guest::resident_bytes()) - static_cast<std::ptrdiff_t>(memory);
  const std::size_t part = std::max<std::size_t>(times.size() / 10, 1);
  const auto median = [&](std::size_t from) {
    std::vector<double> some(times.begin() + static_cast<std::ptrdiff_t>(from),
                             times.begin() + static_cast<std::ptrdiff_t>(from + part));
    std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(part / 2),
                     some.end());
    return 1000 * some[part / 2];
  };
  std::printf(
      "%zu rounds in %.0f s: %d differ from the first; a round takes %.1f ms in the first tenth, "
      "%.1f ms in the "
      "last\n",
      times.size(), seconds_since(start), different, median(0), median(times.size() - part));
  const std::size_t threads_now = guest::threads_after_wait(threads),
                    files_now = guest::open_files();
  std::printf(
      "%.1f MB resident after %d rounds, %+.2f MB since then; threads %zu and %zu, open files %zu "
      "and %zu\n",
      static_cast<double>(memory) / 1e6, warm_up, static_cast<double>(grown) / 1e6, threads,
      threads_now, files, files_now);
  // Of the system's allocator, for threads that come and go.
  constexpr std::ptrdiff_t most_growth = 4 << 20;
  const bool is_flat = grown <= most_growth && threads_now == threads && files_now == files;
  return different > 0 || !is_flat;
}
