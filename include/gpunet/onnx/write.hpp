// Networks as ONNX files, for programs such as ONNX Runtime.
#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/io/tensor_file.hpp>
#include <gpunet/model/network.hpp>
#include <gpunet/onnx/written_network.hpp>

namespace gpunet::onnx {

// Options of write.
struct WriteOptions {
  index_t opset = 17;  // the version of the operators, 17 to 22
  // The names of the inputs and outputs; else "input", "output", numbered from 0 where there are
  // several.
  std::vector<std::string> input_names = {}, output_names = {};
  io::Metadata metadata = {};  // texts for the file
};

namespace detail {

void write_network(const WrittenNetwork& network, const std::string& path,
                   const WriteOptions& options);

}  // namespace detail

// Writes a network as it computes in evaluation mode, with any batch: onnx::write(net, "net.onnx").
// Initializers are called as the parameters and buffers. The old file is replaced when the new one
// is on the disk. Throws an Error that names the layer for one that has no ONNX operators here
// (docs/onnx.md), for a network of more than 2 GB, or if writing fails.
template <class D, class T>
void write(const Network<D, T>& net, const std::string& path, const WriteOptions& options = {}) {
  const ModelUse::Shared use = net.shared_use();
  const std::vector<T> parameters = to_vector(net.device(), net.parameters()),
                       buffers = to_vector(net.device(), net.buffers());
  detail::write_network({net.graph(), std::as_bytes(std::span(parameters)),
                         std::as_bytes(std::span(buffers)), std::is_same_v<T, double>},
                        path, options);
}

}  // namespace gpunet::onnx

#if !GPUNET_COMPILED
#include <gpunet/onnx/write.ipp>
#endif
