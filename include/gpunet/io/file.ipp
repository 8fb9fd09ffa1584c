// Bodies of file.hpp.
#pragma once

#include <ctime>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <gpunet/core/error.hpp>
#include <gpunet/io/file.hpp>

namespace gpunet::io {

GPUNET_INLINE bool exists(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return true;
  if (errno != ENOENT && errno != ENOTDIR) detail::fail("look for", path, "", errno);
  return false;
}

GPUNET_INLINE bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

GPUNET_INLINE std::string join(std::string_view folder, std::string_view name) {
  return concat(folder, folder.ends_with('/') ? "" : "/", name);
}

namespace detail {

GPUNET_INLINE std::string_view advice(std::string_view verb, const std::string& path, int error) {
  switch (error) {
    case ENOENT:
      if (verb != "write") return "check the path";
      return is_folder(path.substr(0, path.rfind('/') + 1) + ".") ? "choose another folder"
                                                                  : "create its folder first";
    case ENOTDIR:
      return "a file has the name of the folder: give another path";
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

GPUNET_INLINE void fail(std::string_view verb, const std::string& path,
                        std::string_view consequence, int error) {
  require(!path.empty(), "gpunet::io: cannot ", verb, " a file whose path is empty, give its name");
  throw_error(Error(concat("gpunet::io: cannot ", verb, " ", path, ": ",
                           std::generic_category().message(error), consequence, ", ",
                           advice(verb, path, error))));
}

GPUNET_INLINE std::ptrdiff_t write_some(int file, std::span<const std::byte> bytes) {
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

GPUNET_INLINE Descriptor::Descriptor(const std::string& path, int flags, mode_t mode)
    : number_(uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); })) {}

GPUNET_INLINE Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

GPUNET_INLINE Descriptor::~Descriptor() {
  close();
}

GPUNET_INLINE bool Descriptor::close() {
  return number_ >= 0 && ::close(std::exchange(number_, -1)) != 0 && errno != EINTR;
}

}  // namespace detail

GPUNET_INLINE InputFile::InputFile(std::string path)
    : path_(std::move(path)), file_(path_, O_RDONLY | O_NONBLOCK) {
  struct stat status {};
  if (file_.number() < 0 || ::fstat(file_.number(), &status) != 0)
    detail::fail("read", path_, "", errno);
  require(!S_ISDIR(status.st_mode), "gpunet::io: cannot read ", path_,
          ": it is a folder, give a file in it");
  require(S_ISREG(status.st_mode), "gpunet::io: cannot read ", path_,
          ": it is not a regular file, give one");
  size_ = static_cast<std::size_t>(status.st_size);
}

GPUNET_INLINE void InputFile::read(std::span<std::byte> out) {
  read_at(position_, out);
  position_ += out.size();
}

GPUNET_INLINE void InputFile::read_at(std::size_t position, std::span<std::byte> out) const {
  while (!out.empty()) {
    const auto n = detail::uninterrupted([&] {
      return ::pread(file_.number(), out.data(), out.size(), static_cast<off_t>(position));
    });
    if (n < 0) detail::fail("read", path_, "", errno);
    require(n > 0, "gpunet::io: ", path_, " ends ", out.size(),
            " bytes early (it was cut short), fetch it again");
    out = out.subspan(static_cast<std::size_t>(n));
    position += static_cast<std::size_t>(n);
  }
}

GPUNET_INLINE void make_folders(const std::string& path) {
  require(!path.empty(), "gpunet::io: cannot make the folder: its path is empty, give a name");
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

GPUNET_INLINE std::vector<std::byte> read_file(const std::string& path) {
  InputFile file(path);
  std::vector<std::byte> bytes(file.size());
  file.read(bytes);
  return bytes;
}

}  // namespace gpunet::io
