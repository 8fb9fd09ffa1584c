// expect: gpunet::nn: a layer or op (Op = ... in this output) has more than 192 bytes (every node has room for so many), keep arrays in parameters and buffers
// A layer with a large array.
// The compiler prints the type as `Op = Scale`. A table that no optimizer changes is a buffer: `buffers(in)`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Scale {
  constexpr auto output(auto in) const { return in; }
  double table[100] = {};
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, Scale>, Host> net(host);
}
