// Networks with branches: Residual, Parallel, Concat; and Repeat.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/nn/sequential.hpp>
#include <gpunet/ops/add.hpp>
#include <gpunet/ops/concat.hpp>

namespace gpunet::nn {

namespace detail {

template <class L>
inline constexpr bool is_projection = requires {
  requires L::is_projection;
};
template <class L>
inline constexpr bool is_after_sum = requires {
  requires L::is_after_sum;
};

// Returns whether two shapes may be the same: their ranks are, and extents that the compiler knows.
template <index_t... As, index_t... Bs>
constexpr bool may_be_same(Shape<As...>, Shape<Bs...>) {
  if constexpr (sizeof...(As) != sizeof...(Bs))
    return false;
  else
    return ((As == Bs || As == dyn || Bs == dyn) && ...);
}

// Throw the Error for shapes, known at run time only, that do not fit together.
[[noreturn]] inline void refuse_sum(const Sizes& main, const Sizes& other, bool projects) {
  throw_error(
      Error(concat("gpunet::nn::Residual: the layers make ", to_string(main),
                   projects ? ", the Projection " : ", the input is ", to_string(other),
                   " (want the same shape: they are added), change the layers or the Projection")));
}
[[noreturn]] inline void refuse_parallel(const Sizes& first, const Sizes& other) {
  throw_error(Error(concat(
      "gpunet::nn::Parallel: the branches make ", to_string(first), " and ", to_string(other),
      " (want the same shape: they are added), change one, or join them by Concat")));
}
[[noreturn]] inline void refuse_concat(const Sizes& first, const Sizes& other, int dim) {
  throw_error(Error(concat("gpunet::nn::Concat: the branches make ", to_string(first), " and ",
                           to_string(other), ", joined along dimension ", dim,
                           " (want the other extents to be the same), change one")));
}

// Appends the node of a block that joins its branches, under the name `name`.
template <class Builder, class Op>
value_t join(Builder& builder, const char* layer, std::string_view name, const Op& op,
             std::span<const value_t> inputs, const Sizes& output) {
  builder.enter(name);
  builder.set_layer(layer);
  const value_t y = builder.add(op, inputs, output);
  builder.leave();
  return y;
}

// Appends the sum of values, under the name "add".
template <class Builder>
value_t add_values(Builder& builder, std::span<const value_t> values, const Sizes& sizes) {
  return join(builder, gpunet::detail::signature<Add>(), "add", AddOp{}, values, sizes);
}

// Layers of a Residual that have a place of their own in it.
template <class... Layers>
class PartOfResidual {
  static_assert(check_layers<Layers...>());

 public:
  constexpr PartOfResidual() = default;
  constexpr explicit PartOfResidual(Layers... layers) requires(sizeof...(Layers) > 0)
      : layers_(layers...) {}

  template <class D, class T>
  static constexpr bool can_run() {
    return !any_of({!nn::detail::can_run<Layers, D, T>()...});
  }
  GPUNET_REFUSED_CALL

  // Refuses one that stands elsewhere.
  template <class In>
  constexpr auto output(In in) const {
    static_assert(sizeof(In) == 0,
                  "gpunet::nn: a Projection or AfterSum that is no argument of a Residual (it is "
                  "no layer), put it at the end of a Residual");
    return in;
  }
  // Returns state >> all layers.
  template <class State>
  constexpr auto behind(State state) const {
    return fold_layers<0, sizeof...(Layers)>(state, layers_);
  }

 private:
  [[no_unique_address]] Pack<Layers...> layers_{};
};

// The base of Parallel and Concat: branches that take the same input.
template <class... Branches>
class BranchesOf {
 public:
  constexpr BranchesOf() = default;
  constexpr explicit BranchesOf(Branches... branches) requires(sizeof...(Branches) > 0)
      : branches_(branches...) {}

  static constexpr bool is_block = true;
  // Returns whether all layers can be lowered for device D and element type T.
  template <class D, class T>
  static constexpr bool can_run() {
    return !any_of({!nn::detail::can_run<Branches, D, T>()...});
  }

 protected:
  static constexpr std::size_t count = sizeof...(Branches);
  using Indices = std::index_sequence_for<Branches...>;

  // Returns f(the shape of each branch's output...).
  template <class In, class F>
  constexpr auto with_outputs(In in, F f) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return f(output_shape(get<I>(branches_), in)...);
    }
    (Indices{});
  }
  // Appends all branches; returns their outputs.
  template <class Builder, class In>
  std::array<value_t, count> lower_branches(Builder& builder, value_t x, In in) const {
    builder.set_block();
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array{
          (LoweredBehind<Builder, In>{builder, x, in, static_cast<index_t>(I)} >> get<I>(branches_))
              .value...};
    }
    (Indices{});
  }

 private:
  [[no_unique_address]] Pack<Branches...> branches_{};
};

// Returns the shape of values joined along dimension J.
template <std::size_t J, class First, class... Rest>
constexpr auto joined_shape(First first, Rest... rest) {
  return with_extent<J>(first, (first.template at<J>() + ... + rest.template at<J>()));
}

// Returns whether two shapes may be the same but for dimension J.
template <std::size_t J, index_t... As, index_t... Bs>
constexpr bool may_be_joined(Shape<As...>, Shape<Bs...>) {
  if constexpr (sizeof...(As) != sizeof...(Bs)) {
    return false;
  } else {
    std::size_t i = 0;
    return ((i++ == J || As == Bs || As == dyn || Bs == dyn) && ...);
  }
}

}  // namespace detail

// Layers in the branch of a Residual that the input takes, where the other branch changes its
// shape: a projection, as He and others call it. Its layers are counted on after the layers of the
// other branch.
template <class... Layers>
class Projection : public detail::PartOfResidual<Layers...> {
 public:
  static constexpr bool is_projection = true;
  using detail::PartOfResidual<Layers...>::PartOfResidual;
};

// Layers of a Residual that take the sum, counted on after all others.
template <class... Layers>
class AfterSum : public detail::PartOfResidual<Layers...> {
 public:
  static constexpr bool is_after_sum = true;
  using detail::PartOfResidual<Layers...>::PartOfResidual;
};

// y = F(x) + x, where F are layers one after another. After them may stand a Projection, then
// y = F(x) + P(x), and an AfterSum, whose layers take that sum:
//   Residual<Conv2d<16, 3, Padding<1>>, ReLU, Conv2d<16, 3, Padding<1>>, AfterSum<ReLU>>
//   Residual<Conv2d<32, 3, Stride<2>, Padding<1>>, ReLU, Conv2d<32, 3, Padding<1>>,
//            Projection<Conv2d<32, 1, Stride<2>>>>
// He and others, "Deep Residual Learning for Image Recognition", CVPR 2016.
template <class... Layers>
class Residual {
  static_assert(sizeof...(Layers) > 0,
                "gpunet::nn::Residual: there is no layer in it, give it one");
  static constexpr std::size_t count = sizeof...(Layers);
  // Returns the number of layers before the first that is_special says is one.
  static constexpr std::size_t count_before(std::array<bool, count> is_special) {
    return static_cast<std::size_t>(std::find(is_special.begin(), is_special.end(), true) -
                                    is_special.begin());
  }
  // The arguments: layers, then perhaps a Projection, then perhaps an AfterSum.
  static constexpr std::size_t main_end =
      count_before({(detail::is_projection<Layers> || detail::is_after_sum<Layers>)...});
  static constexpr std::size_t projection_end = count_before({detail::is_after_sum<Layers>...});
  static constexpr bool projects = main_end < projection_end;
  static_assert(
      main_end > 0,
      "gpunet::nn::Residual: there is no layer before the Projection or AfterSum, put some there");
  static_assert(projection_end - main_end <= 1 && count - projection_end <= 1,
                "gpunet::nn::Residual: something stands behind the Projection or AfterSum (want "
                "layers, then a Projection, then an AfterSum), put it before them");

 public:
  static constexpr bool is_block = true;
  // Returns whether all layers can be lowered for device D and element type T.
  template <class D, class T>
  static constexpr bool can_run() {
    return !detail::any_of({!detail::can_run<Layers, D, T>()...});
  }

  constexpr Residual() = default;
  constexpr explicit Residual(Layers... layers) : layers_(layers...) {}

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    const auto sum = sum_shape(in);
    if constexpr (projection_end < count)
      return get<count - 1>(layers_)
          .behind(detail::ShapeBehind<std::remove_const_t<decltype(sum)>>{sum})
          .shape;
    else
      return sum;
  }

  // Appends all layers and the sum, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    builder.set_block();
    using Begin = detail::LoweredBehind<Builder, In>;
    const auto main = detail::fold_layers<0, main_end>(Begin{builder, x, in, 0}, layers_);
    value_t other = x;
    index_t number = main.count;
    if constexpr (projects) {
      const auto projected = get<main_end>(layers_).behind(Begin{builder, x, in, number});
      other = projected.value;
      number = projected.count;
    }
    const auto shape = sum_shape(in);
    const value_t sum = detail::add_values(builder, std::array{main.value, other}, shape.sizes());
    if constexpr (projection_end < count)
      return get<count - 1>(layers_)
          .behind(detail::LoweredBehind<Builder, std::remove_const_t<decltype(shape)>>{
              builder, sum, shape, number})
          .value;
    else
      return sum;
  }

 private:
  // Returns the shape of the sum. Refuses branches of different shapes.
  template <class In>
  constexpr auto sum_shape(In in) const {
    const auto main = detail::fold_layers<0, main_end>(detail::ShapeBehind<In>{in}, layers_).shape;
    const auto other = beside(in);
    constexpr bool fits = detail::may_be_same(decltype(main){}, decltype(other){});
    if constexpr (projects)
      static_assert(fits,
                    "gpunet::nn::Residual: the layers and the Projection make different shapes "
                    "(they are added), let both have the same channels, strides and paddings");
    else
      static_assert(
          fits,
          "gpunet::nn::Residual: the layers change the shape (their output is added to the input), "
          "let them keep it, or make the same change by a Projection<...> behind them");
    if (fits && main.sizes() != other.sizes())
      detail::refuse_sum(main.sizes(), other.sizes(), projects);
    return main;
  }
  // Returns the shape of the summand of the layers' output.
  template <class In>
  constexpr auto beside(In in) const {
    if constexpr (projects)
      return get<main_end>(layers_).behind(detail::ShapeBehind<In>{in}).shape;
    else
      return in;
  }

  [[no_unique_address]] Pack<Layers...> layers_{};
};

// y = the sum of the outputs of branches, each of which takes x: Parallel<Conv2d<8, 3, Padding<1>>,
// Conv2d<8, 1>>. A branch is a layer or a block.
template <class... Branches>
class Parallel : public detail::BranchesOf<Branches...> {
  static_assert(detail::check_layers<Branches...>());
  static_assert(sizeof...(Branches) >= 2 && sizeof...(Branches) <= most_inputs,
                "gpunet::nn::Parallel: the number of branches has to be 2 to 16");
  using Base = detail::BranchesOf<Branches...>;

 public:
  using Base::Base;

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    return this->with_outputs(in, [](auto first, auto... rest) {
      static_assert((detail::may_be_same(decltype(first){}, decltype(rest){}) && ...),
                    "gpunet::nn::Parallel: the branches make different shapes (they are added), "
                    "let all make the same, or join them by Concat");
      for (const Sizes& other : {rest.sizes()...})
        if (first.sizes() != other) detail::refuse_parallel(first.sizes(), other);
      return first;
    });
  }
  // Appends the branches and their sum, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return detail::add_values(builder, this->lower_branches(builder, x, in), output(in).sizes());
  }
};

// y = the outputs of branches, each of which takes x, joined along a dimension, as torch.cat. The
// batch is dimension 0, so channels are joined by Concat<1, Conv2d<8, 1>, Conv2d<16, 3,
// Padding<1>>>. A branch is a layer or a block; Identity passes x on.
template <int dim, class... Branches>
class Concat : public detail::BranchesOf<Branches...> {
  static_assert(detail::check_layers<Branches...>());
  static_assert(
      dim >= 1,
      "gpunet::nn::Concat: the dimension has to be 1 (channels, features) or more, 0 is the batch");
  static_assert(sizeof...(Branches) >= 2 && sizeof...(Branches) <= most_inputs,
                "gpunet::nn::Concat: the number of branches has to be 2 to 16");
  using Base = detail::BranchesOf<Branches...>;
  // Of a sample.
  static constexpr std::size_t axis = static_cast<std::size_t>(dim > 0 ? dim - 1 : 0);

 public:
  using Base::Base;

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    return this->with_outputs(in, [](auto first, auto... rest) {
      static_assert(static_cast<int>(axis) < decltype(first)::rank,
                    "gpunet::nn::Concat: the branches make shapes of too few dimensions, give a "
                    "smaller dimension (1 is the first one of a sample)");
      static_assert((detail::may_be_joined<axis>(decltype(first){}, decltype(rest){}) && ...),
                    "gpunet::nn::Concat: the branches make shapes that differ in another dimension "
                    "than the one along which they are joined, let the others be the same");
      for (const Sizes& other : {rest.sizes()...})
        for (int i = 0; i < other.rank(); ++i)
          if (i != static_cast<int>(axis) && other[i] != first.sizes()[i])
            detail::refuse_concat(first.sizes(), other, dim);
      if constexpr (static_cast<int>(axis) < decltype(first)::rank)
        return detail::joined_shape<axis>(first, rest...);
      else
        return first;
    });
  }
  // Appends the branches and the node that joins them, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const Sizes out = output(in).sizes();
    ConcatOp op{.rows = 1, .dim = dim};
    for (int i = 0; i < static_cast<int>(axis); ++i)
      op.rows *= out[i];
    this->with_outputs(in, [&op](auto... shapes) {
      std::size_t branch = 0;
      for (const Sizes& sizes : {shapes.sizes()...}) {
        index_t& columns = op.columns[branch++] = 1;
        for (int i = static_cast<int>(axis); i < sizes.rank(); ++i)
          columns *= sizes[i];
      }
      return 0;
    });
    return detail::join(builder, gpunet::detail::signature<Concat>(), "concat", op,
                        this->lower_branches(builder, x, in), out);
  }
};

namespace detail {

template <class Indices, class L>
struct RepeatOf;
template <std::size_t... I, class L>
struct RepeatOf<std::index_sequence<I...>, L> {
  template <std::size_t>
  using Copy = L;
  using type = Sequential<Copy<I>...>;
};

}  // namespace detail

// N times the same layers one after another, each with parameters of its own: Repeat<3, L> is
// Sequential<L, L, L>, and Repeat<2, A, B> is Sequential<Sequential<A, B>, Sequential<A, B>>.
template <std::size_t N, class... Layers>
using Repeat = typename detail::RepeatOf<
    std::make_index_sequence<N>,
    std::conditional_t<sizeof...(Layers) == 1, std::tuple_element_t<0, std::tuple<Layers...>>,
                       Sequential<Layers...>>>::type;

template <class... Layers>
Residual(Layers...) -> Residual<Layers...>;
template <class... Layers>
Projection(Layers...) -> Projection<Layers...>;
template <class... Layers>
AfterSum(Layers...) -> AfterSum<Layers...>;
template <class... Branches>
Parallel(Branches...) -> Parallel<Branches...>;

}  // namespace gpunet::nn
