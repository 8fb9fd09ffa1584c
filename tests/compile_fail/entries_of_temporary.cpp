// expect: gpunet::io: the file is a temporary (its entries would outlive it), keep it in a variable: const auto file = io::read_tensors(path);
// The arrays of a file, as `for name, array in numpy.load(path).items()`.
// `const auto file = io::read_tensors(path);` stores the file; then `for (const io::TensorEntry& entry : file.entries())`.
#include <iostream>

#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run() {
  for (const io::TensorEntry& entry : io::read_tensors("x.npz").entries())
    std::cout << entry.name << "\n";
}
