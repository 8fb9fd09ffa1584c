#include <cerrno>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <gpunet/io/file.hpp>

#include "temp_folder.hpp"

using namespace gpunet;
namespace fs = std::filesystem;

TEST_CASE("read_file gives all bytes of a file") {
  TempFolder folder;
  io::write_file_atomically(folder / "a", std::string_view("one\0two", 7), "three");
  CHECK(read_text(folder / "a") == std::string("one\0twothree", 12));
  io::write_file_atomically(folder / "empty");
  CHECK(io::read_file(folder / "empty").empty());
}

TEST_CASE("folders, and what is in them") {
  const TempFolder folder;
  io::write_file_atomically(folder / "file", "x");
  fs::create_directory_symlink(folder.path(), folder / "link");
  CHECK(io::is_folder(folder.path()));
  CHECK(io::is_folder(folder / "link"));
  CHECK(!io::is_folder(folder / "file"));
  CHECK(!io::is_folder(folder / "none"));
  CHECK(io::join("a", "b") == "a/b");
  CHECK(io::join("a/", "b") == "a/b");
}

TEST_CASE("read_file names the path and the reason") {
  TempFolder folder;
  CHECK(error_of([&] { io::read_file(folder / "none"); }) ==
        "gpunet::io: cannot read " + (folder / "none") +
            ": No such file or directory, check the path");
  CHECK(error_of([&] { io::read_file(folder.path()); }) ==
        "gpunet::io: cannot read " + folder.path() + ": it is a folder, give a file in it");
  CHECK(contains(error_of([&] { io::read_file("/dev/null"); }),
                 "/dev/null: it is not a regular file"));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(contains(error_of([&] { io::read_file(folder / "pipe"); }), "it is not a regular file"));
}

TEST_CASE("a file that shrinks while it is read is an error") {
  TempFolder folder;
  io::write_file_atomically(folder / "a", "12345678");
  io::InputFile file(folder / "a");
  fs::resize_file(folder / "a", 3);
  std::vector<std::byte> bytes(8);
  CHECK(contains(error_of([&] { file.read(bytes); }), "ends 5 bytes early"));
}

TEST_CASE("a system error comes with what helps against it") {
  CHECK(io::detail::advice("write", "a", EIO) == "check the disk");
  CHECK(io::detail::advice("write", "a", EFBIG) == "raise the limit on file sizes (ulimit -f)");
  CHECK(io::detail::advice("read", "a", ENOENT) == "check the path");
  CHECK(io::detail::advice("write", "/nowhere/a", ENOENT) == "create its folder first");
  // Where no file can be made.
  CHECK(io::detail::advice("write", "/proc/a", ENOENT) == "choose another folder");
  CHECK(io::detail::advice("write", "a", ENOENT) == "choose another folder");
}

TEST_CASE("an empty path is called so") {
  CHECK(error_of([] { io::read_file(""); }) ==
        "gpunet::io: cannot read a file whose path is empty, give its name");
  CHECK(error_of([] { io::write_file_atomically(""); }) ==
        "gpunet::io: cannot write a file whose path is empty, give its name");
  CHECK(error_of([] { io::make_folders(""); }) ==
        "gpunet::io: cannot make the folder: its path is empty, give a name");
}

TEST_CASE("system calls that a signal interrupts are made again") {
  int calls = 0;
  const auto call = [&] {
    errno = EINTR;
    return ++calls < 3 ? -1 : 7;
  };
  CHECK(io::detail::uninterrupted(call) == 7);
  CHECK(calls == 3);
}
