#include <doctest/doctest.h>

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
