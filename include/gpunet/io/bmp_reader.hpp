// Bitmaps of Windows: BMP files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <gpunet/core/config.hpp>
#include <gpunet/io/image.hpp>
#include <gpunet/io/image_reader.hpp>

namespace gpunet::io {

bool is_bmp(std::span<const std::byte> file);

// The image of a BMP file that is not packed: 1, 4 or 8 bits with a palette, 16, 24 or 32 bits. 3 channels, or 4 if the
// header tells which bits are alpha. `place` begins the messages. Throws Error where the file is damaged, cut short, or
// of another kind.
Image decode_bmp(std::span<const std::byte> file, const std::string& place, const ReadImageOptions& options = {});

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/bmp_reader.ipp>
#endif
