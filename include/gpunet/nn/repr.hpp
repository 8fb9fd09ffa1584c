// Networks as text, as PyTorch prints them.
#pragma once

#include <iosfwd>
#include <string>

#include <gpunet/graph/to_string.hpp>
#include <gpunet/nn/sequential.hpp>

namespace gpunet::nn {

// Returns the text of print(net) in PyTorch: layers with names or positions, sizes and options.
template <index_t... Ns, class... Layers>
std::string to_string(const Sequential<Input<Ns...>, Layers...>& net) {
  return gpunet::to_string(lower<void, void>(net));
}

// Prints it.
template <index_t... Ns, class... Layers>
std::ostream& operator<<(std::ostream& out, const Sequential<Input<Ns...>, Layers...>& net) {
  return out << to_string(net);
}

}  // namespace gpunet::nn
