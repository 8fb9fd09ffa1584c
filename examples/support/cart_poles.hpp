// Poles on carts, side by side, with the equations and constants of Gymnasium's CartPole-v1, on any
// device.
#pragma once

#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

namespace examples {

template <gpunet::Device D>
struct CartPoles {
  // [carts, 4]: position in m, velocity, angle in radians, angular velocity.
  gpunet::Tensor<float, D> state;
  gpunet::Tensor<float, D> age;  // [carts]: pushes in the episode

  CartPoles(D& device, gpunet::index_t n)
      : state(start(device, n)), age(gpunet::zeros(device, {n})) {}

  // Pushes the carts to the left (0) or to the right (1) with 10 N for 0.02 s. Returns which of
  // them have left the track of 4.8 m, or have a pole that leans over 12 degrees.
  gpunet::Tensor<bool, D> push(const gpunet::Tensor<gpunet::label_t, D>& actions) {
    using gpunet::Tensor;
    const auto velocity = select(state, 1, 1), angle = select(state, 1, 2),
               spin = select(state, 1, 3);
    const Tensor sine = sin(angle), cosine = cos(angle);
    const Tensor force =
        (20 * gpunet::cast<float>(actions) - 10 + 0.05f * square(spin) * sine) / 1.1f;
    const Tensor turn =
        (9.8f * sine - cosine * force) / (0.5f * (4.0f / 3 - 0.1f * square(cosine) / 1.1f));
    const Tensor acceleration = force - 0.05f * turn * cosine / 1.1f;
    const Tensor change = gpunet::stack({velocity, acceleration, spin, turn}, 1);
    state += 0.02f * change;
    age += 1;
    constexpr float most_angle = 12 * 2 * 3.14159265f / 360;
    return (abs(select(state, 1, 0)) > 2.4f) | (abs(select(state, 1, 2)) > most_angle);
  }

  // Begins new episodes of some carts.
  void restart(const gpunet::Tensor<bool, D>& over) {
    state = where(unsqueeze(over, 1), start(state.device(), state.size(0)), state);
    age = where(over, 0, age);
  }

 private:
  static gpunet::Tensor<float, D> start(D& device, gpunet::index_t n) {
    return 0.1f * gpunet::rand(device, {n, 4}) - 0.05f;
  }
};

}  // namespace examples
