// Matches the tensors of a file with the arrays of a network, and names the differences: missing
// and unexpected keys, shapes, types.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/io/tensor_file.hpp>

namespace gpunet::io {

// The matching of the tensors of a file with a network's: by name, or by position.
enum class Matching { by_name, by_order };

// Shorter names for both.
inline constexpr Matching by_name = Matching::by_name;
inline constexpr Matching by_order = Matching::by_order;

// Options of io::load(net, path, {.prefix = "module."}).
struct LoadOptions {
  // The key of the state_dict inside a checkpoint, as in torch.load(path)["model_state_dict"]; dots
  // separate nested keys. Everything else in the file is ignored.
  std::string key = {};
  // Removed from the names that begin with it, at least one: "module." for a network trained in
  // nn.DataParallel.
  std::string prefix = {};
  // Returns the name in the network for a name in the file (without key and prefix).
  std::function<std::string(const std::string&)> rename = {};
  // Parameters that are not loaded: patterns of names in the network, or of parts of it, as in
  // net.parameters(): {.skip = {"fc.*"}} for weights of another head. The parameters keep their
  // values, and their shapes need not match. Each pattern must name something of the network or of
  // the file.
  std::vector<std::string> skip = {};
  Matching match = Matching::by_name;
  // Whether every tensor of the file and of the network must have a counterpart. Counterparts must
  // match in any case, as in PyTorch; unlike there, at least one is required. An entry that cannot
  // be read counts only if the network needs it. If false, load() returns the names without a
  // counterpart.
  bool strict = true;
  // Whether the file is mapped: see ReadOptions.
  bool map = false;
  // The most bytes of a compressed array: see ReadOptions.
  std::size_t max_unpacked_bytes = ReadOptions{}.max_unpacked_bytes;
};

// The keys that only the file or only the network has, as returned by PyTorch's load_state_dict().
// Arrays of missing keys keep their values.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys;     // of the network, in its order
  std::vector<std::string> unexpected_keys;  // of the file, sorted
};

// A parameter or buffer of a network: its key in the state_dict, its shape, and the address of its
// sizes.numel() elements in host memory, row-major. T is float or double, const if it is only read.
// A counter (num_batches_tracked) has its value in `count` instead; in files it is an I64, and
// optional.
template <class T>
struct NamedArray {
  std::string name = {};
  Sizes sizes = {};
  T* data = nullptr;
  std::conditional_t<std::is_const_v<T>, const index_t, index_t>* count = nullptr;
};

// The entries of a file that match the arrays of a network.
struct Match {
  std::vector<const TensorEntry*> entries;  // in the order of the arrays; null if missing
  IncompatibleKeys keys;                    // empty if the options are strict
};

// Finds the entry of `file` for each array. Throws one Error that lists everything that does not
// match: missing and unexpected keys, different shapes, types that are not numeric, unreadable
// entries. Throws Error for a pattern to skip that names nothing, or for patterns that name all
// parameters. Reads no data.
template <class T>
Match match(const std::vector<NamedArray<T>>& arrays, const TensorFile& file,
            const LoadOptions& options = {});

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/match_keys.ipp>
#endif
