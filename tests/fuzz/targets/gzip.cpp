// Files packed by gzip, and the deflated data in them.
#include <gpunet/io/gzip.hpp>
#include <gpunet/io/zlib.hpp>

#include "fuzz.hpp"
#include "support/stored_deflate.hpp"

namespace {

// As gzip_stored, but packed.
std::string gzip_packed(const std::string& text) {
  const std::string stored = gzip_stored(text);
  std::string out = stored.substr(0, 10);
  for (const std::byte byte : gpunet::io::deflate_codec()->deflate(fuzz::bytes_of(text)))
    out += static_cast<char>(byte);
  return out + stored.substr(stored.size() - 8);
}

const fuzz::Register gzip({"gzip",
                           [](fuzz::Bytes bytes) {
                             constexpr std::size_t most = 1 << 16;
                             fuzz::ensure(
                                 gpunet::io::gunzip(bytes, "the file", most).size() <= most,
                                 "more than was wanted");
                           },
                           [] {
                             const std::string text =
                                 "abcabcabcabcabcabc, a text that can be packed; abcabcabc";
                             return std::vector<std::string>{gzip_packed(text), gzip_packed(""),
                                                             gzip_stored(text),
                                                             gzip_stored(text, "name")};
                           }});

}  // namespace
