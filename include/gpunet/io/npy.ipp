// Bodies of npy.hpp.
#pragma once

#include <gpunet/core/error.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/dtype.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/mapped_file.hpp>
#include <gpunet/io/npy.hpp>

namespace gpunet::io {

namespace detail {

struct NumpyType {
  std::string_view name;  // "descr" in files
  Dtype dtype;
};

inline constexpr NumpyType numpy_types[] = {
    {"|b1", Dtype::BOOL}, {"|i1", Dtype::I8},   {"|u1", Dtype::U8},  {"<i2", Dtype::I16},
    {"<u2", Dtype::U16},  {"<f2", Dtype::F16},  {"<i4", Dtype::I32}, {"<u4", Dtype::U32},
    {"<f4", Dtype::F32},  {"<c8", Dtype::C64},  {"<i8", Dtype::I64}, {"<u8", Dtype::U64},
    {"<f8", Dtype::F64},  {"<c16", Dtype::C128}};

// Reads the header of a .npy file: a Python dict with the keys descr, fortran_order and shape; no
// other Python is accepted.
class NpyHeaderReader {
 public:
  explicit NpyHeaderReader(ByteReader& bytes) : bytes_(bytes) {}

  // Returns type, sizes and strides (no strides for C order).
  TensorEntry read() {
    TensorEntry out;
    bool has_type = false, has_order = false, has_shape = false, fortran = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !std::exchange(has_type, true))
        out.dtype = type();
      else if (key == "fortran_order" && !std::exchange(has_order, true))
        fortran = boolean();
      else if (key == "shape" && !std::exchange(has_shape, true))
        out.sizes = shape();
      else
        fail(concat("the key \"", printable(key), "\", which is unknown or occurs twice"));
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!has_type || !has_order || !has_shape)
      fail("a header without descr, fortran_order or shape");
    skip_space();
    if (bytes_.left() != 0) fail("more in the header than wanted");
    if (byte_count(out.dtype, out.sizes) < 0)
      fail(concat("a shape ", to_string(out.sizes), " that is too large"));
    const Sizes strides = packed_strides(out.sizes, true);
    if (fortran && !same_order(out.sizes, strides, packed_strides(out.sizes)))
      out.strides = strides;
    return out;
  }

 private:
  template <class Exception = Error>
  [[noreturn]] void fail(std::string_view what,
                         std::string_view advice = ByteReader::default_advice) {
    bytes_.fail<Exception>(what, advice);
  }

  // Returns the next character; 0 at the end.
  char peek() {
    if (bytes_.left() == 0) return '\0';
    const auto c = bytes_.number<char>("a character");
    bytes_.back(1);
    return c;
  }
  void skip() { bytes_.take(1, "a character"); }
  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t')
      skip();
  }
  bool accept(char wanted) {
    skip_space();
    if (peek() != wanted) return false;
    skip();
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(concat("expected '", wanted, "' in the header"));
  }

  // Reads as many of the allowed characters as follow.
  std::string_view letters(std::string_view allowed, std::string_view what) {
    skip_space();
    std::size_t n = 0;
    const std::string_view rest = as_text(bytes_.rest());
    while (n < rest.size() && allowed.find(rest[n]) != std::string_view::npos)
      ++n;
    if (n == 0) fail(concat("expected a ", what, " in the header"));
    return bytes_.text(n, what);
  }

  std::string_view string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::string_view rest = as_text(bytes_.rest());
    const std::size_t length = rest.find(quote);
    if (length == std::string_view::npos) fail("a text without an end");
    const std::string_view text = bytes_.text(length, "a text");
    skip();
    if (text.find('\\') != std::string_view::npos) fail("an escape in a text of the header");
    return text;
  }

  bool boolean() {
    const std::string_view word = letters("TrueFals", "truth value");
    if (word != "True" && word != "False")
      fail(concat("\"", printable(word), "\" for a truth value"));
    return word == "True";
  }

  Dtype type() {
    if (accept('['))
      fail<Unreadable>("records of several fields",
                       "(gpunet reads plain arrays), save each field by itself");
    const std::string_view name = string();
    for (const NumpyType& known : numpy_types)
      if (known.name == name) return known.dtype;
    const char kind = name.size() > 1 ? name[1] : ' ';
    if (kind == 'O')
      fail<Unreadable>("Python objects",
                       "(pickles, which can execute anything), save array.astype(\"float32\")");
    const std::string elements = concat("elements of type \"", printable(name), '"');
    if (kind == 'U' || kind == 'S')
      fail<Unreadable>(elements, "(texts; gpunet reads numbers), save numbers that stand for them");
    if (kind == 'M' || kind == 'm')
      fail<Unreadable>(elements, "(times), save array.astype(\"int64\")");
    if (kind == 'V')
      fail<Unreadable>(elements, "(raw bytes; of bfloat16?), save array.astype(\"float32\")");
    if (name.starts_with('>'))
      fail<Unreadable>(
          concat("big-endian ", elements),
          "(gpunet reads little-endian ones), save array.astype(array.dtype.newbyteorder(\"<\"))");
    fail<Unreadable>(elements,
                     "(gpunet has no type of that length), save array.astype(\"float64\")");
  }

  Sizes shape() {
    Sizes out;
    expect('(');
    while (!accept(')')) {
      if (out.rank() == Sizes::max_rank)
        fail<Unreadable>(concat("more than ", Sizes::max_rank, " dimensions"),
                         "(the most that gpunet handles), reshape it before saving");
      const std::string_view digits = letters("0123456789", "number");
      index_t n = 0;
      for (const char digit : digits)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, digit - '0', &n))
          fail("a number that is too large");
      if (peek() == 'L') skip();  // Python 2's
      out.append(n);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }

  ByteReader& bytes_;
};

GPUNET_INLINE std::size_t npy_header_size(std::span<const std::byte> start) {
  if (start.size() < 12 || !as_text(start).starts_with(npy_magic)) return start.size();
  const bool is_short = start[npy_magic.size()] == std::byte{1};  // version 1: two bytes, else four
  std::size_t length = 0;
  for (std::size_t i = is_short ? 10 : 12; i-- > npy_magic.size() + 2;)
    length = 256 * length + std::to_integer<std::size_t>(start[i]);
  return (is_short ? 10 : 12) + length;
}

GPUNET_INLINE TensorEntry read_npy_header(ByteReader& bytes) {
  if (bytes.left() < npy_magic.size() || bytes.text(npy_magic.size(), "a magic") != npy_magic)
    bytes.fail("no .npy file begins like this");
  const auto major = bytes.number<std::uint8_t>("a version");
  const auto minor = bytes.number<std::uint8_t>("a version");
  if (major < 1 || major > 3 || minor != 0)
    bytes.fail(concat("version ", major, ".", minor),
               "(gpunet reads 1.0, 2.0 and 3.0), save it with np.save");
  const std::size_t length = major == 1 ? bytes.number<std::uint16_t>("a length")
                                        : bytes.number<std::uint32_t>("a length");
  const std::size_t begin = bytes.file_position();
  ByteReader header(bytes.take(length, "a header"), bytes.place(), begin);
  return NpyHeaderReader(header).read();
}

GPUNET_INLINE void check_npy_data(const ByteReader& bytes, const TensorEntry& entry,
                                  std::uint64_t left) {
  const index_t wanted = byte_count(entry.dtype, entry.sizes);
  if (static_cast<std::uint64_t>(wanted) != left)
    bytes.fail(concat(left, " bytes of data (want ", wanted, " for the shape ",
                      to_string(entry.sizes), " of ", to_string(entry.dtype), ")"));
}

// Returns the header as NumPy writes it: version 1.0, padded so that the data starts at a multiple
// of 64. An array with Fortran strides keeps its order; any other is to be written row-major.
GPUNET_INLINE std::string npy_header(const std::string& path, const TensorEntry& entry,
                                     bool fortran) {
  std::string_view type;
  for (const NumpyType& known : numpy_types)
    if (known.dtype == entry.dtype) type = known.name;
  require(!type.empty(), "gpunet::io: cannot write ", path, ": \"", printable(entry.name),
          "\" has dtype ", to_string(entry.dtype),
          " (NumPy has none like it), convert it or write a .safetensors file");
  std::string shape = "(";
  for (int d = 0; d < entry.sizes.rank(); ++d)
    shape += concat(d ? ", " : "", entry.sizes[d]);
  shape += entry.sizes.rank() == 1 ? ",)" : ")";
  std::string text = concat("{'descr': '", type, "', 'fortran_order': ", fortran ? "True" : "False",
                            ", 'shape': ", shape, ", }");
  constexpr std::size_t alignment = 64;
  // NumPy leaves room for the first extent to grow to 21 digits.
  if (entry.sizes.rank() > 0) {
    const std::string growing = concat(entry.sizes[fortran ? entry.sizes.rank() - 1 : 0]);
    text.append(growing.size() < 21 ? 21 - growing.size() : 0, ' ');
  }
  const std::size_t before = npy_magic.size() + 4 + text.size() + 1;
  text.append((alignment - before % alignment) % alignment, ' ');
  text += '\n';
  std::string out(npy_magic);
  out += std::string_view("\1\0", 2);
  append_number(out, static_cast<std::uint16_t>(text.size()));
  return out + text;
}

GPUNET_INLINE std::pair<std::string, std::span<const std::byte>> npy_parts(
    const std::string& path, const TensorEntry& entry, std::vector<std::byte>& copy) {
  const bool fortran = entry.strides.rank() > 0 &&
                       same_order(entry.sizes, entry.strides, packed_strides(entry.sizes, true));
  return {npy_header(path, entry, fortran),
          fortran ? bytes_of(entry, copy) : row_major_bytes(entry, copy)};
}

}  // namespace detail

GPUNET_INLINE NpyFile NpyFile::read(const std::string& path, const ReadOptions& options) {
  return read(path, std::make_shared<const FileBytes>(path, options.map));
}

GPUNET_INLINE NpyFile NpyFile::read(const std::string& path,
                                    std::shared_ptr<const FileBytes> contents) {
  detail::ByteReader bytes(contents->bytes(), concat("gpunet::io: ", path));
  TensorEntry entry = detail::read_npy_header(bytes);
  detail::check_npy_data(bytes, entry, bytes.left());
  entry.bytes = bytes.rest();
  NpyFile file(path);
  file.add(std::move(entry));
  file.owner_ = std::move(contents);
  return file;
}

GPUNET_INLINE void write_npy(const std::string& path, const TensorEntry& entry) {
  detail::check_writable(path, std::span(&entry, 1));
  std::vector<std::byte> copy;
  const auto [header, data] = detail::npy_parts(path, entry, copy);
  write_file_atomically(path, header, data);
}

}  // namespace gpunet::io
