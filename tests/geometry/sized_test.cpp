// Random geometries of networks with sizes compiled in. The sizes are drawn at compile time,
// batches at run time.
#include <utility>

#include "geometry/check.hpp"

using namespace gpunet;
using geometry::Configuration, geometry::Draw, geometry::Registered;

namespace {

// Returns number k of a network, from low to high.
constexpr index_t drawn(std::uint64_t network, std::uint64_t k, index_t low, index_t high) {
  std::uint64_t x = (network * 64 + k + 1) * 0x9e3779b97f4a7c15u;  // the finalizer of SplitMix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return low + static_cast<index_t>((x ^ (x >> 31)) % static_cast<std::uint64_t>(high - low + 1));
}

// The first half of the networks is small.
template <std::uint64_t N>
auto network() {
  using namespace nn;
  constexpr auto of = [](std::uint64_t k, index_t low, index_t high) {
    return drawn(N, k, low, high);
  };
  constexpr index_t in = N < 12 ? 4 : 20, out = N < 12 ? 7 : 33, pixels = N < 12 ? 9 : 19;
  if constexpr (N % 4 == 0)
    return Sequential<Input<of(0, 1, 70)>, Linear<of(1, 1, 70)>, Tanh, Linear<of(2, 1, 40)>, ReLU,
                      Linear<of(3, 1, 20)>>{};
  else if constexpr (N % 4 == 1)
    return Sequential<Input<of(0, 1, in), of(1, 5, pixels), of(2, 5, pixels)>,
                      Conv2d<of(3, 1, out), of(4, 1, 3), Stride<of(5, 1, 2)>, Padding<of(6, 0, 2)>>,
                      ReLU, MaxPool2d<2>, Flatten, Linear<of(7, 1, 20)>>{};
  else if constexpr (N % 4 == 2)
    return Sequential<Input<of(0, 1, in), of(1, 3, pixels), of(2, 3, pixels)>,
                      Conv2d<of(3, 1, out), 3, Padding<1>, Stride<of(4, 1, 3)>, Bias<false>>,
                      BatchNorm2d, ReLU, Conv2d<of(5, 1, 20), of(6, 1, 3), Padding<1>>>{};
  else
    return Sequential<Input<of(0, 1, 6), of(1, 7, pixels), of(2, 7, pixels)>,
                      Conv2d<of(3, 1, out), of(4, 2, 4)>, MaxPool2d<3, Stride<2>, Padding<1>>,
                      Conv2d<of(5, 1, out), 1>, AvgPool2d<2>, Flatten, Linear<of(6, 1, 12)>>{};
}
constexpr index_t networks = 24;

template <std::uint64_t N>
Graph graph_of(geometry::Backend backend) {
  if (backend == geometry::Backend::host_double) return nn::lower<Host, double>(network<N>());
  if (backend == geometry::Backend::host_float) return nn::lower<Host, float>(network<N>());
#if GPUNET_CUDA
  if (backend == geometry::Backend::gpu_float) return nn::lower<Cuda, float>(network<N>());
#endif
  FAIL("no graphs for this device");
  return {};
}

template <std::uint64_t... N>
Graph graph_of(geometry::Backend backend, index_t number,
               std::integer_sequence<std::uint64_t, N...>) {
  Graph graph;
  ((number == static_cast<index_t>(N) ? void(graph = graph_of<N>(backend)) : void()), ...);
  return graph;
}
Graph graph_of(geometry::Backend backend, const Configuration& c) {
  return graph_of(backend, c["network"], std::make_integer_sequence<std::uint64_t, networks>());
}

const struct Sized {
  Sized() {
    geometry::Family family;
    family.draw = [](Draw& d) {
      d.batch();
      d.pick("network", 0, networks - 1);
      d.once_in("eval", 4);
    };
    family.input = [](const Configuration& c) {
      return graph_of(geometry::Backend::host_double, c).values[0];
    };
    family.graph = [](geometry::Backend backend, const Configuration& c) {
      return graph_of(backend, c);
    };
    family.effort = 20;
    geometry::families()["sized"] = family;
  }
} sized;

}  // namespace

TEST_CASE_TEMPLATE("random geometries of networks with sizes compiled in", D, GPUNET_TEST_DEVICES) {
  geometry::check_family<D>("sized");
}
