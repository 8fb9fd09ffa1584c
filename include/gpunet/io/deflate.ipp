// Bodies of deflate.hpp.
#pragma once

#include <gpunet/io/deflate.hpp>

namespace gpunet::io {

GPUNET_INLINE const DeflateCodec*& deflate_codec() {
  static const DeflateCodec* codec = nullptr;
  return codec;
}

namespace detail {

GPUNET_INLINE bool read_last(Inflater& inflater, std::span<std::byte> out) {
  std::byte more;
  return inflater.read(out) == static_cast<std::ptrdiff_t>(out.size()) &&
         inflater.read({&more, 1}) == 0 && inflater.left() == 0;
}

}  // namespace detail

}  // namespace gpunet::io
