#include <doctest/doctest.h>
#include <fstream>
#include <string>
#include <unistd.h>

#include <gpunet/io/mapped_file.hpp>
#include <gpunet/io/zip.hpp>

#include "corpus.hpp"

using namespace gpunet;
using io::MappedFile;
using io::detail::as_text;
using io::detail::ZipArchive;
using namespace std::string_literals;

namespace {

// The error of the archive at `path`.
std::string error_in(const std::string& path) {
  return error_of([&] {
    const MappedFile file(path);
    const ZipArchive archive(file.bytes(), path);
  });
}

// Where the text is for the last time.
std::size_t last(const std::string& path, const std::string& text) {
  return read_text(path).rfind(text);
}

const std::string end_of_archive = "PK\5\6", table_entry = "PK\1\2", header = "PK\3\4",
                  locator = "PK\6\7";

}  // namespace

TEST_CASE("what is written is read, with short fields and with zip64") {
  const TempFolder folder;
  for (const std::uint64_t zip64_from :
       {std::uint64_t{0xFFFFFFFF}, std::uint64_t{60}, std::uint64_t{0}}) {
    CAPTURE(zip64_from);
    const std::string long_text(100, 'x'), path = folder / "a.zip";
    write_archive(path, {{"a/one", "1"}, {"none", ""}, {"\xC3\xA9", long_text}}, zip64_from);
    const MappedFile file(path);
    const ZipArchive archive(file.bytes(), path);
    REQUIRE(archive.members().size() == 3);
    CHECK(archive.members()[0].name == "a/one");
    CHECK(as_text(archive.stored_bytes(archive.members()[0])) == "1");
    CHECK(archive.members()[1].packed.empty());
    REQUIRE(archive.find("\xC3\xA9"));
    CHECK(as_text(archive.find("\xC3\xA9")->packed) == long_text);
    CHECK(!archive.find("two"));
  }
}

TEST_CASE("an aligned member begins at a multiple") {
  const TempFolder folder;
  for (const unsigned length : {0u, 1u, 30u, 31u, 32u, 33u, 100u}) {
    io::AtomicFile file(folder / "a.zip");
    io::detail::ZipWriter writer(file);
    writer.store("first", std::string(length, 'x'));
    writer.store("second", {}, std::as_bytes(std::span("y", 1)), 64);
    writer.finish();
    file.commit();
    const MappedFile map(folder / "a.zip");
    const ZipArchive archive(map.bytes(), "a.zip");
    CHECK(archive.find("second")->data % 64 == 0);
    CHECK(as_text(archive.find("second")->packed) == "y");
  }
}

TEST_CASE("an archive of more than 4 GB is read") {
  const TempFolder folder;
  const std::string path = folder / "large.zip", name = "zeros";
  const std::uint64_t size = (std::uint64_t{1} << 32) + 5;
  // Header, data and table of one file, made by hand: the data is a hole, which takes no disk.
  const auto fields = [&](std::string_view sizes_and_offset) {
    return "\x2d\0\0\0\0\0\0\0\0\0"s + bytes_of(std::uint32_t{0}) + bytes_of(~std::uint64_t{0}) +
           bytes_of(static_cast<std::uint16_t>(name.size())) +
           bytes_of(static_cast<std::uint16_t>(4 + sizes_and_offset.size()));
  };
  const std::string sizes = bytes_of(size) + bytes_of(size);
  const std::string begin = header + fields(sizes) + name + "\1\0\x10\0"s + sizes;
  const std::string entry = table_entry + "\x2d\0"s + fields(sizes) + std::string(10, '\0') +
                            bytes_of(std::uint32_t{0}) + name + "\1\0\x10\0"s + sizes;
  const std::uint64_t table = begin.size() + size;
  const std::string end = "PK\6\6" + bytes_of(std::uint64_t{44}) + "\x2d\0\x2d\0\0\0\0\0\0\0\0\0"s +
                          bytes_of(std::uint64_t{1}) + bytes_of(std::uint64_t{1}) +
                          bytes_of(std::uint64_t{entry.size()}) + bytes_of(table) + locator +
                          bytes_of(std::uint32_t{0}) + bytes_of(table + entry.size()) +
                          bytes_of(std::uint32_t{1}) + end_of_archive + std::string(4, '\0') +
                          std::string(14, '\xFF').replace(12, 2, "\0\0"s);
  io::write_file_atomically(path, begin);
  REQUIRE(::truncate(path.c_str(), static_cast<off_t>(table)) == 0);
  std::ofstream(path, std::ios::binary | std::ios::app) << entry << end;

  const MappedFile file(path);
  const ZipArchive archive(file.bytes(), path);
  REQUIRE(archive.members().size() == 1);
  CHECK(archive.members()[0].packed.size() == size);
  CHECK(archive.members()[0].packed.back() == std::byte{0});
}

TEST_CASE("an archive that lies is an Error") {
  const TempFolder folder;
  const std::string path = folder / "a.zip";
  // Offsets in a table entry: flags 8, method 10, sizes 20 and 24, offset 42. In the end: counts 8
  // and 10, size 12, offset 16.
  const auto with = [&](const std::string& where, std::size_t offset, const std::string& bytes,
                        std::uint64_t zip64_from = 0xFFFFFFFF) {
    write_archive(path, {{"one", "1111"}, {"two", "2222"}}, zip64_from);
    patch(path, last(path, where) + offset, bytes);
    return error_in(path);
  };
  CHECK(contains(with(table_entry, 42, bytes_of(std::uint32_t{1000000})),
                 "lies outside the archive"));
  CHECK(contains(with(table_entry, 42, bytes_of(std::uint32_t{1})), "does not begin at byte 1"));
  CHECK(contains(with(table_entry, 42, bytes_of(std::uint32_t{0})),
                 "\"two\" has another name at byte 0"));
  CHECK(contains(with(table_entry, 8, "\1"), "\"two\" is encrypted"));
  CHECK(contains(with(table_entry, 10, "\x0c"), "\"two\" is packed by the method 12"));
  CHECK(contains(with(table_entry, 20, bytes_of(std::uint64_t{0x0000FFFF0000FFFF})),
                 "\"two\" of 65535 bytes at byte 37 lies outside the archive"));
  CHECK(contains(with(table_entry, 24, "\5"), "\"two\" has 5 bytes stored in 4"));
  CHECK(contains(with(table_entry, 10, "\x08\0\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0\x01"s),
                 "more than deflate can"));
  CHECK(contains(with(end_of_archive, 8, "\3\0\3\0"s), "a table of 98 bytes for 3 files"));
  CHECK(contains(with(end_of_archive, 8, "\1\0\1\0"s), "more files in the archive than it counts"));
  CHECK(contains(with(end_of_archive, 8, "\xFE\xFF\xFE\xFF"), "98 bytes for 65534 files"));
  CHECK(contains(with(end_of_archive, 4, "\1\0"s), "an archive in several pieces"));
  CHECK(contains(with(end_of_archive, 16, bytes_of(std::uint32_t{4000})),
                 "a table of 98 bytes at byte 4000"));
  CHECK(contains(with(end_of_archive, 0, "XX"), "no end of a zip archive"));
  const std::uint64_t huge = ~std::uint64_t{0};
  CHECK(
      contains(with(locator, 8, bytes_of(huge), 0), "a zip64 record at byte 18446744073709551615"));
  CHECK(contains(with("PK\6\6", 24, bytes_of(huge) + bytes_of(huge), 0),
                 "for 18446744073709551615 files"));
  CHECK(contains(with("PK\6\6", 40, bytes_of(huge), 0), "a table of 18446744073709551615 bytes"));
  CHECK(contains(with("PK\6\6", 48, bytes_of(huge), 0), "at byte 18446744073709551615, outside"));
  for (const unsigned field : {0u, 8u, 16u})  // size, packed size, offset of "two" in zip64
    CHECK(!with(table_entry, 46 + 3 + 4 + field, bytes_of(huge), 0).empty());

  // Messages about a zip64 field have its byte: that of "two" is cut off here, behind the size.
  write_archive(path, {{"one", "1111"}, {"two", "2222"}}, 0);
  const std::size_t field = last(path, table_entry) + 46 + 3;
  patch(path, field + 2, bytes_of(std::uint16_t{8}));
  CHECK(contains(error_in(path),
                 concat(", byte ", field + 12, ": a zip64 field of 8 bytes where 0 are left")));
  patch(path, field + 2, bytes_of(std::uint16_t{100}));
  CHECK(contains(error_in(path),
                 concat(", byte ", field + 4, ": an extra field of 100 bytes where 24 are left")));

  // Two members with the same bytes, and with the same name.
  write_archive(path, {{"one", "1111"}, {"one", "2222"}});
  CHECK(contains(error_in(path), "the file \"one\" occurs twice"));
  patch(path, last(path, table_entry) + 42, bytes_of(std::uint32_t{0}));
  CHECK(contains(error_in(path), "overlap (a zip bomb?)"));
  CHECK(error_in(path).starts_with("gpunet::io: " + path + ", byte 0: "));

  io::write_file_atomically(path, std::string_view());
  CHECK(contains(error_in(path), "byte 0: no end of a zip archive"));
}
