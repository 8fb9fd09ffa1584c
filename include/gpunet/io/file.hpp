// Reads files, and wraps the system calls that all files use.
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

// Returns whether a file or folder of that name exists. Throws Error if the system does not say,
// for example for lack of permission.
bool exists(const std::string& path);

// Returns whether a folder of that name, or a link to one, exists.
bool is_folder(const std::string& path);

// Returns the path of a name in a folder.
std::string join(std::string_view folder, std::string_view name);

namespace detail {

// Returns advice about a system error.
std::string_view advice(std::string_view verb, const std::string& path, int error);

// Throws Error: "gpunet::io: cannot write model.safetensors: No space left on device (...), ..."
[[noreturn]] void fail(std::string_view verb, const std::string& path, std::string_view consequence,
                       int error);

// Returns the result of a system call, which is repeated while a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR)
    result = call();
  return result;
}

// Calls write() without the signal (SIGXFSZ) that the system sends beside the error EFBIG if a file
// exceeds the limit on file sizes (ulimit -f), and that would end the program. Only this thread is
// affected.
std::ptrdiff_t write_some(int file, std::span<const std::byte> bytes);

// An open file descriptor, closed on destruction; -1 if the file could not be opened.
class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const std::string& path, int flags, mode_t mode = 0);
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int number() const { return number_; }
  // Closes the file. Returns whether the system reports an error that it had delayed.
  bool close();

 private:
  int number_ = -1;
};

}  // namespace detail

// A regular file opened for reading. Functions throw Error naming the path and the reason.
class InputFile {
 public:
  // Opens the file, with O_NONBLOCK: a pipe is refused instead of waited for.
  explicit InputFile(std::string path);

  const std::string& path() const { return path_; }
  // Returns the size in bytes.
  std::size_t size() const { return size_; }
  int descriptor() const { return file_.number(); }

  // Fills `out` with the next bytes.
  void read(std::span<std::byte> out);
  // Fills `out` with the bytes from `position` on. Threads may call this concurrently.
  void read_at(std::size_t position, std::span<std::byte> out) const;

 private:
  std::string path_;
  detail::Descriptor file_;
  std::size_t size_ = 0, position_ = 0;
};

// Creates the folder and its parents if they do not exist. Throws Error naming a folder that cannot
// be created.
void make_folders(const std::string& path);

// Returns all bytes of a regular file.
std::vector<std::byte> read_file(const std::string& path);

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/file.ipp>
#endif
