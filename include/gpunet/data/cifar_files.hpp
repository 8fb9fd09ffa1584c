// The files of the binary versions of CIFAR-10 and CIFAR-100.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/data/pixels.hpp>

namespace gpunet::data {

// Records of one or two labels of a byte each, then 32 x 32 bytes of red, as many of green and of blue; all in memory.
class CifarFiles {
 public:
  static constexpr ImageSizes sizes{3, 32, 32};

  struct Format {
    std::string_view where;                // begins the messages
    std::string_view subfolder;            // of the archive
    std::string_view cure;                 // what helps; the folder is put behind it
    std::size_t most_records;              // in a file
    std::array<int, 2> classes;            // of each label; 0: there is no second one
    std::array<std::string_view, 2> kind;  // what the labels are called

    std::size_t labels() const { return classes[1] > 0 ? 2 : 1; }
    std::size_t record_bytes() const { return labels() + static_cast<std::size_t>(sizes.numel()); }
  };

  // Throws Error if a file of `folder`, or else of its subfolder, is missing, cannot be read, has another length, or
  // holds a label that there is not.
  CifarFiles(const Format& format, std::string folder, std::initializer_list<std::string_view> names);

  index_t size() const { return static_cast<index_t>(bytes_.size() / format_.record_bytes()); }
  label_t label(index_t i, std::size_t which) const { return record(i)[which]; }
  const std::uint8_t* image(index_t i) const { return record(i) + format_.labels(); }  // [3, 32, 32]

 private:
  // Appends the records of one of so many files.
  void append_file(const std::string& path, std::string_view name, std::size_t files, const std::string& cure);
  const std::uint8_t* record(index_t i) const;

  Format format_;
  std::vector<std::uint8_t> bytes_;  // [size()][record_bytes]
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/cifar_files.ipp>
#endif
