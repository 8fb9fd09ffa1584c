// The first unit with the whole library in it.
#include <type_traits>

#include <gpunet/gpunet.hpp>

#include "units.hpp"

Answer ask_first() {
  using namespace gpunet;
  using namespace gpunet::data;
  static_assert(std::is_class_v<Normalize>);  // one name, with all bodies in the unit too
  const float sum = with_device("cpu", [](auto& device) {
    const Tensor numbers(device, {5}, std::vector<float>{0, 1, 2, 3, 4});
    float total = 0;
    for (float number : numbers.to_vector())
      total += number;
    return total;
  });
  return {GPUNET_CUDA == 1, Cuda::why_not(), sum};
}
