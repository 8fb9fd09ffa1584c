// The TensorFlow Playground as a program: a small network learns to distinguish two classes of
// points in the plane, and a web page shows how.
#include <gpunet/data/dataloader.hpp>
#include <gpunet/device/select.hpp>
#include <gpunet/model/model.hpp>
#include <gpunet/nn/any_activation.hpp>
#include <gpunet/nn/cross_entropy_loss.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/optim/adam.hpp>
#include <gpunet/optim/weight_penalty.hpp>
#include <gpunet/train/interrupt.hpp>

#include "support/playground_options.hpp"
#include "support/playground_page.hpp"
#include "support/playground_watch.hpp"

using namespace gpunet;
using examples::PlaygroundSettings, examples::Problem;

// Trains the network and writes the page; returns the exit status. The larger output is the
// predicted class.
template <Device D, class Net>
int run(D& device, const Net& network, const Problem& problem, const PlaygroundSettings& settings,
        const std::string& command) {
  manual_seed(settings.seed);
  Model net(device, network);
  nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net, {.lr = settings.lr});
  data::DataLoader loader(
      problem, {.batch_size = std::min(settings.batch_size, problem.size()), .shuffle = true});
  auto batches = loader.resident_on(device);
  const auto logits_at = [&](const std::vector<float>& places) {
    const std::vector<float> inputs = problem.inputs(places);
    return net(Tensor<float, D>(device, {index_t(places.size() / 2), problem.width()}, inputs))
        .to_vector();
  };

  examples::Recording recording(settings.epochs);
  examples::Watch watch(settings.watch, settings.epochs, problem);
  const train::InterruptGuard interrupt;
  for (index_t epoch = 0;; ++epoch) {
    recording.add(
        {epoch, problem, logits_at(problem.points.samples), examples::parameters_of(net)});
    watch.print(recording.moments().back());
    if (watch.draws() && recording.keeps(epoch))
      watch.draw(recording.moments().back(), logits_at(watch.places()));
    if (epoch == settings.epochs || interrupt.interrupted()) break;
    for (auto [inputs, labels] : batches) {
      optimizer.zero_grad();
      net.forward_backward(inputs, criterion, labels);
      nn::utils::add_weight_penalty_(net, {.l1 = settings.l1, .l2 = settings.l2});
      optimizer.step();
    }
  }
  write_page(settings, problem, recording, command, logits_at(examples::places_to_compare()));
  std::printf("%s is written, open it in a browser\n", settings.html.c_str());
  return interrupt.exit_status();
}

// Calls f with a network that has these hidden layers. Their number is part of its type, their
// sizes are not.
template <class F, class... Layers>
int with_network(const std::vector<index_t>& hidden, const PlaygroundSettings& settings, F f,
                 Layers... layers) {
  constexpr std::size_t depth = sizeof...(Layers) / 2;
  if (hidden.size() == depth) return f(layers..., nn::Linear(2));
  const nn::AnyActivation activation(settings.activation);
  if constexpr (depth < examples::most_hidden_layers)
    return with_network(hidden, settings, f, layers..., nn::Linear(hidden[depth]), activation);
  return 1;
}

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    const PlaygroundSettings settings = examples::read_settings(argc, argv);
    const Problem problem(settings);
    { const io::AtomicFile probe(settings.html); }  // throws now, not after the training
    return with_device(settings.device, [&](auto& device) {
      return with_network(examples::read_layers(settings.layers), settings, [&](auto... layers) {
        const nn::Sequential network(nn::Input(Shape(Dim(problem.width()))), layers...);
        return run(device, network, problem, settings, examples::command_line(argc, argv));
      });
    });
  });
}
