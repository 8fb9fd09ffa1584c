// A program of a user: makes a tensor on the device that there is, and reads it back.
#include <cstdio>

#include <gpunet/gpunet.hpp>

int main() {
  using namespace gpunet;
  return with_device("auto", [](auto& device) {
    const Tensor numbers(device, {5}, std::vector<float>{0, 1, 2, 3, 4});
    float sum = 0;
    for (float number : numbers.to_vector())
      sum += number;
    std::printf("on %s the sum is %g\n", device.name().c_str(), static_cast<double>(sum));
    return sum == 10.0f ? 0 : 1;
  });
}
