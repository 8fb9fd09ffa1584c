// Tensors as text.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/device/traits.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet {

namespace detail {

// Returns the values, row-major, as torch prints a tensor of that shape.
template <class T>
std::string tensor_text(const Sizes& sizes, const std::vector<T>& values);

}  // namespace detail

// Returns the tensor as PyTorch prints it, without its dtype: "tensor([[ 1.0000, -0.5000]])". Waits
// for the device.
template <class T, class D>
std::string to_string(const Tensor<T, D>& tensor) {
  return detail::tensor_text(tensor.sizes(), tensor.to_vector());
}
// Returns the same for a view on `device`.
template <class T, class D>
std::string to_string(D& device, const View<T, D>& view) {
  return detail::tensor_text(view.sizes(), to_vector(device, view));
}
// Returns the same for a view that knows its device, or is on Host.
template <class T, class D>
std::string to_string(const View<T, D>& view) {
  if constexpr (DeviceTraits<D>::has_host_memory)
    return detail::tensor_text(
        view.sizes(), std::vector<std::remove_const_t<T>>(view.data(), view.data() + view.numel()));
  else
    return to_string(view.device(), view);
}

// std::cout << tensor.sizes()
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const Sizes& sizes) {
  return out << to_string(sizes);
}

// std::cout << batch.inputs
template <class T, class D>
std::ostream& operator<<(std::ostream& out, const View<T, D>& view) {
  return out << to_string(view);
}

// std::cout << tensor
template <class T, class D>
std::ostream& operator<<(std::ostream& out, const Tensor<T, D>& tensor) {
  return out << to_string(tensor);
}

namespace detail {

// The number format of one tensor: one width and style for all elements, chosen as torch does.
template <class T>
class NumberFormat {
 public:
  explicit NumberFormat(const std::vector<T>& values) {
    if constexpr (std::is_floating_point_v<T>) choose_style(values);
    for (T value : values)
      if (!std::is_floating_point_v<T> || (is_finite(value) && value != T{}))
        width_ = std::max(width_, digits(value).size());
  }

  std::size_t width() const { return width_; }
  std::string operator()(T value) const {
    const std::string text = digits(value);
    return std::string(width_ - std::min(width_, text.size()), ' ') + text;
  }

 private:
  enum class Style { whole, fixed, scientific };

  static bool is_finite(T value) { return std::isfinite(static_cast<double>(value)); }

  // Considers all numbers but 0, infinity and NaN.
  void choose_style(const std::vector<T>& values) {
    double least = 0, most = 0;
    for (T value : values) {
      const double size = std::abs(static_cast<double>(value));
      if (!is_finite(value) || size == 0) continue;
      least = most == 0 ? size : std::min(least, size);
      most = std::max(most, size);
      if (std::ceil(size) != size) style_ = Style::fixed;
    }
    if (most > 0 && (most / least > 1000 || most > 1e8 || least < 1e-4)) style_ = Style::scientific;
  }

  std::string digits(T value) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value)) return "nan";
      const double number = static_cast<double>(value);
      char text[400];  // long enough for any double
      const auto end = std::to_chars(text, text + sizeof text, number,
                                     style_ == Style::scientific ? std::chars_format::scientific
                                                                 : std::chars_format::fixed,
                                     style_ == Style::whole ? 0 : 4)
                           .ptr;
      return std::string(text, end) + (style_ == Style::whole && is_finite(value) ? "." : "");
    } else {
      if constexpr (std::is_same_v<T, bool>) return value ? "True" : "False";
      return concat(value);
    }
  }

  Style style_ = Style::whole;
  std::size_t width_ = 1;
};

// Prints a tensor as torch does: four digits, lines of 80 characters; of more than 1000 elements
// only three at each end of a dimension.
template <class T>
class TensorText {
 public:
  TensorText(const Sizes& sizes, const std::vector<T>& values)
      : sizes_(sizes), values_(values), shortens_(values.size() > 1000), format_(shown_values()) {}

  std::string operator()() const { return part(0, 0, first_indent); }

 private:
  static constexpr std::size_t first_indent = 7, line = 80;  // after "tensor("
  static constexpr index_t edge = 3, left_out = -1;

  // Returns the indices to show in a dimension; left_out stands for the ones omitted.
  std::vector<index_t> shown(int dimension) const {
    const index_t n = sizes_[dimension];
    std::vector<index_t> indices;
    for (index_t i = 0; i < n; ++i) {
      if (shortens_ && n > 2 * edge && i == edge) {
        indices.push_back(left_out);
        i = n - edge;
      }
      indices.push_back(i);
    }
    return indices;
  }
  index_t stride(int dimension) const {
    index_t elements = 1;
    for (int i = dimension + 1; i < sizes_.rank(); ++i)
      elements *= sizes_[i];
    return elements;
  }

  std::vector<T> shown_values() const {
    std::vector<T> all;
    add_shown(0, 0, all);
    return all;
  }
  void add_shown(int dimension, index_t first, std::vector<T>& all) const {
    if (dimension == sizes_.rank()) return all.push_back(values_[static_cast<std::size_t>(first)]);
    for (index_t i : shown(dimension))
      if (i != left_out) add_shown(dimension + 1, first + i * stride(dimension), all);
  }

  std::string part(int dimension, index_t first, std::size_t indent) const {
    const int inner = sizes_.rank() - dimension;
    if (inner == 0) return format_(values_[static_cast<std::size_t>(first)]);
    const std::size_t in_line =
        inner > 1 ? 1 : std::max(std::size_t{1}, (line - indent) / (format_.width() + 2));
    const std::string next_line =
        "," + std::string(static_cast<std::size_t>(std::max(1, inner - 1)), '\n') +
        std::string(indent + 1, ' ');
    std::string text = "[";
    std::size_t count = 0;
    for (index_t i : shown(dimension)) {
      if (count > 0) text += count % in_line == 0 ? next_line : ", ";
      text += i != left_out ? part(dimension + 1, first + i * stride(dimension), indent + 1)
              : inner == 1  ? " ..."
                            : "...";
      ++count;
    }
    return text + "]";
  }

  const Sizes& sizes_;
  const std::vector<T>& values_;
  bool shortens_;
  NumberFormat<T> format_;
};

template <class T>
std::string tensor_text(const Sizes& sizes, const std::vector<T>& values) {
  if (!values.empty()) return "tensor(" + TensorText<T>(sizes, values)() + ")";
  const std::string text = to_string(sizes);
  return sizes.rank() == 1 ? "tensor([])"
                           : "tensor([], size=(" + text.substr(1, text.size() - 2) + "))";
}

}  // namespace detail

}  // namespace gpunet
