// Deep Q-learning (Mnih and others, 2015) of CartPole-v1. The carts and the memory of what they did
// are tensors on the device too.
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "support/cart_poles.hpp"
#include "support/dqn_options.hpp"

using namespace gpunet;

constexpr index_t carts = 8, capacity = carts * 10000;

// State [4] -> the value of each action: -1 when the pole falls, discounted. A reward of 1 for each
// push makes the same order.
nn::Value q_values(const nn::Value& state) {
  return linear(relu(linear(relu(linear(state, 128)), 128)), 2);
}
nn::Value q_loss(const nn::Value& state, const nn::Value& action, const nn::Value& wanted) {
  return huber_loss(gather(q_values(state), action), wanted);
}

// Returns the mean length of a hundred episodes, without random pushes.
template <Device D>
double mean_length(D& device, Network<D, float>& q, index_t longest) {
  examples::CartPoles test(device, 100);
  Tensor stands = ones(device, {100}), length = zeros(device, {100});
  for (index_t i = 0; i < longest && amax(stands).item() > 0; ++i) {
    length += stands;
    stands *= cast<float>(!test.push(q(test.state).argmax(1)));
  }
  return static_cast<double>(mean(length).item());
}

template <Device D>
int run(D& device, const examples::DqnOptions& with) {
  manual_seed(with.seed);
  Network learner(device, q_loss, {4}, {}, {});
  Network q(learner, q_values, {4});  // the same parameters
  Network target(device, q_values, {4});
  target.copy_state(q);
  optim::AdamW optimizer(learner, {.lr = with.lr});
  // Linear, to 0.
  optim::lr_scheduler::PolynomialLR schedule(optimizer, {.total_iters = with.steps});
  train::Step learn(learner, nn::OutputLoss{}, optimizer);
  examples::CartPoles poles(device, carts);
  Tensor<float, D> memory(device,
                          // State, action, the state after it, whether the pole has fallen.
                          {capacity, 10});
  const train::InterruptGuard interrupt;
  for (index_t step = 0; step < with.steps && !interrupt.interrupted(); ++step) {
    const float random =
        std::max(0.05f, 1 - 5 * static_cast<float>(step) / static_cast<float>(with.steps));
    const Tensor before = poles.state.clone();
    const Tensor any = cast<label_t>(randint(device, 0, 2, {carts}));
    const Tensor actions = where(rand(device, {carts}) < random, any, q(before).argmax(1));
    const Tensor fallen = poles.push(actions);
    auto rows = narrow(memory, 0, step * carts % capacity, carts);
    narrow(rows, 1, 0, 4) = before, select(rows, 1, 4) = cast<float>(actions);
    narrow(rows, 1, 5, 4) = poles.state, select(rows, 1, 9) = cast<float>(fallen);
    poles.restart(fallen | (poles.age >= static_cast<float>(with.longest)));
    const index_t filled = std::min((step + 1) * carts, capacity);
    const Tensor batch = index_select(memory, 0, randint(device, 0, filled, {with.batch_size}));
    const Tensor states = narrow(batch, 1, 0, 4), next = narrow(batch, 1, 5, 4);
    const Tensor taken = select(batch, 1, 4), ended = select(batch, 1, 9);
    const Tensor wanted = 0.99f * amax(target(next).tensor(), 1) * (1 - ended) - ended;
    const auto loss = learn({states, taken, wanted});
    schedule.step();
    lerp(target, q, 0.01);
    if ((step + 1) % std::max<index_t>(1, with.steps / 6) == 0)
      std::printf("step %5ld  loss %.4f  mean length %.1f\n", step + 1,
                  examples::finite(loss.item()), mean_length(device, q, with.longest));
  }
  io::save(q, with.save);
  std::printf("saved the network to %s\n", with.save.c_str());
  return interrupt.exit_status();
}

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    const examples::DqnOptions with(argc, argv);
    return with_device(with.device, {.threads = with.threads},
                       [&](auto& device) { return run(device, with); });
  });
}
