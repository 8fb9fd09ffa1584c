// Values of an ONNX graph that are known when a network is built. The batch is a symbol in them.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <gpunet/onnx/model.hpp>

namespace gpunet::onnx::detail {

// A whole number: number + batches * (the extent of the batch).
struct Extent {
  index_t number = 0, batches = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};

// A tensor that is known when a network is built: a few integers, or numbers in the file.
struct Known {
  Sizes sizes = {};
  bool is_small = false;              // whether the elements are in `integers`
  std::vector<Extent> integers = {};  // row-major
  io::TensorEntry tensor = {};        // else
  bool is_initializer = false;        // of the file, as it is: it is trained
  // Instead of `tensor`: rows of tensors, one after another.
  std::vector<io::TensorEntry> parts = {};
  // The only element is repeated in a shape that depends on the batch and is not stored.
  bool is_repeated = false;
};

// The most elements of a tensor that folding computes: more than any shape has.
inline constexpr index_t most_folded = 1 << 16;

// Returns a tensor of the file, or of an attribute.
inline Known known_of(const io::TensorEntry& entry, bool is_initializer) {
  Known known{.sizes = entry.sizes, .tensor = entry, .is_initializer = is_initializer};
  using io::Dtype;
  const bool is_float = entry.dtype == Dtype::F32 || entry.dtype == Dtype::F64 ||
                        entry.dtype == Dtype::F16 || entry.dtype == Dtype::BF16;
  if (!entry.problem.empty() || is_float || !io::is_parameter_type(entry.dtype) ||
      !entry.sizes.at_most(most_folded))
    return known;
  std::vector<index_t> numbers(static_cast<std::size_t>(entry.sizes.numel()));
  io::copy_as(entry, std::span(numbers));
  known.is_small = true;
  for (const index_t number : numbers)
    known.integers.push_back({number});
  return known;
}

// Returns the elements of a tensor, row-major; nothing for more than most_folded, or for a type
// that is no number.
inline std::optional<std::vector<double>> numbers_of(const Known& known) {
  if (!known.sizes.at_most(most_folded) || (!known.is_small && !known.tensor.problem.empty()))
    return std::nullopt;
  std::vector<double> numbers(static_cast<std::size_t>(known.sizes.numel()));
  if (!known.is_small) {
    if (known.parts.empty()) io::copy_as(known.tensor, std::span(numbers));
    std::size_t first = 0;
    for (const io::TensorEntry& part : known.parts) {
      const auto count = static_cast<std::size_t>(part.sizes.numel());
      io::copy_as(part, std::span(numbers).subspan(first, count));
      first += count;
    }
    return numbers;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (known.integers[i].batches != 0) return std::nullopt;
    numbers[i] = static_cast<double>(known.integers[i].number);
  }
  return numbers;
}

// Returns whether the elements of a tensor are row-major.
inline bool is_packed(const io::TensorEntry& tensor) {
  return tensor.strides.rank() == 0 || tensor.strides == io::detail::packed_strides(tensor.sizes);
}

// Returns a tensor as parts; none if its elements are not in memory in their order.
inline std::vector<io::TensorEntry> parts_of(const Known& known) {
  if (!known.parts.empty()) return known.parts;
  if (known.is_small || known.is_repeated || !known.tensor.problem.empty() ||
      !io::is_parameter_type(known.tensor.dtype) || !is_packed(known.tensor))
    return {};
  return {known.tensor};
}

// Appends `count` elements of `from`, from the element `first` on. Parts that are neighbors in
// memory become one.
inline void append_elements(std::vector<io::TensorEntry>& parts,
                            std::span<const io::TensorEntry> from, index_t first, index_t count) {
  for (const io::TensorEntry& source : from) {
    const index_t begin = std::clamp<index_t>(first, 0, source.sizes.numel()),
                  end = std::clamp<index_t>(first + count, 0, source.sizes.numel());
    first -= source.sizes.numel();
    if (begin == end) continue;
    const auto size = static_cast<std::size_t>(io::bits_of(source.dtype) / 8);
    io::TensorEntry part = source;
    part.sizes = {end - begin};
    part.strides = {};
    part.bytes = source.bytes.subspan(static_cast<std::size_t>(begin) * size,
                                      static_cast<std::size_t>(end - begin) * size);
    if (!parts.empty() && parts.back().name == part.name && parts.back().dtype == part.dtype &&
        parts.back().bytes.data() + parts.back().bytes.size() == part.bytes.data()) {
      io::TensorEntry& last = parts.back();
      last.sizes = {last.sizes[0] + part.sizes[0]};
      last.bytes = {last.bytes.data(), last.bytes.size() + part.bytes.size()};
    } else {
      parts.push_back(std::move(part));
    }
  }
}

}  // namespace gpunet::onnx::detail
