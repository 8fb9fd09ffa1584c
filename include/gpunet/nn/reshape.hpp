// Other shapes of the same data.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include <gpunet/nn/layer.hpp>

namespace gpunet::nn {

namespace detail {

// A view of another shape as a node of a graph.
struct ReshapeOp {
  bool is_unflatten;

  OpTraits traits(const Sizes&, const Sizes&) const { return {.is_view = true}; }
  std::string extra_repr(const Sizes&, const Sizes& out) const;
  // A view runs nothing.
  void forward(const auto&, const auto&) const {}
  void backward(const auto&, const auto&) const {}
};

inline std::string ReshapeOp::extra_repr(const Sizes&, const Sizes& out) const {
  std::string sizes;
  for (int i = 0; i < out.rank(); ++i)
    sizes += (i == 0 ? "" : ", ") + std::to_string(out[i]);
  if (!is_unflatten) return sizes;
  return "dim=1, unflattened_size=(" + sizes + (out.rank() == 1 ? ",)" : ")");
}

}  // namespace detail

// Samples of any shape -> [sizes...], a view, as torch.Tensor.reshape(-1, sizes...). One size may
// be -1: it is computed from the others.
template <index_t... sizes>
class Reshape {
  static_assert(sizeof...(sizes) >= 1 && sizeof...(sizes) < Sizes::max_rank,
                "gpunet::nn::Reshape, Unflatten: give 1 to 7 sizes, as in Reshape<16, 7, 7>");
  static_assert(((sizes >= 1 || sizes == -1) && ...) && ((sizes == -1 ? 1 : 0) + ... + 0) <= 1,
                "gpunet::nn::Reshape, Unflatten: sizes have to be at least 1, only one may be -1 "
                "(computed from the others)");
  static constexpr bool computes_one = ((sizes == -1) || ...);

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    const auto given = (Dim<1>{} * ... * Dim<(sizes == -1 ? 1 : sizes)>{});
    const auto rest = in.numel() / given;
    const bool fits = computes_one ? rest * given == in.numel() : in.numel() == given;
    if constexpr (!std::is_same_v<decltype(in.numel()), Dim<dyn>>)
      static_assert(computes_one ? decltype(rest * given){} == decltype(in.numel()){}
                                 : decltype(in.numel()){} == decltype(given){},
                    "gpunet::nn::Reshape, Unflatten: the sizes do not hold as many elements as the "
                    "input, give sizes with the same product");
    require(fits, "gpunet::nn::Reshape, Unflatten: a sample has ", index_t{in.numel()},
            " elements (want ", computes_one ? "a multiple of " : "", index_t{given},
            "), give sizes with the same product");
    const auto size = [&]<index_t N>(std::integral_constant<index_t, N>) {
      if constexpr (N == -1)
        return rest;
      else
        return Dim<N>{};
    };
    return Shape(size(std::integral_constant<index_t, sizes>{})...);
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(detail::ReshapeOp{false}, x, output(in).sizes());
  }
};

// Samples of one dimension -> [sizes...], a view, as torch.nn.Unflatten(1, (sizes...)): the reverse
// of Flatten.
template <index_t... sizes>
class Unflatten {
 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 1,
                  "gpunet::nn::Unflatten: the input has to have rank 1 [features], use Reshape for "
                  "other shapes");
    return Reshape<sizes...>{}.output(in);
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(detail::ReshapeOp{true}, x, output(in).sizes());
  }
};

}  // namespace gpunet::nn

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::nn::detail::ReshapeOp>);
#endif
