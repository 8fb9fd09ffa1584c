// Bodies of error.hpp.
#pragma once

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <gpunet/core/error.hpp>

namespace gpunet {

#if !GPUNET_EXCEPTIONS
namespace detail {

inline std::atomic<ErrorHandler> error_handler = nullptr;

GPUNET_INLINE void end_with(const char* message) {
  if (const ErrorHandler handler = error_handler.load())
    handler(message);
  else
    std::fprintf(stderr, "%s\n", message);
  std::abort();
}

}  // namespace detail

GPUNET_INLINE ErrorHandler set_error_handler(ErrorHandler handler) noexcept {
  return detail::error_handler.exchange(handler);
}
#endif

namespace detail {

GPUNET_INLINE void MessagePart::append_to(std::string& out) const {
  char digits[64];
  char* const end = digits + sizeof digits;
  switch (kind_) {
    case Kind::text:
      out += text_;
      break;
    case Kind::integer:
      out.append(digits, std::to_chars(digits, end, integer_).ptr);
      break;
    case Kind::natural:
      out.append(digits, std::to_chars(digits, end, natural_).ptr);
      break;
    case Kind::single:
      out.append(digits, std::to_chars(digits, end, single_).ptr);
      break;
    case Kind::real:
      out.append(digits, std::to_chars(digits, end, real_).ptr);
  }
}

GPUNET_INLINE std::string join(std::initializer_list<MessagePart> parts) {
  std::string out;
  for (const MessagePart& part : parts)
    part.append_to(out);
  return out;
}

GPUNET_INLINE void fail(std::initializer_list<MessagePart> parts) {
  throw_error(Error(join(parts)));
}

}  // namespace detail

}  // namespace gpunet
