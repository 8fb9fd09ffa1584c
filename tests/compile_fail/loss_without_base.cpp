// expect: gpunet::nn: this is not a loss (arguments are model, loss, optimizer), give a loss of your own its base: struct MyLoss : nn::LossFunction<MyLoss>
// A loss without its base.
// The base provides `criterion(net(inputs), targets)`. [A loss](adding_a_layer.md#a-loss) has all functions.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct MyLoss {
  using target_type = label_t;
  template <class In>
  static constexpr void check_shape(In) {}
  template <class D>
  void check(D&, View<const label_t, D>, index_t) const {}
  template <class D, class T>
  void evaluate(D&, const nn::LossPass<T, label_t>&) const {}
};

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         optim::SGD<Host, float>& optimizer) {
  train::Step step(net, MyLoss{}, optimizer);
}
