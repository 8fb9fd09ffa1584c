// Bodies of atomic_file.hpp.
#pragma once

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <gpunet/core/error.hpp>
#include <gpunet/io/atomic_file.hpp>

namespace gpunet::io {

GPUNET_INLINE AtomicFile::AtomicFile(const std::string& path) : path_(resolved(path)) {
  struct stat old {};
  const bool replaces = ::stat(path_.c_str(), &old) == 0;
  if (!replaces && (errno != ENOENT || path_.empty())) fail();
  if (replaces) {
    require(!S_ISDIR(old.st_mode), "gpunet::io: cannot write ", path_,
            ": it is a folder, give a file in it");
    require(S_ISREG(old.st_mode), "gpunet::io: cannot write ", path_,
            ": it is not a regular file (only such a file can be replaced as a whole), give "
            "another path");
    if (::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) fail();
  }
  open();
  remove_leftovers();
  if (replaces) {
    // Only root may.
    [[maybe_unused]] const int given = ::fchown(file_.number(), old.st_uid, old.st_gid);
    if (::fchmod(file_.number(), old.st_mode & 0777) != 0) fail();
  }
}

GPUNET_INLINE void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto n = detail::write_some(file_.number(), bytes);
    if (n < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

GPUNET_INLINE std::string earlier_name(const std::string& path, int age) {
  return concat(path, ".", age);
}

GPUNET_INLINE bool AtomicFile::keep_earlier(int keep_last) {
  struct stat newest {
  }, before{};
  const std::string first = earlier_name(path_, 1);
  if (keep_last <= 1) return false;
  if (::stat(path_.c_str(), &newest) != 0) {
    if (errno != ENOENT) fail();
    return false;
  }
  // An earlier program ended here, after it had given the name.
  if (::stat(first.c_str(), &before) == 0 && before.st_dev == newest.st_dev &&
      before.st_ino == newest.st_ino)
    return false;
  for (int age = keep_last - 1; age > 1; --age)
    if (std::rename(earlier_name(path_, age - 1).c_str(), earlier_name(path_, age).c_str()) != 0 &&
        errno != ENOENT)
      fail();
  // A second name for the newest file replaces PATH.1 in one step; where a file can have only one,
  // it gets this one.
  const std::string second = temporary_ + "0";
  const bool has_second = ::link(path_.c_str(), second.c_str()) == 0;
  if (std::rename((has_second ? second : path_).c_str(), first.c_str()) != 0) {
    const int error = errno;
    if (has_second) ::unlink(second.c_str());
    errno = error;
    fail();
  }
  return !has_second;
}

GPUNET_INLINE void AtomicFile::commit(int keep_last) {
  if (detail::uninterrupted([&] { return ::fsync(file_.number()); }) != 0) fail();
  const bool has_moved = keep_earlier(keep_last);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    if (has_moved) std::rename(earlier_name(path_, 1).c_str(), path_.c_str());
    errno = error;
    fail();
  }
  temporary_.clear();
  file_.close();  // releases the lock, which until now kept others from removing it
  // Writes the new name to the disk. If the file system cannot flush a folder, either the old or
  // the new file is still complete.
  const detail::Descriptor folder(this->folder(), O_RDONLY | O_DIRECTORY);
  detail::uninterrupted([&] { return ::fsync(folder.number()); });
}

GPUNET_INLINE std::string AtomicFile::folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

GPUNET_INLINE std::string AtomicFile::resolved(std::string path) {
  constexpr int most_links = 40;  // as Linux
  for (int i = 0; i < most_links; ++i) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                           &std::free);
    if (real) return real.get();
    std::array<char, PATH_MAX> target;
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length < 0) break;  // not a link to a missing file
    const std::string_view text(target.data(), static_cast<std::size_t>(length));
    path = text.starts_with('/') ? std::string(text) : concat(folder_of(path), text);
  }
  return path;
}

GPUNET_INLINE void AtomicFile::open() {
  for (int i = 0; file_.number() < 0; ++i) {
    temporary_ = concat(path_, ".tmp-", ::getpid(), "-", i);
    file_ = detail::Descriptor(temporary_, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (file_.number() < 0) {
      if (errno == EEXIST) continue;
      temporary_.clear();
      fail();
    }
    detail::uninterrupted([&] { return ::flock(file_.number(), LOCK_EX); });
    // Another program may have removed it as a leftover before it was locked.
    struct stat locked {};
    if (::fstat(file_.number(), &locked) == 0 && locked.st_nlink == 0) file_.close();
  }
}

GPUNET_INLINE void AtomicFile::remove_leftovers() const {
  const std::string folder = this->folder(), mine = path_.substr(path_.rfind('/') + 1) + ".tmp-";
  const std::unique_ptr<DIR, int (*)(DIR*)> names(::opendir(folder.c_str()),
                                                  [](DIR* d) { return ::closedir(d); });
  while (const dirent* const entry = names ? ::readdir(names.get()) : nullptr) {
    if (!is_temporary(entry->d_name, mine)) continue;
    const std::string path = folder + entry->d_name;
    if (path == temporary_) continue;  // not locked where files cannot be
    const detail::Descriptor file(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat locked {
    }, named{};
    if (file.number() < 0 || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) continue;
    // If the file of that name is the locked one, it stays so while the lock is held: only the
    // holder of the lock moves it.
    if (::fstat(file.number(), &locked) == 0 && ::lstat(path.c_str(), &named) == 0 &&
        S_ISREG(locked.st_mode) && locked.st_dev == named.st_dev && locked.st_ino == named.st_ino)
      ::unlink(path.c_str());
  }
}

GPUNET_INLINE bool AtomicFile::is_temporary(std::string_view name, std::string_view begin) {
  if (!name.starts_with(begin)) return false;
  name.remove_prefix(begin.size());
  const std::size_t dash = name.find_first_not_of("0123456789");
  return dash != 0 && dash < name.size() - 1 && name[dash] == '-' &&
         name.find_first_not_of("0123456789", dash + 1) == std::string_view::npos;
}

GPUNET_INLINE void AtomicFile::fail() {
  const int error = errno;
  discard();
  detail::fail("write", path_, " (an existing file is untouched)", error);
}

GPUNET_INLINE void AtomicFile::discard() noexcept {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
  file_.close();
}

}  // namespace gpunet::io
