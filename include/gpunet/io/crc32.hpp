// Check sums: of zip archives and PNG images, and of event files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <gpunet/core/config.hpp>

namespace gpunet::io::detail {

// CRC-32 of ISO 3309, and CRC-32C (Castagnoli's polynomial, RFC 3720).
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace gpunet::io::detail

#if !GPUNET_COMPILED
#include <gpunet/io/crc32.ipp>
#endif
