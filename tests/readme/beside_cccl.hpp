// What README's program is compiled behind: CUDA's own library, which has a global namespace
// `cuda`, and a question about GPUs.
#include <cuda/std/span>
#include <thrust/device_vector.h>

#include <gpunet/gpunet.hpp>

using namespace gpunet;

inline cuda::std::span<const int> of_devices(const int* numbers) {
  return {numbers, Cuda::is_available() ? static_cast<std::size_t>(Cuda::device_count()) : 0};
}
