// expect: gpunet::nn: parameters of a layer has another signature (it would be ignored), write constexpr auto parameters(auto in) const, which returns a std::array of ParameterSpec: std::array{nn::constant(...)}
// One parameter that is not in an array.
// `std::array{nn::constant("weight", {1}, 1)}` is an array of one.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Scale {
  constexpr auto output(auto in) const { return in; }
  constexpr auto parameters(auto) const { return nn::constant("weight", {1}, 1); }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, Scale>, Host> net(host);
}
