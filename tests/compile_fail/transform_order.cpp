// expect: gpunet::data::Compose: a transform does not take what the one before it gives, begin with ToTensor and go on with transforms of floats
// Normalize before ToTensor.
// As in torchvision: crops and flips of images, then `ToTensor`, then `Normalize`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  const data::Compose transform(data::Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}},
                                data::ToTensor{});
  const auto images = data::CIFAR10::train("data/cifar10", transform);
}
