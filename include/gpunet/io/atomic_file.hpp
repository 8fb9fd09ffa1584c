// Files that are replaced whole or not at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <gpunet/core/config.hpp>
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
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() { discard(); }

  // Appends bytes, or a text. Throws Error where the system refuses them: no space, for one.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  // Puts the file in its place, once its bytes are on the disk.
  void commit();

 private:
  static std::string folder_of(const std::string& path);
  std::string folder() const { return folder_of(path_); }

  // Without links, as far as there are any.
  static std::string resolved(std::string path);

  // A new file in the folder of path_: nobody else's, whatever other programs and threads save there. It is locked as long
  // as it is being written.
  void open();

  // Removes the files of programs that ended while they saved to path_: those whose lock is free. Which processes there are
  // does not say that much: they may run in another container, or on another machine. Where files cannot be locked, they stay.
  void remove_leftovers() const;

  // Whether a name is `begin`, a number, "-" and a number.
  static bool is_temporary(std::string_view name, std::string_view begin);

  [[noreturn]] void fail();

  void discard() noexcept;

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

#if !GPUNET_COMPILED
#include <gpunet/io/atomic_file.ipp>
#endif
