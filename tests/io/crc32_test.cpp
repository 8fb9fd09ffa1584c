#include <doctest/doctest.h>
#include <span>
#include <string>
#include <string_view>

#include <gpunet/io/crc32.hpp>

using gpunet::io::detail::crc32;
using gpunet::io::detail::crc32c;

TEST_CASE("the sum of the standard's check text, at once and in two parts") {
  const std::string_view text = "123456789", longer = "The quick brown fox jumps over the lazy dog";
  CHECK(crc32(std::as_bytes(std::span(text))) == 0xCBF43926u);
  CHECK(crc32(std::as_bytes(std::span(longer))) == 0x414FA339u);
  CHECK(crc32({}) == 0);
  for (std::size_t n = 0; n <= longer.size(); ++n) {
    const auto bytes = std::as_bytes(std::span(longer));
    CHECK(crc32(bytes.subspan(n), crc32(bytes.first(n))) == 0x414FA339u);
  }
}

// RFC 3720, B.4.
TEST_CASE("Castagnoli's sum") {
  const std::string text = "123456789", zeros(32, '\0'), ones(32, '\xFF');
  CHECK(crc32c(std::as_bytes(std::span(text))) == 0xE3069283u);
  CHECK(crc32c(std::as_bytes(std::span(zeros))) == 0x8A9136AAu);
  CHECK(crc32c(std::as_bytes(std::span(ones))) == 0x62A8AB43u);
}
