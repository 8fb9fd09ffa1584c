// expect: gpunet::amp::GradScaler::step: this optimizer makes no update from one evaluation of the loss (LBFGS needs several, whose gradients this cannot scale), use another optimizer, or Storage::bfloat16 without a scaler
// lines: 10
// A scaler with LBFGS.
// As in PyTorch, a scaler takes no closure.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net) {
  optim::LBFGS optimizer(net);
  amp::GradScaler scaler;
  scaler.step(optimizer);
}
