// Bodies of read_image.hpp.
#pragma once

#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/bmp_reader.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/foreign_file.hpp>
#include <gpunet/io/png_reader.hpp>
#include <gpunet/io/pnm_reader.hpp>
#include <gpunet/io/read_image.hpp>

namespace gpunet::io {

namespace detail {

// A format that gpunet does not read itself.
struct OtherImage {
  std::size_t at;  // the position of the text
  std::string_view text, what;
  bool by_other_reader;  // whether the reader of other_images() supports it
};
inline constexpr OtherImage other_image_kinds[] = {
    {0, "\xFF\xD8\xFF", "a JPEG image", true},
    {0, "GIF8", "a GIF image", true},
    {0, "8BPS", "a Photoshop image", true},
    {8, "WEBP", "a WebP image", false},
    {0, {"II*\0", 4}, "a TIFF image", false},
    {0, {"MM\0*", 4}, "a TIFF image", false},
    {4, "ftyp", "an AVIF or HEIC image, or a film", false},
};

}  // namespace detail

GPUNET_INLINE ImageReader& other_images() {
  static ImageReader reader = nullptr;
  return reader;
}

GPUNET_INLINE Image decode_image(std::span<const std::byte> file, const std::string& name,
                                 const ReadImageOptions& options) {
  const std::string place = concat("gpunet::io: ", name);
  if (is_png(file)) return decode_png(file, place, options);
  if (is_bmp(file)) return decode_bmp(file, place, options);
  if (is_pnm(file)) return decode_pnm(file, place, options);
  const std::string_view text = detail::as_text(file);
  for (const auto& [at, begin, what, by_other_reader] : detail::other_image_kinds) {
    if (text.size() < at || !text.substr(at).starts_with(begin)) continue;
    if (by_other_reader && other_images()) {
      Image image = other_images()(file, place, options);
      detail::check_image(place, image);
      return image;
    }
    throw_error(
        Error(concat(place, " is ", what, ", which this program does not read: save it as PNG",
                     by_other_reader ? ", or include <gpunet/io/stb_image.hpp> in one source and "
                                       "link gpunet::stb_image (-lstb)"
                                     : "")));
  }
  detail::refuse_foreign(text, name);
  throw_error(Error(concat(
      place, " is no image that gpunet knows (PNG, BMP, PPM, PGM, PBM), save it as one of these")));
}

GPUNET_INLINE Image read_image(const std::string& path, const ReadImageOptions& options) {
  return decode_image(read_file(path), path, options);
}

}  // namespace gpunet::io
