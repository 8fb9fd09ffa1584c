// expect: gpunet::for_each: a functor of this program runs on Cuda, and only a CUDA compiler makes a kernel of it, compile this unit with nvcc
#include <gpunet/gpunet.hpp>

using namespace gpunet;

struct Square {
  float* x;
  GPUNET_FN void operator()(index_t i) const { x[i] *= x[i]; }
};

int main() {
  return with_device("auto", [](auto& device) {
    const Tensor x(device, {2}, std::vector<float>{1, 2});
    for_each(device, 2, Square{const_cast<float*>(x.data())});
    return 0;
  });
}
