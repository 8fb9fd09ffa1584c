// Bodies of crc32.hpp.
#pragma once

#include <array>
#include <cstring>

#include <gpunet/io/crc32.hpp>

namespace gpunet::io::detail {

// Returns tables whose entry [k][b] is the remainder of the byte b followed by k zero bytes, modulo
// a polynomial with reversed bits. Computed on first use: at compile time both would take the
// compiler a fifth of a second.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;
inline CrcTables crc_tables(std::uint32_t polynomial) {
  CrcTables tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t rest = b;
    for (int bit = 0; bit < 8; ++bit)
      rest = rest >> 1 ^ (rest & 1u ? polynomial : 0u);
    tables[0][b] = rest;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b)
      tables[k][b] = tables[k - 1][b] >> 8 ^ tables[0][tables[k - 1][b] & 0xFFu];
  return tables;
}

// Processes eight bytes at a time. `before` is the checksum of the bytes before.
inline std::uint32_t crc(const CrcTables& tables, std::span<const std::byte> bytes,
                         std::uint32_t before) {
  std::uint32_t rest = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= rest;
    rest = 0;
    for (std::size_t i = 0; i < 8; ++i)
      rest ^= tables[7 - i][word >> 8 * i & 0xFFu];
  }
  for (const std::byte byte : bytes)
    rest = rest >> 8 ^ tables[0][(rest ^ static_cast<std::uint32_t>(byte)) & 0xFFu];
  return ~rest;
}

GPUNET_INLINE std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  static const CrcTables tables = crc_tables(0xEDB88320u);
  return crc(tables, bytes, before);
}

GPUNET_INLINE std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  static const CrcTables tables = crc_tables(0x82F63B78u);
  return crc(tables, bytes, before);
}

}  // namespace gpunet::io::detail
