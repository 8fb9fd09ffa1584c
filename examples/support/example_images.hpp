// The images of the programs: real ones from a folder, or built-in ones if no folder is given.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include <gpunet/data/cifar.hpp>
#include <gpunet/data/mnist.hpp>
#include <gpunet/datasets.hpp>
#if EXAMPLE_HAS_ZLIB
#include <gpunet/io/zlib.hpp>  // for MNIST's files, which are compressed
#endif

namespace examples {

// Returns f(images): `train` training images (all, from a folder), or `test` test images (all) if
// `train` is empty.
template <class Transform, class F>
auto with_cifar10(const std::string& folder, std::optional<gpunet::index_t> train,
                  const Transform& transform, F f, gpunet::index_t test = 10000) {
  using gpunet::data::CIFAR10, gpunet::data::Shapes;
  if (folder.empty())
    return f(train ? Shapes::train(*train, transform) : Shapes::test(test, transform));
  return f(train ? CIFAR10::train(folder, transform) : CIFAR10::test(folder, transform));
}
// Returns f(training digits, test digits): `built_in` and `test` built-in ones, or all of a folder.
template <class F>
auto with_mnist(const std::string& folder, gpunet::index_t built_in, F f,
                gpunet::index_t test = 10000) {
  using gpunet::data::Digits, gpunet::data::MNIST;
  if (folder.empty()) return f(Digits::train(built_in), Digits::test(test));
  return f(MNIST::train(folder), MNIST::test(folder));
}

// Prints the accuracy of a network, in total and per class.
template <class Accuracy, class Names>
void print_accuracy(const Accuracy& accuracy, const Names& names) {
  std::printf("Accuracy of the network on the %ld test images: %.2f %%\n", accuracy.total(),
              100 * accuracy.accuracy());
  for (std::size_t k = 0; k < names.size(); ++k)
    std::printf("Accuracy for class: %-8s is %.1f %%\n", names[k].data(),
                100 * accuracy.classes[k].accuracy());
}

// If built-in images are used, prints how to get the real ones.
inline void tell_of_real_images(const std::string& folder, const char* name) {
  if (folder.empty())
    std::printf(
        "Built-in images. For the real ones: scripts/get_%s.sh data/%s, then --data data/%s\n",
        name, name, name);
}

}  // namespace examples
