// Instantiates the library's kernels, and those of the benchmarks: scripts/kernels.sh compiles this
// and reads what they need. It is not run.
#include <gpunet/gpunet.hpp>

#include "gpu/limits.cuh"  // of the benchmarks

using namespace gpunet;

namespace {

// Few channels; every layer beside convolutions and linear layers.
const nn::Sequential mixed(nn::Input<3, 16, 16>{}, nn::Conv2d<6, 5>{}, nn::ReLU{},
                           nn::MaxPool2d<2>{}, nn::Conv2d<16, 3>{}, nn::BatchNorm2d{},
                           nn::AnyActivation("tanh"), nn::MaxPool2d<2>{}, nn::AvgPool2d<1>{},
                           nn::Dropout2d{}, nn::Dropout{}, nn::AdaptiveAvgPool2d<1, 1>{},
                           nn::Flatten{}, nn::Linear<20>{}, nn::BatchNorm1d{}, nn::Tanh{},
                           nn::Linear<20>{}, nn::Sigmoid{}, nn::Linear<10>{}, nn::Softmax{});
// Many channels, for large tiles and tensor cores; a pooling apart; a linear layer with a ReLU.
using Deep = nn::Sequential<nn::Input<3, 16, 16>, nn::Conv2d<64, 3>, nn::ReLU, nn::Conv2d<64, 3>,
                            nn::ReLU, nn::MaxPool2d<2>, nn::Conv2d<64, 3>, nn::MaxPool2d<3>,
                            nn::Flatten, nn::Linear<256>, nn::ReLU, nn::Linear<10>>;
using Attention =
    nn::Sequential<nn::Input<4, 4>, nn::MultiheadAttention<2>, nn::Flatten, nn::Linear<10>>;
// For steps in one block.
using Dense = nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::ReLU, nn::Linear<3>>;

template <template <class, class> class Optimizer, class Net, class T>
void train(Model<Net, Cuda, T>& net, View<const T, Cuda> inputs, View<const label_t, Cuda> labels) {
  Optimizer<Cuda, T> optimizer(net, {.lr = 0.1});
  const nn::CrossEntropyLoss criterion;
  train::Step step(net, criterion, optimizer);
  step(inputs, labels);
  optimizer.zero_grad();
  criterion(net(inputs), labels).backward();
  optimizer.step();
}

template <class Net, class T>
void use(Cuda& device, const Net& network, View<const T, Cuda> inputs,
         View<const label_t, Cuda> labels) {
  Model<Net, Cuda, T> net(device, network);
  train<optim::SGD>(net, inputs, labels);
}

template <class T>
void use_all(Cuda& device, View<const T, Cuda> inputs, View<const label_t, Cuda> labels) {
  use(device, mixed, inputs, labels);
  use(device, Deep{}, inputs, labels);
  use(device, Attention{}, inputs, labels);
  Model<Dense, Cuda, T> net(device);
  train<optim::SGD>(net, inputs, labels);
  train<optim::Adam>(net, inputs, labels);
  train<optim::AdamW>(net, inputs, labels);
  train<optim::RMSprop>(net, inputs, labels);
  train<optim::NAdam>(net, inputs, labels);
  train<optim::RAdam>(net, inputs, labels);
  train<optim::Adagrad>(net, inputs, labels);
  train<optim::Adadelta>(net, inputs, labels);
  train<optim::Lion>(net, inputs, labels);
  optim::LBFGS(net).step([] { return 1; });
  optim::swa_utils::AveragedModel(net).update_parameters(net);
  nn::utils::clip_grad_norm_(net, 1);
  nn::utils::clip_grad_value_(net, 1);
  net.autocast(Storage::float16);
  optim::SGD sgd(net, {.lr = 0.1});
  amp::GradScaler().step(sgd);
  nn::utils::add_weight_penalty_(net, {.l1 = 0.1});
  const auto outputs = net(inputs);
  outputs.argmax(1);
  outputs.softmax(1);
  train::Accuracy(device, 3).update(outputs, labels);
  train::TopK(device, 2).update(outputs, labels);
  train::ConfusionMatrix(device, 3).update(outputs, labels);
  train::RunningLoss(device).update(nn::CrossEntropyLoss{}(outputs, labels), 1);
}

}  // namespace

int main() {
  Cuda device;
  const Tensor<label_t, Cuda> labels(device, {1});
  const Tensor<float, Cuda> floats(device, {1});
  const Tensor<double, Cuda> doubles(device, {1});
  use_all<float>(device, floats, labels);
  use_all<double>(device, doubles, labels);
  const auto images = data::CIFAR10::train("");
  const data::DataLoader loader(images, {});
  loader.resident_on(device);
  loader.to(device);
  bench::gpu::CopyOnCuda(device, 1).run(1);
  bench::gpu::PeakOnCuda(device, 1).run(1);
}
