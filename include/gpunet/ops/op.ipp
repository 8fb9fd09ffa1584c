// Bodies of op.hpp.
#pragma once

#include <gpunet/ops/op.hpp>

namespace gpunet::detail {

GPUNET_INLINE std::string class_of(std::string_view signature) {
  std::size_t end = signature.rfind(']');
  if (end != 0 && signature[end - 1] == '>')
    for (int open = 0; end > 0;) {
      --end;
      open += (signature[end] == '>') - (signature[end] == '<');
      if (open == 0) break;
    }
  const auto is_part = [](char c) {
    return ('0' <= c && c <= '9') || ('A' <= c && c <= 'Z') || ('a' <= c && c <= 'z') || c == '_' ||
           (c & 0x80);
  };
  std::size_t begin = end;
  while (begin > 0 && is_part(signature[begin - 1]))
    --begin;
  std::string name(signature.substr(begin, end - begin));
  while (begin > 0 && (is_part(signature[begin - 1]) || signature[begin - 1] == ':'))
    --begin;
  if (name.size() > 2 && name.ends_with("Op") && signature.substr(begin).starts_with("gpunet::"))
    name.resize(name.size() - 2);
  return name;
}

}  // namespace gpunet::detail
