#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/nn/conv2d.hpp>
#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/nn/max_pool2d.hpp>
#include <gpunet/nn/named.hpp>
#include <gpunet/nn/relu.hpp>
#include <gpunet/nn/sequential.hpp>

#include "support/errors.hpp"

using namespace gpunet;

namespace {

using Net =
    nn::Sequential<nn::Input<3, 32, 32>, nn::Named<"conv1", nn::Conv2d<6, 5>>, nn::ReLU,
                   nn::MaxPool2d<2>, nn::Flatten, nn::Named<"fc", nn::Linear<10>>, nn::Linear<4>>;

template <std::size_t>
struct Same : nn::Linear<3> {};

// The sizes of all values.
template <class N>
std::vector<Sizes> sizes_of(const N& net) {
  return nn::lower<void, void>(net).values;
}

template <class N>
std::vector<std::string> names_of(const N& net) {
  std::vector<std::string> names;
  for (const Node& node : nn::lower<void, void>(net).nodes)
    names.push_back(node.name);
  return names;
}

template <std::size_t... I>
auto deep(std::index_sequence<I...>) {
  return nn::Sequential<nn::Input<3>, Same<I>...>();
}

}  // namespace

TEST_CASE("shapes are inferred from layer to layer") {
  constexpr Net net;
  static_assert(std::is_same_v<decltype(net.output()), Shape<4>>);
  CHECK(sizes_of(net) ==
        std::vector<Sizes>{{3, 32, 32}, {6, 28, 28}, {6, 28, 28}, {6, 14, 14}, {1176}, {10}, {4}});
  CHECK(net.input().sizes() == Sizes{3, 32, 32});
}

TEST_CASE("layers without a name are called by their position") {
  CHECK(names_of(Net{}) == std::vector<std::string>{"conv1", "1", "2", "3", "fc", "5"});
}

TEST_CASE("a network of sizes given at run time has the shapes of the static one") {
  const nn::Sequential net(
      nn::Input<3, dyn, dyn>(Shape(Dim<3>{}, Dim(index_t{32}), Dim(index_t{32}))), nn::Conv2d(6, 5),
      nn::ReLU{}, nn::MaxPool2d<2>{}, nn::Flatten{}, nn::Linear(10), nn::Linear(4));
  CHECK(sizes_of(net) == sizes_of(Net()));
  CHECK(net.output().sizes() == Sizes{4});
}

TEST_CASE("two layers of the same size keep their own") {
  const nn::Sequential net(nn::Input<2>{}, nn::Linear(3), nn::Linear(5), nn::Linear(3));
  CHECK(sizes_of(net) == std::vector<Sizes>{{2}, {3}, {5}, {3}});
}

TEST_CASE("a network may be deep") {
  const auto net = deep(std::make_index_sequence<100>{});
  CHECK(net.output().sizes() == Sizes{3});
  CHECK(names_of(net)[99] == "99");
}

TEST_CASE("a shape that is not possible is found at run time where the compiler cannot know it") {
  const nn::Sequential net(
      nn::Input<3, dyn, dyn>(Shape(Dim<3>{}, Dim(index_t{4}), Dim(index_t{32}))), nn::Conv2d(6, 5));
  CHECK_THROWS_AS(net.output(), Error);
}

TEST_CASE("the extents of an Input as numbers") {
  const index_t rows = 4;
  const nn::Input input{rows};
  static_assert(std::is_same_v<decltype(input), const nn::Input<dyn>>);
  CHECK(input.shape.sizes() == Sizes{4});
  CHECK(nn::Sequential(nn::Input{3, rows, std::size_t{5}}, nn::Flatten{}).output().numel() == 60);
  CHECK(nn::Sequential(nn::Input{rows}, nn::Linear<2>{}).output().numel() == 2);
  static_assert(std::is_same_v<decltype(nn::Input{Shape<3, 2>{}}), nn::Input<3, 2>>);
  static_assert(!std::is_constructible_v<nn::Input<3>, int>);
  CHECK(error_of([] { nn::Input{0}; }) == "gpunet::nn::Input: an extent of 0 (want 1 or more)");
  CHECK(error_of([] {
          nn::Input{3, -1, 2};
        }) == "gpunet::nn::Input: an extent of -1 (want 1 or more)");
}
