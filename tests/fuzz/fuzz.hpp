// What fuzz targets share. A target is a source in targets/ that registers one function over any
// bytes and some well-formed inputs for it; an Error is the only exception that may leave the
// library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/tensor_file.hpp>

#include "io/temp_folder.hpp"
#include "test_config.hpp"

namespace fuzz {

using Bytes = std::span<const std::byte>;

// One reader under test.
struct Target {
  std::string_view name;
  void (*run)(Bytes);
  std::vector<std::string> (*seeds)();  // well-formed inputs, or nearly
};

inline std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

// Makes a target known: const fuzz::Register json({"json", run, seeds}).
struct Register {
  explicit Register(const Target& target) { targets().push_back(target); }
};

// Ends the program, which the fuzzer counts as a finding, unless `holds`.
inline void ensure(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "finding: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// Runs the target and returns whether it read the input: false after an Error. Whatever else is
// thrown ends the program.
inline bool run(const Target& target, Bytes bytes) {
  // bytes: nobody reads more, and inputs are small.
  constexpr std::size_t longest_message = 1 << 16;
  try {
    target.run(bytes);
    return true;
  } catch (const gpunet::Error& error) {
    const std::string_view what = error.what();
    ensure(what.starts_with("gpunet::"),
           gpunet::concat("an Error that does not say where: ", what.substr(0, 1000)));
    ensure(what.size() <= longest_message, gpunet::concat("an Error of ", what.size(), " bytes"));
    return false;
  }
}

// Counts what a target does, and prints the sum when the program ends: scripts/fuzz.sh shows it.
class Counter {
 public:
  explicit Counter(const char* what) : what_(what) {}
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter() { std::fprintf(stderr, "fuzz: %llu %s\n", count_, what_); }
  void operator++() { ++count_; }

 private:
  const char* what_;
  unsigned long long count_ = 0;
};

inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Takes the first byte off as a number below `choices`; 0 where there is none.
inline unsigned take_choice(Bytes& bytes, unsigned choices) {
  if (bytes.empty()) return 0;
  const unsigned first = std::to_integer<unsigned>(bytes[0]);
  bytes = bytes.subspan(1);
  return first % choices;
}

// A file in memory whose contents are replaced for each input, for readers that take a path.
class MemoryFile {
 public:
  MemoryFile()
      : number_(::memfd_create("fuzz", MFD_CLOEXEC)),
        path_(gpunet::concat("/proc/self/fd/", number_)) {
    if (number_ < 0) throw std::runtime_error("no file in memory");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(number_); }

  const std::string& path() const { return path_; }

  void write(Bytes bytes) const {
    // The old pages are used again: to free and to get them takes the system longer than most
    // readers.
    const bool ok =
        ::pwrite(number_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()) &&
        ::ftruncate(number_, static_cast<off_t>(bytes.size())) == 0;
    if (!ok) throw std::runtime_error("cannot write a file in memory");
  }

 private:
  int number_;
  std::string path_;
};

// The path of a file in memory with these contents; the same one for every call.
inline const std::string& file_of(Bytes bytes) {
  static const MemoryFile file;
  file.write(bytes);
  return file.path();
}

// A folder of files in memory, for readers that take one.
class MemoryFolder {
 public:
  explicit MemoryFolder(const std::vector<std::string>& names) : files_(names.size()) {
    for (std::size_t i = 0; i < names.size(); ++i)
      std::filesystem::create_symlink(files_[i].path(), folder_ / names[i]);
  }

  const std::string& path() const { return folder_.path(); }
  void write(std::size_t i, Bytes bytes) const { files_[i].write(bytes); }

 private:
  TempFolder folder_;
  std::vector<MemoryFile> files_;
};

// Reads every element of every entry: all have to be where the entry says. What is huge, because a
// stride of 0 repeats it, is left out.
inline void read_elements(const gpunet::io::TensorFile& file) {
  constexpr gpunet::index_t most = 1 << 16;
  for (const gpunet::io::TensorEntry& entry : file.entries()) {
    if (!entry.problem.empty()) continue;
    try {
      gpunet::io::detail::check_bytes(entry, "");
    } catch (const gpunet::Error& error) {
      ensure(false, gpunet::concat("an entry without the bytes of its shape: ", error.what()));
    }
    const gpunet::index_t n = entry.sizes.numel();
    if (n > most) continue;
    std::vector<std::byte> copy;
    const Bytes elements = gpunet::io::detail::row_major_bytes(entry, copy);
    ensure(static_cast<gpunet::index_t>(elements.size()) ==
               gpunet::io::detail::byte_count(entry.dtype, entry.sizes),
           "an entry with other bytes than its shape");
    volatile std::byte sum{};
    for (const std::byte byte : elements)
      sum = sum ^ byte;
    if (!gpunet::io::is_parameter_type(entry.dtype)) continue;
    std::vector<float> numbers(static_cast<std::size_t>(n));
    gpunet::io::copy_as(entry, std::span(numbers));
  }
}

// The files of tests/corpus whose names end like this.
inline std::vector<std::string> corpus(std::string_view ending) {
  std::vector<std::string> names, files;
  for (const auto& file : std::filesystem::directory_iterator(GPUNET_TEST_CORPUS))
    if (file.path().native().ends_with(ending)) names.push_back(file.path().native());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names)
    files.push_back(read_text(name));
  return files;
}

// Zip archives as if their checksums had not been computed: else nothing behind them would be read
// once it is changed.
inline std::string without_sums(std::string archive) {
  for (std::size_t at = archive.find("PK\1\2");
       at != std::string::npos && at + 20 <= archive.size(); at = archive.find("PK\1\2", at + 1))
    archive.replace(at + 16, 4, 4, '\0');
  return archive;
}

inline Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace fuzz
