#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include <gpunet/io/dtype.hpp>

using namespace gpunet;
using namespace gpunet::io;

TEST_CASE("every type has the name and the size that the format gives it") {
  CHECK(to_string(Dtype::BOOL) == "BOOL");
  CHECK(to_string(Dtype::F8_E4M3) == "F8_E4M3");
  CHECK(to_string(Dtype::BF16) == "BF16");
  CHECK(to_string(Dtype::U64) == "U64");
  CHECK(bits_of(Dtype::F4) == 4);
  CHECK(bits_of(Dtype::F6_E3M2) == 6);
  CHECK(bits_of(Dtype::F8_E8M0) == 8);
  CHECK(bits_of(Dtype::F16) == 16);
  CHECK(bits_of(Dtype::F32) == 32);
  CHECK(bits_of(Dtype::C64) == 64);
  for (int i = 0; i <= static_cast<int>(Dtype::U64); ++i) {
    const auto dtype = static_cast<Dtype>(i);
    CHECK(dtype_from(to_string(dtype)) == dtype);
  }
  CHECK(!dtype_from("F9"));
  CHECK(!dtype_from("f32"));
  CHECK(!dtype_from(""));
  CHECK(dtype_of<float>() == Dtype::F32);
  CHECK(dtype_of<double>() == Dtype::F64);
}

TEST_CASE("half precision is decoded exactly") {
  using io::detail::half_to_float;
  // numpy.array([...], dtype=uint16).view(float16).astype(float32)
  CHECK(half_to_float(0x0001) == 0x1p-24f);
  CHECK(half_to_float(0x03FF) == 0x1.ff8p-15f);
  CHECK(half_to_float(0x0400) == 0x1p-14f);
  CHECK(half_to_float(0x8001) == -0x1p-24f);
  CHECK(half_to_float(0x3555) == 0x1.554p-2f);
  CHECK(half_to_float(0x7BFF) == 65504.0f);
  CHECK(half_to_float(0x7C00) == std::numeric_limits<float>::infinity());
  CHECK(half_to_float(0xFC00) == -std::numeric_limits<float>::infinity());
  CHECK(half_to_float(0xC500) == -5.0f);
  CHECK(std::isnan(half_to_float(0x7E01)));
  CHECK((half_to_float(0x8000) == 0.0f && std::signbit(half_to_float(0x8000))));
  // Between neighbours the value grows, over all finite numbers.
  for (std::uint16_t half = 0; half < 0x7C00; ++half) {
    const bool grows = half_to_float(half) < half_to_float(static_cast<std::uint16_t>(half + 1));
    if (!grows) CHECK_MESSAGE(grows, half);
  }
}

TEST_CASE("bfloat16 is the upper half of a float") {
  CHECK(io::detail::bfloat_to_float(0x3FC0) == 1.5f);
  CHECK(io::detail::bfloat_to_float(0x8000) == 0.0f);
  CHECK(io::detail::bfloat_to_float(0xFF80) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(io::detail::bfloat_to_float(0x7FC0)));
}
