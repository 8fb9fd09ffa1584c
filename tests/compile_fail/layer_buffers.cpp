// expect: gpunet::nn: buffers of a layer has another signature (it would be ignored), write constexpr auto buffers(auto in) const, which returns a std::array of BufferSpec: std::array{BufferSpec{...}}
// Buffers of a layer that are not const.
// A layer is a value that several threads read.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Scale {
  constexpr auto output(auto in) const { return in; }
  constexpr auto buffers(auto) { return std::array{BufferSpec{"calls", {1}, 0}}; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, Scale>, Host> net(host);
}
