// PNG images, with the checksums that their chunks have to have: else nothing behind them would be
// read once it is changed.
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/png_reader.hpp>
#include <gpunet/io/zlib.hpp>

#include "image.hpp"

namespace {

std::string with_sums(std::string file) {
  for (std::size_t at = 8; at + 12 <= file.size();) {
    std::size_t length = 0;
    for (std::size_t i = at; i < at + 4; ++i)
      length = length << 8 | static_cast<unsigned char>(file[i]);
    if (length > file.size() - at - 12) break;
    const auto sum = gpunet::io::detail::crc32(fuzz::bytes_of(file).subspan(at + 4, 4 + length));
    file.replace(at + 8 + length, 4, gpunet::io::detail::png_number(sum));
    at += 12 + length;
  }
  return file;
}

const fuzz::Register png({"png",
                          [](fuzz::Bytes bytes) {
                            const std::string file = with_sums(std::string(fuzz::text_of(bytes)));
                            fuzz::check_image(gpunet::io::decode_png(fuzz::bytes_of(file),
                                                                     "gpunet::io: the file"));
                          },
                          [] {
                            return fuzz::images("PNG");
                          }});

}  // namespace
