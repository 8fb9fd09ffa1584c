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

// Makes an image of a file's contents. `place` begins its messages. Throws Error.
using ImageReader = Image (*)(std::span<const std::byte> file, const std::string& place,
                              const ReadImageOptions& options);

// The reader of the program, null where it has none; <gpunet/io/stb_image.hpp> is one. A pointer, as in deflate.hpp.
ImageReader& other_images();

// The image in the contents of a PNG, BMP, PPM, PGM or PBM file, and of what else a program reads (<gpunet/io/stb_image.hpp>:
// JPEG, GIF). PNG files take zlib (<gpunet/io/zlib.hpp>). 8 bits a channel: 1 channel for gray, 3 for colors, one more for
// alpha. `name` is for messages. Throws Error where the contents are damaged, too large or no image. Beside the image there
// are some of its rows in memory, of JPEG and GIF several copies of it.
Image decode_image(std::span<const std::byte> file, const std::string& name, const ReadImageOptions& options = {});

// The image in a file, whatever its name ends in. Throws Error naming the file, also where it cannot be read.
Image read_image(const std::string& path, const ReadImageOptions& options = {});

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/read_image.ipp>
#endif
