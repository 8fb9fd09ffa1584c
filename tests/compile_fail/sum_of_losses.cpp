// expect: gpunet::LossValue: no arithmetic with losses (a model stores the gradients of one), write loss.item() for the number, loss.backward(0.1) for 0.1 * loss, and a network whose outputs are losses, mean(net(x, t)), for a sum of several
// lines: 80
// The sum of two losses.
// A network of values computes any losses: `Network net(host, [](nn::Value x, nn::Value t) { ... return cross_entropy(y, t) + 0.1 * mean(square(z)); }, {4}, {1})`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const Tensor<float, Host>& x, const Tensor<label_t, Host>& y) {
  nn::CrossEntropyLoss criterion;
  auto loss = criterion(net(x), y) + 0.1 * criterion(net(x), y);
}
