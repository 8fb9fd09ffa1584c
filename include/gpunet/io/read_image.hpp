// Reads images from files: PNG, BMP, PPM, PGM and PBM; others by an optional reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <gpunet/core/config.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::io {

// Decodes the contents of an image file. `place` begins its messages. Throws Error.
using ImageReader = Image (*)(std::span<const std::byte> file, const std::string& place,
                              const ReadImageOptions& options);

// Returns the program's reader for other formats, null if it has none; <gpunet/io/stb_image.hpp> is
// one. A pointer, as in deflate.hpp.
ImageReader& other_images();

// Decodes the contents of a PNG, BMP, PPM, PGM or PBM file; with <gpunet/io/stb_image.hpp> also
// JPEG and GIF. PNG files need zlib (<gpunet/io/zlib.hpp>). 8 bits per channel: 1 channel for gray,
// 3 for color, one more for alpha. `name` is for messages. Throws Error if the contents are
// damaged, too large or not an image. Beside the image, memory holds some of its rows; for JPEG and
// GIF several copies of it.
Image decode_image(std::span<const std::byte> file, const std::string& name,
                   const ReadImageOptions& options = {});

// Reads an image file with any extension. Throws Error naming the file, also if it cannot be read.
Image read_image(const std::string& path, const ReadImageOptions& options = {});

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/read_image.ipp>
#endif
