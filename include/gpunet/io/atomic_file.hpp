// Files that are replaced whole or not at all.
#pragma once

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gpunet/core/error.hpp>
#include <gpunet/io/file.hpp>

namespace gpunet::io {

// A file that is written beside `path`, as PATH.tmp-PROCESS-NUMBER, and takes its place on commit(). Until then, and
// after any error, what was at `path` stays whole; what was not committed is removed, also that of programs that were
// killed while they saved to the same path. A link is followed, also to a file that is not there yet. Permissions, and
// the owner where the system allows it, stay those of the file replaced. Without commit() it is a probe: a constructor
// that returns says that the file can be written.
class AtomicFile {
 public:
  // Throws Error naming the path and the reason.
  explicit AtomicFile(const std::string& path) : path_(resolved(path)) {
    struct stat old {};
    const bool replaces = ::stat(path_.c_str(), &old) == 0;
    if (!replaces && (errno != ENOENT || path_.empty())) fail();
    if (replaces) {
      require(!S_ISDIR(old.st_mode), "gpunet::io: cannot write ", path_, ": it is a folder, give a file in it");
      require(S_ISREG(old.st_mode), "gpunet::io: cannot write ", path_,
              ": it is not a regular file (only such a file can be replaced as a whole), give another path");
      if (::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) fail();
    }
    open();
    remove_leftovers();
    if (replaces) {
      [[maybe_unused]] const int given = ::fchown(file_.number(), old.st_uid, old.st_gid);  // only root may
      if (::fchmod(file_.number(), old.st_mode & 0777) != 0) fail();
    }
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() { discard(); }

  // Appends bytes, or a text. Throws Error where the system refuses them: no space, for one.
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto n = detail::write_some(file_.number(), bytes);
      if (n < 0) fail();
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  // Puts the file in its place, once its bytes are on the disk.
  void commit() {
    if (detail::uninterrupted([&] { return ::fsync(file_.number()); }) != 0) fail();
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
    temporary_.clear();
    file_.close();  // with its lock, without which it would have been a leftover
    // The new name. A file system that cannot flush a folder still shows the old or the new file whole.
    const detail::Descriptor folder(this->folder(), O_RDONLY | O_DIRECTORY);
    detail::uninterrupted([&] { return ::fsync(folder.number()); });
  }

 private:
  static std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
  }
  std::string folder() const { return folder_of(path_); }

  // Without links, as far as there are any.
  static std::string resolved(std::string path) {
    constexpr int most_links = 40;  // as Linux
    for (int i = 0; i < most_links; ++i) {
      const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
      if (real) return real.get();
      std::array<char, PATH_MAX> target;
      const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
      if (length < 0) break;  // no link to a file that is not there
      const std::string_view text(target.data(), static_cast<std::size_t>(length));
      path = text.starts_with('/') ? std::string(text) : concat(folder_of(path), text);
    }
    return path;
  }

  // A new file in the folder of path_: nobody else's, whatever other programs and threads save there. It is locked as long
  // as it is being written.
  void open() {
    for (int i = 0; file_.number() < 0; ++i) {
      temporary_ = concat(path_, ".tmp-", ::getpid(), "-", i);
      file_ = detail::Descriptor(temporary_, O_WRONLY | O_CREAT | O_EXCL, 0666);
      if (file_.number() < 0) {
        if (errno == EEXIST) continue;
        temporary_.clear();
        fail();
      }
      detail::uninterrupted([&] { return ::flock(file_.number(), LOCK_EX); });
      struct stat locked {};  // it may have been taken for a leftover before
      if (::fstat(file_.number(), &locked) == 0 && locked.st_nlink == 0) file_.close();
    }
  }

  // Removes the files of programs that ended while they saved to path_: those whose lock is free. Which processes there are
  // does not say that much: they may run in another container, or on another machine. Where files cannot be locked, they stay.
  void remove_leftovers() const {
    const std::string folder = this->folder(), mine = path_.substr(path_.rfind('/') + 1) + ".tmp-";
    const std::unique_ptr<DIR, int (*)(DIR*)> names(::opendir(folder.c_str()),
                                                    [](DIR* d) { return ::closedir(d); });
    while (const dirent* const entry = names ? ::readdir(names.get()) : nullptr) {
      if (!is_temporary(entry->d_name, mine)) continue;
      const std::string path = folder + entry->d_name;
      const detail::Descriptor file(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
      struct stat locked {
      }, named{};
      if (file.number() < 0 || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) continue;
      // While the lock is held, the file of that name stays this one if it is: only the holder of the lock moves it.
      if (::fstat(file.number(), &locked) == 0 && ::lstat(path.c_str(), &named) == 0 && S_ISREG(locked.st_mode) &&
          locked.st_dev == named.st_dev && locked.st_ino == named.st_ino)
        ::unlink(path.c_str());
    }
  }

  // Whether a name is `begin`, a number, "-" and a number.
  static bool is_temporary(std::string_view name, std::string_view begin) {
    if (!name.starts_with(begin)) return false;
    name.remove_prefix(begin.size());
    const std::size_t dash = name.find_first_not_of("0123456789");
    return dash != 0 && dash < name.size() - 1 && name[dash] == '-' &&
           name.find_first_not_of("0123456789", dash + 1) == std::string_view::npos;
  }

  [[noreturn]] void fail() {
    const int error = errno;
    discard();
    detail::fail("write", path_, " (what was there before is untouched)", error);
  }

  void discard() noexcept {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
    file_.close();
  }

  std::string path_;
  std::string temporary_;
  detail::Descriptor file_;
};

// Replaces the file at `path` by the pieces (texts or spans of bytes), one after another, as AtomicFile does.
template <class... Pieces>
void write_file_atomically(const std::string& path, const Pieces&... pieces) {
  AtomicFile file(path);
  (file.write(pieces), ...);
  file.commit();
}

}  // namespace gpunet::io
