// The CIFAR-10 images.
#pragma once

#include <algorithm>
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

#include <gpunet/core/sizes.hpp>
#include <gpunet/data/transforms.hpp>
#include <gpunet/io/file.hpp>

namespace gpunet::data {

// 32x32 colour photographs of ten kinds of things, from the official binary version (cifar-10-binary.tar.gz). The
// images are kept as bytes and transformed when they are read.
class CIFAR10 {
 public:
  // The 50,000 training images (data_batch_1.bin to data_batch_5.bin) or the 10,000 test images (test_batch.bin) in
  // `folder` or its subfolder cifar-10-batches-bin. Files with fewer images are taken as they are. Throws Error if
  // a file is missing, cannot be read, is no file of CIFAR-10, or holds a label over 9.
  template <class Transform = ToTensor>
  static CIFAR10 train(const std::string& folder, const Transform& transform = {}) {
    return CIFAR10(
        folder,
        {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
        PixelTable(transform, channels));
  }
  template <class Transform = ToTensor>
  static CIFAR10 test(const std::string& folder, const Transform& transform = {}) {
    return CIFAR10(folder, {"test_batch.bin"}, PixelTable(transform, channels));
  }

  static constexpr std::array<std::string_view, 10> classes() {
    return {"plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  }

  index_t size() const { return static_cast<index_t>(bytes_.size() / record_bytes); }
  Sizes sample_sizes() const { return {channels, side, side}; }

  // Writes image i, transformed, as [3, 32, 32]; returns its class.
  label_t read(index_t i, float* sample) const {
    table_.transform(record(i) + 1, side * side, sample);
    return record(i)[0];
  }
  // The same before it is transformed, and what transforms it.
  label_t read_bytes(index_t i, std::uint8_t* sample) const {
    std::copy_n(record(i) + 1, record_bytes - 1, sample);
    return record(i)[0];
  }
  const PixelTable& pixel_table() const { return table_; }

 private:
  const std::uint8_t* record(index_t i) const {
    GPUNET_ASSERT(0 <= i && i < size());
    return bytes_.data() + static_cast<std::size_t>(i) * record_bytes;
  }
  static constexpr index_t channels = 3, side = 32;
  static constexpr std::size_t record_bytes = 1 + channels * side * side;  // label, red, green, blue
  static constexpr std::size_t most_records = 10000;                       // in a file

  CIFAR10(std::string folder, std::initializer_list<std::string_view> names, PixelTable table)
      : table_(std::move(table)) {
    if (const std::string inner = path(folder, "cifar-10-batches-bin"); is_folder(inner)) folder = inner;
    const std::string cure = concat(" (scripts/get_cifar10.sh ", folder, ")");
    require(io::exists(folder), where, "no folder ", folder, ", fetch the images", cure);
    require(is_folder(folder), where, folder, " is not a folder, give the one that holds ", *names.begin());
    std::string missing;
    for (const auto name : names)
      if (!io::exists(path(folder, name))) missing += concat(missing.empty() ? "" : ", ", name);
    require(missing.empty(), where, folder, " has no ", missing, ", fetch the images", cure);
    for (const auto name : names)
      append_file(path(folder, name), name, cure);
  }

  static std::string path(const std::string& folder, std::string_view name) {
    return concat(folder, folder.ends_with('/') ? "" : "/", name);
  }
  static bool is_folder(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  }

  // Appends the records of one file.
  void append_file(const std::string& path, std::string_view name, const std::string& cure) {
    struct stat status {};
    const int error = ::stat(path.c_str(), &status) != 0 ? errno
                      : S_ISREG(status.st_mode)          ? 0
                      : S_ISDIR(status.st_mode)          ? EISDIR
                                                         : ENOTSUP;
    require(error == 0, where, name, " cannot be read (", std::generic_category().message(error),
            "), fetch it again", cure);
    const auto size = static_cast<std::size_t>(status.st_size);
    require(size <= most_records * record_bytes, where, name, " has ", size, " bytes (want at most ",
            most_records * record_bytes, "): the file is too long, fetch it again", cure);
    require(size > 0 && size % record_bytes == 0, where, name, " has ", size, " bytes (want a multiple of ",
            record_bytes, "): the file is cut short, fetch it again", cure);

    const std::size_t first = bytes_.size();
    bytes_.resize(first + size);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    const std::size_t got = file ? std::fread(bytes_.data() + first, 1, size, file.get()) : 0;
    require(got == size, where, name, " cannot be read (", got, " of ", size, " bytes), check its ",
            "permissions or fetch it again", cure);
    for (std::size_t record = 0; record < size / record_bytes; ++record) {
      const int label = bytes_[first + record * record_bytes];
      require(label < 10, where, name, ", record ", record, ": label ", label,
              " (want 0 to 9): the file is damaged, fetch it again", cure);
    }
  }

  static constexpr std::string_view where = "gpunet::data::CIFAR10: ";
  PixelTable table_;
  std::vector<std::uint8_t> bytes_;  // [size()][record_bytes]
};

}  // namespace gpunet::data
