// The files of the binary versions of CIFAR-10 and CIFAR-100.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/data/pixels.hpp>
#include <gpunet/io/file.hpp>

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
  CifarFiles(const Format& format, std::string folder, std::initializer_list<std::string_view> names)
      : format_(format) {
    if (const std::string inner = io::join(folder, format.subfolder); io::is_folder(inner)) folder = inner;
    const std::string cure = concat(" (", format.cure, folder, ")");
    const std::string_view where = format.where;
    require(io::exists(folder), where, "no folder ", folder, ", fetch the images", cure);
    require(io::is_folder(folder), where, folder, " is not a folder, give the one that holds ", *names.begin());
    std::string missing;
    for (const auto name : names)
      if (!io::exists(io::join(folder, name))) missing += concat(missing.empty() ? "" : ", ", name);
    require(missing.empty(), where, folder, " has no ", missing, ", fetch the images", cure);
    for (const auto name : names)
      append_file(io::join(folder, name), name, cure);
  }

  index_t size() const { return static_cast<index_t>(bytes_.size() / format_.record_bytes()); }
  label_t label(index_t i, std::size_t which) const { return record(i)[which]; }
  const std::uint8_t* image(index_t i) const { return record(i) + format_.labels(); }  // [3, 32, 32]

 private:
  const std::uint8_t* record(index_t i) const {
    GPUNET_ASSERT(0 <= i && i < size());
    return bytes_.data() + static_cast<std::size_t>(i) * format_.record_bytes();
  }

  // Appends the records of one file.
  void append_file(const std::string& path, std::string_view name, const std::string& cure) {
    const std::string_view where = format_.where;
    const std::size_t record_bytes = format_.record_bytes(), most = format_.most_records * record_bytes;
    struct stat status {};
    const int error = ::stat(path.c_str(), &status) != 0 ? errno
                      : S_ISREG(status.st_mode)          ? 0
                      : S_ISDIR(status.st_mode)          ? EISDIR
                                                         : ENOTSUP;
    require(error == 0, where, name, " cannot be read (", std::generic_category().message(error),
            "), fetch it again", cure);
    const auto size = static_cast<std::size_t>(status.st_size);
    require(size <= most, where, name, " has ", size, " bytes (want at most ", most,
            "): the file is too long, fetch it again", cure);
    require(size > 0 && size % record_bytes == 0, where, name, " has ", size, " bytes (want a multiple of ",
            record_bytes, "): the file is cut short, fetch it again", cure);

    const std::size_t first = bytes_.size();
    bytes_.resize(first + size);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    const std::size_t got = file ? std::fread(bytes_.data() + first, 1, size, file.get()) : 0;
    require(got == size, where, name, " cannot be read (", got, " of ", size, " bytes), check its ",
            "permissions or fetch it again", cure);
    for (std::size_t record = 0; record < size / record_bytes; ++record)
      for (std::size_t which = 0; which < format_.labels(); ++which) {
        const int label = bytes_[first + record * record_bytes + which];
        require(label < format_.classes[which], where, name, ", record ", record, ": ", format_.kind[which], " ",
                label, " (want 0 to ", format_.classes[which] - 1, "): the file is damaged, fetch it again", cure);
      }
  }

  Format format_;
  std::vector<std::uint8_t> bytes_;  // [size()][record_bytes]
};

}  // namespace gpunet::data
