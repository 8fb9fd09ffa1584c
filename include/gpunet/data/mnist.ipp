// Bodies of mnist.hpp.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/data/dataset.hpp>
#include <gpunet/data/mnist.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/gzip.hpp>

namespace gpunet::data {

namespace detail {

// Files of images with at most these sizes are read.
inline constexpr index_t most_idx_side = 1 << 10;
// Bytes of a compressed file, decompressed.
inline constexpr std::size_t most_idx_bytes = std::size_t{1} << 30;

// Returns the path of the file, plain or compressed by gzip. Its name may have a dot for its second
// dash (train-images.idx3-ubyte). Throws Error if there is none.
GPUNET_INLINE std::string find_idx(std::string_view where, const std::string& folder,
                                   const std::string& name) {
  std::string with_dot = name;
  with_dot[name.rfind("-idx")] = '.';
  for (const std::string& stem : {name, with_dot})
    for (const char* ending : {"", ".gz"})
      if (const std::string path = io::join(folder, stem) + ending;
          io::exists(path) && !io::is_folder(path))
        return path;
  throw_error(Error(concat(where, folder, " has neither ", name, " nor ", name,
                           ".gz, fetch the four idx files (scripts/get_mnist.sh ", folder,
                           ", for FashionMNIST with --fashion)")));
}

struct IdxFile {
  Sizes sizes;
  std::vector<std::byte> bytes;
};
// Reads an array of unsigned bytes. The file has the bytes 0, 0, 8 and the rank, each size as a
// big-endian number of four bytes, then the elements.
GPUNET_INLINE IdxFile read_idx(std::string_view where, const std::string& path, int rank) {
  std::vector<std::byte> file = io::read_file(path);
  const std::size_t header = 4 + 4 * static_cast<std::size_t>(rank);
  std::optional<io::detail::GzipReader> packed;
  if (io::is_gzip(file)) packed.emplace(file, path);
  const auto first = std::span(file).first(std::min(header, file.size()));
  const std::vector<std::byte> start =
      packed ? packed->start(header) : std::vector(first.begin(), first.end());
  const auto at = [&](std::size_t i) {
    return std::to_integer<index_t>(start[i]);
  };
  require(start.size() == header && at(0) == 0 && at(1) == 0 && at(2) == 8 && at(3) == rank, where,
          path, " does not begin as an idx file of bytes with ", rank,
          " dimensions does, fetch it again");
  IdxFile idx;
  for (std::size_t i = 4; i < header; i += 4)
    idx.sizes.append(at(i) << 24 | at(i + 1) << 16 | at(i + 2) << 8 | at(i + 3));
  for (int d = 1; d < rank; ++d)
    require(0 < idx.sizes[d] && idx.sizes[d] <= most_idx_side, where, path, " has images of ",
            idx.sizes[1], " x ", idx.sizes[2], " pixels (want sides of 1 to ", most_idx_side,
            "): it is damaged, fetch it again");
  const std::size_t wanted = header + static_cast<std::size_t>(idx.sizes.numel());
  idx.bytes = packed ? packed->read(std::min(wanted, most_idx_bytes)) : std::move(file);
  require(idx.bytes.size() == wanted, where, path, " has ", idx.bytes.size(), " bytes (want ",
          wanted, " for the shape ", to_string(idx.sizes),
          "): it is cut short or too long, fetch it again");
  idx.bytes.erase(idx.bytes.begin(), idx.bytes.begin() + static_cast<std::ptrdiff_t>(header));
  return idx;
}

GPUNET_INLINE IdxFiles::IdxFiles(std::string_view set, std::string folder,
                                 const std::string& part) {
  const std::string where = concat("gpunet::data::", set, ": ");
  if (const std::string inner = io::join(folder, concat(set, "/raw")); io::is_folder(inner))
    folder = inner;
  IdxFile image_file = read_idx(where, find_idx(where, folder, part + "-images-idx3-ubyte"), 3);
  IdxFile label_file = read_idx(where, find_idx(where, folder, part + "-labels-idx1-ubyte"), 1);
  require(image_file.sizes[0] == label_file.sizes[0], where, folder, " has ", image_file.sizes[0],
          " images and ", label_file.sizes[0], " labels of the part '", part,
          "' (want one label for each image), fetch both files again");
  sizes = {1, image_file.sizes[1], image_file.sizes[2]};
  images = std::move(image_file.bytes);
  labels = std::move(label_file.bytes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const int label = std::to_integer<int>(labels[i]);
    require(label < 10, where, folder, ": label ", i, " of the part '", part, "' is ", label,
            " (want 0 to 9): the file is damaged, fetch it again");
  }
}

GPUNET_INLINE index_t IdxImages::size() const {
  return static_cast<index_t>(files_->labels.size());
}
GPUNET_INLINE ImageBytes IdxImages::image(index_t i, std::vector<std::uint8_t>&) const {
  detail::check_sample(i, size());
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(files_->images.data());
  return {{bytes + i * files_->sizes.pixels(), files_->sizes},
          std::to_integer<label_t>(files_->labels[static_cast<std::size_t>(i)])};
}

}  // namespace detail

}  // namespace gpunet::data
