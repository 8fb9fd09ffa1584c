// The Iris lesson: a small network learns to tell three species of iris by the sizes of their leaves, all 120 flowers at a
// time, and is then asked about 30 that it has not seen.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/iris.hpp"
#include "support/options.hpp"

using namespace gpunet;

struct Arguments {
  std::string device = "auto", csv, target;
  index_t epochs = 100, print_every = 10;
  float lr = 0.01f;
  std::uint64_t seed = 32;
  std::uint32_t split_seed = 33;
  int threads = 0;
};

// Rows of numbers, and what each is of.
struct Flowers {
  std::vector<float> features;  // [size, width]
  std::vector<label_t> species;
  std::vector<std::string> names;
  index_t width = 4;

  index_t size() const { return static_cast<index_t>(species.size()); }
};

Flowers built_in_flowers() {
  Flowers flowers;
  flowers.names.assign(examples::iris_species.begin(), examples::iris_species.end());
  for (const auto& flower : examples::iris_flowers) {
    flowers.species.push_back(static_cast<label_t>(flowers.species.size() / 50));
    for (const int millimetres : flower)
      flowers.features.push_back(static_cast<float>(millimetres / 10.0));
  }
  return flowers;
}

// One column, the last unless told otherwise, holds the classes; the others are numbers.
Flowers read_flowers(const std::string& path, std::string target) {
  const data::Table table = data::read_csv(path);
  std::vector<std::string> columns = table.columns();
  if (target.empty()) target = columns.back();
  data::Categories classes = table.categories(target);
  columns.erase(std::find(columns.begin(), columns.end(), target));
  require(!columns.empty() && table.rows() > 1, path, " has ", table.rows(), " rows and ", columns.size(),
          " columns beside '", target, "' (want 2 rows and 1 column or more)");
  return {table.numbers(columns), std::move(classes.values), std::move(classes.names),
          static_cast<index_t>(columns.size())};
}

// The numbers and species of some of them, on a device.
template <Device D>
std::pair<Tensor<float, D>, Tensor<label_t, D>> move_to(D& device, const Flowers& all,
                                                        const std::vector<index_t>& rows) {
  std::vector<float> features;
  std::vector<label_t> species;
  for (const index_t row : rows) {
    const float* flower = all.features.data() + row * all.width;
    features.insert(features.end(), flower, flower + all.width);
    species.push_back(all.species[static_cast<std::size_t>(row)]);
  }
  const auto size = static_cast<index_t>(rows.size());
  return {Tensor<float, D>(device, {size, all.width}, features), Tensor<label_t, D>(device, {size}, species)};
}

template <Device D>
void run(D& device, const Flowers& flowers, const Arguments& arguments) {
  const auto [train_rows, test_rows] =
      data::train_test_split(flowers.size(), {.test_size = 0.2, .random_state = arguments.split_seed});
  const auto [inputs, labels] = move_to(device, flowers, train_rows);
  const auto [test_inputs, test_labels] = move_to(device, flowers, test_rows);
  const auto classes = static_cast<index_t>(flowers.names.size());

  // Sizes that only the data tell are given at run time.
  const nn::Sequential network(nn::Input(Shape(Dim(flowers.width))),           //
                               nn::Named<"fc1", nn::Linear<8>>(), nn::ReLU(),  //
                               nn::Named<"fc2", nn::Linear<9>>(), nn::ReLU(),  //
                               nn::Named<"out", nn::Linear<dyn>>(nn::Linear(classes)));
  manual_seed(arguments.seed);
  Model model(device, network);
  nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(model, {.lr = arguments.lr});
  train::Step step(model, criterion, optimizer);

  const auto start = std::chrono::steady_clock::now();
  constexpr index_t at_once = 1000;  // the lines of so many epochs appear together
  for (index_t first = 0; first < arguments.epochs; first += at_once) {
    const std::vector<float> losses =
        step.repeat(std::min(at_once, arguments.epochs - first), inputs, labels).to_vector();
    for (std::size_t i = 0; i < losses.size(); ++i)
      if (const index_t epoch = first + static_cast<index_t>(i); epoch % arguments.print_every == 0)
        std::printf("epoch: %2lld  loss: %10.8f\n", static_cast<long long>(epoch + 1),
                    static_cast<double>(losses[i]));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("TOTAL TRAINING TIME: %.6f s\n", seconds.count());

  train::Accuracy accuracy(device, classes);
  const auto outputs = model(test_inputs);
  accuracy.update(outputs, test_labels.view());
  const auto result = accuracy.result();
  std::printf("loss on the flowers held out: %.8f\n", static_cast<double>(criterion(outputs, test_labels).item()));
  std::printf("%lld out of %lld = %.2f%% correct\n", static_cast<long long>(result.correct()),
              static_cast<long long>(result.total()), 100 * result.accuracy());
}

int main(int argc, char** argv) try {
  Arguments arguments;
  examples::Options options("02_iris", "Trains a small network to tell species of iris, and tests it.");
  options.add("--device", "auto|cpu|cuda[:N]", "where to run (auto: a GPU if there is one)", arguments.device);
  options.add("--csv", "FILE", "a table of numbers and classes instead of the built-in one", arguments.csv);
  options.add("--target", "NAME", "its column of classes (the last)", arguments.target);
  options.add<index_t>("--epochs", "N", "times through all flowers (100)", arguments.epochs, 0);
  options.add<index_t>("--print-every", "N", "epochs between lines (10)", arguments.print_every, 1);
  options.add("--lr", "X", "learning rate (0.01)", arguments.lr);
  options.add<std::uint64_t>("--seed", "N", "seed of the weights (32)", arguments.seed);
  options.add<std::uint32_t>("--split-seed", "N", "which flowers are held out (33)", arguments.split_seed);
  options.add("--threads", "N", "processor threads (0: all)", arguments.threads, 0);
  options.parse(argc, argv);
  require(arguments.target.empty() || !arguments.csv.empty(), "02_iris: --target is for --csv FILE");

  const Flowers flowers =
      arguments.csv.empty() ? built_in_flowers() : read_flowers(arguments.csv, arguments.target);
  with_device(arguments.device, {.threads = arguments.threads}, [&](auto& device) {
    run(device, flowers, arguments);
    return 0;
  });
  return 0;
} catch (const std::exception& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
