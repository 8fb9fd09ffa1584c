// expect: a functor of this program runs on Cuda, and only a CUDA compiler makes a kernel of it, compile this unit with nvcc
#include <gpunet/gpunet.hpp>

using namespace gpunet;

struct LogCosh {
  static constexpr std::string_view name = "LogCosh";
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    return std::log(std::cosh(x - t));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    return std::tanh(x - t);
  }
};
using Net = nn::Sequential<nn::Input<4>, nn::Linear<3>>;

int main() {
  Cuda device;
  Model<Net, Cuda> net(device);
  optim::SGD optimizer(net, {.lr = 0.1});
  train::Step step(net, nn::ElementwiseLoss<LogCosh>{}, optimizer);
  step(Tensor<float, Cuda>(device, {1, 4}), Tensor<float, Cuda>(device, {1, 3}));
}
