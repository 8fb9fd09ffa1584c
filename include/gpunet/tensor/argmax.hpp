// Indices of the largest and the smallest elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include <gpunet/core/math.hpp>
#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/tensor/tensor_like.hpp>

namespace gpunet {

namespace detail {

// The largest of some keys: NaN counts as largest; of equal ones the first.
template <class T>
struct LargestKey {
  T key;
  index_t number;  // from 1 on; 0: there is none

  GPUNET_FN LargestKey& operator+=(const LargestKey& other) {
    if (number == 0 || (other.number > 0 && other.is_before(*this))) *this = other;
    return *this;
  }

 private:
  GPUNET_FN bool is_before(const LargestKey& other) const {
    const bool is_nan = key != key, other_is_nan = other.key != other.key;
    if (key == other.key || (is_nan && other_is_nan)) return number < other.number;
    return is_nan || (!other_is_nan && key > other.key);
  }
};

// places[i] = the index of the largest, or smallest, element of row i. One sum = one row.
template <class T>
struct FindBest {
  bool smallest;
  index_t length, inner;
  const T* x;       // [outer, length, inner]
  label_t* places;  // [outer, inner]

  GPUNET_FN T key(T value) const {
    if constexpr (std::is_floating_point_v<T>)
      return smallest ? -value : value;
    else
      return static_cast<T>(smallest ? ~value : value);
  }
  GPUNET_FN LargestKey<T> operator()(index_t i, index_t r) const {
    return {key(x[(i / inner * length + r) * inner + i % inner]), r + 1};
  }
  GPUNET_FN void store(index_t i, const LargestKey<T>& best) const {
    places[i] = static_cast<label_t>(best.number - 1);
  }
};

// The same on Host, `lanes` elements at a time, which fill vectors. One index = one row, or `lanes`
// neighboring ones.
template <class T>
struct FindBestInLanes {
  static constexpr index_t lanes = 16;
  FindBest<T> find;

  // Returns the number of indices of an outer index.
  index_t groups() const { return find.inner < lanes ? find.inner : ceil_div(find.inner, lanes); }

  void operator()(index_t i) const {
    const index_t length = find.length, inner = find.inner;
    if (inner >= lanes) {  // the last group overlaps the one before
      const index_t outer = i / groups(), first = std::min(i % groups() * lanes, inner - lanes);
      const Best best(find, find.x + outer * length * inner + first, length, inner);
      for (index_t lane = 0; lane < lanes; ++lane)
        find.store(outer * inner + first + lane, {best.key[lane], best.step[lane] + 1});
      return;
    }
    LargestKey<T> all{};
    index_t r = 0;
    if (inner == 1 && length >= lanes) {
      r = length / lanes * lanes;
      const Best best(find, find.x + i * length, length / lanes, lanes);
      for (index_t lane = 0; lane < lanes; ++lane)
        all += {best.key[lane], best.step[lane] * lanes + lane + 1};
    }
    for (; r < length; ++r)
      all += find(i, r);
    find.store(i, all);
  }

 private:
  // The largest keys of `lanes` columns of a matrix.
  struct Best {
    T key[lanes];
    label_t step[lanes];

    Best(const FindBest<T>& finder, const T* x, index_t steps, index_t stride) {
      const FindBest<T> f = finder;
      T largest[lanes];
      label_t of[lanes];
      for (index_t lane = 0; lane < lanes; ++lane)
        largest[lane] = f.key(x[lane]), of[lane] = 0;
      for (label_t s = 1; s < steps; ++s)
        for (index_t lane = 0; lane < lanes; ++lane) {
          const T old = largest[lane], next = f.key(x[s * stride + lane]);
          const bool is_larger = (next > old) | ((next != next) & (old == old));
          largest[lane] = is_larger ? next : old;
          of[lane] = is_larger ? s : of[lane];
        }
      std::copy_n(largest, lanes, key);
      std::copy_n(of, lanes, step);
    }
  };
};

template <class D, class T>
void find_best_of_rows(D& device, index_t outer, const FindBest<T>& find) {
  sum_each(device, outer * find.inner, find.length, find);
}
template <class T>
void find_best_of_rows(Host& device, index_t outer, const FindBest<T>& find) {
  using Find = FindBestInLanes<T>;
  const Find in_lanes{find};
  const index_t work = find.length * (find.inner < Find::lanes ? 1 : Find::lanes);
  run_loop(device, outer * in_lanes.groups(), loop_over<Find>(), &in_lanes,
           (1 << 16) / (work + 1) + 1);
}

// Returns the index of the best element of each row.
template <class T, class D>
Tensor<label_t, D> find_best(D& device, const T* x, const Sizes& sizes, const AlongDimension& along,
                             bool smallest, std::string_view function) {
  static_assert(!std::is_same_v<T, bool>,
                "gpunet::argmax: a tensor of bools, convert it: argmax(cast<std::uint8_t>(x), 1)");
  require(along.length > 0 || along.others.numel() == 0, "gpunet::", function,
          ": a tensor of shape ", to_string(sizes),
          " has no elements to reduce (there is no largest or smallest), give some");
  require(along.length <= std::numeric_limits<label_t>::max(), "gpunet::", function, ": ",
          along.length, " elements in a row (want fewer than 2^31), reduce parts of them");
  Tensor<label_t, D> places(device, along.others);
  find_best_of_rows(device, along.outer,
                    FindBest<T>{smallest, along.length, along.inner, x, places.data()});
  return places;
}
template <class X>
auto find_best(X&& x, int dim, bool keepdim, bool smallest, std::string_view function) {
  return with_elements(
      std::forward<X>(x), [&](auto& device, const auto* elements, const Sizes& sizes) {
        return find_best(device, elements, sizes, AlongDimension(sizes, dim, keepdim, function),
                         smallest, function);
      });
}
template <class X>
auto find_best(X&& x, bool smallest, std::string_view function) {
  return with_elements(std::forward<X>(x),
                       [&](auto& device, const auto* elements, const Sizes& sizes) {
                         AlongDimension all;
                         all.length = sizes.numel();
                         return find_best(device, elements, sizes, all, smallest, function);
                       });
}

}  // namespace detail

// Return the indices along a dimension, or of all elements in row-major order, of the largest and
// the smallest element, as torch.argmax and torch.argmin: of equal ones the first; NaN counts as
// both. They have the type of labels. Of logits [batch, classes], argmax(logits, 1) are the
// predictions [batch]. Throw Error where there are no elements or no such dimension.
template <detail::TensorLike X>
auto argmax(X&& x, int dim, bool keepdim = false) {
  return detail::find_best(std::forward<X>(x), dim, keepdim, false, "argmax");
}
template <detail::TensorLike X>
auto argmin(X&& x, int dim, bool keepdim = false) {
  return detail::find_best(std::forward<X>(x), dim, keepdim, true, "argmin");
}
template <detail::TensorLike X>
auto argmax(X&& x) {
  return detail::find_best(std::forward<X>(x), false, "argmax");
}
template <detail::TensorLike X>
auto argmin(X&& x) {
  return detail::find_best(std::forward<X>(x), true, "argmin");
}

}  // namespace gpunet

#define GPUNET_FIND_BEST_SUMS(OF)                \
  OF(gpunet::detail::FindBest<float>);           \
  OF(gpunet::detail::FindBest<double>);          \
  OF(gpunet::detail::FindBest<std::int32_t>);    \
  OF(gpunet::detail::FindBest<gpunet::index_t>); \
  OF(gpunet::detail::FindBest<std::uint8_t>)
GPUNET_FIND_BEST_SUMS(GPUNET_EXTERN_SUM);
