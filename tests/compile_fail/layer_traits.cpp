// expect: gpunet::nn: traits of a layer has another signature (it would be ignored), write OpTraits traits(const Sizes& in, const Sizes& out) const
// Traits of a layer without sizes.
// Both arguments are the sizes of one sample; leave out the names of those that are not used.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Scale {
  constexpr auto output(auto in) const { return in; }
  OpTraits traits() const { return {.uses_random = true}; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, Scale>, Host> net(host);
}
