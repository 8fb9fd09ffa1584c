// The idx files of MNIST and of sets made after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/data/pixels.hpp>

namespace gpunet::data {

// Grey images of one size and a label from 0 to 9 for each, from two files; all in memory.
class IdxFiles {
 public:
  // PART-images-idx3-ubyte and PART-labels-idx1-ubyte in `folder` or else in its subfolder; as they are, or packed by gzip
  // with .gz behind the name, up to 1 GiB unpacked. `where` begins the messages. Throws Error if a file is missing, damaged, or
  // does not fit the other; before memory is taken, if its header shows it.
  IdxFiles(std::string_view where, std::string folder, std::string_view subfolder, const std::string& part);

  index_t size() const { return static_cast<index_t>(labels_.size()); }
  const ImageSizes& sizes() const { return sizes_; }
  const std::uint8_t* image(index_t i) const;
  label_t label(index_t i) const { return std::to_integer<label_t>(labels_[static_cast<std::size_t>(i)]); }

 private:
  ImageSizes sizes_;
  std::vector<std::byte> images_;  // [size()][height][width]
  std::vector<std::byte> labels_;  // [size()]
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/idx_files.ipp>
#endif
