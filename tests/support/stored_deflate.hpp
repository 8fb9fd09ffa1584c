// A deflate codec for stored blocks only: tests of files with compressed data need no zlib.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/io/crc32.hpp>
#include <gpunet/io/deflate.hpp>

// One stored block (RFC 1951, section 3.2.4): 1, its length, the same inverted, the bytes.
inline std::vector<std::byte> deflate_stored(std::span<const std::byte> bytes) {
  const auto size = static_cast<unsigned>(bytes.size());
  std::vector<std::byte> out{std::byte{1}};
  for (unsigned length : {size, ~size})
    for (int shift : {0, 8})
      out.push_back(static_cast<std::byte>(length >> shift & 0xFFu));
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

// Reads one such block.
class StoredInflater : public gpunet::io::Inflater {
 public:
  explicit StoredInflater(std::span<const std::byte> packed) : rest_(packed) {
    if (packed.size() < 5) return;
    block_ =
        std::to_integer<std::size_t>(packed[1]) + 256 * std::to_integer<std::size_t>(packed[2]);
    rest_ = packed.subspan(5);
  }
  std::ptrdiff_t read(std::span<std::byte> out) override {
    const std::size_t n = std::min(out.size(), block_);
    if (n > rest_.size()) return cut_short;
    std::copy_n(rest_.begin(), n, out.begin());
    rest_ = rest_.subspan(n);
    block_ -= n;
    return static_cast<std::ptrdiff_t>(n);
  }
  std::size_t left() const override { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
  std::size_t block_ = 0;  // bytes of it that are not read yet
};
inline std::unique_ptr<gpunet::io::Inflater> inflater_stored(
    std::vector<std::span<const std::byte>> packed) {
  return std::make_unique<StoredInflater>(packed.at(0));
}

inline constexpr gpunet::io::DeflateCodec stored_deflate{inflater_stored, deflate_stored};

// Replaces the codec while this object exists.
class UseCodec {
 public:
  explicit UseCodec(const gpunet::io::DeflateCodec* codec)
      : before_(std::exchange(gpunet::io::deflate_codec(), codec)) {}
  UseCodec(const UseCodec&) = delete;
  UseCodec& operator=(const UseCodec&) = delete;
  ~UseCodec() { gpunet::io::deflate_codec() = before_; }

 private:
  const gpunet::io::DeflateCodec* before_;
};

// Returns a gzip file (RFC 1952) with at most 65535 bytes in a stored block.
inline std::string gzip_stored(const std::string& text, const std::string& name = "") {
  std::string out{'\x1F', '\x8B', '\x08', static_cast<char>(name.empty() ? 0 : 8), 0, 0, 0,
                  0,      0,      3};
  if (!name.empty()) out += name + '\0';
  const auto bytes = std::as_bytes(std::span(text));
  for (std::byte byte : deflate_stored(bytes))
    out += static_cast<char>(byte);
  for (unsigned number : {static_cast<unsigned>(gpunet::io::detail::crc32(bytes)),
                          static_cast<unsigned>(text.size())})
    for (int shift : {0, 8, 16, 24})
      out += static_cast<char>(number >> shift & 0xFFu);
  return out;
}
