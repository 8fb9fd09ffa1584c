// The element types that tensors can compute with.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <gpunet/core/config.hpp>

namespace gpunet {

// The type of an element as a number, for code that is compiled once.
enum class ElementType : std::uint8_t { f32, f64, i32, i64, u8, boolean };

namespace detail {

// A type that tensors can compute with.
template <class T>
concept Element =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint8_t> || std::same_as<T, bool>;

template <class T>
constexpr ElementType element_type_of() {
  static_assert(Element<T>,
                "gpunet::Tensor: no arithmetic with elements of this type, make the tensor of "
                "float, double, std::int32_t, index_t, std::uint8_t or bool");
  return std::is_same_v<T, float>          ? ElementType::f32
         : std::is_same_v<T, double>       ? ElementType::f64
         : std::is_same_v<T, std::int32_t> ? ElementType::i32
         : std::is_same_v<T, std::int64_t> ? ElementType::i64
         : std::is_same_v<T, std::uint8_t> ? ElementType::u8
                                           : ElementType::boolean;
}
template <class T>
inline constexpr ElementType element_type = element_type_of<T>();

GPUNET_FN constexpr index_t bytes_of(ElementType type) {
  return type == ElementType::f64 || type == ElementType::i64   ? 8
         : type == ElementType::f32 || type == ElementType::i32 ? 4
                                                                : 1;
}

// Calls f(T{}) for the type T of that number: with_type in kernels, too, with_host_type for
// functions of the host alone.
#define GPUNET_WITH_TYPE(name, ATTRIBUTES)             \
  template <class F>                                   \
  ATTRIBUTES auto name(ElementType type, const F& f) { \
    switch (type) {                                    \
      case ElementType::f32:                           \
        return f(float{});                             \
      case ElementType::f64:                           \
        return f(double{});                            \
      case ElementType::i32:                           \
        return f(std::int32_t{});                      \
      case ElementType::i64:                           \
        return f(std::int64_t{});                      \
      case ElementType::u8:                            \
        return f(std::uint8_t{});                      \
      default:                                         \
        return f(bool{});                              \
    }                                                  \
  }
GPUNET_WITH_TYPE(with_type, GPUNET_FN)
GPUNET_WITH_TYPE(with_host_type, inline)
#undef GPUNET_WITH_TYPE

}  // namespace detail

}  // namespace gpunet
