// The parameters and buffers of a model in a file.
#pragma once

#include <string>

#include <gpunet/io/state_dict.hpp>
#include <gpunet/model/network.hpp>

namespace gpunet::io {

// Writes the parameters and buffers of a model, with the keys and shapes of PyTorch's state_dict: as a file of torch.save for
// a name that ends in .pth or .pt, of NumPy for .npz, as a safetensors file for .safetensors; other endings are refused. The
// old file stays whole until the new one is on the disk. Throws Error where that is not possible.
template <class D, class T>
void save(const Network<D, T>& model, const std::string& path);

// Reads the parameters and buffers of a model from a file of any of these formats, which its content tells:
//   io::load(net, "checkpoint.pth", {.key = "model_state_dict"});
// Throws one Error that names keys which are missing, unexpected or of another shape; the model then keeps what it
// had. With {.strict = false}, returns the keys that are missing in the file or unexpected, as load_state_dict() of PyTorch:
// missing parameters keep the values that they had, in a new model random ones.
template <class D, class T>
IncompatibleKeys load(Network<D, T>& model, const std::string& path, const LoadOptions& options = {});

#if GPUNET_COMPILED
extern template void save(const Network<Host, float>&, const std::string&);
extern template IncompatibleKeys load(Network<Host, float>&, const std::string&, const LoadOptions&);
extern template void save(const Network<Host, double>&, const std::string&);
extern template IncompatibleKeys load(Network<Host, double>&, const std::string&, const LoadOptions&);
#endif

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/model/save_load.ipp>
#endif
