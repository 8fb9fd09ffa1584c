// Images as text, for terminals that know 24-bit colors.
#pragma once

#include <string>

#include <gpunet/core/config.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet::plot {

// One character for two pixels, one above the other: each row is a line, ends with the terminal's own colors, and has no
// line break behind the last. Alpha is left out. Throws Error for an image without pixels, or with another
// number of bytes than its sizes say.
std::string half_blocks(const io::Image& image);

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/plot/terminal.ipp>
#endif
