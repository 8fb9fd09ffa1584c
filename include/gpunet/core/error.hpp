// The one exception of the library and the two checks that raise it.
#pragma once

#include <charconv>
#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gpunet/core/config.hpp>

namespace gpunet {

// What went wrong, as "where: what is wrong (why it matters), what to do".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

// Errors are rare: kept out of line, they cost their callers neither speed nor compile time.
template <class Part>
[[gnu::cold, gnu::noinline]] void append(std::string& out, const Part& part) {
  if constexpr (std::same_as<Part, char>) {
    out += part;
  } else if constexpr (std::same_as<Part, bool>) {
    out += part ? "true" : "false";
  } else if constexpr (std::integral<Part> || std::floating_point<Part>) {
    char digits[64];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, part).ptr);
  } else {
    out += std::string_view(part);
  }
}

}  // namespace detail

// The parts written one after another: texts, characters, numbers (shortest form that reads back the same).
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

namespace detail {

template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const Parts&... parts) {
  throw Error(concat(parts...));
}

}  // namespace detail

// Throws Error with the parts as its message unless `condition` holds. The parts are not formatted otherwise.
template <class... Parts>
constexpr void require(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    detail::fail(parts...);
}

}  // namespace gpunet

// An inner invariant: checked in debug builds, free in release builds.
#if GPUNET_ASSERTIONS
#define GPUNET_ASSERT(condition)                                                                              \
  ::gpunet::require(static_cast<bool>(condition), __FILE__, ":", __LINE__, ": broken invariant: " #condition, \
                    " (a bug in gpunet, please report it)")
#else
#define GPUNET_ASSERT(condition) static_cast<void>(0)
#endif
