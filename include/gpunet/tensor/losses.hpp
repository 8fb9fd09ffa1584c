// Losses and distances of tensors, as in torch.nn.functional: of outputs x and targets whose shapes
// broadcast.
//
//   mse_loss(x, target)                                          [], the mean
//   huber_loss(x, target, {.reduction = nn::Reduction::none})    the shape of x
//
// The classes of losses have the same options (nn::HuberLossOptions). Losses are computed while
// they are added, in one loop on Host, one kernel on Cuda. cross_entropy and nll_loss are in
// ops/class_losses.hpp. Operands are tensors, views and expressions of floats. Throw Error for
// shapes that do not broadcast, for options out of range, and, on devices whose memory the host can
// read, for targets that a loss does not allow.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/device/traits.hpp>
#include <gpunet/functions/distances.hpp>
#include <gpunet/functions/losses.hpp>
#include <gpunet/tensor/functions.hpp>
#include <gpunet/tensor/reduce.hpp>

namespace gpunet {

namespace detail {

// Refuses integers; whether there are losses of the elements.
template <class X>
constexpr bool has_losses() {
  static_assert(std::is_floating_point_v<ValueOf<X>>,
                "gpunet::mse_loss: a loss of integers, convert them: mse_loss(cast<float>(x), t)");
  return std::is_floating_point_v<ValueOf<X>>;
}

// Returns the elements of a loss F of functions/losses.hpp.
template <class F, class X, class Y>
auto loss_elements([[maybe_unused]] const F& f, X&& x, Y&& target, std::string_view function) {
  using T = ValueOf<X>;
  using D = DeviceOf<X>;
  using Op = element::Apply<F>;
  if constexpr (has_losses<X>()) {
    Expression<T, D> of_x = operand<T, D>(std::forward<X>(x));
    Expression<T, D> of_target = operand<T, D>(std::forward<Y>(target));
    if constexpr (std::is_empty_v<F>) {
      return std::move(of_x).template apply<Op>(std::move(of_target), function);
    } else {
      const auto& [option] = f;
      return std::move(of_x).template apply<Op>(std::move(of_target), number<T, D>(option),
                                                function);
    }
  }
}

// Returns losses as they are, or their mean or sum.
template <class T, class D>
Tensor<T, D> reduced_losses(Expression<T, D>&& losses, nn::Reduction reduction) {
  const index_t batch = losses.sizes().rank() == 0 ? 1 : losses.sizes()[0];
  switch (reduction) {
    case nn::Reduction::none:
      return std::move(losses).eval();
    case nn::Reduction::sum:
      return sum(std::move(losses));
    case nn::Reduction::batchmean:
      return sum(std::move(losses)) / batch;
    default:
      return mean(std::move(losses));
  }
}
template <class F, class X, class Y>
auto reduced_loss(const F& f, X&& x, Y&& target, nn::Reduction reduction,
                  std::string_view function) {
  return reduced_losses(loss_elements(f, std::forward<X>(x), std::forward<Y>(target), function),
                        reduction);
}

// Throws Error unless all elements pass check(element), which returns a text about a wrong one.
template <class V, class Check>
void check_elements(const V& view, const Check& check, std::string_view function,
                    std::string_view what) {
  if constexpr (DeviceTraits<DeviceOf<V>>::has_host_memory)
    with_elements(view, [&]<class D, class T>(D&, const T* x, const Sizes& sizes) {
      for (index_t i = 0, n = sizes.numel(); i < n; ++i)
        if (const char* problem = check(x[i])) [[unlikely]]
          fail({"gpunet::", function, ": ", what, " ", x[i], " at element ", i, " ", problem});
    });
}

// Returns the weights of the classes [classes, 1, ...], to which scores of `rank` dimensions
// broadcast.
template <class T, class D>
Tensor<T, D> class_weights(D& device, const std::vector<double>& weight, int rank) {
  Sizes shape{std::ssize(weight)};
  for (int d = 2; d < rank; ++d)
    shape.append(1);
  return {device, shape, std::vector<T>(weight.begin(), weight.end())};
}

// Throws Error for targets of another shape.
inline void require_target_shape(const Sizes& x, const Sizes& target, std::string_view function) {
  require(x == target, "gpunet::", function, ": targets of shape ", to_string(target),
          " for a tensor of shape ", to_string(x), " (want the same), reshape one");
}

}  // namespace detail

// Returns (x - target)^2.
template <detail::TensorLike X, detail::TensorLike Y>
auto mse_loss(X&& x, Y&& target, const nn::LossOptions& options = {}) {
  return detail::reduced_loss(functions::SquaredError{}, std::forward<X>(x),
                              std::forward<Y>(target), options.reduction, "mse_loss");
}

// Returns |x - target|.
template <detail::TensorLike X, detail::TensorLike Y>
auto l1_loss(X&& x, Y&& target, const nn::LossOptions& options = {}) {
  return detail::reduced_loss(functions::AbsoluteError{}, std::forward<X>(x),
                              std::forward<Y>(target), options.reduction, "l1_loss");
}

// Returns (x - target)^2 / (2 beta) where |x - target| < beta, else |x - target| - beta / 2.
template <detail::TensorLike X, detail::TensorLike Y>
auto smooth_l1_loss(X&& x, Y&& target, const nn::SmoothL1LossOptions& options = {}) {
  const functions::SmoothAbsoluteError error{options.beta};
  error.check_option("smooth_l1_loss");
  return detail::reduced_loss(error, std::forward<X>(x), std::forward<Y>(target), options.reduction,
                              "smooth_l1_loss");
}

// Returns (x - target)^2 / 2 where |x - target| <= delta, else delta (|x - target| - delta / 2).
template <detail::TensorLike X, detail::TensorLike Y>
auto huber_loss(X&& x, Y&& target, const nn::HuberLossOptions& options = {}) {
  const functions::HuberError error{options.delta};
  error.check_option("huber_loss");
  return detail::reduced_loss(error, std::forward<X>(x), std::forward<Y>(target), options.reduction,
                              "huber_loss");
}

// Returns the divergence of probabilities `target` from log-probabilities x; its definition is the
// sum: Reduction::batchmean.
template <detail::TensorLike X, detail::TensorLike Y>
auto kl_div(X&& x, Y&& target, const nn::KLDivLossOptions& options = {}) {
  return detail::reduced_loss(functions::Divergence{options.log_target}, std::forward<X>(x),
                              std::forward<Y>(target), options.reduction, "kl_div");
}

// Returns exp(x) - target x of counts and logarithms of rates, or x - target log(x + eps) of rates.
template <detail::TensorLike X, detail::TensorLike Y>
auto poisson_nll_loss(X&& x, Y&& target, const nn::PoissonNLLLossOptions& options = {}) {
  const auto counts = detail::stored(std::forward<Y>(target));
  const auto reduced = [&](auto&& losses) {
    if (!options.full) return detail::reduced_losses(std::move(losses), options.reduction);
    auto rest = detail::expression(counts)
                    .template apply<detail::element::Apply<functions::LogFactorial>>();
    return detail::reduced_losses(std::move(losses) + std::move(rest), options.reduction);
  };
  if (options.log_input)
    return reduced(detail::loss_elements(functions::PoissonOfLogarithm{}, std::forward<X>(x),
                                         counts, "poisson_nll_loss"));
  return reduced(detail::loss_elements(functions::PoissonOfRate{options.eps}, std::forward<X>(x),
                                       counts, "poisson_nll_loss"));
}

// Returns x where the target is 1, max(0, margin - x) where it is -1.
template <detail::TensorLike X, detail::TensorLike Y>
auto hinge_embedding_loss(X&& x, Y&& target, const nn::HingeEmbeddingLossOptions& options = {}) {
  const auto signs = detail::stored(std::forward<Y>(target));
  detail::check_elements(
      signs, [](auto t) { return functions::Hinge::check(t); }, "hinge_embedding_loss", "target");
  return detail::reduced_loss(functions::Hinge{options.margin}, std::forward<X>(x), signs,
                              options.reduction, "hinge_embedding_loss");
}

// Returns -target log x - (1 - target) log(1 - x) of probabilities; logarithms are at least -100.
// Shapes have to be the same, as in PyTorch.
template <detail::TensorLike X, detail::TensorLike Y>
auto binary_cross_entropy(X&& x, Y&& target, const nn::LossOptions& options = {}) {
  constexpr std::string_view function = "binary_cross_entropy";
  using Loss = functions::BinaryCrossEntropy;
  if constexpr (detail::has_losses<X>()) {
    detail::require_target_shape(x.sizes(), target.sizes(), function);
    const auto outputs = detail::stored(std::forward<X>(x));
    const auto targets = detail::stored(std::forward<Y>(target));
    detail::check_elements(
        targets, [](auto t) { return Loss::check(t); }, function, "target");
    detail::check_elements(
        outputs, [](auto p) { return Loss::check_output(p); }, function, "output");
    return detail::reduced_loss(Loss{}, outputs, targets, options.reduction, function);
  }
}

// Returns the same of sigmoid(x), without overflow. Shapes have to be the same; weights of classes
// are for x [batch, classes, ...].
template <detail::TensorLike X, detail::TensorLike Y>
auto binary_cross_entropy_with_logits(X&& x, Y&& target,
                                      const nn::BCEWithLogitsLossOptions& options = {}) {
  constexpr std::string_view function = "binary_cross_entropy_with_logits";
  using T = detail::ValueOf<X>;
  using D = detail::DeviceOf<X>;
  if constexpr (detail::has_losses<X>()) {
    const Sizes sizes = x.sizes();
    detail::require_target_shape(sizes, target.sizes(), function);
    options.pos_weight.check(function);
    const std::vector<double>& weights = options.pos_weight.of_class();
    if (weights.size() == 1)
      return detail::reduced_loss(functions::BinaryCrossEntropyOfLogits{weights[0]},
                                  std::forward<X>(x), std::forward<Y>(target), options.reduction,
                                  function);
    const index_t classes = sizes.rank() < 2 ? 0 : sizes[1];
    options.pos_weight.check_classes(function, classes, sizes);
    const Tensor<T, D> of_class = detail::class_weights<T>(x.device(), weights, sizes.rank());
    return detail::reduced_losses(
        detail::operand<T, D>(std::forward<X>(x))
            .template apply<detail::element::Apply<functions::BinaryCrossEntropyOfLogits>>(
                detail::operand<T, D>(std::forward<Y>(target)), detail::expression(of_class),
                function),
        options.reduction);
  }
}

// Returns the cosine of the angle between a and b along a dimension. Shapes broadcast.
template <detail::TensorLike A, detail::TensorLike B>
auto cosine_similarity(A&& a, B&& b, int dim = 1, double eps = 1e-8) {
  if constexpr (detail::has_losses<A>())
    return Tensor(functions::cosine(detail::stored(std::forward<A>(a)),
                                    detail::stored(std::forward<B>(b)), dim, eps));
}

// Returns the norm of a - b + eps along the last dimension: p as of norm.
template <detail::TensorLike A, detail::TensorLike B>
auto pairwise_distance(A&& a, B&& b, double p = 2, double eps = 1e-6, bool keepdim = false) {
  return norm(std::forward<A>(a) - std::forward<B>(b) + eps, p, -1, keepdim);
}

// Options of cosine_embedding_loss.
struct CosineEmbeddingLossOptions {
  nn::Reduction reduction = nn::Reduction::mean;
  double margin = 0;  // dissimilar pairs with a smaller cosine cost nothing
};
// Returns 1 - c for pairs a, b [batch, features] of target 1, max(0, c - margin) for pairs of
// target -1, where c [batch] is their cosine.
template <detail::TensorLike A, detail::TensorLike B, detail::TensorLike Y>
auto cosine_embedding_loss(A&& a, B&& b, Y&& target,
                           const CosineEmbeddingLossOptions& options = {}) {
  if constexpr (detail::has_losses<A>()) {
    const Tensor similarity = functions::cosine_of_embeddings(detail::stored(std::forward<A>(a)),
                                                              detail::stored(std::forward<B>(b)));
    const auto signs = detail::stored(std::forward<Y>(target));
    detail::require_target_shape(similarity.sizes(), signs.sizes(), "cosine_embedding_loss");
    return detail::reduced_losses(
        functions::cosine_embedding_error(similarity, signs, options.margin), options.reduction);
  }
}

// Options of triplet_margin_loss.
struct TripletMarginLossOptions {
  nn::Reduction reduction = nn::Reduction::mean;
  double margin = 1;  // triplets whose distances differ by more cost nothing
  double p = 2;       // of the norm
  double eps = 1e-6;  // added to differences
  bool swap = false;  // whether the distance of positive and negative counts where it is smaller
};
// Returns max(0, d(anchor, positive) - d(anchor, negative) + margin), d the pairwise_distance.
template <detail::TensorLike A, detail::TensorLike P, detail::TensorLike N>
auto triplet_margin_loss(A&& anchor, P&& positive, N&& negative,
                         const TripletMarginLossOptions& options = {}) {
  const auto a = detail::stored(std::forward<A>(anchor));
  const auto p = detail::stored(std::forward<P>(positive));
  const auto n = detail::stored(std::forward<N>(negative));
  Tensor apart = pairwise_distance(a, n, options.p, options.eps);
  if (options.swap) apart = minimum(apart, pairwise_distance(p, n, options.p, options.eps));
  return detail::reduced_losses(
      functions::triplet_error(pairwise_distance(a, p, options.p, options.eps), apart,
                               options.margin),
      options.reduction);
}

namespace nn {

// The same names beside the functions of values.
using gpunet::binary_cross_entropy, gpunet::binary_cross_entropy_with_logits;
using gpunet::cosine_embedding_loss, gpunet::cosine_similarity, gpunet::hinge_embedding_loss;
using gpunet::huber_loss, gpunet::kl_div, gpunet::l1_loss, gpunet::mse_loss;
using gpunet::pairwise_distance, gpunet::poisson_nll_loss, gpunet::smooth_l1_loss;
using gpunet::triplet_margin_loss;

}  // namespace nn

}  // namespace gpunet
