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

  const std::size_t record_bytes = format.record_bytes(), most = format.most_records * record_bytes;
  std::vector<io::InputFile> files;
  std::size_t total = 0;
  for (const auto name : names) {
    const std::string path = io::join(folder, name);
    require(!io::is_folder(path), where, name, " cannot be read (Is a directory), fetch it again", cure);
    const std::size_t size = files.emplace_back(path).size();
    require(size <= most, where, name, " has ", size, " bytes (want at most ", most,
            "): the file is too long, fetch it again", cure);
    require(size > 0 && size % record_bytes == 0, where, name, " has ", size, " bytes (want a multiple of ",
            record_bytes, "): the file is cut short, fetch it again", cure);
    total += size;
  }

  bytes_.resize(total);
  std::span<std::uint8_t> rest = bytes_;
  const auto* name = names.begin();
  for (io::InputFile& file : files) {
    file.read(std::as_writable_bytes(rest.first(file.size())));
    for (std::size_t record = 0; record < file.size() / record_bytes; ++record)
      for (std::size_t which = 0; which < format.labels(); ++which) {
        const int label = rest[record * record_bytes + which];
        require(label < format.classes[which], where, *name, ", record ", record, ": ", format.kind[which], " ",
                label, " (want 0 to ", format.classes[which] - 1, "): the file is damaged, fetch it again", cure);
      }
    rest = rest.subspan(file.size());
    ++name;
  }
}

GPUNET_INLINE const std::uint8_t* CifarFiles::record(index_t i) const {
  GPUNET_ASSERT(0 <= i && i < size());
  return bytes_.data() + static_cast<std::size_t>(i) * format_.record_bytes();
}

}  // namespace gpunet::data
