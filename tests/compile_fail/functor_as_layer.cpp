// expect: gpunet::nn::Sequential: a functor with value(x) is no layer, write nn::Elementwise<F> for functor F
// A function of one number as a layer.
// `nn::Elementwise<Softplus>` is the layer.
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

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, nn::Linear<2>, Softplus>, Host> net(host);
}
