// The named arrays of a network, and the files that fit them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/io/formats.hpp>
#include <gpunet/io/tensor_file.hpp>

namespace gpunet::io {

// How the tensors of a file find those of a network: by their names, or by their places, the first to the first.
enum class Matching { by_name, by_order };

// Short names for both.
inline constexpr Matching by_name = Matching::by_name;
inline constexpr Matching by_order = Matching::by_order;

// Which tensors of a file go where: io::load(net, path, {.prefix = "module."}).
struct LoadOptions {
  // The state_dict that is meant inside a checkpoint, as in torch.load(path)["model_state_dict"]; dots lead deeper.
  // Nothing else in the file counts.
  std::string key = {};
  // Taken off the names that begin with it, one at least: "module." of a network that was trained in nn.DataParallel.
  std::string prefix = {};
  // Gives the name in the network for a name in the file (without key and prefix).
  std::function<std::string(const std::string&)> rename = {};
  Matching match = Matching::by_name;
  // Whether every tensor of the file and of the network has to have its counterpart. Those that have one must fit it
  // either way, as in PyTorch. Unlike there, one at least must have its counterpart. What cannot be read (an entry with a
  // problem) counts only where the network wants it. Without it, load() returns the names of those that have none.
  bool strict = true;
  // Whether the file is mapped, see ReadOptions: for one that is larger than memory.
  bool map = false;
  // The most bytes of a packed array, see ReadOptions.
  std::size_t max_unpacked_bytes = ReadOptions{}.max_unpacked_bytes;
};

// The keys that a file and a network do not share, as load_state_dict() of PyTorch returns them. Arrays of missing keys keep
// the values that they had.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys;     // of the network, in its order
  std::vector<std::string> unexpected_keys;  // of the file, sorted
};

// A parameter or buffer of a network as a file sees it: its key in the state_dict, its shape, and where its
// sizes.numel() elements are in host memory, row-major. T is float or double, const where it is only read. One that
// counts (num_batches_tracked) has its number in `count` instead, an I64 in files; a file may lack it.
template <class T>
struct NamedArray {
  std::string name = {};
  Sizes sizes = {};
  T* data = nullptr;
  std::conditional_t<std::is_const_v<T>, const index_t, index_t>* count = nullptr;
};

// The entries of a file for the arrays of a network.
struct Match {
  std::vector<const TensorEntry*> entries;  // in the arrays' order; null for those that are missing
  IncompatibleKeys keys;                    // empty where the options are strict
};

// Finds the entry of `file` for each array. Throws one Error that lists everything which does not fit: keys that are
// missing, unexpected, of another shape, of a type that is no number's, or unreadable. Reads no data of either.
template <class T>
Match match(const std::vector<NamedArray<T>>& arrays, const TensorFile& file, const LoadOptions& options = {});

// Fills the arrays with the tensors of `file` that the options choose, converted to T; all of them, or none if
// anything does not fit. Returns what has no counterpart, which is nothing where the options are strict.
template <class T>
IncompatibleKeys load_arrays(const std::vector<NamedArray<T>>& arrays, const TensorFile& file,
                             const LoadOptions& options = {});

// Writes the arrays to `path` in the format that its name tells (formats.hpp); it keeps its old contents if that
// fails. Metadata is for safetensors files, the others have none.
template <class T>
void save_arrays(const std::vector<NamedArray<T>>& arrays, const std::string& path, const Metadata& metadata = {});

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/state_dict.ipp>
#endif
