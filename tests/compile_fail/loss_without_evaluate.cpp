// expect: gpunet::nn: the loss has no function evaluate for this device and element type, write template <class D, class T> void evaluate(D& device, const nn::LossPass<T, target_type>& pass) const
// A loss whose evaluate is not const.
// The signature must match: a model calls a const loss, with a `LossPass` of its `target_type`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct MyLoss : nn::LossFunction<MyLoss> {
  using target_type = label_t;
  template <class In>
  static constexpr void check_shape(In) {}
  template <class D>
  void check(D&, View<const label_t, D>, index_t) const {}
  template <class D, class T>
  void evaluate(D&, const nn::LossPass<T, label_t>&) {}
};

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const Tensor<float, Host>& inputs, const Tensor<label_t, Host>& labels) {
  MyLoss{}(net(inputs), labels).backward();
}
