// expect: gpunet::train::fit: the loss has targets of another type than the loader's (labels are label_t), use a loss with its target_type, or call train::Step in a loop with your own targets
// A loss of float targets in fit.
// The labels of a loader are classes. For regression, call `train::Step` in a loop, with targets of your own.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct MyLoss : nn::LossFunction<MyLoss> {
  using target_type = float;
  template <class In>
  static constexpr void check_shape(In) {}
  template <class D>
  void check(D&, View<const float, D>, index_t) const {}
  template <class D, class T>
  void evaluate(D&, const nn::LossPass<T, float>&) const {}
};

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net, optim::SGD<Host, float>& optimizer,
         const data::DataLoader& loader) {
  train::fit(net, MyLoss{}, optimizer, loader, {.epochs = 2});
}
