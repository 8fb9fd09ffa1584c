// expect: gpunet::nn: the loss has no function check for its targets on this device, write template <class D> void check(D& device, View<const target_type, D> targets, index_t features) const
// A loss without check.
// The function throws `Error` for invalid targets; it may be empty.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct MyLoss : nn::LossFunction<MyLoss> {
  using target_type = label_t;
  template <class In>
  static constexpr void check_shape(In) {}
  template <class D, class T>
  void evaluate(D&, const nn::LossPass<T, label_t>&) const {}
};

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const Tensor<float, Host>& inputs, const Tensor<label_t, Host>& labels) {
  MyLoss{}(net(inputs), labels).backward();
}
