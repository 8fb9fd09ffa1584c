// The cross-entropy of weighted targets: class weights, ignored labels, label smoothing,
// probabilities, several places.
#pragma once

#include <cmath>
#include <limits>

#include <gpunet/core/long_sum.hpp>
#include <gpunet/device/device.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// The kind of outputs of a network: logits x, or their logarithms of probabilities log_softmax(x).
enum class ClassScores { logits, log_probabilities };

// Targets that are labels: q_k = w_k ((1 - s) [k = label] + s / classes) for each place of each
// sample; 0 if it is ignored.
template <class T>
struct LabelTargets {
  const label_t* labels;  // [count, places]
  const T* weights;       // w [classes]; null: 1
  index_t classes, places;
  T smoothing;  // s
  bool ignores;
  index_t ignored;
  T no_class = std::numeric_limits<T>::quiet_NaN();

  // Returns w of a label; 0 if it is ignored.
  GPUNET_FN T weight_of(index_t label) const {
    if (ignores && label == ignored) return T{};
    if (label < 0 || label >= classes) return no_class;
    return weights ? weights[label] : T{1};
  }
  // Whether the loss of a place depends on the score of class k; with smoothing, it depends on the
  // scores of all classes.
  GPUNET_FN bool uses(index_t n, index_t place, index_t k) const {
    const index_t label = labels[n * places + place];
    return !(ignores && label == ignored) &&
           (k == label || smoothing != 0 || label < 0 || label >= classes);
  }
  // Whether it depends on any.
  GPUNET_FN bool counts(index_t n, index_t place) const {
    return !(ignores && labels[n * places + place] == ignored);
  }
  GPUNET_FN T operator()(index_t n, index_t place, index_t k) const {
    const index_t label = labels[n * places + place];
    if (ignores && label == ignored) return T{};
    if (label < 0 || label >= classes) return no_class;
    const T share = smoothing / static_cast<T>(classes) + (k == label ? 1 - smoothing : T{});
    return weights ? weights[k] * share : share;
  }
};

// Targets that are probabilities p: q_k = w_k ((1 - s) p_k + s / classes).
template <class T>
struct ProbabilityTargets {
  const T* probabilities;  // [count, classes, places]
  const T* weights;        // w [classes]; null: 1
  index_t classes, places;
  T smoothing;  // s

  GPUNET_FN bool uses(index_t, index_t, index_t) const { return true; }
  GPUNET_FN bool counts(index_t, index_t) const { return true; }
  GPUNET_FN T operator()(index_t n, index_t place, index_t k) const {
    const T p = probabilities[(n * classes + k) * places + place];
    const T share = (1 - smoothing) * p + smoothing / static_cast<T>(classes);
    return weights ? weights[k] * share : share;
  }
};

// The arguments of the cross-entropy with targets q for a slice. Outputs of a sample are [classes,
// places].
template <class T>
struct TargetLossArgs {
  Slice slice;
  index_t classes, places;
  ClassScores scores;
  const T* x;
  T divisor;       // of losses and gradients,
  const T* total;  // or the address of it, unless null
  T scale;         // of the gradient
  T* losses;       // [count]
  T* dx;

  // Returns where class k of a place lies.
  GPUNET_FN index_t at(index_t n, index_t place, index_t k) const {
    return slice.offset(n, k * places + place, classes * places);
  }
  // Returns max x and log sum_k exp(x_k - max x) of a place; 0 and 0 for logarithms of
  // probabilities, whose sum is 1.
  struct Normalizer {
    T largest, logarithm;
  };
  GPUNET_FN Normalizer normalizer(index_t n, index_t place) const {
    if (scores == ClassScores::log_probabilities) return {T{}, T{}};
    T largest = x[at(n, place, 0)];
    for (index_t k = 1; k < classes; ++k)
      if (const T value = x[at(n, place, k)]; value > largest) largest = value;
    LongSum<T> sum;
    for (index_t k = 0; k < classes; ++k)
      sum += std::exp(x[at(n, place, k)] - largest);
    return {largest, std::log(sum.value())};
  }
  // NaN where the weights add up to 0, as in PyTorch, also if smoothing leaves a rest.
  GPUNET_FN T divide(T value) const {
    const T by = total ? *total : divisor;
    return (by == 0 ? T{} : value) / by;
  }
};

// Computes the losses and gradients of a slice.
template <class D, class T>
void target_loss(D& device, const LabelTargets<T>& targets, const TargetLossArgs<T>& args);
template <class D, class T>
void target_loss(D& device, const ProbabilityTargets<T>& targets, const TargetLossArgs<T>& args);

// The same for labels and floats on Host: in vectors over the samples and places of a slice, where
// labels are not smoothed.
void target_loss(Host& device, const LabelTargets<float>& targets,
                 const TargetLossArgs<float>& args);

// Computes total[0] = the sum of the weights of `count` labels.
template <class D, class T>
void total_weight(D& device, const LabelTargets<T>& targets, index_t count, T* total);

#define GPUNET_LABEL_LOSS(D, T) \
  void target_loss(D&, const LabelTargets<T>&, const TargetLossArgs<T>&)
#define GPUNET_PROBABILITY_LOSS(D, T) \
  void target_loss(D&, const ProbabilityTargets<T>&, const TargetLossArgs<T>&)
#define GPUNET_TOTAL_WEIGHT(D, T) void total_weight(D&, const LabelTargets<T>&, index_t, T*)
GPUNET_EXTERN_TEMPLATES(GPUNET_LABEL_LOSS)
GPUNET_EXTERN_TEMPLATES(GPUNET_PROBABILITY_LOSS)
GPUNET_EXTERN_TEMPLATES(GPUNET_TOTAL_WEIGHT)

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/cross_entropy/targets.ipp>
#endif
