// Element types of arrays in files.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <gpunet/core/config.hpp>

namespace gpunet::io {

static_assert(
    std::endian::native == std::endian::little,
    "gpunet::io: this processor is big-endian (weight files are little-endian), use another");

// The type of a stored element, with its name in safetensors files, in the order of alignment.
// Those files do not have C128.
enum class Dtype : unsigned char {
  BOOL,
  F4,
  F6_E2M3,
  F6_E3M2,
  U8,
  I8,
  F8_E5M2,
  F8_E4M3,
  F8_E8M0,
  F8_E4M3FNUZ,
  F8_E5M2FNUZ,
  I16,
  U16,
  F16,
  BF16,
  I32,
  U32,
  F32,
  C64,
  F64,
  I64,
  U64,
  C128
};

namespace detail {

struct DtypeInfo {
  std::string_view name;
  index_t bits;
};

inline constexpr std::array<DtypeInfo, 23> dtypes{{
    {"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
    {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
    {"I64", 64},        {"U64", 64},    {"C128", 128},
}};

}  // namespace detail

// Returns the name in safetensors files: "F32".
constexpr std::string_view to_string(Dtype dtype) {
  return detail::dtypes[static_cast<std::size_t>(dtype)].name;
}

// Returns the number of bits of one element.
constexpr index_t bits_of(Dtype dtype) {
  return detail::dtypes[static_cast<std::size_t>(dtype)].bits;
}

// Returns the type with a name of safetensors files, such as "F32"; nothing for an unknown name.
std::optional<Dtype> dtype_from(std::string_view name);

// Returns the type in which elements of T are stored: float, double, std::int32_t, std::int64_t,
// std::uint8_t or bool.
template <class T>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return Dtype::F32;
  else if constexpr (std::is_same_v<T, double>)
    return Dtype::F64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return Dtype::I32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return Dtype::I64;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return Dtype::U8;
  else {
    static_assert(std::is_same_v<T, bool>,
                  "gpunet::io::dtype_of: files store tensors of float, double, std::int32_t, "
                  "index_t, std::uint8_t or bool, convert others: cast<float>(x)");
    return Dtype::BOOL;
  }
}

// Returns whether copy_as can convert the type: real numbers in whole bytes. Integers too, as
// torch's copy_.
constexpr bool is_parameter_type(Dtype dtype) {
  return bits_of(dtype) >= 8 && dtype != Dtype::C64 && dtype != Dtype::C128;
}

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/dtype.ipp>
#endif
