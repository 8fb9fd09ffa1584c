// Saving and loading the parameters and buffers of a model.
#pragma once

#include <string>

#include <gpunet/io/state_dict.hpp>
#include <gpunet/model/network.hpp>

namespace gpunet::io {

// Writes the parameters and buffers of a model with the keys and shapes of PyTorch's state_dict.
// The extension selects the format: .pth and .pt (torch.save), .npz (NumPy), .safetensors. The old
// file is replaced when the new one is on the disk.
// Throws Error for another extension or if writing fails.
template <class D, class T>
void save(const Network<D, T>& model, const std::string& path);

// Reads the parameters and buffers of a model from a file of any of these formats, recognized by
// its contents:
//   io::load(net, "checkpoint.pth", {.key = "model_state_dict"});
// Throws an Error that names all keys that are missing, unexpected or of another shape; the model
// is then unchanged. With {.strict = false}, returns the missing and unexpected keys, as
// load_state_dict() of PyTorch; missing parameters keep their values.
template <class D, class T>
IncompatibleKeys load(Network<D, T>& model, const std::string& path,
                      const LoadOptions& options = {});

// Copies the parameters and buffers of another network that have the same names, on any device, as
// from a file: with {.strict = false} the arrays that both have, for a network with another head.
template <class D, class T, class From>
IncompatibleKeys load(Network<D, T>& model, const Network<From, T>& other,
                      const LoadOptions& options = {});

#define GPUNET_SAVE(D, T) void save(const Network<D, T>&, const std::string&)
#define GPUNET_LOAD(D, T) \
  IncompatibleKeys load(Network<D, T>&, const std::string&, const LoadOptions&)
GPUNET_EXTERN_TEMPLATES(GPUNET_SAVE)
GPUNET_EXTERN_TEMPLATES(GPUNET_LOAD)

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/model/save_load.ipp>
#endif
