// Zip archives, written (PKWARE's APPNOTE 6.3.10, with zip64 where sizes want it).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/append_number.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/byte_reader.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/deflate.hpp>
#include <gpunet/io/zip.hpp>

namespace gpunet::io::detail {

// Writes an archive into a file, member after member; finish() writes its table. The caller commits.
class ZipWriter {
 public:
  // Sizes and offsets from `zip64_from` on go into zip64 fields; tests have small ones there.
  explicit ZipWriter(AtomicFile& file, std::uint64_t zip64_from = zip::in_zip64)
      : file_(file), zip64_from_(zip64_from) {}

  // A file of a text and bytes, stored as they are. It begins at a multiple of `alignment` in the archive.
  void store(std::string_view name, std::string_view text, std::span<const std::byte> bytes = {},
             std::size_t alignment = 1) {
    const std::span<const std::byte> head = std::as_bytes(std::span(text));
    const std::uint64_t size = head.size() + bytes.size();
    begin_member(name, zip::stored, crc32(bytes, crc32(head)), size, size, alignment);
    write(text);
    write(bytes);
  }

  void deflate(std::string_view name, std::span<const std::byte> bytes, const DeflateCodec& codec) {
    const std::vector<std::byte> packed = codec.deflate(bytes);
    begin_member(name, zip::deflated, crc32(bytes), bytes.size(), packed.size(), 1);
    write(packed);
  }

  void finish() {
    const std::uint64_t begin = offset_, size = table_.size();
    std::string end;
    if (begin >= zip64_from_ || size >= zip64_from_ || members_ >= 0xFFFF) {
      append_number(end, zip::end64_signature);
      append_number(end, std::uint64_t{zip::end64_size - 12});  // of the rest of this record
      append_number(end, zip64_version), append_number(end, zip64_version);
      append_number(end, std::uint64_t{0});  // disks
      append_number(end, members_), append_number(end, members_);
      append_number(end, size), append_number(end, begin);
      append_number(end, zip::locator_signature);
      append_number(end, std::uint32_t{0});
      append_number(end, begin + size);
      append_number(end, std::uint32_t{1});
    }
    append_number(end, zip::end_signature);
    append_number(end, std::uint32_t{0});  // disks
    const auto count = static_cast<std::uint16_t>(std::min<std::uint64_t>(members_, 0xFFFF));
    append_number(end, count), append_number(end, count);
    append_number(end, short_number(size)), append_number(end, short_number(begin));
    append_number(end, std::uint16_t{0});  // no comment
    write(table_);
    write(end);
  }

 private:
  static constexpr std::uint16_t zip64_version = 45, version = 20;
  static constexpr std::uint32_t date =
      0x00210000;  // 1980-01-01, so that files are the same whenever they are made

  std::uint32_t short_number(std::uint64_t n) const {
    return n >= zip64_from_ ? zip::in_zip64 : static_cast<std::uint32_t>(n);
  }

  // Writes the header of a member and its line of the table.
  void begin_member(std::string_view name, std::uint16_t method, std::uint32_t crc, std::uint64_t size,
                    std::uint64_t packed_size, std::size_t alignment) {
    require(name.size() <= 0xFFFF, "gpunet::io: a name of ", name.size(),
            " bytes (zip archives allow 65535), use a shorter one");
    const bool large = size >= zip64_from_ || packed_size >= zip64_from_, far = offset_ >= zip64_from_;

    std::string fixed;  // the same in both headers
    append_number(fixed, large || far ? zip64_version : version);
    append_number(fixed, zip::utf8_flag);
    append_number(fixed, method);
    append_number(fixed, date);
    append_number(fixed, crc);
    append_number(fixed, large ? zip::in_zip64 : static_cast<std::uint32_t>(packed_size));
    append_number(fixed, large ? zip::in_zip64 : static_cast<std::uint32_t>(size));
    append_number(fixed, static_cast<std::uint16_t>(name.size()));
    std::string sizes;
    if (large) append_number(sizes, size), append_number(sizes, packed_size);
    std::string position = sizes;
    if (far) append_number(position, offset_);

    std::string extra = zip64_extra(sizes);
    if (alignment > 1) {
      const std::size_t before =
          static_cast<std::size_t>(offset_) + zip::local_size + name.size() + extra.size() + 4;
      const std::size_t padding = (alignment - before % alignment) % alignment;
      append_number(extra, std::uint16_t{0x4246});  // "FB": what PyTorch pads with
      append_number(extra, static_cast<std::uint16_t>(padding));
      extra.append(padding, 'Z');
    }
    append_number(table_, zip::central_signature);
    append_number(table_, large || far ? zip64_version : version);  // of the writer
    table_ += fixed;
    const std::string central_extra = zip64_extra(position);
    append_number(table_, static_cast<std::uint16_t>(central_extra.size()));
    append_number(table_, std::uint16_t{0});  // comment
    append_number(table_, std::uint64_t{0});  // disk, attributes
    append_number(table_, short_number(offset_));
    table_ += name;
    table_ += central_extra;
    ++members_;

    std::string header;
    append_number(header, zip::local_signature);
    header += fixed;
    append_number(header, static_cast<std::uint16_t>(extra.size()));
    header += name;
    write(header + extra);
  }

  static std::string zip64_extra(const std::string& numbers) {
    std::string out;
    if (numbers.empty()) return out;
    append_number(out, zip::zip64_field);
    append_number(out, static_cast<std::uint16_t>(numbers.size()));
    return out + numbers;
  }

  template <class Piece>
  void write(const Piece& piece) {
    file_.write(piece);
    offset_ += piece.size();
  }

  AtomicFile& file_;
  std::uint64_t zip64_from_;
  std::uint64_t offset_ = 0, members_ = 0;
  std::string table_;
};

}  // namespace gpunet::io::detail
