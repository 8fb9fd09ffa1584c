// Numbers too small to be worth their time.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet::detail {

// While it lives, operations of this thread take subnormal numbers (floats below 1.2e-38) as 0 and
// make none. They cost a processor a hundred times the time of others, and a network that has
// learned its lesson computes with little else. Processors other than x86 take them in their
// stride, so nothing is changed there.
class FlushSubnormals {
 public:
#if GPUNET_X86
  FlushSubnormals() : before_(__builtin_ia32_stmxcsr()) {
    if (const unsigned wanted = before_ | flush_results | flush_operands; wanted != before_)
      __builtin_ia32_ldmxcsr(wanted);
  }
  ~FlushSubnormals() {
    if ((before_ & flush_results) == 0 || (before_ & flush_operands) == 0)
      __builtin_ia32_ldmxcsr(before_);
  }
#else
  FlushSubnormals() {}
#endif
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

#if GPUNET_X86
 private:
  // Bits FTZ and DAZ of MXCSR.
  static constexpr unsigned flush_results = 0x8000, flush_operands = 0x0040;
  unsigned before_;
#endif
};

// The opposite: while it lives, this thread computes with subnormal numbers, as PyTorch does
// outside of networks.
class KeepSubnormals {
 public:
#if GPUNET_X86
  KeepSubnormals() : before_(__builtin_ia32_stmxcsr()) {
    __builtin_ia32_ldmxcsr(before_ & ~0x8040u);
  }
  ~KeepSubnormals() {
    __builtin_ia32_ldmxcsr(before_);
  }
#else
  KeepSubnormals() {}
#endif
  KeepSubnormals(const KeepSubnormals&) = delete;
  KeepSubnormals& operator=(const KeepSubnormals&) = delete;

#if GPUNET_X86
 private:
  unsigned before_;
#endif
};

}  // namespace gpunet::detail
