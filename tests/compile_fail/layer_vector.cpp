// expect: gpunet::nn: a layer or op (Op = ... in this output) is not trivially copyable (the graph copies its bytes), keep numbers in it, and arrays in parameters and buffers
// A layer with a vector.
// The compiler prints the type as `Op = Scale`. A layer owns no memory: what an optimizer changes is a parameter, other arrays are buffers.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Scale {
  constexpr auto output(auto in) const { return in; }
  std::vector<double> factors = {};
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, Scale>, Host> net(host);
}
