// Bodies of tensor_file.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/float16.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/tensor_file.hpp>

namespace gpunet::io {

namespace detail {

GPUNET_INLINE index_t byte_count(Dtype dtype, const Sizes& sizes) {
  index_t bits = bits_of(dtype);
  for (index_t extent : sizes)
    if (__builtin_mul_overflow(bits, std::max<index_t>(extent, 1), &bits)) return -1;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  return bits % 8 == 0 ? bits / 8 : -1;
}

GPUNET_INLINE Sizes packed_strides(const Sizes& sizes, bool reversed) {
  std::array<index_t, Sizes::max_rank> strides{};
  index_t next = 1;
  for (int i = 0; i < sizes.rank(); ++i) {
    const int d = reversed ? i : sizes.rank() - 1 - i;
    strides[static_cast<std::size_t>(d)] = next;
    next *= std::max<index_t>(sizes[d], 1);
  }
  Sizes out;
  for (int d = 0; d < sizes.rank(); ++d)
    out.append(strides[static_cast<std::size_t>(d)]);
  return out;
}

GPUNET_INLINE bool same_order(const Sizes& sizes, const Sizes& strides, const Sizes& packed) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return true;
  for (int d = 0; d < sizes.rank(); ++d)
    if (sizes[d] > 1 && strides[d] != packed[d]) return false;
  return true;
}

GPUNET_INLINE index_t reach(const Sizes& sizes, const Sizes& strides) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  index_t last = 0;
  for (int d = 0; d < sizes.rank(); ++d) {
    index_t step = 0;
    if (sizes[d] > 1 && (__builtin_mul_overflow(sizes[d] - 1, strides[d], &step) ||
                         __builtin_add_overflow(last, step, &last)))
      return -1;
  }
  return last == std::numeric_limits<index_t>::max() ? -1 : last + 1;
}

GPUNET_INLINE void check_bytes(const TensorEntry& entry, std::string_view place) {
  require(entry.problem.empty(), place, '"', printable(entry.name),
          "\" could not be read: ", entry.problem);
  const index_t size = bits_of(entry.dtype) / 8, bytes = static_cast<index_t>(entry.bytes.size());
  const index_t count = byte_count(entry.dtype, entry.sizes);
  if (entry.source) return;  // its reader has checked the sizes
  if (entry.strides.rank() == 0) {
    require(count == bytes, place, '"', printable(entry.name), "\" has ", bytes,
            " bytes, which do not fit its shape ", to_string(entry.sizes), " and dtype ",
            to_string(entry.dtype), ", give all elements");
    return;
  }
  const bool fits = count >= 0 && size > 0 && entry.strides.rank() == entry.sizes.rank();
  const index_t wanted = fits ? reach(entry.sizes, entry.strides) : -1;
  require(wanted >= 0 && wanted <= bytes / size, place, '"', printable(entry.name), "\" of shape ",
          to_string(entry.sizes), ", strides ", to_string(entry.strides), " and dtype ",
          to_string(entry.dtype), " exceeds its ", bytes,
          " bytes, give strides in elements, one for each dimension, and all bytes");
}

// Calls visit(i, at) for each element: its number in row-major order, and its number in the bytes
// of the entry.
template <class Visit>
void visit_elements(const TensorEntry& entry, Visit visit) {
  const index_t n = entry.sizes.numel();
  if (entry.strides.rank() == 0) {
    for (index_t i = 0; i < n; ++i)
      visit(i, i);
    return;
  }
  std::array<index_t, Sizes::max_rank> index{};
  index_t at = 0;
  for (index_t i = 0; i < n; ++i) {
    visit(i, at);
    for (int d = entry.sizes.rank() - 1; d >= 0; --d) {
      if (entry.sizes[d] == 1) continue;  // any stride is valid here
      index_t& position = index[static_cast<std::size_t>(d)];
      if (++position < entry.sizes[d]) {
        at += entry.strides[d];
        break;
      }
      at -= entry.strides[d] * (entry.sizes[d] - 1);
      position = 0;
    }
  }
}

// Returns whether T, an integer type, has the number.
template <class T, class Number>
bool has_number(Number number) {
  if constexpr (std::is_integral_v<Number>) {
    return std::in_range<T>(number);
  } else {
    constexpr auto first = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto after_last = 2 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
    const auto x = static_cast<double>(number);
    return first <= x && x < after_last && x == std::trunc(x);
  }
}

// Converts a floating-point number of 8 bits: a sign, an exponent, `fraction` bits. Without
// infinity and NaN.
inline float byte_to_float(std::uint8_t bits, int fraction, int bias) {
  const int exponent = (bits & 0x7F) >> fraction, rest = bits & ((1 << fraction) - 1);
  const int digits = exponent == 0 ? rest : rest + (1 << fraction);  // subnormal or normal
  const float size =
      std::ldexp(static_cast<float>(digits), std::max(exponent, 1) - bias - fraction);
  return bits & 0x80 ? -size : size;
}

// Returns the beginning of messages about an entry: its file, and its name if it has one.
GPUNET_INLINE std::string place_of(const TensorEntry& entry) {
  return concat("gpunet::io::copy_as: ", entry.file ? *entry.file : "", entry.file ? ": " : "",
                entry.name.empty() ? "the array" : concat('"', printable(entry.name), '"'));
}

// Decodes stored elements one by one.
template <class Stored, class T, class Decode = std::identity>
void decode(const TensorEntry& entry, std::span<T> out, Decode decode_one = {}) {
  visit_elements(entry, [&](index_t i, index_t at) {
    Stored stored;
    std::memcpy(&stored, entry.bytes.data() + static_cast<std::size_t>(at) * sizeof stored,
                sizeof stored);
    const auto number = decode_one(stored);
    if constexpr (std::is_same_v<T, bool>) {
      out[static_cast<std::size_t>(i)] = number != 0;
    } else {
      if constexpr (std::is_integral_v<T>)
        // require() would make the name printable for each element.
        if (!has_number<T>(number)) [[unlikely]]
          throw_error(Error(concat(
              place_of(entry), " has the number ", number, " (want integers from ",
              index_t{std::numeric_limits<T>::min()}, " to ",
              index_t{std::numeric_limits<T>::max()}, "), read it as ",
              std::is_integral_v<decltype(number)> && has_number<index_t>(number) ? "index_t"
                                                                                  : "double")));
      out[static_cast<std::size_t>(i)] = static_cast<T>(number);
    }
  });
}

}  // namespace detail

GPUNET_INLINE std::span<const std::byte> bytes_of(const TensorEntry& entry,
                                                  std::vector<std::byte>& room) {
  if (!entry.source) return entry.bytes;
  const index_t size = detail::byte_count(entry.dtype, entry.sizes);
  const auto resize = [&] {
    room.resize(static_cast<std::size_t>(size));
  };
  gpunet::detail::attempt<std::bad_alloc>(resize, [&](const std::bad_alloc&) {
    throw_error(Error(concat("gpunet::io: \"", detail::printable(entry.name), "\" has ", size,
                             " bytes, more than the available memory, free some")));
  });
  entry.source->read(entry.first_byte, room);
  return room;
}

namespace detail {

GPUNET_INLINE std::span<const std::byte> row_major_bytes(const TensorEntry& entry,
                                                         std::vector<std::byte>& copy) {
  if (entry.strides.rank() == 0) return bytes_of(entry, copy);
  std::vector<std::byte> room;
  const std::span<const std::byte> bytes = bytes_of(entry, room);
  const auto size = static_cast<std::size_t>(bits_of(entry.dtype) / 8);
  copy.resize(static_cast<std::size_t>(entry.sizes.numel()) * size);
  visit_elements(entry, [&](index_t i, index_t at) {
    std::memcpy(copy.data() + static_cast<std::size_t>(i) * size,
                bytes.data() + static_cast<std::size_t>(at) * size, size);
  });
  return copy;
}

GPUNET_INLINE std::vector<const TensorEntry*> sorted(std::span<const TensorEntry> entries,
                                                     bool (*before)(const TensorEntry*,
                                                                    const TensorEntry*)) {
  std::vector<const TensorEntry*> order;
  for (const TensorEntry& entry : entries)
    order.push_back(&entry);
  std::sort(order.begin(), order.end(), before);
  return order;
}

GPUNET_INLINE bool name_is_less(const TensorEntry* a, const TensorEntry* b) {
  return a->name < b->name;
}

GPUNET_INLINE void check_writable(const std::string& path, std::span<const TensorEntry> entries) {
  const TensorEntry* before = nullptr;
  for (const TensorEntry* entry : sorted(entries, name_is_less)) {
    const std::string place = concat("gpunet::io: cannot write ", path, ": "),
                      name = concat(place, '"', printable(entry->name), "\" ");
    require(is_utf8(entry->name), name, "is not UTF-8, rename it");
    require(!before || before->name != entry->name, name, "is the name of two tensors, rename one");
    check_bytes(*entry, place);
    before = entry;
  }
}

}  // namespace detail

template <class T>
void copy_as(const TensorEntry& entry, std::span<T> out) {
  detail::check_bytes(entry, "gpunet::io::copy_as: ");
  if (static_cast<index_t>(out.size()) != entry.sizes.numel())
    throw_error(Error(concat(detail::place_of(entry), " of shape ", to_string(entry.sizes), " for ",
                             out.size(), " elements (want ", entry.sizes.numel(), "), make room")));
  if (entry.source) {
    if (entry.dtype == dtype_of<T>() && entry.strides.rank() == 0)
      return entry.source->read(entry.first_byte, std::as_writable_bytes(out));
    std::vector<std::byte> room;
    TensorEntry in_memory = entry;
    in_memory.bytes = bytes_of(entry, room);
    in_memory.source = nullptr;
    return copy_as(in_memory, out);
  }
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  switch (entry.dtype) {
    case Dtype::F32:
      return detail::decode<float>(entry, out);
    case Dtype::F64:
      return detail::decode<double>(entry, out);
    case Dtype::F16:
      return detail::decode<std::uint16_t>(entry, out, gpunet::detail::half_to_float);
    case Dtype::BF16:
      return detail::decode<std::uint16_t>(entry, out, gpunet::detail::bfloat_to_float);
    case Dtype::I64:
      return detail::decode<std::int64_t>(entry, out);
    case Dtype::I32:
      return detail::decode<std::int32_t>(entry, out);
    case Dtype::I16:
      return detail::decode<std::int16_t>(entry, out);
    case Dtype::I8:
      return detail::decode<std::int8_t>(entry, out);
    case Dtype::U64:
      return detail::decode<std::uint64_t>(entry, out);
    case Dtype::U32:
      return detail::decode<std::uint32_t>(entry, out);
    case Dtype::U16:
      return detail::decode<std::uint16_t>(entry, out);
    case Dtype::U8:
    case Dtype::BOOL:
      return detail::decode<std::uint8_t>(entry, out);
    // The types of torch: float8_e5m2 and so on.
    case Dtype::F8_E5M2:  // the upper half of a binary16
      return detail::decode<std::uint8_t>(entry, out, [](std::uint8_t x) {
        return gpunet::detail::half_to_float(static_cast<std::uint16_t>(x << 8));
      });
    case Dtype::F8_E4M3:
      return detail::decode<std::uint8_t>(entry, out, [](std::uint8_t x) {
        return (x & 0x7F) == 0x7F ? nan : detail::byte_to_float(x, 3, 7);
      });
    case Dtype::F8_E4M3FNUZ:
      return detail::decode<std::uint8_t>(entry, out, [](std::uint8_t x) {
        return x == 0x80 ? nan : detail::byte_to_float(x, 3, 8);
      });
    case Dtype::F8_E5M2FNUZ:
      return detail::decode<std::uint8_t>(entry, out, [](std::uint8_t x) {
        return x == 0x80 ? nan : detail::byte_to_float(x, 2, 16);
      });
    case Dtype::F8_E8M0:  // a power of two
      return detail::decode<std::uint8_t>(
          entry, out, [](std::uint8_t x) { return x == 0xFF ? nan : std::ldexp(1.0f, x - 127); });
    default:
      throw_error(Error(
          concat(detail::place_of(entry), " has elements of ", to_string(entry.dtype),
                 entry.dtype == Dtype::C64 || entry.dtype == Dtype::C128
                     ? " (complex; gpunet reads real numbers), save its real and imaginary parts"
                     : " (of less than a byte), convert it to F32 before saving")));
  }
}

#if GPUNET_COMPILED
template void copy_as(const TensorEntry& entry, std::span<float> out);
template void copy_as(const TensorEntry& entry, std::span<double> out);
template void copy_as(const TensorEntry& entry, std::span<std::int32_t> out);
template void copy_as(const TensorEntry& entry, std::span<std::int64_t> out);
template void copy_as(const TensorEntry& entry, std::span<std::uint8_t> out);
template void copy_as(const TensorEntry& entry, std::span<bool> out);
#endif

}  // namespace gpunet::io
