// The exception of the library and the two checks that throw it.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gpunet/core/build_kind.hpp>
#include <gpunet/core/config.hpp>

namespace gpunet {

// The exception of the library. Its message has the form "where: what is wrong (why it matters),
// what to do".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

#if !GPUNET_EXCEPTIONS
// The function that an error calls, with its message, in programs without exceptions. It must not
// return: it ends the program or the thread, or leaves by longjmp (then memory of the functions of
// gpunet is not freed, and objects that were in use must not be used again). It is called on the
// thread that found the error, which may be one of a Host or of a DataLoader.
using ErrorHandler = void (*)(const char* message);

// Replaces the handler of errors, and returns the one before. nullptr is the default handler, which
// prints the message to stderr and calls std::abort. As std::set_terminate.
ErrorHandler set_error_handler(ErrorHandler handler) noexcept;

namespace detail {
// Calls the handler; if it returns, the program is aborted.
[[noreturn, gnu::cold]] void end_with(const char* message);
}  // namespace detail
#endif

// Throws `error`; without exceptions, calls the handler with its message.
template <class E>
[[noreturn, gnu::cold]] void throw_error(E error) {
#if GPUNET_EXCEPTIONS
  throw error;
#else
  detail::end_with(error.what());
#endif
}

namespace detail {

// Returns body(), or handle(error) if that throws an E. Without exceptions, body().
template <class E, class Body, class Handle>
decltype(auto) attempt(Body&& body, Handle&& handle) {
#if GPUNET_EXCEPTIONS
  try {
    return body();
  } catch (const E& error) {
    return handle(error);
  }
#else
  static_cast<void>(handle);
  return body();
#endif
}
// Returns body(), or handle() if that throws anything.
template <class Body, class Handle>
decltype(auto) attempt(Body&& body, Handle&& handle) {
#if GPUNET_EXCEPTIONS
  try {
    return body();
  } catch (...) {
    return handle();
  }
#else
  static_cast<void>(handle);
  return body();
#endif
}

// Throws the exception that is being handled, in a function that attempt() calls.
[[noreturn]] inline void rethrow() {
#if GPUNET_EXCEPTIONS
  throw;
#else
  __builtin_unreachable();
#endif
}

// A part of a message: a text (borrowed), a character, a bool or a number.
class MessagePart {
 public:
  constexpr MessagePart(const char* text) : kind_(Kind::text), text_(text) {}
  template <class T>
  constexpr MessagePart(const T& value) {
    if constexpr (std::same_as<T, char>)
      kind_ = Kind::text, text_ = {&value, 1};
    else if constexpr (std::same_as<T, bool>)
      kind_ = Kind::text, text_ = value ? "true" : "false";
    else if constexpr (std::signed_integral<T>)
      kind_ = Kind::integer, integer_ = value;
    else if constexpr (std::unsigned_integral<T>)
      kind_ = Kind::natural, natural_ = value;
    else if constexpr (std::same_as<T, float>)
      kind_ = Kind::single, single_ = value;
    else if constexpr (std::same_as<T, double>)
      kind_ = Kind::real, real_ = value;
    else
      kind_ = Kind::text, text_ = std::string_view(value);
  }

  void append_to(std::string& out) const;

 private:
  enum class Kind { text, integer, natural, single, real } kind_;
  union {
    std::string_view text_;
    std::int64_t integer_;
    std::uint64_t natural_;
    float single_;
    double real_;
  };
};

// Out of line: messages are rare, so they should cost callers neither speed nor compile time.
[[gnu::cold]] std::string join(std::initializer_list<MessagePart> parts);
[[noreturn, gnu::cold]] void fail(std::initializer_list<MessagePart> parts);

}  // namespace detail

// Returns the parts as one text. Numbers have the shortest form that reads back the same.
template <class... Parts>
std::string concat(const Parts&... parts) {
  return detail::join({detail::MessagePart(parts)...});
}

// Throws Error with the parts as its message unless `condition` holds. Formats nothing otherwise.
template <class... Parts>
constexpr void require(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    detail::fail({detail::MessagePart(parts)...});
}
// The same for one text: no template for each length.
constexpr void require(bool condition, const char* message) {
  if (!condition) [[unlikely]]
    detail::fail({message});
}

}  // namespace gpunet

// Checks an internal invariant in debug builds; does nothing in release builds.
#if GPUNET_ASSERTIONS
#define GPUNET_ASSERT(condition)                                           \
  ::gpunet::require(static_cast<bool>(condition), __FILE__, ":", __LINE__, \
                    ": broken invariant: " #condition, " (a bug in gpunet, please report it)")
#else
#define GPUNET_ASSERT(condition) static_cast<void>(0)
#endif

#if !GPUNET_COMPILED
#include <gpunet/core/error.ipp>
#endif
