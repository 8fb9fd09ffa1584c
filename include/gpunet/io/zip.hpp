// Reads and writes zip archives (PKWARE's APPNOTE 6.3.10, with zip64).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/deflate.hpp>
#include <gpunet/io/json.hpp>

namespace gpunet::io::detail {

// Constants of the format; sizes are without the names and extra fields that follow.
namespace zip {
inline constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50,
                               end_signature = 0x06054b50, end64_signature = 0x06064b50,
                               locator_signature = 0x07064b50;
inline constexpr std::size_t local_size = 30, central_size = 46, end_size = 22, end64_size = 56,
                             locator_size = 20;
inline constexpr std::uint16_t stored = 0, deflated = 8, encrypted_flag = 1, utf8_flag = 1 << 11,
                               zip64_field = 1;
inline constexpr std::uint32_t in_zip64 = 0xFFFFFFFF;  // the number is in a zip64 field of 8 bytes
}  // namespace zip

// A file in an archive. Its name and bytes borrow from the archive.
struct ZipMember {
  std::string_view name;
  std::uint16_t method = zip::stored;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;                  // in bytes, decompressed
  std::size_t begin = 0, data = 0;         // positions of its header and of its data in the archive
  std::span<const std::byte> packed = {};  // the data as it is stored

  std::size_t end() const { return data + packed.size(); }
  // Returns whether the decompressed bytes have its checksum. 0 means that there is none:
  // torch.serialization.set_crc32_options(False).
  bool has_sum_of(std::span<const std::byte> bytes) const {
    return crc == 0 || crc32(bytes) == crc;
  }
};

// The table of contents of an archive in memory. Members are inside the archive, do not overlap,
// and have unique names; their data is not read.
class ZipArchive {
 public:
  // Throws Error naming the path and the byte.
  ZipArchive(std::span<const std::byte> file, const std::string& path)
      : file_(file), place_(concat("gpunet::io: ", path)) {
    const Directory directory = find_directory();
    ByteReader reader = reader_at(directory.begin, directory.begin + directory.size);
    // Each entry takes at least 46 bytes, which limits their number.
    if (directory.members > directory.size / zip::central_size)
      reader.fail(
          concat("a table of ", directory.size, " bytes for ", directory.members, " files"));
    members_.reserve(static_cast<std::size_t>(directory.members));
    for (std::uint64_t i = 0; i < directory.members; ++i)
      members_.push_back(read_member(reader, directory.begin));
    if (reader.left() != 0) reader.fail("more files in the archive than it counts");
    check_disjoint();
    std::set<std::string_view> names;
    for (const ZipMember& member : members_)
      if (!names.insert(member.name).second)
        throw_error(Error(concat(
            place_, ": the file \"", printable(member.name),
            "\" occurs twice in the archive (it is ambiguous which one counts), make it again")));
  }

  // Returns the members in the order of the table.
  const std::vector<ZipMember>& members() const { return members_; }
  // Returns the member of that name, null if there is none.
  const ZipMember* find(std::string_view name) const {
    for (const ZipMember& member : members_)
      if (member.name == name) return &member;
    return nullptr;
  }
  // Returns the beginning of messages about the archive.
  const std::string& place() const { return place_; }

  // Returns the bytes of a member that is stored without compression. Throws Error if its checksum
  // does not match.
  std::span<const std::byte> stored_bytes(const ZipMember& member) const {
    if (member.method != zip::stored)
      throw_error(Error(concat(place_, ", byte ", member.begin, ": \"", printable(member.name),
                               "\" is compressed, unpack the archive and pack it with zip -0")));
    if (!member.has_sum_of(member.packed))
      throw_error(Error(concat(place_, ", byte ", member.data, ": the checksum of \"",
                               printable(member.name),
                               "\" does not match (its data is damaged), fetch or save it again")));
    return member.packed;
  }

 private:
  struct Directory {
    std::uint64_t members = 0, size = 0, begin = 0;
  };

  ByteReader reader_at(std::uint64_t begin, std::uint64_t end) const {
    return {file_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
            place_, static_cast<std::size_t>(begin)};
  }

  // Returns the position of the last record of the archive; only its comment follows, of at most
  // 65535 bytes.
  std::size_t find_end() const {
    const std::string_view text = as_text(file_), signature("PK\5\6", 4);
    const std::size_t first =
        text.size() - std::min<std::size_t>(text.size(), zip::end_size + 0xFFFF);
    for (std::size_t at = text.rfind(signature); at != std::string_view::npos && at >= first;
         at = at == 0 ? std::string_view::npos : text.rfind(signature, at - 1)) {
      if (text.size() - at < zip::end_size) continue;
      const auto byte = [&](std::size_t i) {
        return static_cast<std::size_t>(file_[at + i]);
      };
      if (at + zip::end_size + byte(20) + 256 * byte(21) == text.size()) return at;
    }
    throw_error(Error(concat(
        place_, ", byte ", text.size(),
        ": no end of a zip archive (it is cut short, or no such file), fetch or save it again")));
  }

  Directory find_directory() const {
    const std::size_t end = find_end();
    ByteReader reader = reader_at(end, file_.size());
    reader.number<std::uint32_t>("a signature");
    const auto disk = reader.number<std::uint16_t>("a disk"),
               first_disk = reader.number<std::uint16_t>("a disk");
    Directory out;
    const auto here = reader.number<std::uint16_t>("a count");
    out.members = reader.number<std::uint16_t>("a count");
    out.size = reader.number<std::uint32_t>("a size");
    out.begin = reader.number<std::uint32_t>("an offset");
    std::size_t limit = end;  // the end of the table
    bool one_disk = disk == first_disk && here == out.members;
    if (end >= zip::locator_size) {
      ByteReader locator = reader_at(end - zip::locator_size, end);
      if (locator.number<std::uint32_t>("a signature") == zip::locator_signature) {
        locator.number<std::uint32_t>("a disk");
        const auto at = locator.number<std::uint64_t>("an offset");
        one_disk = locator.number<std::uint32_t>("a count") <= 1;
        limit = end - zip::locator_size;
        if (at > limit)
          locator.fail(concat("a zip64 record at byte ", at, ", outside the archive"));
        ByteReader record = reader_at(at, limit);
        if (record.number<std::uint32_t>("a zip64 record") != zip::end64_signature)
          record.fail("expected a zip64 record");
        record.take(20, "a zip64 record");  // its size, versions, disks
        record.number<std::uint64_t>("a count");
        out.members = record.number<std::uint64_t>("a count");
        out.size = record.number<std::uint64_t>("a size");
        out.begin = record.number<std::uint64_t>("an offset");
        limit = static_cast<std::size_t>(at);
      }
    }
    if (!one_disk)
      reader.fail("an archive in several pieces", "(gpunet reads whole ones), join them");
    if (out.begin > limit || out.size > limit - out.begin)
      reader.fail(
          concat("a table of ", out.size, " bytes at byte ", out.begin, ", outside the archive"));
    return out;
  }

  // Reads an entry of the table, and the header of its member, which is before the byte `limit`.
  ZipMember read_member(ByteReader& reader, std::uint64_t limit) const {
    if (reader.number<std::uint32_t>("an entry") != zip::central_signature)
      reader.back(4), reader.fail("expected an entry of the archive's table");
    ZipMember out;
    reader.take(4, "versions");
    const auto flags = reader.number<std::uint16_t>("flags");
    out.method = reader.number<std::uint16_t>("a method");
    reader.take(4, "a date");
    out.crc = reader.number<std::uint32_t>("a checksum");
    std::uint64_t packed = reader.number<std::uint32_t>("a size");
    out.size = reader.number<std::uint32_t>("a size");
    const auto name = reader.number<std::uint16_t>("a length"),
               extra = reader.number<std::uint16_t>("a length"),
               comment = reader.number<std::uint16_t>("a length");
    reader.take(8, "attributes");
    std::uint64_t begin = reader.number<std::uint32_t>("an offset");
    out.name = reader.text(name, "a name");
    const std::size_t first_field = reader.file_position();
    ByteReader fields(reader.take(extra, "extra fields"), place_, first_field);
    read_zip64(fields, {&out.size, &packed, &begin});
    reader.take(comment, "a comment");

    const auto fail = [&](const auto&... what) {
      reader.fail(concat("the file \"", printable(out.name), "\" ", what...));
    };
    if (flags & zip::encrypted_flag) fail("is encrypted");
    if (out.method != zip::stored && out.method != zip::deflated)
      fail("is packed by the method ", out.method);
    if (out.method == zip::stored && out.size != packed)
      fail("has ", out.size, " bytes stored in ", packed);
    if (out.method == zip::deflated && out.size / most_expansion > packed)
      fail("has ", out.size, " bytes packed in ", packed, ", more than deflate can");
    if (begin > limit || limit - begin < zip::local_size)
      fail("at byte ", begin, " lies outside the archive");
    ByteReader header = reader_at(begin, limit);
    if (header.number<std::uint32_t>("a header") != zip::local_signature)
      fail("does not begin at byte ", begin);
    header.take(22, "a header");
    const auto local_name = header.number<std::uint16_t>("a length"),
               local_extra = header.number<std::uint16_t>("a length");
    if (header.text(local_name, "a name") != out.name) fail("has another name at byte ", begin);
    header.take(local_extra, "extra fields");
    if (packed > header.left())
      fail("of ", packed, " bytes at byte ", begin, " lies outside the archive");
    out.begin = static_cast<std::size_t>(begin);
    out.data = out.begin + header.position();
    out.packed = header.take(static_cast<std::size_t>(packed), "data");
    return out;
  }

  // Reads the numbers that the table leaves to the zip64 field, in its order.
  void read_zip64(ByteReader& fields, std::initializer_list<std::uint64_t*> numbers) const {
    while (fields.left() >= 4) {
      const auto id = fields.number<std::uint16_t>("a field"),
                 length = fields.number<std::uint16_t>("a field");
      const std::size_t begin = fields.file_position();
      ByteReader field(fields.take(length, "an extra field"), place_, begin);
      if (id != zip::zip64_field) continue;
      for (std::uint64_t* number : numbers)
        if (*number == zip::in_zip64) *number = field.number<std::uint64_t>("a zip64 field");
      return;
    }
  }

  // Throws Error if members share bytes, which is how small archives contain huge files.
  void check_disjoint() const {
    std::vector<const ZipMember*> order;
    for (const ZipMember& member : members_)
      order.push_back(&member);
    std::sort(order.begin(), order.end(),
              [](const ZipMember* a, const ZipMember* b) { return a->begin < b->begin; });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (order[i - 1]->end() > order[i]->begin)
        throw_error(
            Error(concat(place_, ", byte ", order[i]->begin, ": the files \"",
                         printable(order[i - 1]->name), "\" and \"", printable(order[i]->name),
                         "\" of the archive overlap (a zip bomb?), make it again")));
  }

  std::span<const std::byte> file_;
  std::string place_;
  std::vector<ZipMember> members_;
};

// Writes an archive to a file, member by member; finish() writes the table. The caller commits.
class ZipWriter {
 public:
  // Sizes and offsets from `zip64_from` on are written as zip64 fields; tests use small values.
  explicit ZipWriter(AtomicFile& file, std::uint64_t zip64_from = zip::in_zip64)
      : file_(file), zip64_from_(zip64_from) {}

  // Stores a file of a text and bytes without compression. Its data starts at a multiple of
  // `alignment` in the archive.
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
      append_number(end, std::uint64_t{zip::end64_size - 12});  // size of the rest of this record
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
  // 1980-01-01, so that files do not depend on the time.
  static constexpr std::uint32_t date = 0x00210000;

  std::uint32_t short_number(std::uint64_t n) const {
    return n >= zip64_from_ ? zip::in_zip64 : static_cast<std::uint32_t>(n);
  }

  // Writes the header of a member, and adds its entry to the table.
  void begin_member(std::string_view name, std::uint16_t method, std::uint32_t crc,
                    std::uint64_t size, std::uint64_t packed_size, std::size_t alignment) {
    require(name.size() <= 0xFFFF, "gpunet::io: a name of ", name.size(),
            " bytes (zip archives allow 65535), use a shorter one");
    const bool large = size >= zip64_from_ || packed_size >= zip64_from_,
               is_far = offset_ >= zip64_from_;

    std::string fixed;  // the same in both headers
    append_number(fixed, large || is_far ? zip64_version : version);
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
    if (is_far) append_number(position, offset_);

    std::string extra = zip64_extra(sizes);
    if (alignment > 1) {
      const std::size_t before =
          static_cast<std::size_t>(offset_) + zip::local_size + name.size() + extra.size() + 4;
      const std::size_t padding = (alignment - before % alignment) % alignment;
      append_number(extra, std::uint16_t{0x4246});  // "FB": the padding of PyTorch
      append_number(extra, static_cast<std::uint16_t>(padding));
      extra.append(padding, 'Z');
    }
    append_number(table_, zip::central_signature);
    append_number(table_, large || is_far ? zip64_version : version);  // of the writer
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
