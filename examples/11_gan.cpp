// A generative adversarial network (Goodfellow and others, 2014) that learns a ring of eight
// Gaussians. Two networks share the parameters of a generator and a discriminator: each computes
// the loss of one of them and has an optimizer.
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "support/gan_options.hpp"

using namespace gpunet;
using nn::Value;

constexpr index_t latent = 8, hidden = 128;

// Random numbers -> points [2].
Value generator(const Value& z) {
  const auto layers = [](const Value& x) {
    return linear(relu(linear(relu(linear(x, hidden)), hidden)), 2);
  };
  return nn::shared("generator", layers, z);
}

// Points -> the logit that one is real.
Value discriminator(const Value& point) {
  const auto layers = [](const Value& x) {
    return linear(leaky_relu(linear(leaky_relu(linear(x, hidden), 0.2), hidden), 0.2), 1);
  };
  return nn::shared("discriminator", layers, point);
}

// softplus(-y) is the cross entropy of logit y and "real", softplus(y) that of y and "generated".
Value discriminator_loss(const Value& z, const Value& real) {
  return mean(softplus(-discriminator(real)) + softplus(discriminator(detach(generator(z)))));
}
Value generator_loss(const Value& z) {
  return mean(softplus(-discriminator(generator(z))));
}

template <Device D>
int run(D& device, const examples::GanOptions& with) {
  manual_seed(with.seed);
  Network d_net(device, discriminator_loss, {latent}, {2});
  Network g_net(d_net, generator_loss, {latent});
  g_net.parameters("discriminator")
      .requires_grad(false);  // in this network: its loss trains the generator through it
  optim::Adam d_optimizer(d_net, {.lr = with.lr, .betas = {0.5, 0.999}});
  optim::Adam g_optimizer(g_net, {.lr = with.lr, .betas = {0.5, 0.999}});
  train::Step d_step(d_net, nn::OutputLoss{}, d_optimizer),
      g_step(g_net, nn::OutputLoss{}, g_optimizer);

  Network sample(d_net, generator, {latent});  // the same parameters
  Network average(device, generator, {latent});
  average.copy_state(sample);
  const auto noise = [&](index_t n) {
    return randn(device, {n, latent});
  };
  const train::InterruptGuard interrupt;
  for (index_t step = 1; step <= with.steps && !interrupt.interrupted(); ++step) {
    const Tensor<float, D> real(device, {with.batch_size, 2},
                                examples::ring_points(default_generator(), with.batch_size));
    const auto d_loss = d_step({noise(with.batch_size), real});
    const auto g_loss = g_step(noise(with.batch_size));
    lerp(average, sample, 0.01);
    if (step % std::max<index_t>(1, with.steps / 6) != 0) continue;
    const float losses[] = {d_loss.item(), g_loss.item()};
    require(std::isfinite(losses[0] + losses[1]),
            "11_gan: a loss is not finite, use a smaller --lr");
    const auto [good, modes] = examples::ring_fit(average(noise(2000)).to_vector());
    std::printf(
        "step %5ld  discriminator %.3f  generator %.3f  good points %.0f %%  Gaussians %d of 8\n",
        step, losses[0], losses[1], 100 * good, modes);
  }
  io::save(average, with.save);
  std::printf("saved the generator to %s\n", with.save.c_str());
  return interrupt.exit_status();
}

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    const examples::GanOptions with(argc, argv);
    return with_device(with.device, {.threads = with.threads},
                       [&](auto& device) { return run(device, with); });
  });
}
