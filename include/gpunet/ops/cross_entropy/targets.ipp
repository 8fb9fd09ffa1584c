// Bodies of targets.hpp.
#pragma once

#include <algorithm>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/device/host/vector_math.hpp>
#include <gpunet/ops/cross_entropy/targets.hpp>

#define GPUNET_KERNELS <gpunet/ops/cross_entropy/host/places.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet {

// losses[n] = sum over places and k of q_k (log sum_j exp x_j - x_k), divided. One sum for each
// real sample.
template <class Targets, class T>
struct TargetLoss {
  Targets q;
  TargetLossArgs<T> args;
  GPUNET_FN T operator()(index_t n, index_t place) const {
    const auto [largest, logarithm] = args.normalizer(n, place);
    LongSum<T> loss;
    for (index_t k = 0; k < args.classes; ++k)
      if (q.uses(n, place, k))
        loss += q(n, place, k) * (logarithm - (args.x[args.at(n, place, k)] - largest));
    return loss.value();
  }
  GPUNET_FN void store(index_t n, T sum) const { args.losses[n] = args.divide(sum); }
};

// dx_k = scale (softmax(x)_k sum_j q_j - q_k), divided; -scale q_k for logarithms of probabilities;
// 0 for padding. Where the loss does not depend on x_k, nothing is divided: the divisor is 0 if all
// labels are ignored. One index = one place of one sample, in the order of the slice.
template <class Targets, class T>
struct TargetLossGradient {
  static constexpr bool one_copy = true;
  Targets q;
  TargetLossArgs<T> args;
  GPUNET_FN void operator()(index_t i) const {
    const index_t row = i / args.slice.inner, place = row % args.places;
    const index_t n = row / args.places * args.slice.inner + i % args.slice.inner;
    const bool padding = n >= args.slice.count;
    const bool of_logits = args.scores == ClassScores::logits;
    LongSum<T> weights;
    for (index_t k = 0; k < args.classes && !padding; ++k)
      weights += q(n, place, k);
    const T sum = weights.value();
    const auto [largest, logarithm] = args.normalizer(n, place);
    for (index_t k = 0; k < args.classes; ++k) {
      const index_t at = args.at(n, place, k);
      const T predicted = of_logits ? std::exp(args.x[at] - largest - logarithm) * sum : T{};
      const bool depends = !padding && (of_logits ? q.counts(n, place) : q.uses(n, place, k));
      const T difference = padding ? T{} : predicted - q(n, place, k);
      args.dx[at] = args.scale * (depends ? args.divide(difference) : difference);
    }
  }
};

// total[0] = sum of the weights of the labels. One sum.
template <class T>
struct TotalWeight {
  LabelTargets<T> targets;
  T* total;
  GPUNET_FN T operator()(index_t, index_t i) const { return targets.weight_of(targets.labels[i]); }
  GPUNET_FN void store(index_t, T sum) const { total[0] = sum; }
};

namespace detail {

template <class D, class Targets, class T>
void run_target_loss(D& device, const Targets& q, const TargetLossArgs<T>& args) {
  sum_each(device, args.slice.count, args.places, TargetLoss<Targets, T>{q, args});
  for_each(device, args.slice.samples() * args.places, TargetLossGradient<Targets, T>{q, args});
}

}  // namespace detail

template <class D, class T>
void target_loss(D& device, const LabelTargets<T>& targets, const TargetLossArgs<T>& args) {
  detail::run_target_loss(device, targets, args);
}
template <class D, class T>
void target_loss(D& device, const ProbabilityTargets<T>& targets, const TargetLossArgs<T>& args) {
  detail::run_target_loss(device, targets, args);
}

GPUNET_INLINE void target_loss(Host& device, const LabelTargets<float>& targets,
                               const TargetLossArgs<float>& args) {
  const index_t inner = args.slice.inner, width = args.places * inner;
  if (targets.smoothing != 0 || args.scores != ClassScores::logits || width < 4 || inner > 16)
    return target_loss<Host, float>(device, targets, args);
  const bool shared = args.slice.outer * width * args.classes >= index_t{1} << 15;
  device.run_if(shared, args.slice.outer, [&](index_t group, int) {
    GPUNET_CALL_PATH(width, target_loss, targets, args, group);
  });
}

template <class D, class T>
void total_weight(D& device, const LabelTargets<T>& targets, index_t count, T* total) {
  sum_each(device, 1, count, TotalWeight<T>{targets, total});
}

GPUNET_COMPILE_TEMPLATES(GPUNET_LABEL_LOSS)
GPUNET_COMPILE_TEMPLATES(GPUNET_PROBABILITY_LOSS)
GPUNET_COMPILE_TEMPLATES(GPUNET_TOTAL_WEIGHT)

}  // namespace gpunet
