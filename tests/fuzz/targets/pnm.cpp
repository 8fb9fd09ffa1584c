// PBM, PGM and PPM images.
#include <gpunet/io/pnm_reader.hpp>

#include "image.hpp"

namespace {

const fuzz::Register pnm({"pnm",
                          [](fuzz::Bytes bytes) {
                            fuzz::check_image(
                                gpunet::io::decode_pnm(bytes, "gpunet::io: the file"));
                          },
                          [] {
                            std::vector<std::string> files;
                            for (const char* kind : {"P1", "P2", "P3", "P4", "P5", "P6"})
                              for (std::string& file : fuzz::images(kind))
                                files.push_back(std::move(file));
                            return files;
                          }});

}  // namespace
