// A character-level language model: an LSTM or a transformer learns a text, then generates more of
// it.
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/networks/language.hpp>
#include <gpunet/plot.hpp>

#include "support/text_options.hpp"

using namespace gpunet;

// Trains on the first nine tenths of the text, validates on the rest, saves the network and plots
// its losses.
template <Device D>
int train_network(Network<D, float>& net, const examples::Text& text,
                  const examples::TextOptions& with) {
  const auto middle = text.numbers().begin() + std::ssize(text.numbers()) * 9 / 10;
  const examples::Windows train_set{
      {text.numbers().begin(), middle}, with.length, std::max<index_t>(1, with.length / 8)};
  const examples::Windows test_set{{middle, text.numbers().end()}, with.length, with.length / 2};
  const nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net, {.lr = with.lr});
  const data::DataLoader loader(train_set, {.batch_size = with.batch_size, .shuffle = true});
  const data::DataLoader test_loader(test_set,
                                     {.batch_size = std::min(with.batch_size, test_set.size())});
  const train::InterruptGuard interrupt;
  const auto history =
      train::fit(net, criterion, optimizer, loader, {.epochs = with.epochs}, train::ProgressBar(),
                 train::Validation(test_loader), train::StopOnNaN(), train::StopOnInterrupt());
  require(history.end != train::End::not_finite, "09_text: ", history.why, ", use a smaller --lr");
  io::save(net, with.save);
  plot::Series loss{"loss"}, held_out{"loss of the last tenth"};
  for (const train::Epoch& epoch : history.epochs) {
    loss.y.push_back(epoch.loss);
    held_out.y.push_back(epoch.val_loss);
  }
  plot::save(with.picture,
             plot::lines({loss, held_out}, {.titles = {"Characters", "epoch", "loss"}}));
  return interrupt.exit_status();
}

// Generates and prints a text: each character is drawn from the logits at the position before it.
template <Device D>
void write(Network<D, float>& net, const examples::Text& text, const examples::TextOptions& with) {
  net.eval();
  std::vector<label_t> written = text.numbers(with.prompt);
  for (index_t i = 0; i < with.characters; ++i) {
    const index_t known = std::min(with.length, std::ssize(written));
    std::vector<float> window(static_cast<std::size_t>(with.length));
    // causal: the rest has no effect.
    std::copy(written.end() - known, written.end(), window.begin());
    const auto logits = net(Tensor<float, D>(net.device(), {1, with.length}, window)).to_vector();
    std::vector<float> next;
    for (index_t character = 0; character < text.vocabulary(); ++character)
      next.push_back(logits[static_cast<std::size_t>(character * with.length + known - 1)]);
    written.push_back(examples::draw(next, with.temperature, default_generator()));
  }
  for (const label_t number : written)
    std::putchar(text.character(number));
  std::putchar('\n');
}

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    const examples::TextOptions with(argc, argv);
    const examples::Text text(with.text);
    return with_device(with.device, {.threads = with.threads}, [&](auto& device) {
      const auto run = [&](const auto& model) {
        manual_seed(with.seed);
        Network net(device, model, {with.length});
        const int status = with.load.empty() ? train_network(net, text, with) : 0;
        if (!with.load.empty()) io::load(net, with.load);
        if (status == 0) write(net, text, with);
        return status;
      };
      return with.model == "lstm" ? run(networks::CharLSTM<>{text.vocabulary()})
                                  : run(networks::CharTransformer<>{text.vocabulary()});
    });
  });
}
