// Files, read whole, and the system calls that all files share.
#pragma once

#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include <gpunet/core/config.hpp>

namespace gpunet::io {

// Whether there is something of that name: a file, a folder.
bool exists(const std::string& path);

// Whether there is a folder of that name, or a link to one.
bool is_folder(const std::string& path);

// The path of what has that name in a folder.
std::string join(std::string_view folder, std::string_view name);

namespace detail {

// What helps against a system error.
std::string_view advice(std::string_view verb, const std::string& path, int error);

// "gpunet::io: cannot write model.safetensors: No space left on device (...), ..."
[[noreturn]] void fail(std::string_view verb, const std::string& path, std::string_view consequence, int error);

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
std::ptrdiff_t write_some(int file, std::span<const std::byte> bytes);

// An open file, closed on destruction; -1 if it could not be opened.
class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const std::string& path, int flags, mode_t mode = 0);
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int number() const { return number_; }
  // Returns whether the system reports an error that it had held back.
  bool close();

 private:
  int number_ = -1;
};

}  // namespace detail

// A regular file that is open for reading, from its beginning. Throws Error naming the path and the reason.
class InputFile {
 public:
  // O_NONBLOCK: a pipe is to be refused, not waited for.
  explicit InputFile(std::string path);

  const std::string& path() const { return path_; }
  // In bytes.
  std::size_t size() const { return size_; }
  int descriptor() const { return file_.number(); }

  // Fills `out` with the next bytes.
  void read(std::span<std::byte> out);
  // Fills `out` with the bytes from `position` on. Threads may share the file for this.
  void read_at(std::size_t position, std::span<std::byte> out) const;

 private:
  std::string path_;
  detail::Descriptor file_;
  std::size_t size_ = 0, position_ = 0;
};

// Makes the folder and those above it, where they are not there yet. Throws Error naming the one that cannot be made.
void make_folders(const std::string& path);

// All bytes of a regular file.
std::vector<std::byte> read_file(const std::string& path);

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/file.ipp>
#endif
