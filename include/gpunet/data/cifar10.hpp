// The CIFAR-10 images.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <gpunet/core/sizes.hpp>
#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

// 32x32 colour photographs of ten kinds of things, from the official binary version (cifar-10-binary.tar.gz). The
// images are kept as bytes and transformed when they are read.
class CIFAR10 {
 public:
  // The 50,000 training images (data_batch_1.bin to data_batch_5.bin) or the 10,000 test images (test_batch.bin) in
  // `folder` or its subfolder cifar-10-batches-bin. Files with fewer images are taken as they are. Throws Error if
  // a file is missing, cannot be read, is no file of CIFAR-10, or holds a label over 9.
  template <class Transform = ToTensor>
  static CIFAR10 train(const std::filesystem::path& folder, const Transform& transform = {}) {
    return CIFAR10(
        folder,
        {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
        PixelTable(transform, channels));
  }
  template <class Transform = ToTensor>
  static CIFAR10 test(const std::filesystem::path& folder, const Transform& transform = {}) {
    return CIFAR10(folder, {"test_batch.bin"}, PixelTable(transform, channels));
  }

  static constexpr std::array<std::string_view, 10> classes() {
    return {"plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  }

  index_t size() const { return static_cast<index_t>(bytes_.size() / record_bytes); }
  Sizes sample_sizes() const { return {channels, side, side}; }

  // Writes image i, transformed, as [3, 32, 32]; returns its class.
  label_t read(index_t i, float* sample) const {
    GPUNET_ASSERT(0 <= i && i < size());
    const std::uint8_t* record = bytes_.data() + static_cast<std::size_t>(i) * record_bytes;
    table_.transform(record + 1, side * side, sample);
    return record[0];
  }

 private:
  static constexpr index_t channels = 3, side = 32;
  static constexpr std::size_t record_bytes = 1 + channels * side * side;  // label, red, green, blue
  static constexpr std::size_t most_records = 10000;                       // in a file

  CIFAR10(std::filesystem::path folder, const std::vector<std::string>& names, PixelTable table)
      : table_(std::move(table)) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (const fs::path inner = folder / "cifar-10-batches-bin"; fs::is_directory(inner, ignored)) folder = inner;
    const std::string cure = concat(" (scripts/get_cifar10.sh ", folder.string(), ")");
    require(fs::exists(folder, ignored), where, "no folder ", folder.string(), ", fetch the images", cure);
    require(fs::is_directory(folder, ignored), where, folder.string(), " is not a folder, give the one that holds ",
            names.front());
    std::string missing;
    for (const auto& name : names)
      if (!fs::exists(folder / name, ignored)) missing += concat(missing.empty() ? "" : ", ", name);
    require(missing.empty(), where, folder.string(), " has no ", missing, ", fetch the images", cure);
    for (const auto& name : names)
      append_file(folder, name, cure);
  }

  // Appends the records of one file.
  void append_file(const std::filesystem::path& folder, const std::string& name, const std::string& cure) {
    std::error_code error;
    const auto size = static_cast<std::size_t>(std::filesystem::file_size(folder / name, error));
    require(!error, where, name, " cannot be read (", error.message(), "), fetch it again", cure);
    require(size <= most_records * record_bytes, where, name, " has ", size, " bytes (want at most ",
            most_records * record_bytes, "): the file is too long, fetch it again", cure);
    require(size > 0 && size % record_bytes == 0, where, name, " has ", size, " bytes (want a multiple of ",
            record_bytes, "): the file is cut short, fetch it again", cure);

    const std::size_t first = bytes_.size();
    bytes_.resize(first + size);
    std::ifstream file(folder / name, std::ios::binary);
    file.read(reinterpret_cast<char*>(bytes_.data() + first), static_cast<std::streamsize>(size));
    require(file.good(), where, name, " cannot be read (", file.gcount(), " of ", size, " bytes), check its ",
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
