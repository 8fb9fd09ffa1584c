// Layers that put a border around rows, images and volumes.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/padding.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/gather.hpp>

namespace gpunet::nn {

namespace detail {

// The common part of the paddings of `dims` dimensions behind the channels. `Layer` is the layer.
template <class Layer, PadMode mode, std::size_t dims, index_t... given>
class PadLayer {
  static constexpr std::size_t count = sizeof...(given);
  static_assert(dims != 1 || count == 1 || count == 2,
                "gpunet::nn::ZeroPad1d, ReflectionPad1d, ...: give one padding, or two: left, "
                "right");
  static_assert(dims != 2 || count == 1 || count == 4,
                "gpunet::nn::ZeroPad2d, ReflectionPad2d, ...: give one padding, or four: left, "
                "right, top, bottom");
  static_assert(dims != 3 || count == 1 || count == 6,
                "gpunet::nn::ZeroPad3d, ReflectionPad3d, ...: give one padding, or six: left, "
                "right, top, bottom, front, back");

  // Two numbers of each dimension, the last dimension first.
  static constexpr std::array<index_t, 2 * dims> paddings = [] {
    const std::array<index_t, count> numbers{given...};
    std::array<index_t, 2 * dims> all{};
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = numbers[i < count ? i : 0];
    return all;
  }();
  static constexpr index_t before(std::size_t dim) { return paddings[2 * (dims - dim)]; }
  static constexpr index_t after(std::size_t dim) { return paddings[2 * (dims - dim) + 1]; }

  static constexpr bool is_possible() {
    for (const index_t n : paddings)
      if (n < (mode == PadMode::constant ? -(1 << 16) : 0) || n > 1 << 16) return false;
    return true;
  }
  static_assert(mode == PadMode::constant || is_possible(),
                "gpunet::nn::ReflectionPad1d, ReplicationPad1d, CircularPad1d, ...: a padding has "
                "to be 0 to 65536");
  static_assert(mode != PadMode::constant || is_possible(),
                "gpunet::nn::ZeroPad1d, ConstantPad1d, ...: a padding has to be -65536 to 65536 "
                "(a negative one leaves elements out)");

  // Returns whether the paddings are possible for an input; true for run-time sizes.
  template <class In, std::size_t... I>
  static constexpr bool may_pad(In in, std::index_sequence<I...>) {
    const auto is_static = []<index_t N>(Dim<N>) {
      return N != dyn;
    };
    return ((!is_static(in.template at<I + 1>()) ||
             can_pad(mode, in.template at<I + 1>(), before(I + 1), after(I + 1))) &&
            ...);
  }

  template <std::size_t dim, index_t N>
  static constexpr auto padded(Dim<N> extent) {
    constexpr index_t more = before(dim) + after(dim);
    if constexpr (N == dyn)
      return Dim<dyn>{extent + more};
    else
      return Dim<N + more>{};
  }
  template <class In, std::size_t... I>
  static constexpr auto padded(In in, std::index_sequence<I...>) {
    return Shape(in.template at<0>(), padded<I + 1>(in.template at<I + 1>())...);
  }

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(dims != 1 || In::rank == 2,
                  "gpunet::nn::ZeroPad1d, ReflectionPad1d, ...: the input has to have rank 2 "
                  "[channels, length], give Input two sizes");
    static_assert(dims != 2 || In::rank == 3,
                  "gpunet::nn::ZeroPad2d, ReflectionPad2d, ...: the input has to have rank 3 "
                  "[channels, height, width], give Input three sizes");
    static_assert(dims != 3 || In::rank == 4,
                  "gpunet::nn::ZeroPad3d, ReflectionPad3d, ...: the input has to have rank 4 "
                  "[channels, depth, height, width], give Input four sizes");
    if constexpr (In::rank == dims + 1) {
      constexpr auto axes = std::make_index_sequence<dims>{};
      static_assert(mode != PadMode::constant || may_pad(In{}, axes),
                    "gpunet::nn::ZeroPad1d, ConstantPad1d, ...: negative paddings leave out more "
                    "elements than there are, use smaller ones or a larger input");
      static_assert(mode != PadMode::reflect || may_pad(In{}, axes),
                    "gpunet::nn::ReflectionPad1d, ReflectionPad2d, ...: a padding is not less than "
                    "the extent of the input (there are no more elements to reflect), use less "
                    "padding or a larger input");
      static_assert(mode != PadMode::replicate || may_pad(In{}, axes),
                    "gpunet::nn::ReplicationPad1d, ReplicationPad2d, ...: the input is empty "
                    "(there is no element to repeat), give a larger one");
      static_assert(mode != PadMode::circular || may_pad(In{}, axes),
                    "gpunet::nn::CircularPad1d, CircularPad2d, ...: a padding is larger than the "
                    "extent of the input (there are no more elements to repeat), use less padding "
                    "or a larger input");
      if constexpr (may_pad(In{}, axes)) {
        if (!can_pad(mode, in.sizes(), paddings)) [[unlikely]]
          gpunet::detail::refuse_padding(concat("gpunet::nn::", class_name<Layer>()), mode,
                                         in.sizes(), paddings);
        return padded(in, axes);
      }
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return append(builder, x, in, GatherOp::Kind::pad);
  }

 protected:
  template <class Builder, class In>
  value_t append(Builder& builder, value_t x, In in, GatherOp::Kind kind, double value = 0) const {
    return builder.add(GatherOp::padding(kind, mode, in.sizes(), paddings, value), x,
                       output(in).sizes());
  }
};

// The common part of the paddings with a constant.
template <class Layer, std::size_t dims, index_t... paddings>
class PadWithValue : public PadLayer<Layer, PadMode::constant, dims, paddings...> {
 public:
  constexpr explicit PadWithValue(double value) : value_(value) {}
  // A layer without a constant does not compile.
  template <int never = 0>
  constexpr PadWithValue() : value_(0) {
    static_assert(never != 0,
                  "gpunet::nn::ConstantPad1d, ConstantPad2d, ConstantPad3d: a constant is missing, "
                  "write nn::ConstantPad2d<1>{0.5}, or nn::ZeroPad2d<1>");
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return this->append(builder, x, in, GatherOp::Kind::pad_with_value, value_);
  }

 private:
  double value_;
};

}  // namespace detail

// Zeros around rows [c, l] -> [c, left + l + right], images [c, h, w] -> [c, top + h + bottom, left
// + w + right], and volumes [c, d, h, w] -> [c, front + d + back, ...], as torch.nn.ZeroPad2d.
// ZeroPad2d<n> is the same number on all sides, ZeroPad2d<left, right, top, bottom> one for each,
// ZeroPad3d<left, right, top, bottom, front, back>. Negative numbers leave elements out.
template <index_t... paddings>
class ZeroPad1d
    : public detail::PadLayer<ZeroPad1d<paddings...>, PadMode::constant, 1, paddings...> {};
template <index_t... paddings>
class ZeroPad2d
    : public detail::PadLayer<ZeroPad2d<paddings...>, PadMode::constant, 2, paddings...> {};
template <index_t... paddings>
class ZeroPad3d
    : public detail::PadLayer<ZeroPad3d<paddings...>, PadMode::constant, 3, paddings...> {};

// The same with another number, as torch.nn.ConstantPad2d: ConstantPad2d<1>{0.5}.
template <index_t... paddings>
class ConstantPad1d : public detail::PadWithValue<ConstantPad1d<paddings...>, 1, paddings...> {
 public:
  using ConstantPad1d::PadWithValue::PadWithValue;
};
template <index_t... paddings>
class ConstantPad2d : public detail::PadWithValue<ConstantPad2d<paddings...>, 2, paddings...> {
 public:
  using ConstantPad2d::PadWithValue::PadWithValue;
};
template <index_t... paddings>
class ConstantPad3d : public detail::PadWithValue<ConstantPad3d<paddings...>, 3, paddings...> {
 public:
  using ConstantPad3d::PadWithValue::PadWithValue;
};

// A reflection at the outermost elements, which are not repeated, as torch.nn.ReflectionPad2d:
// c b | a b c | b a. Paddings are less than the extents.
template <index_t... paddings>
class ReflectionPad1d
    : public detail::PadLayer<ReflectionPad1d<paddings...>, PadMode::reflect, 1, paddings...> {};
template <index_t... paddings>
class ReflectionPad2d
    : public detail::PadLayer<ReflectionPad2d<paddings...>, PadMode::reflect, 2, paddings...> {};
template <index_t... paddings>
class ReflectionPad3d
    : public detail::PadLayer<ReflectionPad3d<paddings...>, PadMode::reflect, 3, paddings...> {};

// Copies of the outermost elements, as torch.nn.ReplicationPad2d: a a | a b c | c c.
template <index_t... paddings>
class ReplicationPad1d
    : public detail::PadLayer<ReplicationPad1d<paddings...>, PadMode::replicate, 1, paddings...> {};
template <index_t... paddings>
class ReplicationPad2d
    : public detail::PadLayer<ReplicationPad2d<paddings...>, PadMode::replicate, 2, paddings...> {};
template <index_t... paddings>
class ReplicationPad3d
    : public detail::PadLayer<ReplicationPad3d<paddings...>, PadMode::replicate, 3, paddings...> {};

// The elements at the other end, as torch.nn.CircularPad2d: b c | a b c | a b. Paddings are at most
// the extents.
template <index_t... paddings>
class CircularPad1d
    : public detail::PadLayer<CircularPad1d<paddings...>, PadMode::circular, 1, paddings...> {};
template <index_t... paddings>
class CircularPad2d
    : public detail::PadLayer<CircularPad2d<paddings...>, PadMode::circular, 2, paddings...> {};
template <index_t... paddings>
class CircularPad3d
    : public detail::PadLayer<CircularPad3d<paddings...>, PadMode::circular, 3, paddings...> {};

}  // namespace gpunet::nn
