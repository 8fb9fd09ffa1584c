// PNG files, read.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <gpunet/core/config.hpp>
#include <gpunet/io/image.hpp>
#include <gpunet/io/image_reader.hpp>

namespace gpunet::io {

bool is_png(std::span<const std::byte> file);

// The image of a PNG file of any kind, with the channels that it has (those of the palette where it has one, and one for
// alpha where a color is transparent); of numbers of 16 bits the upper eight. `place` begins the messages. Throws Error where
// the file is damaged or cut short, or where the program has no codec (see zlib.hpp).
Image decode_png(std::span<const std::byte> file, const std::string& place, const ReadImageOptions& options = {});

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/png_reader.ipp>
#endif
