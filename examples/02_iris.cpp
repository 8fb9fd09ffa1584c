// The Iris lesson: CUDA devices, and a small network that learns to distinguish three species of
// iris by leaf sizes.
#include <gpunet/datasets.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/plot.hpp>
#include <gpunet/tables.hpp>

#include "support/iris_options.hpp"

using namespace gpunet;

// As PyTorch's lesson does first: prints whether there is a GPU, its properties and its memory in
// use.
template <Device D, class Net>
void look_at(D& device, const Net& network) {
  const bool available = Cuda::is_available();
  std::printf("Cuda::is_available()     %s\n",
              available ? "true" : concat("false: ", Cuda::why_not()).c_str());
  if (available)
    std::printf("Cuda::current_device()   %d\nCuda::get_device_name(0) %s\n",
                Cuda::current_device(), Cuda::get_device_name(0).c_str());
  const auto tell_memory = [&](const char* when) {
    std::printf("memory_allocated, memory_reserved on %s %s: %zu %zu\n", device.name().c_str(),
                when, device.memory_allocated(), device.memory_reserved());
  };
  tell_memory("before a tensor");
  const Tensor<float, D> two(device, {2}, {1.0f, 2.0f});
  tell_memory("with one of two floats");
  Host host;
  const Model<Net, Host> on_host(host, network);
  const auto moved = on_host.to(device);
  std::printf("the tensor is on %s; the model was on %s and is on %s when moved\n\n",
              two.device().name().c_str(), on_host.device().name().c_str(),
              moved.device().name().c_str());
}

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    const examples::IrisOptions with(argc, argv);
    const data::Table table = with.csv.empty() ? data::iris() : data::read_csv(with.csv);
    const std::string target = with.target.empty() ? table.columns().back() : with.target;
    const data::Categories species = table.categories(target);
    Host host;
    const Tensor<float, Host> X(host, {table.rows(), std::ssize(table.columns()) - 1},
                                table.numbers_but(target));
    const Tensor<label_t, Host> y(host, {table.rows()}, species.values);
    const auto parts =
        data::train_test_split(X, y, {.test_size = 0.2, .random_state = with.split_seed});

    // A run-time size: it depends on the data.
    const nn::Sequential network(
        nn::Input(Shape(Dim(X.size(1)))), nn::Named<"fc1", nn::Linear<8>>(), nn::ReLU(),  //
        nn::Named<"fc2", nn::Linear<9>>(), nn::ReLU(),
        nn::Named<"out", nn::Linear<>>(nn::Linear(std::ssize(species.names))));
    return with_device(with.device, {.threads = with.threads}, [&](auto& device) {
      const train::InterruptGuard interrupt;
      look_at(device, network);
      manual_seed(with.seed);
      Model model(device, network);
      nn::CrossEntropyLoss criterion;
      optim::Adam optimizer(model, {.lr = with.lr});
      train::Step step(model, criterion, optimizer);
      const auto inputs = parts.X_train.to(device), X_test = parts.X_test.to(device);
      const auto labels = parts.y_train.to(device), y_test = parts.y_test.to(device);
      const auto start = std::chrono::steady_clock::now();
      plot::Series losses{"loss"};
      for (index_t left = with.epochs; left > 0 && !interrupt.interrupted(); left -= 1000) {
        const auto next = step.repeat(std::min<index_t>(left, 1000), inputs, labels).to_vector();
        losses.y.insert(losses.y.end(), next.begin(), next.end());
      }
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      examples::print_losses(losses.y, with.print_every);
      std::printf("TOTAL TRAINING TIME: %.6f s\n\n", seconds.count());

      train::ConfusionMatrix confusion(device, std::ssize(species.names));
      confusion.update(model(X_test), y_test);
      const auto counts = confusion.result();
      std::printf("loss on the flowers held out: %.8f\n", criterion(model(X_test), y_test).item());
      std::printf("%ld out of %ld = %.2f%% correct\n", counts.correct(), counts.total(),
                  100 * counts.accuracy());
      std::printf("%s\n\n%s", to_string(counts, species.names).c_str(),
                  classification_report(counts, species.names).c_str());
      plot::save(with.picture, plot::lines({losses}, {.titles = {"Iris", "epoch", "loss"}}));
      return interrupt.exit_status();
    });
  });
}
