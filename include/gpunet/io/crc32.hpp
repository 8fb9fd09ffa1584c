// Checksums: of zip archives and PNG images (CRC-32), and of event files (CRC-32C).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <gpunet/core/config.hpp>

namespace gpunet::io::detail {

// Return the CRC-32 (ISO 3309) and the CRC-32C (Castagnoli, RFC 3720) of bytes that follow others
// with the checksum `before`.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace gpunet::io::detail

#if !GPUNET_COMPILED
#include <gpunet/io/crc32.ipp>
#endif
