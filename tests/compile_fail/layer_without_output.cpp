// expect: gpunet::nn::Sequential: a layer lacks output(in), the shape of one sample's output, write constexpr auto output(auto in) const { return in; } if it is that of the input (docs/adding_a_layer.md)
// A layer without output.
// The shapes of all layers behind it are inferred from `output(in)`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Twice {
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, Twice, nn::Linear<2>>, Host> net(host);
}
