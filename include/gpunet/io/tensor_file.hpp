// Files of named arrays, independent of the format.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/io/dtype.hpp>

namespace gpunet::io {

// A source of the bytes of arrays that are not in memory: they are in a file, or compressed.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // Fills `out` with the bytes from `first_byte` on. Throws Error if they cannot be read.
  virtual void read(std::size_t first_byte, std::span<std::byte> out) const = 0;
};

// How the arrays of a file are read.
struct ReadOptions {
  // Map the file instead of copying it: for files larger than memory, of which only the accessed
  // parts are read. While the file is in use, a program that truncates it ends this one (SIGBUS),
  // and one that rewrites it changes the arrays.
  bool map = false;
  // The most bytes of a compressed array (in a .npz file) after decompression; a larger one is an
  // entry with a problem. Each array is decompressed when its elements are requested, and may have
  // 1032 times its size in the file.
  std::size_t max_unpacked_bytes = std::size_t{4} << 30;
  // Numbers and booleans in the plain data of a file of torch.save are entries too, of shape [].
  bool numbers = false;
};

// A named array in a file. Borrows its bytes: little-endian, not aligned. Without strides they are
// row-major; else the element [i, j, ...] has the number i * strides[0] + j * strides[1] + ... in
// `bytes`.
struct TensorEntry {
  std::string name = {};
  Dtype dtype = Dtype::F32;
  Sizes sizes = {};
  std::span<const std::byte> bytes = {};
  Sizes strides = {};
  // Why the array cannot be read, although the rest of the file can (a text in a .npz file, a
  // sparse tensor): requesting its elements throws this as an Error. Empty if there is no problem.
  std::string problem = {};
  // Whether it is not an array, but a Python object that is neither plain data nor a tensor (a
  // NumPy scalar, an optimizer, argparse.Namespace). Then it has a problem.
  bool opaque = false;
  // The source of the bytes, from `first_byte` on, if they are not in memory: for
  // SafetensorsFile::open and compressed arrays of a .npz file. Then `bytes` is empty; bytes_of()
  // and copy_as() read them.
  const ByteSource* source = nullptr;
  std::size_t first_byte = 0;
  const std::string* file = nullptr;  // the path of its file, for messages; null if there is none
};

// Texts that a file stores beside its tensors.
using Metadata = std::map<std::string, std::string, std::less<>>;

// An open file of named arrays. SafetensorsFile, TorchFile, NpyFile and NpzFile are the kinds;
// read_tensors() chooses among them.
class TensorFile {
 public:
  const std::string& path() const { return *path_; }
  // Returns the entries in the order of the file. They borrow from this object.
  const std::vector<TensorEntry>& entries() const& { return entries_; }
  template <class File = TensorFile>
  const std::vector<TensorEntry>& entries() && {
    static_assert(!std::is_same_v<File, TensorFile>,
                  "gpunet::io: the file is a temporary (its entries would outlive it), keep it in "
                  "a variable: const auto file = io::read_tensors(path);");
    return entries_;
  }
  const Metadata& metadata() const { return metadata_; }
  // Returns whether that is the order in which they were saved.
  bool in_saved_order() const { return in_saved_order_; }

 protected:
  explicit TensorFile(std::string path)
      : path_(std::make_shared<const std::string>(std::move(path))) {}

  void add(TensorEntry entry) {
    entry.file = path_.get();
    entries_.push_back(std::move(entry));
  }

  std::shared_ptr<const std::string> path_;  // which entries borrow
  std::vector<TensorEntry> entries_;
  Metadata metadata_;
  bool in_saved_order_ = true;
  std::shared_ptr<const void> owner_;  // of the bytes
};

// Returns the bytes of an entry, in the order given by its sizes and strides: its own, or its
// source's, which `room` then stores. Throws Error if they cannot be read.
std::span<const std::byte> bytes_of(const TensorEntry& entry, std::vector<std::byte>& room);

// Copies the elements of a numeric tensor to `out`, row-major, as one of the types of dtype_of().
// Throws Error if `out` has another number of elements, the entry's bytes do not contain them, or
// is_parameter_type() is false for its type; for integers also if one of the numbers is none of T.
template <class T>
void copy_as(const TensorEntry& entry, std::span<T> out);

namespace detail {

// Returns the number of bytes of the elements; -1 if that is not a whole number or overflows. Safe
// for all sizes.
index_t byte_count(Dtype dtype, const Sizes& sizes);

// Returns the strides of row-major elements; if `reversed`, of column-major ones.
Sizes packed_strides(const Sizes& sizes, bool reversed = false);

// Returns whether the strides visit the elements in the order of `packed`; strides of extents of 1
// do not matter.
bool same_order(const Sizes& sizes, const Sizes& strides, const Sizes& packed);

// Returns the number of elements from the first to the last that the strides reach; -1 if that
// overflows. One stride per dimension.
index_t reach(const Sizes& sizes, const Sizes& strides);

// Throws Error unless the entry has the bytes of all its elements, which may overlap. `place` and
// the name begin the message.
void check_bytes(const TensorEntry& entry, std::string_view place);

// Returns the bytes of the elements in row-major order: the entry's, or a copy that `copy` stores.
std::span<const std::byte> row_major_bytes(const TensorEntry& entry, std::vector<std::byte>& copy);

// Returns pointers to the entries, sorted.
std::vector<const TensorEntry*> sorted(std::span<const TensorEntry> entries,
                                       bool (*before)(const TensorEntry*, const TensorEntry*));

bool name_is_less(const TensorEntry* a, const TensorEntry* b);

// Throws Error unless the tensors can be written in some format: unique names in UTF-8, all
// elements.
void check_writable(const std::string& path, std::span<const TensorEntry> entries);

}  // namespace detail

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/tensor_file.ipp>
#endif
