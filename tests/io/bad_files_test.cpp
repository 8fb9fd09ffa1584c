// Every file of the corpus, cut at every byte and with every byte changed: an Error that names the
// file, or tensors of the shapes that they say; nothing else, and little memory before that is
// known.
#include <cstddef>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/io/formats.hpp>

#include "corpus.hpp"
#include "support/allocations.hpp"
#include "support/sanitizers.hpp"
#include "test_config.hpp"

#if GPUNET_TEST_ZLIB
#include <gpunet/io/zlib.hpp>
#endif

using namespace gpunet;
using io::TensorEntry;

namespace {

constexpr std::size_t most_memory = 1 << 20;  // bytes that may be asked for at once

// What is wrong with the elements of an entry; empty if all can be looked at.
std::string problem_of(const TensorEntry& entry) {
  const index_t bytes = io::detail::byte_count(entry.dtype, entry.sizes);
  // A stride of 0 makes huge tensors of small files: those take their memory when they are used.
  if (entry.strides.rank() > 0 && bytes > static_cast<index_t>(most_memory)) return {};
  std::vector<std::byte> copy;
  const std::span<const std::byte> elements = io::detail::row_major_bytes(entry, copy);
  volatile std::byte sum{};
  for (const std::byte byte : elements)
    sum = sum ^ byte;
  return static_cast<index_t>(elements.size()) == bytes
             ? ""
             : entry.name + " has not the bytes of its shape";
}

// Whether the file is read. Whatever else is wrong than an Error that names it fails the test.
bool reads(const std::string& path) {
  std::optional<io::TensorFile> file;
  std::string problem;
  std::size_t largest = 0;
  {
    const Count count;
    try {
      file = io::read_tensors(path);
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("gpunet::io: " + path))
        problem = error.what();
    }
    largest = count.largest();
  }
  if (largest > most_memory) problem = concat(largest, " bytes in one allocation");
  bool is_good = file.has_value();
  try {
    for (std::size_t i = 0; is_good && problem.empty() && i < file->entries().size(); ++i)
      problem = problem_of(file->entries()[i]);
  } catch (const Error& error) {  // of packed bytes, which are not checked before
    is_good = false;
    if (!std::string_view(error.what()).starts_with("gpunet::io: " + path)) problem = error.what();
  }
  if (!problem.empty()) FAIL_CHECK(problem);
  return is_good;
}

std::vector<std::string> corpus_files() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(GPUNET_TEST_CORPUS))
    if (file.path().extension() != ".py") names.push_back(file.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE("a file of the corpus cut at any byte is an Error") {
  const TempFolder folder;
  CHECK(corpus_files().size() >= 20);
  for (const std::string& name : corpus_files()) {
    CAPTURE(name);
    const std::string whole = read_text(corpus(name)), path = folder / name;
    std::ofstream file(path, std::ios::binary);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (reads(path)) FAIL_CHECK("read with " << i << " of " << whole.size() << " bytes");
      file << whole[i] << std::flush;
    }
  }
}

namespace {

// A file of torch.save as if its checksums had not been computed: else nothing behind them would
// ever be changed.
std::string without_sums(std::string archive) {
  for (std::size_t at = archive.find("PK\1\2"); at != std::string::npos;
       at = archive.find("PK\1\2", at + 1))
    archive.replace(at + 16, 4, 4, '\0');
  return archive;
}

}  // namespace

TEST_CASE(
    "a file of the corpus with any byte changed is an Error or has tensors of the shapes that it "
    "says") {
  const TempFolder folder;
  std::size_t good = 0, all = 0;
  for (const std::string& name : corpus_files()) {
    CAPTURE(name);
    const std::string whole = without_sums(read_text(corpus(name))), path = folder / name;
    io::write_file_atomically(path, whole);
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const auto at = static_cast<std::streamoff>(i);
      // All bits, one bit, and what is largest; under sanitizers one of them.
      const int flips[] = {0xFF, 1 << i % 8, 0xFF ^ static_cast<unsigned char>(whole[i])};
      for (std::size_t k = 0; k < 3; ++k) {
        if (under_sanitizers && i % 3 != k) continue;
        const int flip = flips[k];
        file.seekp(at).put(static_cast<char>(whole[i] ^ flip)).flush();
        good += reads(path);
        ++all;
      }
      file.seekp(at).put(whole[i]).flush();
    }
  }
  CHECK(good > all / 10);  // those in numbers and in padding
  CHECK(good < all);
}
