#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/core/float16.hpp>
#include <gpunet/ops/convert.hpp>
#include <gpunet/tensor/buffer.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/isas.hpp"

using namespace gpunet;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// The definition of a format: a sign bit, `exponent` bits and the fraction.
template <class H, int exponent_bits, int bias>
double defined(std::uint16_t bits) {
  constexpr int fraction_bits = 15 - exponent_bits, most = (1 << exponent_bits) - 1;
  const int exponent = bits >> fraction_bits & most, fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == most)
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * double{infinity};
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

double exact(bfloat16 x) {
  return defined<bfloat16, 8, 127>(x.bits);
}
double exact(float16 x) {
  return defined<float16, 5, 15>(x.bits);
}

template <class H>
constexpr std::uint16_t infinite_bits = 0;
template <>
constexpr std::uint16_t infinite_bits<bfloat16> = 0x7F80;
template <>
constexpr std::uint16_t infinite_bits<float16> = 0x7C00;

// Floats at and beside each number of H, each number halfway between two, and some others.
template <class H>
std::vector<float> interesting_floats() {
  std::vector<float> all{0.0f,
                         infinity,
                         std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::max(),
                         std::numeric_limits<float>::denorm_min(),
                         65520.0f,
                         65519.996f};
  const auto add_with_neighbors = [&all](float x) {
    all.insert(all.end(), {std::nextafter(x, 0.0f), x, std::nextafter(x, infinity)});
  };
  for (std::uint16_t bits = 0; bits < infinite_bits<H>; ++bits) {
    const double here = exact(H::from_bits(bits)),
                 next = exact(H::from_bits(static_cast<std::uint16_t>(bits + 1)));
    add_with_neighbors(static_cast<float>(here));
    if (std::isfinite(next)) add_with_neighbors(static_cast<float>((here + next) / 2));
  }
  for (std::uint64_t bits = 0; bits < 0x80000000u; bits += 65'521)
    all.push_back(detail::float_of_bits(static_cast<std::uint32_t>(bits)));
  const std::size_t positive = all.size();
  for (std::size_t i = 0; i < positive; ++i)
    all.push_back(-all[i]);
  return all;
}

// Returns the number of H next to x, of two equally near ones that with an even fraction; beyond
// the largest one, infinity stands for the number that would follow it.
template <class H>
double nearest(double x) {
  if (!std::isfinite(x)) return x;
  const double magnitude = std::abs(x);
  std::uint16_t low = 0, high = infinite_bits<H>;
  const auto value = [](std::uint16_t bits) {
    if (bits < infinite_bits<H>) return exact(H::from_bits(bits));
    const double last = exact(H::from_bits(bits - 1));
    return last + (last - exact(H::from_bits(bits - 2)));
  };
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (value(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - value(low), above = value(high) - magnitude;
  const bool takes_low = below < above || (below == above && low % 2 == 0);
  return std::copysign(exact(H::from_bits(takes_low ? low : high)), x);
}

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace

TEST_CASE_TEMPLATE("every 16-bit number is the float of its definition, and comes back from it", H,
                   bfloat16, float16) {
  int wrong = 0;
  for (std::uint32_t i = 0; i < 65'536; ++i) {
    const H x = H::from_bits(static_cast<std::uint16_t>(i));
    const auto wide = static_cast<float>(x);
    const bool is_fine = same(wide, exact(x)) && same(static_cast<float>(H(wide)), wide) &&
                         (std::isnan(wide) || H(wide).bits == x.bits);
    if (!is_fine && ++wrong < 10) CHECK_MESSAGE(is_fine, i);
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("floats are rounded to the nearest number, ties to even", H, bfloat16, float16) {
  int wrong = 0;
  for (const float x : interesting_floats<H>())
    if (!same(static_cast<float>(H(x)), nearest<H>(x)) && ++wrong < 10) CHECK_MESSAGE(false, x);
  CHECK(wrong == 0);
}

TEST_CASE("numbers as torch.tensor(x).to(dtype) has them") {
  static_assert(bfloat16(1.00390625f).bits == 0x3F80);  // 1 + 2^-8, a tie
  static_assert(bfloat16(1.01171875f).bits == 0x3F82);  // 1 + 3 * 2^-8
  static_assert(bfloat16(3.4e38f).bits == 0x7F80);
  static_assert(bfloat16(-1e-40f).bits == 0x8001);
  static_assert(float16(65519.996f).bits == 0x7BFF);
  static_assert(float16(65520.0f).bits == 0x7C00);
  static_assert(float16(-2.9802322e-8f).bits == 0x8000);  // 2^-25, a tie
  static_assert(float16(2.9802326e-8f).bits == 0x0001);
  static_assert(float16(0.1f).bits == 0x2E66);
  static_assert(float{float16::from_bits(0x3555)} == 0x1.554p-2f);
  static_assert(sizeof(bfloat16) == 2 && sizeof(float16) == 2);
  CHECK(float{bfloat16(0.1f)} == 0.10009765625f);
  CHECK(std::isnan(float{float16(std::numeric_limits<float>::quiet_NaN())}));
  // Its upper half alone would be infinite.
  CHECK(std::isnan(float{bfloat16(detail::float_of_bits(0x7F800001))}));
}

TEST_CASE_TEMPLATE("loops convert as the types do, on every vector path", H, bfloat16, float16) {
  const KeepIsa keep;
  Host host({.threads = 2});
  const std::vector<float> floats = interesting_floats<H>();
  const auto n = std::ssize(floats);
  std::vector<H> expected(floats.size());
  for (std::size_t i = 0; i < floats.size(); ++i)
    expected[i] = H(floats[i]);
  const auto storage = std::is_same_v<H, bfloat16> ? Storage::bfloat16 : Storage::float16;
  const Conversions<Host, float>& convert = *conversions_of<Host, float>(storage, "");
  for (const Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    std::vector<H> narrow(floats.size());
    std::vector<float> wide(floats.size()), round(floats);
    convert.narrow(host, n, floats.data(), narrow.data());
    convert.widen(host, n, narrow.data(), wide.data());
    convert.round(host, n, round.data(), round.data());
    int wrong = 0;
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const float x = expected[i];
      const bool is_fine = narrow[i].bits == expected[i].bits &&
                           detail::bits_of_float(wide[i]) == detail::bits_of_float(x) &&
                           detail::bits_of_float(round[i]) == detail::bits_of_float(x);
      if (!is_fine && ++wrong < 10) CHECK_MESSAGE(is_fine, floats[i]);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE_TEMPLATE("devices convert alike", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Host& host = test_device<Host>();
  std::vector<float> floats;
  for (std::uint64_t bits = 0; bits < 0x100000000u; bits += 1'299'709)
    floats.push_back(detail::float_of_bits(static_cast<std::uint32_t>(bits)));
  const auto n = std::ssize(floats);
  for (const Storage storage : {Storage::bfloat16, Storage::float16}) {
    const auto run = [&]<class E>(E& on) {
      const Conversions<E, float>& convert = *conversions_of<E, float>(storage, "");
      Buffer<float, E> x(on, n), y(on, 2 * n);
      Buffer<std::uint16_t, E> narrow(on, n);
      on.upload(x.data(), floats.data(), floats.size() * sizeof(float));
      convert.narrow(on, n, x.data(), narrow.data());
      convert.widen(on, n, narrow.data(), y.data());
      convert.round(on, n, x.data(), y.data() + n);
      std::vector<std::uint32_t> all(floats.size() * 2);
      on.download(all.data(), y.data(), all.size() * sizeof(float));
      return all;
    };
    CHECK((run(device) == run(host)));
  }
}

TEST_CASE("what has no 16-bit storage") {
  CHECK(!conversions_of<Host, float>(Storage::full, ""));
  CHECK(!conversions_of<Host, double>(Storage::full, ""));
  CHECK(error_of(
            [] { conversions_of<Host, double>(Storage::bfloat16, "gpunet::Model::autocast"); }) ==
        "gpunet::Model::autocast: a network of double with a storage of 16 bits (which would lose "
        "all that double "
        "adds), use one of float");
}
