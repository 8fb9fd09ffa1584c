// A variational autoencoder (Kingma and Welling, 2014) of digits, as PyTorch's examples/vae:
// encoder, decoder and loss are functions of values. Networks of these functions reconstruct digits
// and generate new ones.
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "support/vae_options.hpp"

using namespace gpunet;
using nn::Value;

constexpr index_t pixels = 28 * 28, latent = 20;

// The normal distribution of the latent variables of an image.
struct Latent {
  Value mean, logvar;
};
Latent encoder(const Value& image) {
  const Value hidden = relu(linear(flatten(image), 400, {.name = "fc1"}));
  return {linear(hidden, latent, {.name = "fc21"}), linear(hidden, latent, {.name = "fc22"})};
}

// Logits of the pixels: their sigmoid is an image.
Value decoder(const Value& z) {
  return linear(relu(linear(z, 400, {.name = "fc3"})), pixels, {.name = "fc4"});
}

// The loss of a reconstruction from a random z: its cross entropy, summed over the pixels, and the
// divergence of the distribution of z from a standard normal one.
Value vae_loss(const Value& image) {
  const auto [mean, logvar] = encoder(image);
  const Value z = mean + exp(0.5 * logvar) * randn_like(mean);
  const Value cross_entropy = pixels * binary_cross_entropy_with_logits(decoder(z), flatten(image));
  return cross_entropy - 0.5 * sum(1 + logvar - square(mean) - exp(logvar));
}

template <Device D>
int run(D& device, data::DatasetView train_set, data::DatasetView test_set,
        const examples::VaeOptions& with) {
  manual_seed(with.seed);
  const Sizes image{1, 28, 28};
  Network net(device, vae_loss, image);
  optim::Adam optimizer(net, {.lr = with.lr});
  const data::DataLoader loader(train_set, {.batch_size = with.batch_size, .shuffle = true});
  const data::DataLoader test_loader(test_set,
                                     {.batch_size = std::min(with.batch_size, test_set.size())});
  auto batches = loader.resident_on(device), test_batches = test_loader.resident_on(device);
  const train::InterruptGuard interrupt;
  const auto history = train::fit(
      net, nn::OutputLoss{}, optimizer, batches, {.epochs = with.epochs}, train::ProgressBar(),
      train::Validation(test_batches), train::StopOnNaN(), train::StopOnInterrupt());
  require(history.end != train::End::not_finite, "08_vae: ", history.why);
  io::save(net, with.save);

  // Networks of the same functions, which find their parameters in the file by name.
  Network reconstruct(
      device, [](Value x) { return sigmoid(decoder(encoder(x).mean)); }, image);
  Network generate(device, [](Value z) { return sigmoid(decoder(z)); }, {latent});
  io::load(reconstruct, with.save, {.strict = false});
  io::load(generate, with.save, {.strict = false});
  const index_t shown = std::min<index_t>(10, test_set.size());
  const Tensor<float, D> digits(device, image.with_front(shown),
                                examples::first_images(test_set, shown));
  const auto reconstructed = reconstruct(digits),
             generated = generate(randn(device, {2 * shown, latent}));
  const nn::BCELoss cross_entropy({.reduction = nn::Reduction::sum});
  std::printf(
      "the network of %s reconstructs %ld digits with a cross entropy of %.3f each\n",
      with.save.c_str(), shown,
      cross_entropy(reconstructed, digits.view().flatten(1)).item() / static_cast<float>(shown));
  examples::save_digits(with.picture, shown,
                        {digits.to_vector(), reconstructed.to_vector(), generated.to_vector()});
  return interrupt.exit_status();
}

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    const examples::VaeOptions with(argc, argv);
    return with_device(with.device, {.threads = with.threads}, [&](auto& device) {
      const auto train = [&](const auto& train_set, const auto& test_set) {
        return run(device, train_set, test_set, with);
      };
      return examples::with_mnist(with.data, with.images, train, with.images / 2 + 1);
    });
  });
}
