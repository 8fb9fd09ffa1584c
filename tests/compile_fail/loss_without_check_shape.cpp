// expect: gpunet::nn: the loss has no function check_shape, write template <class In> static constexpr void check_shape(In), with a static_assert if it does not take all shapes
// A loss without check_shape.
// The function refuses outputs of a wrong shape when the program is compiled; it may be empty.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct MyLoss : nn::LossFunction<MyLoss> {
  using target_type = label_t;
  template <class D>
  void check(D&, View<const label_t, D>, index_t) const {}
  template <class D, class T>
  void evaluate(D&, const nn::LossPass<T, label_t>&) const {}
};

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const Tensor<float, Host>& inputs, const Tensor<label_t, Host>& labels) {
  MyLoss{}(net(inputs), labels).backward();
}
