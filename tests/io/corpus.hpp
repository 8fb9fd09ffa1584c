// The small files of tests/corpus, and files that a test makes of them.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/tensor_file.hpp>
#include <gpunet/io/zip.hpp>

#include "temp_folder.hpp"
#include "test_config.hpp"

inline std::string corpus(const std::string& name) {
  return std::string(GPUNET_TEST_CORPUS) + "/" + name;
}

// The entry of that name; the test ends where there is none.
inline const gpunet::io::TensorEntry& entry_named(const gpunet::io::TensorFile& file,
                                                  std::string_view name) {
  for (const auto& entry : file.entries())
    if (entry.name == name) return entry;
  throw std::runtime_error("no entry " + std::string(name));
}

// The entries of a file, to be read in the expression in which it is opened.
inline const std::vector<gpunet::io::TensorEntry>& entries_of(const gpunet::io::TensorFile& file) {
  return file.entries();
}

// The elements of an entry, row-major.
inline std::vector<double> values_of(const gpunet::io::TensorEntry& entry) {
  std::vector<double> out(static_cast<std::size_t>(entry.sizes.numel()));
  gpunet::io::copy_as(entry, std::span(out));
  return out;
}

// first, first + 1, ..., n of them.
inline std::vector<double> ramp(int n, double first = 0) {
  std::vector<double> out;
  for (int i = 0; i < n; ++i)
    out.push_back(first + i);
  return out;
}

// A file at `path` with other bytes from `at` on.
inline void patch(const std::string& path, std::size_t at, std::string_view bytes) {
  std::string text = read_text(path);
  text.replace(at, bytes.size(), bytes);
  gpunet::io::write_file_atomically(path, text);
}

template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// A zip archive of texts at `path`.
inline void write_archive(const std::string& path,
                          const std::vector<std::pair<std::string, std::string>>& members,
                          std::uint64_t zip64_from = gpunet::io::detail::zip::in_zip64) {
  gpunet::io::AtomicFile file(path);
  gpunet::io::detail::ZipWriter archive(file, zip64_from);
  for (const auto& [name, text] : members)
    archive.store(name, text);
  archive.finish();
  file.commit();
}
