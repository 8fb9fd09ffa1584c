// A loop of multiply-adds in registers, which measures the peak rate; included by limits.hpp
// through each_isa_path.inl.

namespace gpunet::GPUNET_PATH {

// Enough independent sums to hide the latency of an addition on known processors.
inline constexpr int peak_sums = 14;

// Executes one multiply-add on each lane of each sum, `rounds` times.
GPUNET_TARGET inline void multiply_add(index_t rounds, float* out) {
  Vector sums[peak_sums];
#pragma GCC unroll 14
  for (int i = 0; i < peak_sums; ++i)
    sums[i] = Vector{} + static_cast<float>(i);
  Vector factor = Vector{} + out[0], term = Vector{} + out[1];
#pragma GCC unroll 1
  for (index_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 14
    for (int i = 0; i < peak_sums; ++i)
      sums[i] = sums[i] * factor + term;
  }
  Vector total{};
#pragma GCC unroll 14
  for (int i = 0; i < peak_sums; ++i)
    total += sums[i];
  out[2] = sum(total);
}

}  // namespace gpunet::GPUNET_PATH
