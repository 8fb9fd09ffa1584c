// expect: gpunet::nn::Sequential: output(in) of a layer does not take a Shape, is not const or returns no Shape, write constexpr auto output(auto in) const, and return in or one such as Shape(Dim<10>{})
// A layer whose output returns sizes.
// The compiler checks the shapes of a network, so they are types: `Shape<10>`, of `Dim`s.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Twice {
  constexpr auto output(auto in) const { return in.sizes(); }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, Twice, nn::Linear<2>>, Host> net(host);
}
