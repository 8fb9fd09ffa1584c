#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include <gpunet/io/binary.hpp>
#include <gpunet/io/mapped_file.hpp>

#include "support/end_of.hpp"
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

TEST_CASE("a copy stays what it was, whatever happens to the file") {
  const TempFolder folder;
  const std::string path = folder / "x";
  io::write_file_atomically(path, std::string_view("first"));
  const io::FileBytes copy(path), map(path, true);
  CHECK(io::detail::as_text(map.bytes()) == "first");
  std::ofstream(path) << "other";  // in place
  CHECK(io::detail::as_text(map.bytes()) == "other");
  std::filesystem::resize_file(path, 0);
  CHECK(io::detail::as_text(copy.bytes()) == "first");
  CHECK(io::FileBytes(path).bytes().empty());
  CHECK(io::FileBytes(path, true).bytes().empty());
}

TEST_CASE("a file that is larger than memory is not copied") {
  const TempFolder folder;
  const std::string path = folder / "x";
  io::write_file_atomically(path, std::string_view("x"));
  std::filesystem::resize_file(path, std::uintmax_t{1} << 33);  // a hole
  rlimit old{};
  getrlimit(RLIMIT_AS, &old);
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  CHECK(end_of([&] {
          const rlimit limit{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (1 << 30),
                             old.rlim_max};
          setrlimit(RLIMIT_AS, &limit);
          _exit(
              contains(
                  error_of([&] { io::FileBytes file(path); }),
                  "are more than the available memory, free some or have it mapped: {.map = true}")
                  ? 7
                  : 1);
        }) == 7);
}

TEST_CASE("an empty file has no bytes; what is no file is an Error") {
  const TempFolder folder;
  io::write_file_atomically(folder / "x", std::string_view());
  CHECK(io::MappedFile(folder / "x").bytes().empty());
  CHECK(contains(error_of([&] { io::MappedFile file(folder / "none"); }),
                 "cannot read " + (folder / "none")));
  CHECK(contains(error_of([&] { io::MappedFile file(folder.path()); }),
                 "it is a folder, give a file in it"));
}
