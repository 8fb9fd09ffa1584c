// BMP images.
#include <gpunet/io/bmp_reader.hpp>

#include "image.hpp"

namespace {

const fuzz::Register bmp({"bmp",
                          [](fuzz::Bytes bytes) {
                            fuzz::check_image(
                                gpunet::io::decode_bmp(bytes, "gpunet::io: the file"));
                          },
                          [] {
                            return fuzz::images("BMP");
                          }});

}  // namespace
