// Every system call that reads or writes a file fails, is short or is interrupted in turn: the file
// is the old one or the new one as a whole, an error names it and the reason, and nothing is left
// behind. The functions below come before those of the C library.
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/io/atomic_file.hpp>

#include "faults/weights.hpp"
#include "guest/process.hpp"
#include "io/temp_folder.hpp"

using namespace gpunet;
using io::earlier_name;

namespace {

// The fault of one call. A short one does half of the work.
struct Fault {
  enum class Kind { error, is_short } kind = Kind::error;
  int number = EIO;  // errno
};

// The calls of an operation that may fail.
struct Calls {
  bool counting = false, has_links = true;
  int so_far = 0, faulty = 0;  // the number of the call that fails, from 1; 0: none
  Fault fault;
  const char* failed = nullptr;  // its name
} calls;

// Returns whether this call is to fail; sets errno.
bool fails(const char* name, bool can_be_short = false) {
  if (!calls.counting || ++calls.so_far != calls.faulty) return false;
  calls.failed = name;
  errno = calls.fault.number;
  return calls.fault.kind == Fault::Kind::error || can_be_short;
}

// Returns the function of the C library.
template <class F>
F* original(F* /*of this type*/, const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

// Half of the bytes for a short call, at least one.
std::size_t shortened(std::size_t bytes) {
  return calls.fault.kind == Fault::Kind::is_short ? std::max<std::size_t>(bytes / 2, 1) : 0;
}

}  // namespace

#define GPUNET_ORIGINAL(name) original(static_cast<decltype(&::name)>(nullptr), #name)

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  static auto* const call = GPUNET_ORIGINAL(open);
  return fails("open") ? -1 : call(path, flags, mode);
}
ssize_t write(int file, const void* data, std::size_t bytes) {
  static auto* const call = GPUNET_ORIGINAL(write);
  if (!fails("write", true)) return call(file, data, bytes);
  return shortened(bytes) > 0 ? call(file, data, shortened(bytes)) : -1;
}
ssize_t pread(int file, void* data, std::size_t bytes, off_t at) {
  static auto* const call = GPUNET_ORIGINAL(pread);
  if (!fails("pread", true)) return call(file, data, bytes, at);
  return shortened(bytes) > 0 ? call(file, data, shortened(bytes), at) : -1;
}
int fsync(int file) {
  static auto* const call = GPUNET_ORIGINAL(fsync);
  return fails("fsync") ? -1 : call(file);
}
int rename(const char* from, const char* to) noexcept {
  static auto* const call = GPUNET_ORIGINAL(rename);
  return fails("rename") ? -1 : call(from, to);
}
int link(const char* from, const char* to) noexcept {
  static auto* const call = GPUNET_ORIGINAL(link);
  if (fails("link")) return -1;
  if (calls.has_links) return call(from, to);
  errno = EPERM;  // as on FAT
  return -1;
}
int unlink(const char* path) noexcept {
  static auto* const call = GPUNET_ORIGINAL(unlink);
  return fails("unlink") ? -1 : call(path);
}
int close(int file) {
  static auto* const call = GPUNET_ORIGINAL(close);
  if (!fails("close")) return call(file);
  const int error = errno;
  call(file);  // Linux closes it in any case
  errno = error;
  return -1;
}
int stat(const char* path, struct stat* result) noexcept {
  static auto* const call = GPUNET_ORIGINAL(stat);
  return fails("stat") ? -1 : call(path, result);
}
int lstat(const char* path, struct stat* result) noexcept {
  static auto* const call = GPUNET_ORIGINAL(lstat);
  return fails("lstat") ? -1 : call(path, result);
}
int fstat(int file, struct stat* result) noexcept {
  static auto* const call = GPUNET_ORIGINAL(fstat);
  return fails("fstat") ? -1 : call(file, result);
}
void* mmap(void* at, std::size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
  static auto* const call = GPUNET_ORIGINAL(mmap);
  return file >= 0 && fails("mmap") ? MAP_FAILED : call(at, bytes, protection, flags, file, offset);
}
int flock(int file, int operation) noexcept {
  static auto* const call = GPUNET_ORIGINAL(flock);
  return fails("flock") ? -1 : call(file, operation);
}
int fchmod(int file, mode_t mode) noexcept {
  static auto* const call = GPUNET_ORIGINAL(fchmod);
  return fails("fchmod") ? -1 : call(file, mode);
}
int fchown(int file, uid_t owner, gid_t group) noexcept {
  static auto* const call = GPUNET_ORIGINAL(fchown);
  return fails("fchown") ? -1 : call(file, owner, group);
}
int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  static auto* const call = GPUNET_ORIGINAL(faccessat);
  return fails("faccessat") ? -1 : call(folder, path, mode, flags);
}
DIR* opendir(const char* path) {
  static auto* const call = GPUNET_ORIGINAL(opendir);
  return fails("opendir") ? nullptr : call(path);
}
char* realpath(const char* path, char* result) noexcept {
  static auto* const call = GPUNET_ORIGINAL(realpath);
  return fails("realpath") ? nullptr : call(path, result);
}
}

namespace {

int failures = 0, checks = 0, faults = 0, errors = 0;
std::set<std::string> failed;  // names of functions

void check(bool is_right, const std::string& what) {
  ++checks;
  if (is_right) return;
  ++failures;
  std::printf("WRONG: %s\n", what.c_str());
}

// Returns whether there is one but `leftover`.
bool has_temporary_file(const std::string& folder, const std::string& leftover) {
  const std::filesystem::directory_iterator all(folder);
  return std::any_of(begin(all), end(all), [&](const auto& entry) {
    return entry.path() != leftover && entry.path().string().find(".tmp-") != std::string::npos;
  });
}

// A way to save the weights to a file, and one to load them.
struct Format {
  const char* name;
  std::function<void(Weights&, const std::string&path)> save, load;
  int keep_last = 1;
};

const Fault every_fault[] = {{Fault::Kind::error, EIO},    {Fault::Kind::error, ENOSPC},
                             {Fault::Kind::error, EACCES}, {Fault::Kind::error, EINTR},
                             {Fault::Kind::error, EMFILE}, {Fault::Kind::is_short, 0}};

// Runs an operation again and again, in which each call in turn has the fault; before it prepare(),
// and then settle(what happened, the error's message).
void for_each_call(
    const std::string& what, const Fault& fault, const std::function<void()>& prepare,
    const std::function<void()>& operation,
    const std::function<void(const std::string& where, const std::string& error)>& settle) {
  for (int n = 1;; ++n) {
    prepare();
    const std::size_t before = guest::open_files();
    const bool has_links = calls.has_links;
    calls = {.counting = true, .has_links = has_links, .faulty = n, .fault = fault};
    std::string error;
    try {
      operation();
    } catch (const Error& e) {
      error = e.what();
    }
    calls.counting = false;
    if (!calls.failed) {
      check(error.empty(), what + " without a fault: " + error);
      check(n > 3, what + ": no call was seen");
      return;
    }
    ++faults;
    failed.insert(calls.failed);
    errors += !error.empty();
    const bool is_short = fault.kind == Fault::Kind::is_short;
    const std::string where = concat(what, ", call ", n, ", ", calls.failed, ": ",
                                     is_short ? "short" : std::strerror(fault.number));
    check(guest::open_files() == before, where + ": a file is left open");
    static const std::vector<std::string_view> repeated{"open",  "write", "pread",
                                                        "fsync", "flock", "close"};
    const bool goes_on =
        is_short || (fault.number == EINTR &&
                     std::find(repeated.begin(), repeated.end(), calls.failed) != repeated.end());
    if (goes_on) check(error.empty(), where + " ends in: " + error);
    settle(where, error);
  }
}

void check_message(const std::string& where, const std::string& error, const std::string& path,
                   const Fault& fault) {
  check(error.starts_with("gpunet::io"), where + ": " + error);
  check(error.find(path) != std::string::npos, where + ", no path in: " + error);
  check(error.find(std::strerror(fault.number)) != std::string::npos,
        where + ", no reason in: " + error);
}

void test_saving(const Format& format, const std::string& file) {
  for (const Fault& fault : every_fault) {
    const TempFolder folder;
    // Of a program that was killed.
    const std::string path = folder / file, leftover = path + ".tmp-1-0";
    Weights weights, read;
    const auto prepare = [&] {
      for (float old : {1.0f, 2.0f, 3.0f}) {
        weights.set(old);
        format.save(weights, path);
      }
      weights.set(4);
      std::ofstream(leftover) << "half";
    };
    const auto settle = [&](const std::string& where, const std::string& error) {
      const bool is_old = !error.empty();
      if (is_old) check_message(where, error, path, fault);
      format.load(read, path);
      check(read.are(is_old ? 3 : 4), where + ": the file is neither");
      check(!has_temporary_file(folder / "", leftover), where + ": a temporary file");
      if (format.keep_last > 1 && (!is_old || io::exists(earlier_name(path, 1)))) {
        format.load(read, earlier_name(path, 1));
        check(is_old ? read.are(2) || read.are(3) : read.are(3),
              where + ": the file before is another");
      }
      // The next one leaves nothing of it.
      weights.set(5);
      format.save(weights, path);
      format.load(read, path);
      check(read.are(5), where + ": the next save");
      check(!has_temporary_file(folder / "", ""), where + ": a temporary file after the next save");
    };
    for_each_call(
        std::string("saving, ") + format.name, fault, prepare, [&] { format.save(weights, path); },
        settle);
  }
}

void test_loading(const Format& format, const std::string& file) {
  const TempFolder folder;
  const std::string path = folder / file;
  Weights weights;
  weights.set(1);
  format.save(weights, path);
  for (const Fault& fault : every_fault) {
    for_each_call(
        std::string("loading, ") + format.name, fault, [&] { weights.set(2); },
        [&] { format.load(weights, path); },
        [&](const std::string& where, const std::string& error) {
          if (!error.empty()) check_message(where, error, path, fault);
          check(weights.are(error.empty() ? 1 : 2), where + ": the weights are neither");
        });
  }
}

Format checkpoint(const char* name, int keep_last) {
  return {name,
          [=](Weights& weights, const std::string& path) {
            io::Checkpoint file(path, {.keep_last = keep_last});
            file.add("model", weights.net).save();
          },
          [](Weights& weights, const std::string& path) {
            io::Checkpoint file(path);
            if (!file.add("model", weights.net).load()) throw Error(path + ": there is no file");
          },
          keep_last};
}

}  // namespace

int main() {
  const auto save = [](Weights& weights, const std::string& path) {
    io::save(weights.net, path);
  };
  const auto load = [](Weights& weights, const std::string& path) {
    io::load(weights.net, path);
  };
  const auto load_mapped = [](Weights& weights, const std::string& path) {
    io::load(weights.net, path, {.map = true});
  };
  test_saving({"safetensors", save, load}, "a.safetensors");
  test_saving({"PyTorch's", save, load}, "a.pth");
  test_saving({"NumPy's", save, load}, "a.npz");
  test_saving(checkpoint("a checkpoint", 1), "a.safetensors");
  test_saving(checkpoint("a checkpoint that keeps three", 3), "a.safetensors");
  calls.has_links = false;
  test_saving(checkpoint("a checkpoint that keeps three, without links", 3), "a.safetensors");
  calls.has_links = true;
  for (const char* file : {"a.safetensors", "a.pth", "a.npz"}) {
    test_loading({file, save, load}, file);
    test_loading({"mapped", save, load_mapped}, file);
  }
  test_loading(checkpoint("a checkpoint", 1), "a.safetensors");
  check(failed.size() == 18, concat("only ", failed.size(), " of the functions above were called"));
  std::printf("%d faults, %d errors, %d checks, %d wrong\n", faults, errors, checks, failures);
  return failures != 0;
}
