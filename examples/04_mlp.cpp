// A network of fully connected layers with run-time sizes learns to read digits, as in lessons on
// MNIST. Prints and plots its layers, and loss and accuracy batch by batch.
#include <gpunet/gpunet.hpp>
#include <gpunet/plot.hpp>

#include "support/mlp_options.hpp"

using namespace gpunet;

// Two hidden layers, and one that returns a logit per class; softmax(1) turns these into
// probabilities.
auto Classifier_MLP(index_t in_dim, index_t hidden_dim, index_t out_dim) {
  return nn::Sequential(nn::Input(Shape(Dim(in_dim))),                                      //
                        nn::Named<"h1", nn::Linear<>>(nn::Linear(hidden_dim)), nn::ReLU(),  //
                        nn::Named<"h2", nn::Linear<>>(nn::Linear(hidden_dim)), nn::ReLU(),  //
                        nn::Named<"out", nn::Linear<>>(nn::Linear(out_dim)));
}

template <Device D>
int run(D& device, data::DatasetView train_set, data::DatasetView test_set,
        const examples::MlpOptions& with) {
  manual_seed(with.seed);
  Model net(device, Classifier_MLP(28 * 28, with.hidden_dim, 10));
  std::printf("%s\n\n%s\n\n", to_string(net.network()).c_str(),
              to_string(summary(net, with.batch_size)).c_str());
  io::write_file_atomically(with.pictures + "_network.svg", to_svg(net));
  nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net, {.lr = with.lr});
  data::DataLoader loader(train_set,
                          {.batch_size = with.batch_size, .shuffle = true, .num_workers = 2});
  plot::Series losses{"loss"}, accuracies{"accuracy"};
  const train::InterruptGuard interrupt;
  for (index_t epoch = 1; epoch <= with.epochs && !interrupt.interrupted(); ++epoch) {
    train::Progress progress({loader.size(), with.batch_size, concat("epoch ", epoch)});
    for (index_t batch = 1; auto [images, labels] : loader.to(device)) {
      optimizer.zero_grad();
      auto logits = net(images.flatten(1));
      auto loss = criterion(logits, labels);
      train::Accuracy accuracy(device, 10);
      accuracy.update(logits, labels);
      loss.backward();
      optimizer.step();
      losses.y.push_back(loss.item());
      require(std::isfinite(losses.y.back()), "04_mlp: the loss is NaN, use a smaller --lr");
      accuracies.y.push_back(accuracy.result().accuracy());
      progress.update(batch, losses.y.back(), accuracies.y.back());
      const double percent = 100 * accuracies.y.back();
      if (batch++ % 50 == 0)
        progress.print("loss %.4f  accuracy %5.1f %%", losses.y.back(), percent);
      if (interrupt.interrupted()) break;
    }
  }
  plot::save(with.pictures + "_training.svg",
             plot::lines({losses, accuracies}, {{"Reading digits", "batch", ""}}));
  train::ConfusionMatrix confusion(device, 10);
  data::DataLoader test_loader(test_set, {.batch_size = std::min<index_t>(100, test_set.size())});
  for (auto [images, labels] : test_loader.to(device))
    confusion.update(net(images.flatten(1)), labels);
  const auto counts = confusion.result();
  std::printf("\n%s\n\n%.2f %% of the %ld test digits are read right.\n", to_string(counts).c_str(),
              100 * counts.accuracy(), counts.total());
  std::vector<io::Image> digits;
  std::vector<std::string> answers;
  for (index_t i = 0; i < 24; ++i) {  // predictions for some of them, with their probabilities
    std::vector<float> pixels(28 * 28);
    test_set.read(i, pixels.data());
    digits.push_back(io::to_image(pixels, {28, 28}));
    const auto shares = net(Tensor<float, D>(device, {1, 28 * 28}, pixels)).softmax(1).to_vector();
    const auto best = std::max_element(shares.begin(), shares.end());
    answers.push_back(concat(best - shares.begin(), ", ", std::lround(100 * *best), " %"));
  }
  plot::save(with.pictures + "_digits.svg",
             plot::image_grid(digits, {.columns = 8, .captions = answers}));
  return interrupt.exit_status();
}

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    const examples::MlpOptions with(argc, argv);
    return with_device(with.device, {.threads = with.threads}, [&](auto& device) {
      return examples::with_mnist(with.data, with.images,
                                  [&](const auto& train_set, const auto& test_set) {
                                    return run(device, train_set, test_set, with);
                                  });
    });
  });
}
