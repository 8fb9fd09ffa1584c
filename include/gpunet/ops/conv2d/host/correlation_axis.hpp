// One dimension of a convolution on Host, or of an input gradient, as a correlation.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/ops/conv2d/geometry.hpp>

namespace gpunet {

// One dimension of a correlation. Targets come in `write_step` phases: the targets of a phase are
// so far apart; all targets of a phase see the same taps: target phase + n write_step reads source
// n read_step + offset(tap).
struct CorrelationAxis {
  ConvAxis axis;
  bool gradient;  // the targets are the elements, the sources the outputs

  index_t sources() const { return gradient ? axis.outputs : axis.size; }
  index_t targets() const { return gradient ? axis.size : axis.outputs; }
  index_t read_step() const { return gradient ? 1 : axis.stride; }
  index_t write_step() const { return gradient ? axis.stride : 1; }
  index_t targets(index_t phase) const {
    return ceil_div(std::max(index_t{0}, targets() - phase), write_step());
  }
  bool sees(index_t phase, index_t tap) const {
    return !gradient || (phase + axis.padding - tap * axis.dilation) % axis.stride == 0;
  }
  index_t offset(index_t phase, index_t tap) const {
    return gradient ? (phase + axis.padding - tap * axis.dilation) / axis.stride
                    : tap * axis.dilation - axis.padding;
  }

  // The taps that a phase sees: their number, the number of taps of the phases before, the least
  // and the largest offset.
  struct Taps {
    index_t count = 0, before = 0, least = 0, largest = 0;
  };
  Taps taps(index_t phase) const {
    Taps taps;
    for (index_t before = 0; before < phase; ++before)
      for (index_t tap = 0; tap < axis.kernel; ++tap)
        taps.before += sees(before, tap);
    for (index_t tap = 0; tap < axis.kernel; ++tap) {
      if (!sees(phase, tap)) continue;
      const index_t at = offset(phase, tap);
      taps.least = taps.count == 0 ? at : std::min(taps.least, at);
      taps.largest = taps.count == 0 ? at : std::max(taps.largest, at);
      ++taps.count;
    }
    return taps;
  }
};

}  // namespace gpunet
