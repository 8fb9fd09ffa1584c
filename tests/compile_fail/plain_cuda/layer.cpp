// expect: gpunet: an op of this program runs on Cuda, and only a CUDA compiler makes kernels of it, compile this unit with nvcc
#include <gpunet/gpunet.hpp>

using namespace gpunet;

struct Softplus {
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::log1p(std::exp(x));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy / (1 + std::exp(-x));
  }
};
using Net = nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::Elementwise<Softplus>>;

int main() {
  Host host;
  Model<Net, Host> on_host(host);
#ifndef HOST_ALONE
  Cuda cuda;
  Model<Net, Cuda> on_cuda(cuda);
#endif
}
