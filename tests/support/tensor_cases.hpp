// Tensors and views of 20 shapes, and comparison of what functions make of them with PyTorch. See
// reference/tensors.py.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/reference_file.hpp"

inline const ReferenceFile& tensor_reference() {
  static const ReferenceFile file("tensors");
  return file;
}

// Returns the elements of the first (0) or second (1) operand. Integers of the second are not 0.
template <class T>
std::vector<T> operand_values(gpunet::index_t n, int operand) {
  const gpunet::index_t step = operand == 0 ? 7 : 5, start = operand == 0 ? 3 : 1,
                        modulus = operand == 0 ? 23 : 17;
  std::vector<T> values;
  if constexpr (std::is_floating_point_v<T>) {
    for (const double value : mixed_numbers(n, step, start, modulus))
      values.push_back(static_cast<T>(value));
  } else {
    for (gpunet::index_t i = 0; i < n; ++i) {
      const gpunet::index_t value = (i * step + start) % modulus - modulus / 2;
      if constexpr (std::is_same_v<T, bool>)
        values.push_back(value > 0);
      else
        values.push_back(static_cast<T>(operand == 1 && value >= 0 ? value + 1 : value));
    }
  }
  return values;
}
// Returns multiples of 1/8, whose sums and products have no rounding errors.
template <class T>
std::vector<T> exact_values(gpunet::index_t n, int operand) {
  return operand == 0 ? pattern<T>(n, 7, 3, 23) : pattern<T>(n, 5, 1, 17);
}
// Returns few different numbers, so that many are equal.
template <class T>
std::vector<T> repeated_values(gpunet::index_t n, int) {
  std::vector<T> values;
  for (gpunet::index_t i = 0; i < n; ++i)
    values.push_back(static_cast<T>((i * 7 + 3) % 5 - 2));
  return values;
}

// A tensor and a view of it.
template <class T, class D>
struct TensorAndView {
  gpunet::Tensor<T, D> owner;
  gpunet::StridedView<const T, D> view;
};

// Returns the view that a text describes: "4 6; slice 1 0 6 2; transpose 0 1".
template <class T, class D>
TensorAndView<T, D> view_from(D& device, const std::string& text, int operand,
                              std::vector<T> (*fill)(gpunet::index_t, int) = operand_values<T>) {
  using namespace gpunet;
  std::istringstream parts(text);
  std::string part;
  std::getline(parts, part, ';');
  std::istringstream extents(part);
  Sizes sizes;
  for (index_t n; extents >> n;)
    sizes.append(n);
  Tensor<T, D> owner(device, sizes, fill(sizes.numel(), operand));
  StridedView<const T, D> x = detail::view_of(std::as_const(owner));
  while (std::getline(parts, part, ';')) {
    std::istringstream words(part);
    std::string name;
    words >> name;
    std::vector<index_t> n;
    std::vector<int> dims;
    for (index_t number; words >> number;) {
      n.push_back(number);
      dims.push_back(static_cast<int>(number));
    }
    x = detail::relaid(x, [&](const detail::Layout& of) {
      if (name == "transpose") return detail::transposed(of, dims[0], dims[1]);
      if (name == "permute") return detail::permuted(of, dims);
      if (name == "expand") return detail::expanded(of, n);
      if (name == "flip") return detail::flipped(of, dims);
      if (name == "narrow") return detail::narrowed(of, dims[0], n[1], n[2]);
      if (name == "select") return detail::selected(of, dims[0], n[1]);
      REQUIRE(name == "slice");
      return detail::sliced(of, dims[0], {n[1], n[2], n[3]});
    });
  }
  return {std::move(owner), std::move(x)};
}

// The texts of both operands of each shape.
inline std::vector<std::pair<std::string, std::string>> operand_texts(
    const std::string& list = "cases") {
  std::vector<std::pair<std::string, std::string>> texts;
  const std::vector<double> letters = tensor_reference().values(list);
  std::istringstream lines(std::string(letters.begin(), letters.end()));
  for (std::string line; std::getline(lines, line);)
    texts.emplace_back(line.substr(0, line.find('|')), line.substr(line.find('|') + 1));
  return texts;
}

// Returns the first operand of each shape, or the second.
template <class T, class D>
std::vector<TensorAndView<T, D>> all_views(D& device, int operand = 0,
                                           std::vector<T> (*fill)(gpunet::index_t,
                                                                  int) = operand_values<T>,
                                           const std::string& list = "cases") {
  std::vector<TensorAndView<T, D>> views;
  for (const auto& [first, second] : operand_texts(list))
    views.push_back(view_from<T>(device, operand == 0 ? first : second, operand, fill));
  return views;
}

// A vector<bool> has no array.
template <class T>
using StoredElement = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

// What PyTorch makes of each shape, in order. Elements of a tolerance of 0 have to be bitwise
// equal, unless both are NaN.
template <class T>
class ExpectedResults {
 public:
  explicit ExpectedResults(const std::string& name, double tolerance = 0)
      : name_(name),
        tolerance_(tolerance),
        values_(tensor_reference().values(name)),
        sizes_(tensor_reference().values(name + ".sizes")) {}
  ~ExpectedResults() {
    CHECK_MESSAGE(at_size_ == sizes_.size(), name_ << ": not all results were compared");
  }

  // Tolerances are relative to the expected elements, or to `scale` where that is larger.
  template <class X>
  void next(X&& result, const std::vector<double>& scale = {}) {
    const gpunet::Tensor y(gpunet::detail::expression(std::forward<X>(result)));
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(y)>,
                                 gpunet::Tensor<T, gpunet::detail::DeviceOf<X>>>);
    const auto values = y.to_vector();
    compare(y.sizes(), std::vector<StoredElement<T>>(values.begin(), values.end()), scale);
  }

 private:
  void compare(const gpunet::Sizes& sizes, const std::vector<StoredElement<T>>& values,
               const std::vector<double>& scale) {
    gpunet::Sizes expected;
    REQUIRE_MESSAGE(at_size_ < sizes_.size(), name_ << ": more results than PyTorch has");
    for (auto rank = static_cast<int>(sizes_[at_size_++]); rank > 0; --rank)
      expected.append(static_cast<gpunet::index_t>(sizes_[at_size_++]));
    CHECK_MESSAGE(sizes == expected, name_ << ", result " << count_);
    if (!(sizes == expected))
      FAIL("the shape is " << to_string(sizes) << ", want " << to_string(expected));
    for (std::size_t i = 0; i < values.size(); ++i)
      if (const T wanted = static_cast<T>(values_[at_++]);
          !equal(static_cast<T>(values[i]), wanted, scale.empty() ? 0 : scale[i]))
        FAIL_CHECK(name_ << ", result " << count_ << " " << to_string(sizes) << ", element " << i
                         << ": " << +values[i] << ", want " << +wanted);
    ++count_;
  }
  bool equal(T value, T wanted, double scale) const {
    if (std::memcmp(&value, &wanted, sizeof(T)) == 0) return true;
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value) || std::isnan(wanted)) return std::isnan(value) && std::isnan(wanted);
      if (tolerance_ == 0) return false;
      scale = std::max(scale, std::abs(double{wanted}));
      // Below the smallest normal number, distances are absolute.
      return std::abs(double{value} - double{wanted}) <=
             tolerance_ * std::max(scale, double{std::numeric_limits<T>::min()} * 2);
    }
    return false;
  }

  std::string name_;
  double tolerance_;
  std::vector<double> values_, sizes_;  // exact
  std::size_t at_ = 0, at_size_ = 0;
  int count_ = 0;
};
