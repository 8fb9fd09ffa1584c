#include <doctest/doctest.h>

#include <gpunet/io/mapped_file.hpp>

#include "temp_folder.hpp"

using namespace gpunet;

TEST_CASE("a file is seen as it is, and stays so when another takes its place") {
  const TempFolder folder;
  const std::string path = folder / "x";
  io::write_file_atomically(path, std::string_view("first"));
  const io::MappedFile file(path);
  io::write_file_atomically(path, std::string_view("second"));
  REQUIRE(file.bytes().size() == 5);
  CHECK(file.bytes()[0] == std::byte{'f'});
  CHECK(file.bytes()[4] == std::byte{'t'});
}

TEST_CASE("an empty file has no bytes; what is no file is an Error") {
  const TempFolder folder;
  io::write_file_atomically(folder / "x", std::string_view());
  CHECK(io::MappedFile(folder / "x").bytes().empty());
  CHECK(contains(error_of([&] { io::MappedFile file(folder / "none"); }), "cannot read " + (folder / "none")));
  CHECK(contains(error_of([&] { io::MappedFile file(folder.path()); }), "it is a folder, give a file in it"));
}
