// Shapes as numbers: what a tensor carries at run time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include <gpunet/core/error.hpp>

namespace gpunet {

// As many elements as an array may have: no memory holds more, and products of some such sizes are numbers still.
inline constexpr index_t most_elements = index_t{1} << 48;

// Up to eight extents, outermost first. Never allocates.
class Sizes {
 public:
  static constexpr int max_rank = 8;  // dimensions that there may be

  constexpr Sizes() = default;
  constexpr Sizes(std::initializer_list<index_t> extents) {
    for (index_t n : extents)
      append(n);
  }

  constexpr int rank() const { return rank_; }
  constexpr index_t operator[](int i) const { return extents_[static_cast<std::size_t>(i)]; }
  // The same for a dimension that may not be there: throws Error.
  constexpr index_t at(int i) const {
    require(0 <= i && i < rank_, "gpunet::Sizes: dimension ", i, " of a shape with ", rank_,
            " dimensions (want 0 to ", rank_ - 1, ")");
    return (*this)[i];
  }
  constexpr const index_t* begin() const { return extents_.data(); }
  constexpr const index_t* end() const { return extents_.data() + rank_; }

  // Number of elements; 1 for rank 0. Of sizes that are not at_most() some number it means nothing.
  constexpr index_t numel() const {
    std::uint64_t n = 1;  // wraps, as the product of the first two of [2^62, 2^62, 0]
    for (index_t extent : *this)
      n *= static_cast<std::uint64_t>(extent);
    return static_cast<index_t>(n);
  }

  // Whether there are no more than `most` elements. The product is never computed where it would overflow.
  constexpr bool at_most(index_t most) const {
    index_t n = 1;
    for (index_t extent : *this) {
      if (extent == 0) return true;
      if (n > most / extent)
        n = most + 1;  // unless a later extent is 0
      else
        n *= extent;
    }
    return n <= most;
  }

  // Adds an innermost dimension. Throws Error for a ninth one and for an extent below 0.
  constexpr void append(index_t extent) {
    require(rank_ < max_rank, "gpunet::Sizes: more than ", max_rank, " dimensions");
    require(extent >= 0, "gpunet::Sizes: extent ", extent, " is negative");
    extents_[static_cast<std::size_t>(rank_++)] = extent;
  }

  // These extents without the first, as of one sample of a batch.
  constexpr Sizes tail() const {
    Sizes rest;
    for (int i = 1; i < rank_; ++i)
      rest.append((*this)[i]);
    return rest;
  }

  // [first, *this...], as of a batch of samples.
  constexpr Sizes with_front(index_t first) const {
    Sizes all{first};
    for (index_t extent : *this)
      all.append(extent);
    return all;
  }

  friend constexpr bool operator==(const Sizes& a, const Sizes& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<index_t, max_rank> extents_{};
  int rank_ = 0;
};

// As PyTorch prints a size: "[4, 3, 32, 32]".
std::string to_string(const Sizes& sizes);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/core/sizes.ipp>
#endif
