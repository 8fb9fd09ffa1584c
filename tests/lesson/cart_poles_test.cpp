// The cart-poles of lesson 12 against Gymnasium 1.4.
#include "../../examples/support/cart_poles.hpp"

#include <doctest/doctest.h>
#include <vector>

#include "support/devices.hpp"

using namespace gpunet;

TEST_CASE("carts move and poles fall as Gymnasium's") {
  Host& host = test_device<Host>();
  // env.state and `terminated` after env.step(a) for each a, beginning with env.state = the row of
  // `begin`.
  const std::vector<double> end{0.051717799598798325, 0.7588368285099811,  -0.0237876476375486,
                                -1.0944384854731843,  2.413927988624695,   0.5027745829780428,
                                -0.09844956805398809, 0.13844089435181933, -0.003943023338383067,
                                -0.39425356175201787, 0.24696481374947082, 1.7009277832208363};
  const std::vector<std::vector<label_t>> actions{
      {1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1}, {1, 0}, {0, 0}};
  const std::vector<bool> has_fallen{false, true, true};
  const std::vector<float> begin{0.01f, -0.02f, 0.03f, 0.04f, 2.39f, 0.5f,
                                 -0.1f, 0.2f,   0,     0,     0.2f,  1};
  examples::CartPoles poles(host, 1);
  for (std::size_t row = 0; row < actions.size(); ++row) {
    poles.state =
        Tensor<float, Host>(host, {1, 4}, std::vector<float>(&begin[4 * row], &begin[4 * row] + 4));
    bool fallen = false;
    for (const label_t action : actions[row])
      fallen = poles.push(Tensor<label_t, Host>(host, {1}, {action})).item();
    CHECK(fallen == has_fallen[row]);
    const std::vector<float> state = poles.state.to_vector();
    // A step of float rounds some ten times, by half of 2^-23 of numbers below 16 that count by
    // 0.02.
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(std::abs(static_cast<double>(state[i]) - end[4 * row + i]) <
            12 * 10 * 16 * 0.02 / (1 << 24));
  }
  CHECK(poles.age.item() == 16);

  // Restarts only some, within the bounds of Gymnasium's reset.
  examples::CartPoles two(host, 2);
  for (const float value : two.state.to_vector())
    CHECK(std::abs(value) <= 0.05f);
  two.push(Tensor<label_t, Host>(host, {2}, {0, 1}));
  const std::vector<float> before = two.state.to_vector();
  two.restart(Tensor<bool, Host>(host, {2}, {true, false}));
  const std::vector<float> after = two.state.to_vector();
  CHECK(two.age.to_vector() == std::vector<float>{0, 1});
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(std::abs(after[i]) <= 0.05f);
    CHECK(after[4 + i] == before[4 + i]);
  }
}
