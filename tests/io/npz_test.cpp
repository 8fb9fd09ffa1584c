#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/io/npz.hpp>

#include "corpus.hpp"

using namespace gpunet;
using io::Dtype;
using io::NpzFile;
using io::TensorEntry;
using namespace std::string_literals;

namespace {

std::string error_in(const TempFolder& folder,
                     const std::vector<std::pair<std::string, std::string>>& members) {
  write_archive(folder / "x.npz", members);
  return error_of([&] { NpzFile::read(folder / "x.npz"); });
}

}  // namespace

TEST_CASE("stored arrays of NumPy are read, under their names") {
  const NpzFile file = NpzFile::read(corpus("stored.npz"));
  REQUIRE(file.entries().size() == 3);
  CHECK(values_of(entry_named(file, "layer.weight")) == ramp(6));
  CHECK(entry_named(file, "layer.weight").sizes == Sizes{2, 3});
  CHECK(values_of(entry_named(file, "layer.bias")) == std::vector<double>{0.5, -1.5});
  CHECK(values_of(entry_named(file, "f")) == ramp(6));
}

TEST_CASE("every type is read and written") {
  const TempFolder folder;
  const NpzFile first = NpzFile::read(corpus("types.npz"));
  io::write_npz(folder / "x.npz", first.entries());
  for (const NpzFile& file : {first, NpzFile::read(folder / "x.npz")}) {
    const std::vector<Dtype> types{Dtype::BOOL, Dtype::I8,  Dtype::U8,  Dtype::I16, Dtype::U16,
                                   Dtype::F16,  Dtype::I32, Dtype::U32, Dtype::F32, Dtype::C64,
                                   Dtype::I64,  Dtype::U64, Dtype::F64, Dtype::C128};
    REQUIRE(file.entries().size() == types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      const TensorEntry& entry = file.entries()[i];
      CAPTURE(entry.name);
      CHECK(entry.dtype == types[i]);
      REQUIRE(entry.bytes.size() == static_cast<std::size_t>(2 * io::bits_of(types[i]) / 8));
      for (std::size_t k = 0; k < entry.bytes.size(); ++k)
        CHECK(entry.bytes[k] == static_cast<std::byte>(k));
    }
  }
}

TEST_CASE("what is no array of numbers is an entry with a problem") {
  const NpzFile file = NpzFile::read(corpus("mixed.npz"));
  REQUIRE(file.entries().size() == 4);
  CHECK(values_of(entry_named(file, "w")) == ramp(6));
  const auto error = [&](const char* name) {
    return error_of([&] { values_of(entry_named(file, name)); });
  };
  CHECK(contains(error("names"), "\"names\" could not be read: gpunet::io: " + corpus("mixed.npz") +
                                     ", names.npy, byte "));
  CHECK(contains(error("names"),
                 ": elements of type \"<U1\" (texts; gpunet reads numbers), save numbers"));
  CHECK(contains(error("objects"),
                 "Python objects (pickles, which can execute anything), save array.astype"));
  CHECK(
      contains(error("ten"),
               "more than 8 dimensions (the most that gpunet handles), reshape it before saving"));
  const TempFolder folder;
  CHECK(error_in(folder, {{"a.npy", read_text(corpus("c_order.npy"))}, {"a.txt", "b"}}).empty());
  const NpzFile other = NpzFile::read(folder / "x.npz");
  CHECK(contains(entry_named(other, "a.txt").problem, "x.npz, a.txt is no .npy file"));
}

TEST_CASE("an archive that is none of NumPy's, or damaged, is an Error") {
  const TempFolder folder;
  const std::string array = read_text(corpus("c_order.npy"));
  CHECK(error_in(folder, {{"a.npy", array}}).empty());
  CHECK(contains(
      error_in(folder, {{"a.txt", array}}),
      "x.npz: a zip archive without .npy files (numpy.savez writes nothing else), give another"));
  CHECK(error_in(folder, {}).empty());
  CHECK(contains(error_in(folder, {{"a.npy", array + "x"}}), "a.npy, byte 163: 25 bytes of data"));
  CHECK(contains(error_in(folder, {{"\xFF.npy", array}}), "the name is not UTF-8"));
  write_archive(folder / "x.npz", {{"a.npy", array}});
  patch(folder / "x.npz", 170, "x");
  CHECK(contains(error_of([&] { NpzFile::read(folder / "x.npz"); }),
                 "a.npy, byte 35 of the archive: the checksum does not match"));
}

TEST_CASE("without zlib, deflated arrays are refused with what to do") {
  const TempFolder folder;
  const auto* codec = std::exchange(io::deflate_codec(), nullptr);
  const NpzFile stored = NpzFile::read(corpus("stored.npz"));
  const std::string reading = error_of([&] { NpzFile::read(corpus("deflated.npz")); });
  const std::string writing =
      error_of([&] { io::write_npz(folder / "x.npz", stored.entries(), {.compress = true}); });
  io::deflate_codec() = codec;
  CHECK(contains(
      reading,
      "deflated.npz, zeros.npy is deflated (which needs zlib), include <gpunet/io/zlib.hpp> in one "
      "source and link zlib (gpunet::zlib in CMake, -lz), or save it with np.savez"));
  CHECK(contains(writing, "compressing needs zlib"));
  CHECK(folder.count() == 0);
}
