// Files that are replaced completely or not at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <gpunet/core/config.hpp>
#include <gpunet/io/file.hpp>

namespace gpunet::io {

// A file that is written beside `path`, as PATH.tmp-PROCESS-NUMBER, and replaces it on commit().
// Until then, and after any error, the old file at `path` is untouched; a file that was not
// committed is removed, also one left by a program that was killed while it saved to the same path.
// Links are followed, even to a file that does not exist yet. Permissions, and the owner if the
// system allows it, are as of the file replaced. Without commit() it tests whether the file can be
// written: the constructor throws if not.
class AtomicFile {
 public:
  // Creates the temporary file. Throws Error naming the path and the reason.
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() { discard(); }

  // Appends bytes, or a text. Throws Error if the system refuses them, for example for lack of
  // space.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  // Puts the file in its place once its bytes are on the disk. With keep_last > 1, the file that it
  // replaces is then called earlier_name(path, 1), the one before earlier_name(path, 2), and so on;
  // `path` exists throughout where the file system has hard links.
  // Throws Error naming the path and the reason.
  void commit(int keep_last = 1);

 private:
  static std::string folder_of(const std::string& path);
  std::string folder() const { return folder_of(path_); }

  // Returns the path with all links resolved.
  static std::string resolved(std::string path);

  // Gives the files that are kept their names of an earlier file. Returns whether `path` is gone
  // for the moment.
  bool keep_earlier(int keep_last);

  // Creates a new file in the folder of path_, with a name that no other program or thread uses. It
  // is locked while it is being written.
  void open();

  // Removes temporary files of programs that ended while they saved to path_: files whose lock is
  // free. Process numbers would not do, since a process may run in another container or on another
  // machine. If files cannot be locked, they stay.
  void remove_leftovers() const;

  // Returns whether a name is `begin`, a number, "-" and a number.
  static bool is_temporary(std::string_view name, std::string_view begin);

  [[noreturn]] void fail();

  void discard() noexcept;

  std::string path_;
  std::string temporary_;
  detail::Descriptor file_;
};

// Returns the name of a file before the last one: PATH.1 for age 1.
std::string earlier_name(const std::string& path, int age);

// Replaces the file at `path` by the pieces (texts or spans of bytes), one after another, as
// AtomicFile.
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
