// Bodies of cifar.hpp.
#pragma once

#include <span>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/data/cifar.hpp>
#include <gpunet/data/dataset.hpp>
#include <gpunet/io/file.hpp>

namespace gpunet::data {

namespace detail {

inline constexpr CifarFormat cifar10_format{"gpunet::data::CIFAR10: ",
                                            "cifar-10-batches-bin",
                                            "cifar-10-batches-py",
                                            "scripts/get_cifar10.sh ",
                                            10000,
                                            {10, 0},
                                            {"label", ""}};
inline constexpr CifarFormat cifar100_format{
    "gpunet::data::CIFAR100: ",
    "cifar-100-binary",
    "cifar-100-python",
    "cifar-100-binary.tar.gz of www.cs.toronto.edu/~kriz/cifar.html, to ",
    50000,
    {20, 100},
    {"coarse label", "fine label"}};

GPUNET_INLINE std::size_t CifarFormat::record_bytes() const {
  return labels() + 3 * 32 * 32;
}

GPUNET_INLINE CifarImages::CifarImages(const CifarFormat& format, std::size_t which_label,
                                       std::string folder,
                                       std::initializer_list<std::string_view> names,
                                       Pipeline pipeline)
    : ImageDataset(std::move(pipeline)), format_(&format), which_label_(which_label) {
  if (const std::string inner = io::join(folder, format.subfolder); io::is_folder(inner))
    folder = inner;
  const std::string cure = concat(" (", format.cure, folder, ")");
  const std::string_view where = format.where;
  require(io::exists(folder), where, "no folder ", folder, ", fetch the images", cure);
  require(io::is_folder(folder), where, folder, " is not a folder, give the one that holds ",
          *names.begin());
  std::string missing;
  bool has_python = io::exists(io::join(folder, format.python_subfolder));
  for (const auto name : names)
    if (const std::string path = io::join(folder, name); !io::exists(path)) {
      missing += concat(missing.empty() ? "" : ", ", name);
      has_python |= io::exists(path.substr(0, path.rfind(".bin")));
    }
  require(missing.empty() || !has_python, where, folder,
          " has the images in the version for Python (pickles, which can execute anything), fetch "
          "the binary version",
          cure);
  require(missing.empty(), where, folder, " has no ", missing, ", fetch the images", cure);

  std::vector<std::uint8_t> bytes;
  for (const auto name : names)
    append_file(bytes, io::join(folder, name), name, names.size(), cure);
  bytes_ = SharedData(std::move(bytes));
}

GPUNET_INLINE void CifarImages::append_file(std::vector<std::uint8_t>& bytes,
                                            const std::string& path, std::string_view name,
                                            std::size_t files, const std::string& cure) {
  const std::string_view where = format_->where;
  const std::size_t record_bytes = format_->record_bytes(),
                    most = format_->max_records * record_bytes;
  require(!io::is_folder(path), where, name, " cannot be read (Is a directory), fetch it again",
          cure);
  io::InputFile file(path);
  require(file.size() <= most, where, name, " has ", file.size(), " bytes (want at most ", most,
          "): the file is too long, fetch it again", cure);
  require(file.size() > 0 && file.size() % record_bytes == 0, where, name, " has ", file.size(),
          " bytes (want a multiple of ", record_bytes, "): the file is cut short, fetch it again",
          cure);

  const std::size_t first = bytes.size();
  if (first == 0) bytes.reserve(files * file.size());  // all files have the same size
  bytes.resize(first + file.size());
  const auto records = std::span(bytes).subspan(first);
  file.read(std::as_writable_bytes(records));
  for (std::size_t record = 0; record < records.size() / record_bytes; ++record)
    for (std::size_t which = 0; which < format_->labels(); ++which) {
      const int label = records[record * record_bytes + which];
      require(label < format_->classes[which], where, name, ", record ", record, ": ",
              format_->label_names[which], " ", label, " (want 0 to ", format_->classes[which] - 1,
              "): the file is damaged, fetch it again", cure);
    }
}

GPUNET_INLINE index_t CifarImages::size() const {
  return static_cast<index_t>(bytes_->size() / format_->record_bytes());
}
GPUNET_INLINE ImageBytes CifarImages::image(index_t i, std::vector<std::uint8_t>&) const {
  const std::uint8_t* const bytes = record(i);
  return {{bytes + format_->labels(), sizes}, bytes[which_label_]};
}
GPUNET_INLINE const std::uint8_t* CifarImages::record(index_t i) const {
  detail::check_sample(i, size());
  return bytes_->data() + static_cast<std::size_t>(i) * format_->record_bytes();
}

}  // namespace detail

GPUNET_INLINE CIFAR10::CIFAR10(const std::string& folder, bool train, Pipeline pipeline)
    : CifarImages(
          detail::cifar10_format, 0, folder,
          train ? std::initializer_list<std::string_view>{"data_batch_1.bin", "data_batch_2.bin",
                                                          "data_batch_3.bin", "data_batch_4.bin",
                                                          "data_batch_5.bin"}
                : std::initializer_list<std::string_view>{"test_batch.bin"},
          std::move(pipeline)) {}

GPUNET_INLINE CIFAR100::CIFAR100(const std::string& folder, std::string_view file,
                                 Pipeline pipeline, CIFAR100Labels labels)
    : CifarImages(detail::cifar100_format, labels == CIFAR100Labels::fine ? 1 : 0, folder, {file},
                  std::move(pipeline)) {}

}  // namespace gpunet::data
