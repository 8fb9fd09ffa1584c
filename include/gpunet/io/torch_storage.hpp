// The storages of a PyTorch file: the memory of its tensors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/sizes.hpp>
#include <gpunet/io/deflate.hpp>
#include <gpunet/io/dtype.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/zip.hpp>

namespace gpunet::io::detail {

// Bytes that are not in a file as they are, but unpacked or in another order.
using OwnBytes = std::vector<std::vector<std::byte>>;

// A storage as a pickle names it.
struct TorchStorageId {
  Dtype dtype = Dtype::U8;  // of its elements; bytes where it is untyped
  std::string_view key;
  index_t numel = 0;                  // of the whole storage
  index_t first = 0, view_numel = 0;  // the part that is meant, in elements
};

// A storage of a file.
struct TorchStorage {
  std::span<const std::byte> bytes = {};
  std::size_t wanted = 0;  // bytes, as a persistent id says
  index_t numel = 0;       // elements, as a persistent id says
  bool is_there = false;
  std::size_t swapped = 0;  // bytes of the numbers whose order was changed; 0 if none yet
};

// All storages of a file.
struct TorchStorages {
  std::map<std::string_view, TorchStorage> by_key;
  std::shared_ptr<OwnBytes> own = std::make_shared<OwnBytes>();
  bool big_endian = false;
};

// The bytes of the real and imaginary numbers that elements consist of.
inline std::size_t number_size(Dtype dtype) {
  const auto size = static_cast<std::size_t>(bits_of(dtype) / 8);
  return dtype == Dtype::C64 || dtype == Dtype::C128 ? size / 2 : size;
}

// Puts big-endian numbers of `size` bytes in order, once. Whether the storage has numbers of that size.
inline bool swap_bytes(TorchStorage& storage, std::size_t size, OwnBytes& own) {
  if (storage.swapped != 0) return storage.swapped == size;
  storage.swapped = size;
  if (size == 1) return true;
  std::vector<std::byte>& copy = own.emplace_back(storage.bytes.begin(), storage.bytes.end());
  for (std::size_t i = 0; i + size <= copy.size(); i += size)
    std::reverse(copy.begin() + static_cast<std::ptrdiff_t>(i),
                 copy.begin() + static_cast<std::ptrdiff_t>(i + size));
  storage.bytes = copy;
  return true;
}

// Members of an archive as torch.load reads them, stored or deflated. What is unpacked takes at most a multiple of the
// archive's size.
class TorchMembers {
 public:
  TorchMembers(const ZipArchive& archive, std::size_t archive_size, OwnBytes& own)
      : archive_(archive), own_(own), room_(most_expansion_in_all * archive_size + most_more) {}

  std::span<const std::byte> bytes(const ZipMember& member) {
    if (member.method == zip::stored) return archive_.stored_bytes(member);
    const auto fail = [&](const auto&... what) {
      throw Error(concat(archive_.place(), ", byte ", member.data, ": \"", printable(member.name), "\" ", what...));
    };
    const DeflateCodec* codec = deflate_codec();
    if (!codec) fail("is deflated (which takes zlib), ", zlib_advice, ", or save the file again with torch.save");
    if (member.size > room_)
      fail("has ", member.size, " bytes unpacked (more than ", most_expansion_in_all,
           " times the file: a zip bomb?), unpack the archive and pack it with zip -0");
    room_ -= static_cast<std::size_t>(member.size);
    std::vector<std::byte> out(static_cast<std::size_t>(member.size));
    if (!read_last(*codec->inflater({member.packed}), out))
      fail("cannot be unpacked (it is damaged), fetch or save it again");
    if (!member.has_sum_of(out)) fail("has another check sum (its data is damaged), fetch or save it again");
    return own_.emplace_back(std::move(out));
  }

 private:
  static constexpr std::size_t most_expansion_in_all = 64, most_more = 1 << 19;

  const ZipArchive& archive_;
  OwnBytes& own_;
  std::size_t room_;
};

}  // namespace gpunet::io::detail
