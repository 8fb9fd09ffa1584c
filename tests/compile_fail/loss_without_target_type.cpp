// expect: gpunet::nn: the loss has no target_type (the type of the numbers of a target), write using target_type = label_t for classes, or void for the type of the network's output
// A loss without target_type.
// `criterion(net(inputs), targets)` takes a `Tensor<target_type, D>` with the batch in front.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct MyLoss : nn::LossFunction<MyLoss> {
  template <class In>
  static constexpr void check_shape(In) {}
  template <class D>
  void check(D&, View<const label_t, D>, index_t) const {}
  template <class D, class T>
  void evaluate(D&, const nn::LossPass<T, label_t>&) const {}
};

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const Tensor<float, Host>& inputs, const Tensor<label_t, Host>& labels) {
  MyLoss{}(net(inputs), labels).backward();
}
