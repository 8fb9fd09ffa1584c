#include <array>
#include <bit>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/device/functor_math.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/vector_math.hpp>

#include "support/isas.hpp"
#include "support/sanitizers.hpp"

#define GPUNET_KERNELS "device/host_vector_math_kernels.inl"
#include <gpunet/device/host/each_isa_path.inl>

using namespace gpunet;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
// Of the bit patterns of floats that are tried.
constexpr std::uint64_t stride = under_sanitizers ? 16001 : 509;

using Map = void (*)(index_t n, const float* x, float* y);

// A function of vectors, and that of single numbers, over an array.
#define GPUNET_TEST_FUNCTION(NAME)                        \
  void map_##NAME(index_t n, const float* x, float* y) {  \
    GPUNET_CALL_PATH(16, test_##NAME, n, x, y);           \
  }                                                       \
  void each_##NAME(index_t n, const float* x, float* y) { \
    for (index_t i = 0; i < n; ++i)                       \
      y[i] = math::NAME(x[i]);                            \
  }

GPUNET_TEST_FUNCTION(exp)
GPUNET_TEST_FUNCTION(expm1)
GPUNET_TEST_FUNCTION(log)
GPUNET_TEST_FUNCTION(log1p)
GPUNET_TEST_FUNCTION(tanh)
GPUNET_TEST_FUNCTION(erf)

#undef GPUNET_TEST_FUNCTION

// sin, cos and tan of single numbers, and of those up to scalar::largest_circular in a vectorized
// loop.
#define GPUNET_TEST_FUNCTION(NAME)                                                                \
  struct Of_##NAME {                                                                              \
    const float* x;                                                                               \
    float* y;                                                                                     \
    [[gnu::always_inline]] inline void operator()(index_t i) const { y[i] = scalar::NAME(x[i]); } \
  };                                                                                              \
  void map_##NAME(index_t n, const float* x, float* y) {                                          \
    const Of_##NAME f{x, y};                                                                      \
    detail::loop_over<Of_##NAME>()(&f, 0, n);                                                     \
  }                                                                                               \
  void each_##NAME(index_t n, const float* x, float* y) {                                         \
    for (index_t i = 0; i < n; ++i)                                                               \
      y[i] = math::NAME(x[i]);                                                                    \
  }

GPUNET_TEST_FUNCTION(sin)
GPUNET_TEST_FUNCTION(cos)
GPUNET_TEST_FUNCTION(tan)

#undef GPUNET_TEST_FUNCTION

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

// The largest error over floats of all signs, and of all sizes up to `largest`, on each path.
std::vector<double> worst_errors(Map map, double (*exact)(double), float largest = infinity) {
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
        if (!(std::fabs(x[i]) > largest))
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

TEST_CASE(
    "functions of vectors and of single numbers err by 2 units in the last place at most, some by "
    "3") {
  struct Function {
    Map of_vectors, of_numbers;
    double (*exact)(double);
    double bound;
  };
  for (const Function& f :
       {Function{map_exp, each_exp, std::exp, 2}, Function{map_log, each_log, std::log, 2},
        Function{map_tanh, each_tanh, std::tanh, 2}, Function{map_expm1, each_expm1, std::expm1, 3},
        Function{map_log1p, each_log1p, std::log1p, 3}, Function{map_erf, each_erf, std::erf, 3}}) {
    CAPTURE(f.exact(0.5));
    for (double worst : worst_errors(f.of_vectors, f.exact))
      CHECK(worst <= f.bound);
    CHECK(worst_errors(f.of_numbers, f.exact)[0] <= f.bound);
  }
}

// The rest r of sin and cos has an error of 0.5 ulp, which sin r and cos r enlarge to 0.9 of theirs
// at most (from 0.5 to pi / 4, where an ulp of sin r may be half one of r). Squares and
// corrections, below 0.3 of the result, add 0.3, and the result is rounded. Those of tan are of
// doubles: 0.5 for the rounding, and the errors of the two polynomials, 2^-33 and 2^-37.
TEST_CASE(
    "sin and cos err by 2 units in the last place at most, tan by 0.51, large numbers by 0.51") {
  struct Function {
    Map of_vectors, of_numbers;
    double (*exact)(double);
    double bound;
  };
  for (const Function& f :
       {Function{map_sin, each_sin, std::sin, 2}, Function{map_cos, each_cos, std::cos, 2},
        Function{map_tan, each_tan, std::tan, 0.51}}) {
    CAPTURE(f.exact(0.5));
    for (double worst : worst_errors(f.of_vectors, f.exact, scalar::largest_circular))
      CHECK(worst <= f.bound);
    CHECK(worst_errors(f.of_numbers, f.exact)[0] <= f.bound);
  }
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

TEST_CASE("expm1, log1p and erf of vectors at the ends") {
  on_each_path([] {
    CHECK(value_of(map_expm1, infinity) == infinity);
    CHECK(value_of(map_expm1, -infinity) == -1);
    CHECK(value_of(map_log1p, infinity) == infinity);
    CHECK(value_of(map_log1p, -1) == -infinity);
    CHECK(std::isnan(value_of(map_log1p, -2)));
    CHECK(value_of(map_erf, infinity) == 1);
    CHECK(value_of(map_erf, -infinity) == -1);
    for (const Map map : {map_expm1, map_log1p, map_erf}) {
      CHECK(value_of(map, 0) == 0);
      CHECK(std::signbit(value_of(map, -0.0f)));
      CHECK(std::isnan(value_of(map, std::nanf(""))));
    }
  });
}

TEST_CASE("sin, cos and tan at the ends") {
  for (const Map map : {each_sin, each_tan}) {
    CHECK(value_of(map, 0) == 0);
    CHECK(!std::signbit(value_of(map, 0)));
    CHECK(std::signbit(value_of(map, -0.0f)));
    CHECK(value_of(map, 1e-45f) == 1e-45f);
    CHECK(value_of(map, -1e-39f) == -1e-39f);
  }
  CHECK(value_of(each_cos, 0) == 1);
  CHECK(value_of(each_cos, -0.0f) == 1);
  CHECK(value_of(each_cos, 1e-39f) == 1);
  for (const Map map : {each_sin, each_cos, each_tan})
    for (const float x : {infinity, -infinity, std::nanf("")})
      CHECK(std::isnan(value_of(map, x)));
  // Results near multiples of pi / 2, and of large numbers, as computed by mpmath to 60 digits.
  for (const auto& [x, sine, cosine] :
       {std::array{0x1.f9cbe2p+7, 1.0, -4.1857068037572076e-9},
        std::array{0x1.f9cbe2p+8, -8.3714136075144152e-9, -1.0},
        std::array{0x1.2d97c8p+2, -1.0, 1.1924880454806035e-8},
        std::array{0x1.47d0fep+34, 1.0, -2.0126460319185526e-9},
        std::array{0x1.f37c8ap+96, -3.2295395964952424e-9, -1.0},
        std::array{0x1.0f0cfp+73, -0.73408153529610153, 0.67906133709505097},
        std::array{0x1.fffffep+127, -0.52187652333365854, 0.85302103983030416}}) {
    const auto number = static_cast<float>(x);
    CAPTURE(number);
    CHECK(error_in_ulps(value_of(each_sin, number), sine) <= 2);
    CHECK(error_in_ulps(value_of(each_cos, number), cosine) <= 2);
    CHECK(error_in_ulps(value_of(each_tan, number), sine / cosine) <= 0.51);
    CHECK(value_of(each_sin, -number) == -value_of(each_sin, number));
    CHECK(value_of(each_cos, -number) == value_of(each_cos, number));
  }
}

TEST_CASE("select of single numbers returns the bits of its argument") {
  CHECK(math::select(true, 1.5f, std::nanf("")) == 1.5f);
  CHECK(math::select(false, infinity, -0.5f) == -0.5f);
  CHECK(std::signbit(math::select(true, -0.0f, 1.0f)));
  CHECK(math::select(false, 1.0, 2.0) == 2.0);
}
