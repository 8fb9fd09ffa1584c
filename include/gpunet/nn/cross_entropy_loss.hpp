// The cross-entropy losses: of logits or logarithms of probabilities, with labels or probabilities.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/nn/loss.hpp>
#include <gpunet/ops/cross_entropy/cross_entropy.hpp>
#include <gpunet/ops/cross_entropy/targets.hpp>

namespace gpunet::nn {

namespace detail {

// The common part of losses with labels: outputs [batch, classes, ...], labels [batch, ...].
class LabelLoss {
 public:
  using target_type = label_t;

  // A label for each place of an output; the weights of the classes are the constants.
  LossTraits traits(const Sizes& output) const {
    const bool is_weighted = !options_.weight.empty() || options_.ignore_index;
    return {.target = output.tail(),
            .reduction = options_.reduction,
            .constants = options_.weight,
            .is_weighted = is_weighted && options_.reduction == Reduction::mean,
            .each = output.tail()};
  }

  // Returns the label of targets that do not count, if there is one: metrics leave it out, too.
  std::optional<index_t> ignore_index() const { return options_.ignore_index; }

  // Computes total[0] = the sum of the weights of so many labels.
  template <class D, class T>
  void total_weight(D& device, const LossPass<T, label_t>& batch, index_t labels, T* total) const {
    gpunet::total_weight(device, targets(batch, 1), labels, total);
  }

 protected:
  LabelLoss(std::string_view name, CrossEntropyLossOptions options);

  void check_sizes(std::string_view name, const Sizes& sizes) const;

  // Throws Error for a label that is not 0 to classes - 1, on devices whose memory the host can
  // read.
  template <class D>
  void check(std::string_view name, D& device, const View<const label_t, D>& labels,
             index_t features) const {
    const index_t classes = features / labels.sizes().tail().numel();
    check_labels(name, device, labels.data(), labels.numel(), classes, options_.ignore_index);
  }

  // Computes losses and gradients of a slice, see loss.hpp.
  template <class D, class T>
  void evaluate(D& device, const LossPass<T, label_t>& pass, ClassScores scores) const {
    const index_t places = pass.features / pass.channels;
    const T divisor = options_.reduction == Reduction::mean ? static_cast<T>(places) : T{1};
    target_loss(device, targets(pass, places),
                TargetLossArgs<T>{pass.slice, pass.channels, places, scores, pass.x, divisor,
                                  pass.total, pass.scale, pass.losses, pass.dx});
  }

  CrossEntropyLossOptions options_;

 private:
  template <class T>
  LabelTargets<T> targets(const LossPass<T, label_t>& pass, index_t places) const {
    return {pass.targets,
            options_.weight.empty() ? nullptr : pass.constants,
            pass.channels,
            places,
            static_cast<T>(options_.label_smoothing),
            options_.ignore_index.has_value(),
            options_.ignore_index.value_or(0)};
  }
};

}  // namespace detail

// The mean over the batch of log sum_k exp(x_k) - x_label, as torch.nn.CrossEntropyLoss with class
// indices: x are logits [batch, classes], labels [batch] are 0 to classes - 1; or [batch, classes,
// ...] and [batch, ...], such as images. Probabilities of the classes as targets:
// SoftCrossEntropyLoss.
class CrossEntropyLoss : public detail::LabelLoss, public LossFunction<CrossEntropyLoss> {
 public:
  // Throws Error for a negative weight, or a smoothing outside 0 to 1.
  CrossEntropyLoss(CrossEntropyLossOptions options = {})
      : LabelLoss("nn::CrossEntropyLoss", std::move(options)) {}

  // Whether all options are their defaults: kernels of their own compute that.
  bool is_plain() const {
    return options_.reduction == Reduction::mean && options_.weight.empty() &&
           !options_.ignore_index && options_.label_smoothing == 0;
  }

  // Outputs have at least one dimension.
  template <class In>
  static constexpr void check_shape(In) {
    static_assert(In::rank >= 1,
                  "gpunet::nn::CrossEntropyLoss: the network's output has to have rank 1 [classes] "
                  "or more, end it "
                  "with a Linear");
  }
  // The same at run time, and the number of weights: throws Error.
  void check_sizes(const Sizes& sizes) const { LabelLoss::check_sizes("CrossEntropyLoss", sizes); }

  // Throws Error for a label that is not 0 to classes - 1, on devices whose memory the host can
  // read.
  template <class D>
  void check(D& device, const View<const label_t, D>& labels, index_t features) const {
    LabelLoss::check("nn::CrossEntropyLoss", device, labels, features);
  }

  // Computes losses and gradients of a slice, see loss.hpp.
  template <class D, class T>
  void evaluate(D& device, const LossPass<T, label_t>& pass) const {
    if (is_plain() && pass.channels == pass.features)
      cross_entropy(device, CrossEntropy<T>{pass.slice, pass.features, pass.x, pass.targets,
                                            pass.scale, pass.losses, pass.dx});
    else
      LabelLoss::evaluate(device, pass, ClassScores::logits);
  }
};

// The mean over the batch of -x_label, as torch.nn.NLLLoss: x are logarithms of probabilities, such
// as those of LogSoftmax.
class NLLLoss : public detail::LabelLoss, public LossFunction<NLLLoss> {
 public:
  // Throws Error for a negative weight, or a smoothing, which it has not.
  NLLLoss(CrossEntropyLossOptions options = {}) : LabelLoss("nn::NLLLoss", std::move(options)) {
    require(options_.label_smoothing == 0, "gpunet::nn::NLLLoss: label_smoothing ",
            options_.label_smoothing, " (it is for logits), use CrossEntropyLoss");
  }

  // Outputs have at least one dimension.
  template <class In>
  static constexpr void check_shape(In) {
    static_assert(In::rank >= 1,
                  "gpunet::nn::NLLLoss: the network's output has to have rank 1 [classes] or more, "
                  "end it with a Linear");
  }
  // The same at run time, and the number of weights: throws Error.
  void check_sizes(const Sizes& sizes) const { LabelLoss::check_sizes("NLLLoss", sizes); }
  template <class D>
  void check(D& device, const View<const label_t, D>& labels, index_t features) const {
    LabelLoss::check("nn::NLLLoss", device, labels, features);
  }
  template <class D, class T>
  void evaluate(D& device, const LossPass<T, label_t>& pass) const {
    LabelLoss::evaluate(device, pass, ClassScores::log_probabilities);
  }
};

// Options of SoftCrossEntropyLoss.
struct SoftCrossEntropyLossOptions {
  Reduction reduction = Reduction::mean;
  std::vector<double> weight = {};  // of each class; empty: 1
  double label_smoothing = 0;       // the share of a target that all classes get, 0 to 1
};

// The mean over the batch of sum_k t_k (log sum_j exp(x_j) - x_k), as torch.nn.CrossEntropyLoss
// with probabilities: targets t have the shape of the outputs x, [batch, classes, ...].
class SoftCrossEntropyLoss : public LossFunction<SoftCrossEntropyLoss> {
 public:
  using target_type = void;

  // Throws Error for a negative weight, or a smoothing outside 0 to 1.
  SoftCrossEntropyLoss(SoftCrossEntropyLossOptions options = {});

  // Targets have the shape of the outputs; the weights of the classes are the constants.
  LossTraits traits(const Sizes& output) const {
    return {.target = output,
            .reduction = options_.reduction,
            .constants = options_.weight,
            .each = output.tail()};
  }

  // Outputs have at least one dimension.
  template <class In>
  static constexpr void check_shape(In) {
    static_assert(In::rank >= 1,
                  "gpunet::nn::SoftCrossEntropyLoss: the network's output has to have rank 1 "
                  "[classes] or more, end it "
                  "with a Linear");
  }
  // The same at run time, and the number of weights: throws Error.
  void check_sizes(const Sizes& sizes) const;
  // All targets are allowed, as in PyTorch.
  template <class D, class T>
  void check(D&, const View<const T, D>&, index_t) const {}

  // Computes losses and gradients of a slice, see loss.hpp.
  template <class D, class T>
  void evaluate(D& device, const LossPass<T, T>& pass) const {
    const index_t places = pass.features / pass.channels;
    const T divisor = options_.reduction == Reduction::mean ? static_cast<T>(places) : T{1};
    target_loss(
        device,
        ProbabilityTargets<T>{pass.targets, options_.weight.empty() ? nullptr : pass.constants,
                              pass.channels, places, static_cast<T>(options_.label_smoothing)},
        TargetLossArgs<T>{pass.slice, pass.channels, places, ClassScores::logits, pass.x, divisor,
                          nullptr, pass.scale, pass.losses, pass.dx});
  }

 private:
  SoftCrossEntropyLossOptions options_;
};

}  // namespace gpunet::nn

namespace gpunet {

#define GPUNET_CROSS_ENTROPY_CALLS(D, T) \
  const LossCalls<D, T>* calls_of_loss<nn::CrossEntropyLoss, D, T>()
GPUNET_EXTERN_TEMPLATES(GPUNET_CROSS_ENTROPY_CALLS)

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/nn/cross_entropy_loss.ipp>
#endif
