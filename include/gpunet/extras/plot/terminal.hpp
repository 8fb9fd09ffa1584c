// Images as text, for terminals with 24-bit colors.
#pragma once

#include <string>

#include <gpunet/core/config.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::plot {

// Returns the image as text: one character for two pixels, one above the other. Each row of
// characters is a line and resets the terminal's colors at its end; the last has no line break.
// Alpha is ignored. Throws Error for an image without pixels or with the wrong number of bytes.
std::string half_blocks(const io::Image& image);

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/extras/plot/terminal.ipp>
#endif
