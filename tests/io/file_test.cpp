#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gpunet/io/file.hpp>

#include "temp_folder.hpp"

using namespace gpunet;
namespace fs = std::filesystem;

namespace {

// Files of this process can have no more than `bytes` bytes while it lives: what a full disk looks like to write().
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_{};
  void (*handler_)(int);
};

// Root may do everything; permissions hold for anybody else.
class NotRoot {
 public:
  NotRoot() : was_root_(geteuid() == 0 && seteuid(65534) == 0) {}
  ~NotRoot() {
    if (was_root_) [[maybe_unused]]
      const int result = seteuid(0);
  }

 private:
  bool was_root_;
};

mode_t mode_of(const std::string& path) {
  struct stat status {};
  stat(path.c_str(), &status);
  return status.st_mode & 07777;
}

}  // namespace

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
        "gpunet::io: cannot read " + (folder / "none") + ": No such file or directory, check the path");
  CHECK(error_of([&] { io::read_file(folder.path()); }) ==
        "gpunet::io: cannot read " + folder.path() + ": it is a folder, give a file in it");
  CHECK(contains(error_of([&] { io::read_file("/dev/null"); }), "/dev/null: it is not a regular file"));
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

TEST_CASE("AtomicFile changes nothing until commit, and leaves nothing behind") {
  TempFolder folder;
  io::write_file_atomically(folder / "a", "old");
  {
    io::AtomicFile file(folder / "a");
    file.write("new");
    CHECK(read_text(folder / "a") == "old");
    CHECK(folder.count() == 2);
  }
  CHECK(read_text(folder / "a") == "old");
  CHECK(folder.count() == 1);
  {
    io::AtomicFile file(folder / "a");
    file.write("new");
    file.commit();
  }
  CHECK(read_text(folder / "a") == "new");
  CHECK(folder.count() == 1);
}

TEST_CASE("a full disk leaves the old file whole") {
  TempFolder folder;
  io::write_file_atomically(folder / "a", "old");
  std::string message;
  {
    FileSizeLimit limit(100'000);  // in the middle of the second piece, which is written short first
    message = error_of([&] { io::write_file_atomically(folder / "a", "head", std::string(200'000, 'x')); });
  }
  CHECK(message ==
        "gpunet::io: cannot write " + (folder / "a") +
            ": File too large (what was there before is untouched), raise the limit on file sizes (ulimit -f)");
  CHECK(read_text(folder / "a") == "old");
  CHECK(folder.count() == 1);
}

TEST_CASE("what cannot be written is named, with the reason") {
  TempFolder folder;
  const auto message_for = [](const std::string& path) {
    return error_of([&] { io::write_file_atomically(path, "x"); });
  };
  CHECK(message_for(folder / "none/a") ==
        "gpunet::io: cannot write " + (folder / "none/a") +
            ": No such file or directory (what was there before is untouched), make its folder first");
  CHECK(contains(message_for(folder.path()), "it is a folder"));
  CHECK(contains(message_for(folder / "none/"), "No such file or directory"));
  CHECK(contains(message_for(""), "No such file or directory"));
  CHECK(contains(message_for("/dev/full"), "/dev/full: it is not a regular file"));
  CHECK(contains(message_for(folder / std::string(300, 'n')), "File name too long"));
  io::write_file_atomically(folder / "a", "old");
  CHECK(contains(message_for(folder / "a/b"), "Not a directory"));
  CHECK(folder.count() == 1);
}

TEST_CASE("an unwritable folder and a write-protected file stay as they are") {
  TempFolder folder;
  io::write_file_atomically(folder / "a", "old");
  std::string closed, locked;
  {
    fs::permissions(folder / "a", fs::perms(0666));
    fs::permissions(folder.path(), fs::perms(0555));
    NotRoot nobody;
    closed = error_of([&] { io::write_file_atomically(folder / "a", "new"); });
  }
  {
    fs::permissions(folder / "a", fs::perms(0444));
    fs::permissions(folder.path(), fs::perms(0777));
    NotRoot nobody;
    locked = error_of([&] { io::write_file_atomically(folder / "a", "new"); });
  }
  CHECK(
      contains(closed, "Permission denied (what was there before is untouched), choose a place that you may use"));
  CHECK(contains(locked, "Permission denied"));
  CHECK(read_text(folder / "a") == "old");
  CHECK(folder.count() == 1);
}

TEST_CASE("the file replaced keeps its permissions, and links stay links") {
  TempFolder folder;
  io::write_file_atomically(folder / "a", "old");
  const mode_t mask = umask(0);
  umask(mask);
  CHECK(mode_of(folder / "a") == (0666 & ~mask));
  fs::permissions(folder / "a", fs::perms(0640));
  fs::create_symlink(folder / "a", folder / "link");
  io::write_file_atomically(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_text(folder / "a") == "new");
  CHECK(mode_of(folder / "a") == 0640);
}

TEST_CASE("threads that save to one path at once leave one whole file") {
  TempFolder folder;
  std::vector<std::thread> threads;
  for (const char letter : {'a', 'b', 'c', 'd'})
    threads.emplace_back([&folder, letter] {
      for (int i = 0; i < 5; ++i)
        io::write_file_atomically(folder / "file", std::string(10'000, letter));
    });
  for (std::thread& thread : threads)
    thread.join();
  const std::string text = read_text(folder / "file");
  CHECK(text == std::string(10'000, text.at(0)));
  CHECK(folder.count() == 1);
}

TEST_CASE("a relative path is meant from the current folder") {
  TempFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const std::string message = error_of([] { io::write_file_atomically("a", "text"); });
  fs::current_path(before);
  CHECK(message.empty());
  CHECK(read_text(folder / "a") == "text");
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
