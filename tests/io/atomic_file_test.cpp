#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gpunet/io/atomic_file.hpp>

#include "support/end_of.hpp"
#include "support/file_size_limit.hpp"
#include "support/fork.hpp"
#include "temp_folder.hpp"

using namespace gpunet;
namespace fs = std::filesystem;

namespace {

// Leaves what a program leaves that is killed while it saves to `path`.
void die_while_saving(const std::string& path) {
  CHECK(end_of([&] {
          io::AtomicFile file(path);
          file.write("half of i");
          std::raise(SIGKILL);
        }) == -SIGKILL);
}

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
  const std::string expected =
      "gpunet::io: cannot write " + (folder / "a") +
      ": File too large (an existing file is untouched), raise the limit on file sizes (ulimit -f)";
  CHECK(end_of([&] {
          // In the middle of the second piece, which is written short first.
          const FileSizeLimit limit(100'000);
          const std::string message = error_of(
              [&] { io::write_file_atomically(folder / "a", "head", std::string(200'000, 'x')); });
          _exit(message == expected ? 7 : 1);
        }) == 7);
  CHECK(read_text(folder / "a") == "old");
  CHECK(folder.count() == 1);
}

TEST_CASE("signals of a file that is too large are left as they were") {
  TempFolder folder;
  const auto save_too_much = [&] {
    const FileSizeLimit limit(1000);
    if (error_of([&] { io::write_file_atomically(folder / "a", std::string(2000, 'x')); }).empty())
      _exit(1);
  };
  const auto pending = [] {
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, SIGXFSZ) == 1;
  };
  sigset_t signal;
  sigemptyset(&signal);
  sigaddset(&signal, SIGXFSZ);
  CHECK(end_of([&] {  // one from elsewhere still counts
          save_too_much();
          std::raise(SIGXFSZ);
        }) == -SIGXFSZ);
  CHECK(end_of([&] {  // a thread that blocks it goes on blocking it, and sees none of ours
          pthread_sigmask(SIG_BLOCK, &signal, nullptr);
          save_too_much();
          if (pending()) _exit(2);
          std::raise(SIGXFSZ);
          if (!pending()) _exit(3);
          save_too_much();
          _exit(pending() ? 7 : 4);  // nor loses its own
        }) == 7);
}

TEST_CASE("what cannot be written is named, with the reason") {
  TempFolder folder;
  const auto message_for = [](const std::string& path) {
    return error_of([&] { io::write_file_atomically(path, "x"); });
  };
  CHECK(message_for(folder / "none/a") ==
        "gpunet::io: cannot write " + (folder / "none/a") +
            ": No such file or directory (an existing file is untouched), create its folder first");
  CHECK(contains(message_for(folder.path()), "it is a folder"));
  CHECK(contains(message_for(folder / "none/"), "No such file or directory"));
  CHECK(contains(message_for(""), "a file whose path is empty"));
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
  CHECK(contains(
      closed,
      "Permission denied (an existing file is untouched), choose a place that you may use"));
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

TEST_CASE("threads that save to one path simultaneously leave one whole file") {
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

TEST_CASE("a link is followed, also to a file that is not there yet") {
  TempFolder folder;
  fs::create_directory(folder / "models");
  fs::create_symlink("models/last", folder / "link");  // relative to the folder of the link
  fs::create_symlink("../first", folder / "models/last");
  fs::create_symlink(folder / "second", folder / "whole");
  io::write_file_atomically(folder / "link", "one");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(fs::is_symlink(folder / "models/last"));
  CHECK(!fs::is_symlink(folder / "first"));
  CHECK(read_text(folder / "first") == "one");
  io::write_file_atomically(folder / "whole", "two");
  CHECK(fs::is_symlink(folder / "whole"));
  CHECK(read_text(folder / "second") == "two");

  fs::create_symlink("round", folder / "round");
  CHECK(contains(error_of([&] { io::write_file_atomically(folder / "round", "x"); }),
                 "Too many levels"));
  fs::create_symlink("none/file", folder / "nowhere");
  CHECK(contains(error_of([&] { io::write_file_atomically(folder / "nowhere", "x"); }),
                 "create its folder first"));
  CHECK(fs::is_symlink(folder / "nowhere"));
}

TEST_CASE("what a killed program left is removed by the next save to the same file") {
  TempFolder folder;
  die_while_saving(folder / "a");
  die_while_saving(folder / "a");
  die_while_saving(folder / "b");
  // The second for "a" has removed what the first left, and left its own.
  CHECK(folder.count() == 2);
  io::write_file_atomically(folder / "a", "x");
  CHECK(folder.count() == 2);
  { io::AtomicFile probe(folder / "b"); }
  CHECK(folder.count() == 1);
  CHECK(read_text(folder / "a") == "x");
}

TEST_CASE("only leftovers are removed") {
  TempFolder folder;
  const char* const others[] = {"a.tmp",       "a.tmp-",     "a.tmp-12",    "a.tmp-12-",
                                "a.tmp--1",    "a.tmp-x-1",  "a.tmp-12-1x", "ba.tmp-1-1",
                                "a.b.tmp-1-1", "a.tmp-1-1-1"};
  for (const char* const name : others)
    std::ofstream(folder / name) << "mine";
  fs::create_directory(folder / "a.tmp-1-1");
  fs::create_symlink("a.tmp", folder / "a.tmp-1-2");
  REQUIRE(mkfifo((folder / "a.tmp-1-3").c_str(), 0600) == 0);
  const auto before = folder.count();
  io::write_file_atomically(folder / "a", "x");
  CHECK(folder.count() == before + 1);
}

TEST_CASE("what another program or thread is writing is no leftover") {
  TempFolder folder;
  int ready[2], go_on[2];
  REQUIRE((pipe(ready) == 0 && pipe(go_on) == 0));
  let_threads_sleep();
  const pid_t child = fork();
  if (child == 0) {
    close(go_on[1]);
    io::AtomicFile file(folder / "a");
    file.write("by the other program");
    char letter = 'x';
    if (write(ready[1], &letter, 1) != 1 || read(go_on[0], &letter, 1) != 1) _exit(1);
    _exit(error_of([&] { file.commit(); }).empty() ? 7 : 2);
  }
  char letter = 0;
  REQUIRE(read(ready[0], &letter, 1) == 1);
  {
    io::AtomicFile mine(folder / "a");
    mine.write("mine");
    io::write_file_atomically(folder / "a", "third");
    CHECK(folder.count() == 3);
    mine.commit();
  }
  CHECK(read_text(folder / "a") == "mine");
  REQUIRE(write(go_on[1], &letter, 1) == 1);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(read_text(folder / "a") == "by the other program");
  CHECK(folder.count() == 1);
  for (const int end : {ready[0], ready[1], go_on[0], go_on[1]})
    close(end);
}

TEST_CASE("programs that save to one path simultaneously lose no save") {
  TempFolder folder;
  std::vector<pid_t> programs;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    let_threads_sleep();
    programs.push_back(fork());
    if (programs.back() != 0) continue;
    for (int i = 0; i < 50; ++i)
      if (!error_of([&] {
             io::write_file_atomically(folder / "file", std::string(100, letter));
           }).empty())
        _exit(1);
    _exit(7);
  }
  for (const pid_t program : programs) {
    int status = 0;
    waitpid(program, &status, 0);
    CHECK(WEXITSTATUS(status) == 7);
  }
  const std::string text = read_text(folder / "file");
  CHECK(text == std::string(100, text.at(0)));
  CHECK(folder.count() == 1);
}
