#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/io/formats.hpp>

#include "corpus.hpp"

using namespace gpunet;
using io::Dtype;
using io::TensorEntry;
using io::detail::reach;

TEST_CASE("strides reach from the first element to the last") {
  constexpr index_t largest = std::numeric_limits<index_t>::max();
  CHECK(reach({}, {}) == 1);
  CHECK(reach({2, 3}, {3, 1}) == 6);
  CHECK(reach({2, 3}, {1, 3}) == 8);
  CHECK(reach({2, 3}, {0, 0}) == 1);
  CHECK(reach({1, 3}, {largest, 2}) == 5);  // the stride of one element is never walked
  CHECK(reach({0, 3}, {largest, largest}) == 0);
  CHECK(reach({3, 0}, {largest, largest}) == 0);
  // The element `largest` is the last of more than can be counted.
  CHECK(reach({2}, {largest}) == -1);
  CHECK(reach({3}, {largest}) == -1);
  CHECK(reach({2, 2}, {largest - 1, 1}) == -1);
}

TEST_CASE("an entry whose strides leave its bytes is neither copied nor written") {
  const TempFolder folder;
  const std::vector<float> values{0, 1, 2, 3, 4, 5};
  const auto check = [&](const Sizes& sizes, const Sizes& strides, std::string_view message) {
    const auto says = [&](const std::string& error) {
      return message.empty() ? error.empty() : contains(error, message);
    };
    const TensorEntry entry{"w", Dtype::F32, sizes, std::as_bytes(std::span(values)), strides};
    std::vector<double> out(static_cast<std::size_t>(sizes.numel()));
    CHECK(says(error_of([&] { io::copy_as(entry, std::span(out)); })));
    for (const char* name : {"x.safetensors", "x.pth", "x.npy", "x.npz"}) {
      CAPTURE(name);
      CHECK(says(error_of([&] { io::write_tensors(folder / name, std::span(&entry, 1)); })));
    }
  };
  check({2, 3}, {3, 1}, "");
  check({2, 4}, {1, 1}, "");  // several elements may be the same
  check({2, 3}, {4, 1},
        "\"w\" of shape [2, 3], strides [4, 1] and dtype F32 exceeds its 24 bytes, give strides in "
        "elements, one "
        "for each "
        "dimension, and all bytes");
  check({2, 3}, {1}, "exceeds its 24 bytes");
  check({2, 3}, {std::numeric_limits<index_t>::max(), 1}, "exceeds its 24 bytes");
  check({2, 4}, {},
        "\"w\" has 24 bytes, which do not fit its shape [2, 4] and dtype F32, give all elements");
  CHECK(folder.count() == 4);  // those of the first two
}

namespace {

template <class Stored>
TensorEntry entry_of(Dtype dtype, const std::vector<Stored>& stored) {
  return {"x", dtype, {static_cast<index_t>(stored.size())}, std::as_bytes(std::span(stored))};
}
template <class T>
std::vector<T> read_as(const TensorEntry& entry) {
  std::vector<T> out(static_cast<std::size_t>(entry.sizes.numel()));
  io::copy_as(entry, std::span(out));
  return out;
}

}  // namespace

TEST_CASE("unsigned integers of all sizes are read") {
  const std::vector<std::uint16_t> u16{0, 1, 65535};
  const std::vector<std::uint32_t> u32{0, 1, 4294967295u};
  const std::vector<std::uint64_t> u64{0, 1, 1099511627776u}, large{18446744073709551615u};
  CHECK(read_as<float>(entry_of(Dtype::U16, u16)) == std::vector<float>{0, 1, 65535});
  CHECK(read_as<std::int32_t>(entry_of(Dtype::U16, u16)) == std::vector<std::int32_t>{0, 1, 65535});
  CHECK(read_as<index_t>(entry_of(Dtype::U32, u32)) == std::vector<index_t>{0, 1, 4294967295});
  CHECK(read_as<double>(entry_of(Dtype::U64, u64)) == std::vector<double>{0, 1, 1099511627776});
  CHECK(read_as<index_t>(entry_of(Dtype::U64, u64)) == std::vector<index_t>{0, 1, 1099511627776});
  CHECK(read_as<double>(entry_of(Dtype::U64, large)) == std::vector<double>{0x1p64});
  CHECK(error_of([&] { read_as<std::int32_t>(entry_of(Dtype::U32, u32)); }) ==
        "gpunet::io::copy_as: \"x\" has the number 4294967295 (want integers from -2147483648 to "
        "2147483647), read "
        "it "
        "as index_t");
  CHECK(contains(error_of([&] { read_as<index_t>(entry_of(Dtype::U64, large)); }),
                 "has the number 18446744073709551615 (want integers from -9223372036854775808 to "
                 "9223372036854775807), "
                 "read it as double"));
}

// The numbers are PyTorch's: bytes.view(torch.float8_e4m3fn).double().
TEST_CASE("floating-point numbers of 8 bits are read as by PyTorch") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                   inf = std::numeric_limits<double>::infinity();
  const std::vector<std::uint8_t> bytes{0x00, 0x01, 0x07, 0x08, 0x38, 0x3C, 0x40, 0x78, 0x7B,
                                        0x7C, 0x7E, 0x7F, 0x80, 0x81, 0xB9, 0xFE, 0xFF};
  const auto check = [&](Dtype dtype, const std::vector<double>& expected) {
    CAPTURE(io::to_string(dtype));
    const std::vector<double> numbers = read_as<double>(entry_of(dtype, bytes));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      CHECK((std::isnan(expected[i]) ? std::isnan(numbers[i]) : numbers[i] == expected[i]));
      CHECK(std::signbit(numbers[i]) == (!std::isnan(expected[i]) && std::signbit(expected[i])));
    }
    CHECK(io::is_parameter_type(dtype));
  };
  check(Dtype::F8_E4M3, {0.0, 0.001953125, 0.013671875, 0.015625, 1.0, 1.5, 2.0, 256.0, 352.0,
                         384.0, 448.0, nan, -0.0, -0.001953125, -1.125, -448.0, nan});
  check(Dtype::F8_E4M3FNUZ,
        {0.0, 0.0009765625, 0.0068359375, 0.0078125, 0.5, 0.75, 1.0, 128.0, 176.0, 192.0, 224.0,
         240.0, nan, -0.0009765625, -0.5625, -224.0, -240.0});
  check(Dtype::F8_E5M2FNUZ,
        {0.0, 7.62939453125e-06, 5.340576171875e-05, 6.103515625e-05, 0.25, 0.5, 1.0, 16384.0,
         28672.0, 32768.0, 49152.0, 57344.0, nan, -7.62939453125e-06, -0.3125, -49152.0, -57344.0});
  check(Dtype::F8_E8M0, {0x1p-127, 0x1p-126, 0x1p-120, 0x1p-119, 0x1p-71, 0x1p-67, 0x1p-63, 0x1p-7,
                         0x1p-4, 0x1p-3, 0.5, 1.0, 2.0, 4.0, 0x1p58, 0x1p127, nan});
  const std::vector<double> e5m2 = read_as<double>(entry_of(Dtype::F8_E5M2, bytes));
  CHECK(std::vector(e5m2.begin(), e5m2.begin() + 10) ==
        std::vector<double>{0.0, 1.52587890625e-05, 0.0001068115234375, 0.0001220703125, 0.5, 1.0,
                            2.0, 32768.0, 57344.0, inf});
  CHECK((std::isnan(e5m2[10]) && std::isnan(e5m2[16]) && e5m2[14] == -0.625));
}

TEST_CASE("messages about an entry name its file") {
  const TempFolder folder;
  const std::vector<std::complex<float>> z(2);
  const std::vector<std::int64_t> large{1 << 20};
  const auto error = [&](const std::string& name, const TensorEntry& entry) {
    io::write_tensors(folder / name, std::span(&entry, 1));
    const io::TensorFile file = io::read_tensors(folder / name), moved = file;
    return error_of([&] { read_as<std::uint8_t>(moved.entries()[0]); });
  };
  const TensorEntry complex = entry_of(Dtype::C64, z), integer = entry_of(Dtype::I64, large);
  CHECK(error("z.npy", complex) ==
        "gpunet::io::copy_as: " + folder / "z.npy" +
            ": the array has elements of C64 (complex; gpunet reads real numbers), save its "
            "real and imaginary parts");
  CHECK(contains(error("i.npy", integer), folder / "i.npy" + ": the array has the number 1048576"));
  for (const char* name : {"x.npz", "x.safetensors", "x.pth"}) {
    CHECK(contains(error(name, complex), folder / name + ": \"x\" has elements of C64"));
    CHECK(contains(error(name, integer), folder / name + ": \"x\" has the number 1048576"));
  }
  const std::vector<std::uint8_t> small(3);
  CHECK(contains(
      error_of([&] {
        read_as<float>({"x", Dtype::F6_E2M3, {4}, std::as_bytes(std::span(small))});
      }),
      "\"x\" has elements of F6_E2M3 (of less than a byte), convert it to F32 before saving"));
}
