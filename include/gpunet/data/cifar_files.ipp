// Bodies of cifar_files.hpp.
#pragma once

#include <span>

#include <gpunet/core/error.hpp>
#include <gpunet/data/cifar_files.hpp>
#include <gpunet/io/file.hpp>

namespace gpunet::data {

GPUNET_INLINE CifarFiles::CifarFiles(const Format& format, std::string folder,
                                     std::initializer_list<std::string_view> names)
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
    append_file(io::join(folder, name), name, names.size(), cure);
}

GPUNET_INLINE void CifarFiles::append_file(const std::string& path, std::string_view name, std::size_t files,
                                           const std::string& cure) {
  const std::string_view where = format_.where;
  const std::size_t record_bytes = format_.record_bytes(), most = format_.most_records * record_bytes;
  require(!io::is_folder(path), where, name, " cannot be read (Is a directory), fetch it again", cure);
  io::InputFile file(path);
  require(file.size() <= most, where, name, " has ", file.size(), " bytes (want at most ", most,
          "): the file is too long, fetch it again", cure);
  require(file.size() > 0 && file.size() % record_bytes == 0, where, name, " has ", file.size(),
          " bytes (want a multiple of ", record_bytes, "): the file is cut short, fetch it again", cure);

  const std::size_t first = bytes_.size();
  if (first == 0) bytes_.reserve(files * file.size());  // all files have the same size
  bytes_.resize(first + file.size());
  const auto records = std::span(bytes_).subspan(first);
  file.read(std::as_writable_bytes(records));
  for (std::size_t record = 0; record < records.size() / record_bytes; ++record)
    for (std::size_t which = 0; which < format_.labels(); ++which) {
      const int label = records[record * record_bytes + which];
      require(label < format_.classes[which], where, name, ", record ", record, ": ", format_.kind[which], " ",
              label, " (want 0 to ", format_.classes[which] - 1, "): the file is damaged, fetch it again", cure);
    }
}

GPUNET_INLINE const std::uint8_t* CifarFiles::record(index_t i) const {
  GPUNET_ASSERT(0 <= i && i < size());
  return bytes_.data() + static_cast<std::size_t>(i) * format_.record_bytes();
}

}  // namespace gpunet::data
