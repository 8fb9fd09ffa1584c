// Images of Netpbm: PBM, PGM and PPM files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <gpunet/core/config.hpp>
#include <gpunet/io/image.hpp>
#include <gpunet/io/image_reader.hpp>

namespace gpunet::io {

bool is_pnm(std::span<const std::byte> file);

// The image of a PBM, PGM or PPM file, the first one if it has several, with 1 channel or 3. `place` begins the messages.
// Throws Error where the file is damaged or cut short.
Image decode_pnm(std::span<const std::byte> file, const std::string& place, const ReadImageOptions& options = {});

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/pnm_reader.ipp>
#endif
