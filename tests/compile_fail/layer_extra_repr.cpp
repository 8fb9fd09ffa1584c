// expect: gpunet::nn: extra_repr of a layer has another signature (it would be ignored), write std::string extra_repr(const Sizes& in, const Sizes& out) const
// The text of a layer, as extra_repr(self) in PyTorch.
// Both arguments are the sizes of one sample; leave out the names of those that are not used.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Scale {
  constexpr auto output(auto in) const { return in; }
  std::string extra_repr() const { return "factor=2"; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, Scale>, Host> net(host);
}
