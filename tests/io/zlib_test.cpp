#include <doctest/doctest.h>

#include <gpunet/io/npz.hpp>

#include "corpus.hpp"
#include "support/allocations.hpp"
#include "test_config.hpp"

#if GPUNET_TEST_ZLIB

#include <filesystem>
#include <string>
#include <vector>

#include <gpunet/data/mnist.hpp>
#include <gpunet/io/gzip.hpp>
#include <gpunet/io/state_dict.hpp>
#include <gpunet/io/zlib.hpp>

using namespace gpunet;
using io::NpzFile;
using namespace std::string_literals;

TEST_CASE("deflated arrays are read and written") {
  const TempFolder folder;
  const NpzFile first = NpzFile::read(corpus("deflated.npz"));
  io::write_npz(folder / "x.npz", first.entries(), {.compress = true});
  CHECK(read_text(folder / "x.npz").size() < 1000);
  for (const NpzFile& file : {first, NpzFile::read(folder / "x.npz")}) {
    REQUIRE(file.entries().size() == 4);
    CHECK(entry_named(file, "zeros").sizes == Sizes{40, 50});
    CHECK(values_of(entry_named(file, "zeros")) == std::vector<double>(2000));
    CHECK(values_of(entry_named(file, "layer.weight")) == ramp(6));
    CHECK(values_of(entry_named(file, "f")) == ramp(6));
  }
}

TEST_CASE("data of many sizes comes back, in one call, in pieces or only its beginning") {
  using io::Inflater;
  const auto open = [](std::span<const std::byte> packed) {
    return io::detail::zlib_inflater({packed});
  };
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{300000}})
    for (const unsigned step : {0u, 1u, 40503u}) {  // all the same, orderly, hardly to be packed
      std::vector<std::byte> bytes(size);
      for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(static_cast<unsigned>(i) * step * step >> 7);
      const std::vector<std::byte> packed = io::detail::zlib_deflate(bytes);
      std::vector<std::byte> out(size + 1);
      const auto whole = std::span(out).first(size);
      CHECK(io::detail::read_last(*open(packed), whole));
      CHECK(std::equal(bytes.begin(), bytes.end(), out.begin()));
      CHECK(open(packed)->read(out) == static_cast<std::ptrdiff_t>(size));  // fewer than wanted
      if (size == 0) continue;
      CHECK_FALSE(io::detail::read_last(*open(packed), whole.first(size - 1)));
      CHECK(open(packed)->read(whole.first(size / 2 + 1)) ==
            static_cast<std::ptrdiff_t>(size / 2 + 1));
      CHECK_FALSE(io::detail::read_last(*open(std::span(packed).first(packed.size() - 1)), whole));
      CHECK(open(std::span(packed).first(packed.size() - 1))->read(out) == Inflater::cut_short);
      std::vector<std::byte> longer = packed;
      longer.push_back(std::byte{0});
      CHECK_FALSE(io::detail::read_last(*open(longer), whole));

      // Packed and unpacked pieces that have nothing to do with each other.
      std::vector<std::span<const std::byte>> pieces;
      for (std::size_t i = 0; i < packed.size(); i += 1 + i % 7) {
        pieces.push_back(std::span(packed).subspan(i, std::min(1 + i % 7, packed.size() - i)));
        pieces.emplace_back();
      }
      const auto inflater = io::detail::zlib_inflater(pieces);
      std::fill(out.begin(), out.end(), std::byte{0xEE});
      for (std::size_t i = 0, n = 1; i < size; i += n, n = std::min(1 + i % 1013, size - i))
        CHECK(inflater->read(whole.subspan(i, n)) == static_cast<std::ptrdiff_t>(n));
      CHECK(std::equal(bytes.begin(), bytes.end(), out.begin()));
      CHECK(inflater->read(out) == 0);
      CHECK(inflater->left() == 0);
    }
  const std::vector<std::byte> nonsense(10, std::byte{0xFF});
  std::vector<std::byte> out(10);
  CHECK(open(nonsense)->read(out) == Inflater::damaged);
}

TEST_CASE("a gzip file that is cut off says so, wherever its packed data is cut") {
  std::vector<std::byte> bytes(3000);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(static_cast<unsigned>(i) * 40503u >> 7);
  std::string whole = "\x1F\x8B\x08\0\0\0\0\0\0\3"s;
  for (const std::byte byte : io::detail::zlib_deflate(bytes))
    whole += static_cast<char>(byte);
  const std::size_t end = whole.size();
  whole += bytes_of(io::detail::crc32(bytes)) + bytes_of(std::uint32_t{3000});
  const auto unpacked = [](const std::string& text) {
    return io::gunzip(std::as_bytes(std::span(text)), "x.gz", 4000);
  };
  CHECK(unpacked(whole) == bytes);
  for (std::size_t i = 3; i < whole.size(); ++i) {
    CAPTURE(i);
    const std::string message = error_of([&] { unpacked(whole.substr(0, i)); });
    if (i < end)
      CHECK(message == concat("gpunet::io: x.gz ends at byte ", i,
                              ", but its compressed data goes on (it is cut off), fetch it again"));
    else  // only the sum or the size is
      CHECK(message.starts_with("gpunet::io: x.gz "));
  }
  std::string other = whole;
  other[end] ^= 1;
  CHECK(contains(error_of([&] { unpacked(other); }), "(its checksum is wrong)"));
}

TEST_CASE("a gzip bomb for MNIST asks for no more memory than the header of the idx file") {
  const TempFolder folder;
  const auto error = [&](const std::string& header) {
    const std::string idx = header + std::string(50'000'000, '\0');
    const auto bytes = std::as_bytes(std::span(idx));
    std::string file = "\x1F\x8B\x08\0\0\0\0\0\0\3"s;
    for (const std::byte byte : io::detail::zlib_deflate(bytes))
      file += static_cast<char>(byte);
    file += bytes_of(io::detail::crc32(bytes)) + bytes_of(static_cast<std::uint32_t>(idx.size()));
    io::write_file_atomically(folder / "train-images-idx3-ubyte.gz", file);
    const Count count;
    const std::string message = error_of([&] { data::MNIST::train(folder.path()); });
    CHECK(count.largest() < 1 << 18);
    return message;
  };
  CHECK(contains(error("no idx file of 16"), "does not begin as an idx file"));
  CHECK(contains(error("\0\0\x08\3\0\0\0\2\0\0\0\x1C\0\0\0\x1C"s),
                 "decompresses to 50000016 bytes (want at most 1584)"));
}

TEST_CASE("a zip bomb asks for no memory") {
  const TempFolder folder;
  // Deflated arrays: one that says it is of 4 GB and packs 2000 zeros, and one whose data goes on
  // behind its end.
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,)}";
  std::string array =
      "\x93NUMPY\1\0"s + bytes_of(static_cast<std::uint16_t>(header.size())) + header;
  const auto error = [&](std::size_t zeros, std::uint32_t claim) {
    const std::string whole = array + std::string(zeros, '\0');
    io::AtomicFile file(folder / "x.npz");
    io::detail::ZipWriter archive(file);
    archive.deflate("a.npy", std::as_bytes(std::span(whole)), io::detail::zlib_codec);
    archive.finish();
    file.commit();
    const std::size_t entry = read_text(folder / "x.npz").rfind("PK\1\2");
    patch(folder / "x.npz", entry + 24, bytes_of(claim));
    const Count count;
    const std::string message = error_of([&] {
      const NpzFile npz = NpzFile::read(folder / "x.npz");
      std::vector<std::byte> room;
      io::bytes_of(npz.entries()[0], room);
    });
    CHECK(count.largest() < 1 << 20);
    return message;
  };
  CHECK(contains(error(2000, 4'000'000'000), "more than deflate can"));
  CHECK(contains(error(8'000'000, 8'000'000), "bytes of data (want 4000000000 for the shape"));
  array.replace(array.find("1000000000"), 10, "0000000500");
  CHECK(contains(error(4000, static_cast<std::uint32_t>(array.size()) + 2000),
                 "data that cannot be decompressed"));
  CHECK(error(2000, static_cast<std::uint32_t>(array.size()) + 2000).empty());
}

TEST_CASE("deflated arrays are unpacked when they are asked for, one by one") {
  const TempFolder folder;
  const std::vector<float> zeros(4'000'000), ones(2'000, 1);
  std::vector<io::TensorEntry> entries;
  for (const char* name : {"a", "b", "c"})
    entries.push_back({name, io::Dtype::F32, {2'000, 2'000}, std::as_bytes(std::span(zeros))});
  entries.push_back({"d", io::Dtype::F32, {2'000}, std::as_bytes(std::span(ones))});
  const std::string path = folder / "x.npz";
  io::write_npz(path, entries, {.compress = true});
  const auto packed = std::filesystem::file_size(path);
  {
    const Count count;
    const io::TensorFile file = io::read_tensors(path);
    CHECK(file.entries()[2].name == "c");
    CHECK(file.entries()[2].sizes == Sizes{2'000, 2'000});
    std::vector<float> d(2'000);
    io::copy_as(file.entries()[3], std::span(d));
    CHECK(d == ones);
    CHECK(count.bytes() < packed + (1 << 15));
  }
  std::vector<float> all(4'000'000, 1);
  {
    const NpzFile file = NpzFile::read(path);
    const Count count;
    io::copy_as(file.entries()[0], std::span(all));
    CHECK(count.bytes() < 1 << 12);  // into the place where it is wanted
    CHECK(all == zeros);
    std::vector<double> doubles(4'000'000);
    io::copy_as(file.entries()[0], std::span(doubles));
    CHECK(count.largest() <= 32'000'000);
    CHECK(doubles == std::vector<double>(4'000'000));
  }
  std::vector<float> weight(4), bias(1);
  const std::vector<io::NamedArray<float>> arrays{{"weight", {2, 2}, weight.data()},
                                                  {"bias", {1}, bias.data()}};
  const Count count;
  CHECK(contains(error_of([&] { io::load_arrays(arrays, io::read_tensors(path)); }),
                 "missing keys: weight, bias"));
  CHECK(count.largest() < 1 << 17);
}

TEST_CASE("a packed array over the limit is an entry with a problem, and others are read") {
  const TempFolder folder;
  const std::vector<double> values = ramp(6);
  const std::vector<io::TensorEntry> entries{
      {"large", io::Dtype::F64, {6}, std::as_bytes(std::span(values))},
      {"small", io::Dtype::F64, {2}, std::as_bytes(std::span(values).first(2))}};
  io::write_npz(folder / "x.npz", entries, {.compress = true});
  const io::TensorFile file = io::read_tensors(folder / "x.npz", {.max_unpacked_bytes = 175});
  CHECK(values_of(file.entries()[1]) == ramp(2));
  CHECK(contains(error_of([&] { values_of(file.entries()[0]); }),
                 "x.npz, large.npy has 176 bytes unpacked (want at most 175), raise the limit, "
                 "{.max_unpacked_bytes = ...}"));
  CHECK(values_of(entries_of(io::read_tensors(folder / "x.npz", {.max_unpacked_bytes = 176}))[0]) ==
        values);
}

TEST_CASE("damage in a packed array is an Error when its elements are asked for") {
  const TempFolder folder;
  const std::string path = folder / "x.npz", whole = read_text(corpus("deflated.npz"));
  const io::detail::ZipArchive archive(std::as_bytes(std::span(whole)), path);
  const auto& member = *archive.find("layer.weight.npy");
  std::string damaged = whole;
  damaged[member.end() - 1] ^= 0x55;
  io::write_file_atomically(path, damaged);
  const NpzFile file = NpzFile::read(path);
  CHECK(values_of(entry_named(file, "f")) == ramp(6));
  CHECK(contains(error_of([&] { values_of(entry_named(file, "layer.weight")); }),
                 concat(path, ", layer.weight.npy, byte ", member.data, " of the archive: ")));

  const std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': ()}" + std::string(20'000, ' ');
  const std::string array =
      "\x93NUMPY\1\0"s + bytes_of(static_cast<std::uint16_t>(header.size())) + header + "1234";
  io::AtomicFile out(path);
  io::detail::ZipWriter writer(out);
  writer.deflate("a.npy", std::as_bytes(std::span(array)), io::detail::zlib_codec);
  writer.finish();
  out.commit();
  CHECK(contains(entries_of(NpzFile::read(path))[0].problem,
                 "a.npy has a header of 20063 bytes (want at most 10000)"));
}

#else

TEST_CASE("deflated arrays are read and written") {
  MESSAGE("skipped: there was no zlib when the tests were configured");
}

#endif
