// Bodies of padding.hpp.
#pragma once

#include <string>

#include <gpunet/core/padding.hpp>

namespace gpunet {

GPUNET_INLINE PadMode pad_mode_of(std::string_view where, std::string_view name) {
  for (const PadMode mode :
       {PadMode::constant, PadMode::reflect, PadMode::replicate, PadMode::circular})
    if (name == name_of(mode)) return mode;
  detail::fail(
      {where, ": the mode \"", name,
       "\" (want \"constant\", \"reflect\", \"replicate\" or \"circular\"), give one of these"});
}

namespace detail {

GPUNET_INLINE void refuse_padding(std::string_view where, PadMode mode, const Sizes& sizes,
                                  std::span<const index_t> paddings) {
  const int dims = static_cast<int>(paddings.size() / 2);
  require(paddings.size() % 2 == 0 && dims <= sizes.rank(), where, ": ", paddings.size(),
          " paddings of shape ", to_string(sizes), " (want two for each dimension, at most ",
          2 * sizes.rank(), "), give left, right, top, bottom, ...: the last dimension first");
  for (int d = sizes.rank() - dims; d < sizes.rank(); ++d) {
    const auto [before, after] = padding_of(paddings, sizes.rank(), d);
    const std::string limit =
        mode == PadMode::reflect     ? concat("0 to ", sizes[d] - 1, ", the elements to reflect")
        : mode == PadMode::circular  ? concat("0 to ", sizes[d], ", the elements to repeat")
        : mode == PadMode::replicate ? "0 or more, and an element to repeat"
                                     : concat("no more left out than ", sizes[d], " elements");
    require(can_pad(mode, sizes[d], before, after), where, ": paddings ", before, " and ", after,
            " of dimension ", d - sizes.rank(), " of shape ", to_string(sizes), " (want ", limit,
            "), use other paddings or a larger input");
  }
  fail({where, ": padding of shape ", to_string(sizes),
        " (want 2^40 numbers or fewer, no memory holds more), give smaller sizes"});
}

}  // namespace detail

}  // namespace gpunet
