// A hash of arrays.
#pragma once

#include <cstdint>
#include <vector>

// The 64-bit FNV-1a hash of all bits.
template <class T>
std::uint64_t fnv1a(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < values.size() * sizeof(T); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}
