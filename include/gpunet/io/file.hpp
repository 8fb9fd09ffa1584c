// Files, read whole, and the system calls that all files share.
#pragma once

#include <cerrno>
#include <cstddef>
#include <ctime>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
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
      return "check the disk";
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

// write(), without the signal that a file over the limit on file sizes (ulimit -f) costs beside the error EFBIG, and that
// would end the program. Only this thread is touched.
inline ssize_t write_some(int file, std::span<const std::byte> bytes) {
  sigset_t signal, before, pending;
  sigemptyset(&signal);
  sigaddset(&signal, SIGXFSZ);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &signal, &before);
  const ssize_t n = uninterrupted([&] { return ::write(file, bytes.data(), bytes.size()); });
  const int error = errno;
  const timespec no_time{};
  if (n < 0 && error == EFBIG && sigismember(&pending, SIGXFSZ) == 0)
    uninterrupted([&] { return sigtimedwait(&signal, nullptr, &no_time); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return n;
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
    read_at(position_, out);
    position_ += out.size();
  }
  // Fills `out` with the bytes from `position` on. Threads may share the file for this.
  void read_at(std::size_t position, std::span<std::byte> out) const {
    while (!out.empty()) {
      const auto n = detail::uninterrupted(
          [&] { return ::pread(file_.number(), out.data(), out.size(), static_cast<off_t>(position)); });
      if (n < 0) detail::fail("read", path_, "", errno);
      require(n > 0, "gpunet::io: ", path_, " ends ", out.size(),
              " bytes early (it was cut short), fetch it again");
      out = out.subspan(static_cast<std::size_t>(n));
      position += static_cast<std::size_t>(n);
    }
  }

 private:
  std::string path_;
  detail::Descriptor file_;
  std::size_t size_ = 0, position_ = 0;
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

}  // namespace gpunet::io
