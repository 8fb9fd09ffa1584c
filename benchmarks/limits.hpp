// The limits of the machine as work: multiply-adds and copied bytes.
#pragma once

#include <cstring>
#include <vector>

#include <gpunet/device/host/isa_paths.hpp>

#define GPUNET_KERNELS <peak_kernels.inl>
#include <gpunet/device/host/each_isa_path.inl>

#include "work.hpp"

namespace bench {

// Each thread does the same number of multiply-adds. value() is the number of operations of a step.
class PeakWork : public Work {
  static constexpr index_t rounds = 20000;

 public:
  explicit PeakWork(Host& device) : device_(device) {}

  void run(index_t steps) override {
    device_.run(device_.threads(), [&](index_t, index_t) {
      float numbers[3] = {0.5f, 1, 0};
      GPUNET_CALL_PATH(16, multiply_add, steps * rounds, numbers);
      static_cast<void>(*static_cast<volatile float*>(&numbers[2]));
    });
  }
  double value() const override {
    const int lanes = gpunet::isa() == gpunet::Isa::avx512 ? 16
                      : gpunet::isa() == gpunet::Isa::avx2 ? 8
                                                           : 4;
    return 2.0 * rounds * gpunet::baseline::peak_sums * lanes * device_.threads();
  }

 private:
  Host& device_;
};

// Each thread copies its share of the bytes of a job to another place, often enough that a step
// moves some megabytes: the bandwidth of the cache level that can hold that many bytes. value() is
// the number of bytes that a step reads and writes.
class CopyWork : public Work {
 public:
  // As many bytes read and written as a step of a job moves, at least 8 kB for each thread.
  CopyWork(Host& device, index_t bytes)
      : device_(device),
        part_(std::max<index_t>(bytes / 2 / device.threads(), 4096)),
        repeats_(1 + (4 << 20) / part_),
        source_(static_cast<std::size_t>(part_ * device.threads()), 'x'),
        target_(source_) {}

  void run(index_t steps) override {
    device_.run(device_.threads(), [&](index_t i, index_t) {
      for (index_t n = 0; n < steps * repeats_; ++n) {
        std::memcpy(target_.data() + i * part_, source_.data() + i * part_,
                    static_cast<std::size_t>(part_));
        asm volatile("" : : "r"(target_.data()) : "memory");  // every copy counts
      }
    });
  }
  double value() const override {
    return 2.0 * static_cast<double>(part_ * repeats_ * device_.threads());
  }

 private:
  Host& device_;
  index_t part_, repeats_;
  std::vector<char> source_, target_;
};

}  // namespace bench
