#include <bit>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/device/host/vector_math.hpp>

#include "support/isas.hpp"

#define GPUNET_KERNELS "device/host_vector_math_kernels.inl"
#include <gpunet/device/host/each_path.inl>

using namespace gpunet;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::uint64_t stride = 509;  // of the bit patterns of floats that are tried

using Map = void (*)(index_t n, const float* x, float* y);

void map_exp(index_t n, const float* x, float* y) {
  GPUNET_CALL_PATH(16, test_exp, n, x, y);
}
void map_log(index_t n, const float* x, float* y) {
  GPUNET_CALL_PATH(16, test_log, n, x, y);
}
void map_tanh(index_t n, const float* x, float* y) {
  GPUNET_CALL_PATH(16, test_tanh, n, x, y);
}

float value_of(Map map, float x) {
  std::vector<float> in(16, x), out(16);
  map(16, in.data(), out.data());
  for (float y : out)
    CHECK(std::bit_cast<std::uint32_t>(y) == std::bit_cast<std::uint32_t>(out[0]));
  return out[0];
}

// How far y is from `exact`, in units of the last place that a float has there.
double error_in_ulps(float y, double exact) {
  if (std::isnan(exact)) return std::isnan(y) ? 0 : infinity;
  if (static_cast<float>(exact) == y) return 0;  // infinities too
  const int exponent = std::max(std::ilogb(exact), -126);
  return std::abs(static_cast<double>(y) - exact) / std::ldexp(1.0, exponent - 23);
}

// The largest error over floats of all signs and sizes, on each path.
std::vector<double> worst_errors(Map map, double (*exact)(double)) {
  constexpr std::size_t block = 4096;
  const KeepIsa keep;
  std::vector<double> worst(isas().size());
  std::vector<float> x(block), y(block);
  std::vector<double> right(block);
  for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += block * stride) {
    for (std::size_t i = 0; i < block; ++i) {
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(first + i * stride));
      right[i] = exact(static_cast<double>(x[i]));
    }
    for (std::size_t path = 0; path < worst.size(); ++path) {
      set_isa(isas()[path]);
      map(block, x.data(), y.data());
      for (std::size_t i = 0; i < block; ++i)
        worst[path] = std::max(worst[path], error_in_ulps(y[i], right[i]));
    }
  }
  return worst;
}

// f for each path.
template <class F>
void on_each_path(F f) {
  const KeepIsa keep;
  for (Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    f();
  }
}

}  // namespace

TEST_CASE("exp, log and tanh of vectors err by 2 units in the last place at most") {
  for (double worst : worst_errors(map_exp, std::exp))
    CHECK(worst <= 2);
  for (double worst : worst_errors(map_log, std::log))
    CHECK(worst <= 2);
  for (double worst : worst_errors(map_tanh, std::tanh))
    CHECK(worst <= 2);
}

TEST_CASE("exp of vectors at the ends") {
  on_each_path([] {
    CHECK(value_of(map_exp, 0) == 1);
    CHECK(value_of(map_exp, -0.0f) == 1);
    CHECK(value_of(map_exp, infinity) == infinity);
    CHECK(value_of(map_exp, -infinity) == 0);
    CHECK(value_of(map_exp, 88.73f) == infinity);
    CHECK(value_of(map_exp, 88.72f) < infinity);
    CHECK(value_of(map_exp, -103.9f) == std::numeric_limits<float>::denorm_min());
    CHECK(value_of(map_exp, -104.0f) == 0);
    CHECK(std::isnan(value_of(map_exp, std::nanf(""))));
  });
}

TEST_CASE("log of vectors at the ends") {
  on_each_path([] {
    CHECK(value_of(map_log, 1) == 0);
    CHECK(value_of(map_log, 0) == -infinity);
    CHECK(value_of(map_log, -0.0f) == -infinity);
    CHECK(value_of(map_log, infinity) == infinity);
    CHECK(std::isnan(value_of(map_log, -1)));
    CHECK(std::isnan(value_of(map_log, -infinity)));
    CHECK(std::isnan(value_of(map_log, std::nanf(""))));
  });
}

TEST_CASE("tanh of vectors at the ends") {
  on_each_path([] {
    CHECK(value_of(map_tanh, infinity) == 1);
    CHECK(value_of(map_tanh, -infinity) == -1);
    CHECK(value_of(map_tanh, 20) == 1);
    CHECK(std::signbit(value_of(map_tanh, -0.0f)));
    CHECK(std::isnan(value_of(map_tanh, std::nanf(""))));
  });
}
