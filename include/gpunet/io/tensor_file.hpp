// Named arrays of files, whatever the format.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/io/dtype.hpp>

namespace gpunet::io {

// Gives the bytes of arrays that are not in memory: they are in a file, or packed.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // Fills `out` with the bytes from `first_byte` on. Throws Error where they cannot be read.
  virtual void read(std::size_t first_byte, std::span<std::byte> out) const = 0;
};

// How the arrays of a file come into memory.
struct ReadOptions {
  // Mapped instead of copied: for files larger than memory, of which only the parts in use are read. As long as the file is
  // in use, a program that makes it shorter ends this one (SIGBUS), and one that rewrites it changes the arrays.
  bool map = false;
  // A packed array (of a .npz file) with more bytes cannot be read: it is an entry with a problem. Packed arrays are unpacked
  // when their elements are requested, each by itself; a file can have 1032 times its size of them.
  std::size_t max_unpacked_bytes = std::size_t{4} << 30;
};

// A named array as a file holds it. Borrows its bytes: little-endian, not aligned. They are row-major where there are
// no strides; else the element [i, j, ...] is the one numbered i * strides[0] + j * strides[1] + ..., inside `bytes`.
struct TensorEntry {
  std::string name = {};
  Dtype dtype = Dtype::F32;
  Sizes sizes = {};
  std::span<const std::byte> bytes = {};
  Sizes strides = {};
  // Why the array cannot be read, though the rest of the file can (a text in a .npz file, a sparse tensor): an error when
  // its elements are requested. Empty for all others.
  std::string problem = {};
  // Whether it is no array at all, but an object of Python that is neither plain data nor a tensor (a NumPy scalar, an
  // optimizer, argparse.Namespace). It has a problem then.
  bool opaque = false;
  // The source of the bytes, from `first_byte` on, where they are not in memory: those of SafetensorsFile::open and the packed
  // ones of a .npz file. `bytes` is empty then; bytes_of() and copy_as() read them.
  const ByteSource* source = nullptr;
  std::size_t first_byte = 0;
};

// Texts that a file carries beside its tensors.
using Metadata = std::map<std::string, std::string, std::less<>>;

// An open file of named arrays. SafetensorsFile, TorchFile, NpyFile and NpzFile make one; read_tensors() chooses
// among them.
class TensorFile {
 public:
  const std::string& path() const { return path_; }
  // In the order of the file. They borrow from this object.
  const std::vector<TensorEntry>& entries() const { return entries_; }
  const Metadata& metadata() const { return metadata_; }
  // Whether that is the order in which they were saved.
  bool in_saved_order() const { return in_saved_order_; }

 protected:
  explicit TensorFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::vector<TensorEntry> entries_;
  Metadata metadata_;
  bool in_saved_order_ = true;
  std::shared_ptr<const void> owner_;  // of the bytes
};

// The bytes of an entry as its sizes and strides have them: its own, or those of its source, which `room` keeps. Throws
// Error where they cannot be read.
std::span<const std::byte> bytes_of(const TensorEntry& entry, std::vector<std::byte>& room);

// Copies the elements of a tensor of numbers to `out`, row-major, as float or double; there must be as many. Throws
// Error where the entry's bytes do not hold them, or its type is none of is_parameter_type().
template <class T>
void copy_as(const TensorEntry& entry, std::span<T> out);

namespace detail {

// Bytes that elements of the type take; -1 if that is no whole number or cannot be counted. Safe for every size.
index_t byte_count(Dtype dtype, const Sizes& sizes);

// The strides of row-major elements, those of an array of `sizes` read backwards if `reversed`.
Sizes packed_strides(const Sizes& sizes, bool reversed = false);

// Whether the strides lead to the elements in the order of `packed`: those of extents of 1 do not matter.
bool same_order(const Sizes& sizes, const Sizes& strides, const Sizes& packed);

// How many elements there are from the first to the last that these strides lead to; -1 where that cannot be counted. One
// stride for each dimension.
index_t reach(const Sizes& sizes, const Sizes& strides);

// Throws Error, which begins with `place` and the name, unless the entry has the bytes of all its elements. Several may
// be the same.
void check_bytes(const TensorEntry& entry, std::string_view place);

// The bytes of the elements in row-major order: those of the entry, or a copy that `copy` keeps.
std::span<const std::byte> row_major_bytes(const TensorEntry& entry, std::vector<std::byte>& copy);

// Pointers to the entries in some order.
std::vector<const TensorEntry*> sorted(std::span<const TensorEntry> entries,
                                       bool (*before)(const TensorEntry*, const TensorEntry*));

bool name_is_less(const TensorEntry* a, const TensorEntry* b);

// Checks what every format wants of tensors that are to be written: names of their own in UTF-8, all their elements.
void check_writable(const std::string& path, std::span<const TensorEntry> entries);

}  // namespace detail

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/tensor_file.ipp>
#endif
