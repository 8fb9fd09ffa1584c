// Padding: its modes, and the sizes of padded arrays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <gpunet/core/config.hpp>
#include <gpunet/core/shape.hpp>

namespace gpunet {

// The elements of a padding, as in torch.nn.functional.pad: one number; a reflection at the
// outermost element, which is not repeated; copies of the outermost element; the elements at the
// other end.
enum class PadMode : std::uint8_t { constant, reflect, replicate, circular };

// Returns the mode of PyTorch's name. Throws Error for another name; `where` is the caller.
PadMode pad_mode_of(std::string_view where, std::string_view name);

// Returns PyTorch's name of a mode: "reflect".
constexpr std::string_view name_of(PadMode mode) {
  switch (mode) {
    case PadMode::constant:
      return "constant";
    case PadMode::reflect:
      return "reflect";
    case PadMode::replicate:
      return "replicate";
    default:
      return "circular";
  }
}

// Returns the element that stands at place `i` of a dimension of `extent` elements, or outside of
// it. A constant is no element: then `i` is returned.
GPUNET_FN constexpr index_t padded_source(PadMode mode, index_t i, index_t extent) {
  if (mode == PadMode::constant || (0 <= i && i < extent)) return i;
  if (mode == PadMode::reflect) return i < 0 ? -i : 2 * (extent - 1) - i;
  if (mode == PadMode::circular) return i < 0 ? i + extent : i - extent;
  return i < 0 ? 0 : extent - 1;
}

// Returns whether a dimension can have these numbers of elements before and behind it. A constant
// takes negative numbers too, which leave elements out.
constexpr bool can_pad(PadMode mode, index_t extent, index_t before, index_t after) {
  constexpr index_t most = 1 << 30;
  if (before > most || after > most) return false;
  switch (mode) {
    case PadMode::constant:
      return before >= -most && after >= -most && -before <= extent && -after <= extent &&
             -(before + after) <= extent;
    case PadMode::reflect:
      return before >= 0 && after >= 0 && before < extent && after < extent;
    case PadMode::replicate:
      return before >= 0 && after >= 0 && extent > 0;
    default:
      return before >= 0 && after >= 0 && before <= extent && after <= extent;
  }
}

// Returns the padding before and behind dimension `dim` of `rank`. `paddings` are two numbers for
// each dimension, from the last on: left, right, top, bottom, front, back.
constexpr std::array<index_t, 2> padding_of(std::span<const index_t> paddings, int rank, int dim) {
  const auto at = 2 * static_cast<std::size_t>(rank - 1 - dim);
  if (at >= paddings.size()) return {0, 0};
  return {paddings[at], paddings[at + 1]};
}

// Returns whether an array can have these paddings, see padding_of().
constexpr bool can_pad(PadMode mode, const Sizes& sizes, std::span<const index_t> paddings) {
  const int rank = sizes.rank(), padded = static_cast<int>(paddings.size() / 2);
  if (paddings.size() % 2 != 0 || padded > rank) return false;
  Sizes out;
  for (int d = 0; d < rank; ++d) {
    const auto [before, after] = padding_of(paddings, rank, d);
    if (d >= rank - padded && !can_pad(mode, sizes[d], before, after)) return false;
    out.append(sizes[d] + before + after);
  }
  return out.at_most(index_t{1} << 40);
}

namespace detail {

// Throws the Error of an array that cannot be padded so.
[[noreturn]] void refuse_padding(std::string_view where, PadMode mode, const Sizes& sizes,
                                 std::span<const index_t> paddings);

}  // namespace detail

// Returns the sizes of a padded array, see padding_of(). Throws Error for paddings that the mode
// does not allow; `where` is the caller.
constexpr Sizes padded_sizes(std::string_view where, PadMode mode, const Sizes& sizes,
                             std::span<const index_t> paddings) {
  if (!can_pad(mode, sizes, paddings)) [[unlikely]]
    detail::refuse_padding(where, mode, sizes, paddings);
  Sizes out;
  for (int d = 0; d < sizes.rank(); ++d) {
    const auto [before, after] = padding_of(paddings, sizes.rank(), d);
    out.append(sizes[d] + before + after);
  }
  return out;
}

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/core/padding.ipp>
#endif
