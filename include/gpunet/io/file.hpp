// Files: read whole, and replaced whole or not at all.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>

namespace gpunet::io {

// Whether there is something of that name: a file, a folder.
inline bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

// Whether there is a folder of that name, or a link to one.
inline bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// The path of what has that name in a folder.
inline std::string join(std::string_view folder, std::string_view name) {
  return concat(folder, folder.ends_with('/') ? "" : "/", name);
}

namespace detail {

// What helps against a system error.
inline std::string_view advice(std::string_view verb, int error) {
  switch (error) {
    case ENOENT:
      return verb == "write" ? "make its folder first" : "check the path";
    case ENOTDIR:
      return "a file stands where a folder is wanted: give another path";
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a place that you may use, or change its permissions";
    case EFBIG:
      return "raise the limit on file sizes (ulimit -f)";
    case EIO:
      return "look after the disk";
    default:
      return "check the path";
  }
}

// "gpunet::io: cannot write model.safetensors: No space left on device (...), ..."
[[noreturn]] inline void fail(std::string_view verb, const std::string& path, std::string_view consequence,
                              int error) {
  throw Error(concat("gpunet::io: cannot ", verb, " ", path, ": ", std::generic_category().message(error),
                     consequence, ", ", advice(verb, error)));
}

// The result of a system call that is made again whenever a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR)
    result = call();
  return result;
}

// An open file, closed on destruction; -1 if it could not be opened.
class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const std::string& path, int flags, mode_t mode = 0)
      : number_(uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); })) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  // Returns whether the system reports an error that it had held back.
  bool close() { return number_ >= 0 && ::close(std::exchange(number_, -1)) != 0 && errno != EINTR; }

 private:
  int number_ = -1;
};

}  // namespace detail

// A regular file that is open for reading, from its beginning. Throws Error naming the path and the reason.
class InputFile {
 public:
  // O_NONBLOCK: a pipe is to be refused, not waited for.
  explicit InputFile(std::string path) : path_(std::move(path)), file_(path_, O_RDONLY | O_NONBLOCK) {
    struct stat status {};
    if (file_.number() < 0 || ::fstat(file_.number(), &status) != 0) detail::fail("read", path_, "", errno);
    require(!S_ISDIR(status.st_mode), "gpunet::io: cannot read ", path_, ": it is a folder, give a file in it");
    require(S_ISREG(status.st_mode), "gpunet::io: cannot read ", path_, ": it is not a regular file, give one");
    size_ = static_cast<std::size_t>(status.st_size);
  }

  const std::string& path() const { return path_; }
  // In bytes.
  std::size_t size() const { return size_; }
  int descriptor() const { return file_.number(); }

  // Fills `out` with the next bytes.
  void read(std::span<std::byte> out) {
    while (!out.empty()) {
      const auto n = detail::uninterrupted([&] { return ::read(file_.number(), out.data(), out.size()); });
      if (n < 0) detail::fail("read", path_, "", errno);
      require(n > 0, "gpunet::io: ", path_, " ends ", out.size(),
              " bytes early (it was cut short), fetch it again");
      out = out.subspan(static_cast<std::size_t>(n));
    }
  }

 private:
  std::string path_;
  detail::Descriptor file_;
  std::size_t size_ = 0;
};

// Makes the folder and those above it, where they are not there yet. Throws Error naming the one that cannot be made.
inline void make_folders(const std::string& path) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    const std::string folder = path.substr(0, end);
    struct stat status {};
    if (::mkdir(folder.c_str(), 0777) == 0) continue;
    const int error = errno;
    if (::stat(folder.c_str(), &status) != 0) detail::fail("make the folder", folder, "", error);
    if (!S_ISDIR(status.st_mode)) detail::fail("make the folder", folder, "", ENOTDIR);
  }
}

// All bytes of a regular file.
inline std::vector<std::byte> read_file(const std::string& path) {
  InputFile file(path);
  std::vector<std::byte> bytes(file.size());
  file.read(bytes);
  return bytes;
}

// A file that is written beside `path` and takes its place on commit(). Until then, and after any error, what
// was at `path` stays whole; what was not committed is removed. A link is followed. Permissions, and the owner
// where the system allows it, stay those of the file replaced.
class AtomicFile {
 public:
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
      const auto n = detail::uninterrupted([&] { return ::write(file_.number(), bytes.data(), bytes.size()); });
      if (n < 0) fail();
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  // Puts the file in its place, once its bytes are on the disk.
  void commit() {
    if (detail::uninterrupted([&] { return ::fsync(file_.number()); }) != 0) fail();
    if (file_.close()) fail();
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
    temporary_.clear();
    // The new name. A file system that cannot flush a folder still shows the old or the new file whole.
    const auto slash = path_.rfind('/');
    const detail::Descriptor folder(slash == std::string::npos ? "." : path_.substr(0, slash + 1),
                                    O_RDONLY | O_DIRECTORY);
    detail::uninterrupted([&] { return ::fsync(folder.number()); });
  }

 private:
  static std::string resolved(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
    return real ? real.get() : path;
  }

  // A new file in the folder of path_: nobody else's, whatever other programs and threads save there.
  void open() {
    for (int i = 0; file_.number() < 0; ++i) {
      temporary_ = concat(path_, ".tmp-", ::getpid(), "-", i);
      file_ = detail::Descriptor(temporary_, O_WRONLY | O_CREAT | O_EXCL, 0666);
      if (file_.number() < 0 && errno != EEXIST) {
        temporary_.clear();
        fail();
      }
    }
  }

  [[noreturn]] void fail() {
    const int error = errno;
    discard();
    detail::fail("write", path_, " (what was there before is untouched)", error);
  }

  void discard() noexcept {
    file_.close();
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
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
