#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/io/npy.hpp>

#include "corpus.hpp"

using namespace gpunet;
using io::Dtype;
using io::NpyFile;
using io::TensorEntry;
using namespace std::string_literals;

namespace {

// A file of version 1.0 with this header and so many bytes of data.
std::string error_in(const TempFolder& folder, const std::string& header,
                     std::size_t data_bytes = 24) {
  io::write_file_atomically(folder / "x.npy",
                            "\x93NUMPY\1\0"s + bytes_of(static_cast<std::uint16_t>(header.size())) +
                                header + std::string(data_bytes, '\0'));
  return error_of([&] { NpyFile::read(folder / "x.npy"); });
}

}  // namespace

TEST_CASE("arrays of NumPy are read, in C's order and Fortran's, of versions 1 to 3") {
  for (const char* name : {"c_order.npy", "version_2.npy", "version_3.npy"}) {
    CAPTURE(name);
    const NpyFile file = NpyFile::read(corpus(name));
    REQUIRE(file.entries().size() == 1);
    CHECK(file.entries()[0].name.empty());
    CHECK(file.entries()[0].dtype == Dtype::F32);
    CHECK(file.entries()[0].sizes == Sizes{2, 3});
    CHECK(values_of(file.entries()[0]) == ramp(6));
  }
  const NpyFile fortran = NpyFile::read(corpus("fortran_order.npy"));
  CHECK(fortran.entries()[0].dtype == Dtype::F64);
  CHECK(fortran.entries()[0].sizes == Sizes{2, 3, 4});
  CHECK(values_of(fortran.entries()[0]) == ramp(24));
  CHECK(values_of(entries_of(NpyFile::read(corpus("scalar.npy")))[0]) == std::vector<double>{2.5});
  CHECK(entries_of(NpyFile::read(corpus("empty.npy")))[0].sizes == Sizes{0, 3});
}

TEST_CASE("what is written is byte for byte what NumPy writes") {
  const TempFolder folder;
  for (const char* name : {"c_order.npy", "fortran_order.npy", "scalar.npy", "empty.npy"}) {
    CAPTURE(name);
    const NpyFile file = NpyFile::read(corpus(name));
    io::write_npy(folder / "x.npy", file.entries()[0]);
    CHECK(read_text(folder / "x.npy") == read_text(corpus(name)));
  }
  // Other strides are put in order.
  TensorEntry entry = entries_of(NpyFile::read(corpus("c_order.npy")))[0];
  const std::vector<float> values{0, 3, 9, 1, 4, 9, 2, 5, 9};
  entry.bytes = std::as_bytes(std::span(values));
  entry.strides = {1, 3};
  io::write_npy(folder / "x.npy", entry);
  CHECK(values_of(entries_of(NpyFile::read(folder / "x.npy"))[0]) == ramp(6));

  entry.strides = {};
  CHECK(contains(error_of([&] { io::write_npy(folder / "y.npy", entry); }),
                 "which do not fit its shape [2, 3]"));
  const std::vector<TensorEntry> odd{{"a", Dtype::BF16, {1}, std::as_bytes(std::span("xy", 2))}};
  CHECK(contains(error_of([&] { io::write_npy(folder / "y.npy", odd[0]); }),
                 "has dtype BF16 (NumPy has none like it)"));
  CHECK(folder.count() == 1);
}

TEST_CASE("a header is a Python dict in any spelling") {
  const TempFolder folder;
  for (const char* header : {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
                             "{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":True}",
                             " { 'shape' : (6L , ) , 'descr' : '<f4' , 'fortran_order' : False } ",
                             "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
                             "{'descr': '|u1', 'fortran_order': False, 'shape': (24, 1, 1)}"}) {
    CAPTURE(header);
    CHECK(error_in(folder, header).empty());
  }
}

TEST_CASE("a header that lies is an Error at its byte") {
  const TempFolder folder;
  const auto shape = [](const std::string& numbers) {
    return "{'descr': '<f4', 'fortran_order': False, 'shape': (" + numbers + ")}";
  };
  CHECK(contains(error_in(folder, shape("2, 3"), 23),
                 "23 bytes of data (want 24 for the shape [2, 3] of F32)"));
  CHECK(contains(error_in(folder, shape("2, 3"), 25), "25 bytes of data"));
  CHECK(contains(error_in(folder, shape("4294967296, 4294967296")), "that is too large"));
  CHECK(contains(error_in(folder, shape("9223372036854775807, 9223372036854775807, 0"), 0),
                 "that is too large"));
  CHECK(contains(error_in(folder, shape("18446744073709551616")), "a number that is too large"));
  CHECK(contains(error_in(folder, shape("9223372036854775808")), "a number that is too large"));
  CHECK(contains(error_in(folder, shape("-1")), "expected a number in the header"));
  CHECK(contains(error_in(folder, shape("1,1,1,1,1,1,1,1,1")), "more than 8 dimensions"));
  CHECK(contains(error_in(folder, shape("2, 3") + "x"), "more in the header than wanted"));
  CHECK(contains(error_in(folder, "{'descr': '<f4', 'shape': (2, 3)}"),
                 "without descr, fortran_order or shape"));
  CHECK(contains(error_in(folder, "{'fortran_order': False, 'shape': (6,)}"),
                 "without descr, fortran_order or shape"));
  CHECK(contains(error_in(folder, "{'descr': '<f4', 'fortran_order': False}"),
                 "without descr, fortran_order or shape"));
  for (const char* twice :
       {"{'descr': '<f4', 'descr': '<f4'", "{'fortran_order': True, 'fortran_order': True",
        "{'shape': (6,), 'shape': (6,)"})
    CHECK(contains(error_in(folder, twice), "unknown or occurs twice"));
  CHECK(contains(error_in(folder, "{'x': 1}"), "byte 15: the key \"x\""));
  for (const auto& [type, advice] : {std::pair("<U4", "numbers that stand for them"),
                                     {"|S3", "numbers that stand for them"},
                                     {"<M8[s]", "array.astype(\"int64\")"},
                                     {"<m8[s]", "array.astype(\"int64\")"},
                                     {"|V2", "array.astype(\"float32\")"},
                                     {"|O", "array.astype(\"float32\")"},
                                     {"<f16", "array.astype(\"float64\")"}}) {
    const std::string header = concat("{'descr': '", type, "'"), message = error_in(folder, header);
    CAPTURE(header);
    CHECK(contains(message, concat("), save ", advice)));
  }
  CHECK(contains(error_in(folder, "{'descr': '<f4"), "a text without an end"));
  CHECK(contains(error_in(folder, "{'fortran_order': Tr}"), "\"Tr\" for a truth value"));
  CHECK(contains(error_in(folder, "{'fortran_order': __import__('os').system('true')}"),
                 "expected a truth value"));
  CHECK(contains(error_in(folder, ""), "expected '{' in the header"));

  CHECK(contains(error_of([&] { NpyFile::read(corpus("big_endian.npy")); }),
                 "byte 25: big-endian elements of type \">f4\" (gpunet reads "
                 "little-endian ones), save "
                 "array.astype(array.dtype.newbyteorder(\"<\"))"));
  CHECK(
      contains(error_of([&] { NpyFile::read(corpus("object.npy")); }), "Python objects (pickles"));
  CHECK(contains(error_of([&] { NpyFile::read(corpus("record.npy")); }),
                 "records of several fields"));
  CHECK(contains(error_of([&] { NpyFile::read(corpus("stored.npz")); }),
                 "no .npy file begins like this"));
  io::write_file_atomically(folder / "x.npy", "\x93NUMPY\4\0"s);
  CHECK(contains(error_of([&] { NpyFile::read(folder / "x.npy"); }),
                 "version 4.0 (gpunet reads 1.0, 2.0 and 3.0)"));
  io::write_file_atomically(folder / "x.npy", "\x93NUMPY\2\0\xFF\xFF\xFF\xFF{}"s);
  CHECK(contains(error_of([&] { NpyFile::read(folder / "x.npy"); }),
                 "a header of 4294967295 bytes where 2 are left"));
}
