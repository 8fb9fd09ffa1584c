#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "support/class_results.hpp"
#include "support/devices.hpp"

using namespace gpunet;

TEST_CASE("argmax and softmax have the same bits and messages with and without tensors.hpp") {
  const auto without = class_results_without_tensors();
  const std::vector<std::string>& expected = without[0];
  CHECK(without[1] == expected);
  CHECK(without[2] == expected);
  Host& host = test_device<Host>();
  Tensor<float, Host> x;
  const auto results = [&](auto argument) {
    return class_results(
        [&](const Sizes& sizes, const std::vector<float>& values) -> decltype(auto) {
          x = Tensor<float, Host>(host, sizes, values);
          return argument();
        });
  };
  CHECK(results([&]() -> Tensor<float, Host>& { return x; }) == expected);
  CHECK(results([&]() -> const Tensor<float, Host>& { return x; }) == expected);
  CHECK(results([&] { return x.clone(); }) == expected);
  CHECK(results([&] { return detail::view_of(x); }) == expected);
  Tensor<float, Host> pairs;
  const auto every_second = [&] {
    pairs = stack({x, x}, -1);
    return select(pairs, -1, 0);
  };
  CHECK(results(every_second) == expected);
  CHECK(results([&] { return x * 1; }) == expected);
}
