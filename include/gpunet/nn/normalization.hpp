// Normalization of each sample by itself: LayerNorm, RMSNorm, GroupNorm, InstanceNorm1d, 2d and 3d.
#pragma once

#include <array>
#include <optional>
#include <span>

#include <gpunet/core/error.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/ops/row_norm/row_norm.hpp>

namespace gpunet::nn {

// Options of LayerNorm, as in PyTorch.
struct LayerNormOptions {
  double eps = 1e-5;               // added to the variance
  bool elementwise_affine = true;  // whether there are weight and bias
  bool bias = true;                // whether a bias is beside the weight
};

// Options of RMSNorm, as in PyTorch.
struct RMSNormOptions {
  // std::nullopt: the machine epsilon of the element type.
  std::optional<double> eps = std::nullopt;
  bool elementwise_affine = true;  // whether there is a weight
};

// Options of GroupNorm, as in PyTorch.
struct GroupNormOptions {
  double eps = 1e-5;   // added to the variance
  bool affine = true;  // whether there are weight and bias
};

// Options of InstanceNorm1d, 2d and 3d, as in PyTorch: no weight and bias by default.
struct InstanceNormOptions {
  double eps = 1e-5;    // added to the variance
  bool affine = false;  // whether there are weight and bias
};

namespace detail {

constexpr void check_eps(const char* layer, double eps) {
  require(eps >= 0, "gpunet::nn::", layer, ": eps ", eps, " (want 0 or more)");
}

// Appends a normalization with the parameters that it has, of the sizes `sizes`.
template <class Builder>
value_t lower_norm(Builder& builder, value_t x, const Sizes& in, const RowNormOp& op,
                   const Sizes& sizes) {
  const std::array parameters{constant("weight", sizes, 1), constant("bias", sizes, 0)};
  const std::size_t count = op.weight ? (op.bias ? 2 : 1) : 0;
  return builder.add(op, x, in, std::span<const ParameterSpec>(parameters).first(count));
}

// The base of LayerNorm and RMSNorm: rows are the last `dims` dimensions.
template <int dims>
struct NormOfLast {
  static_assert(dims >= 1,
                "gpunet::nn::LayerNorm, RMSNorm: the number of dimensions has to be 1 (the last "
                "one) or more");

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank >= dims,
                  "gpunet::nn::LayerNorm, RMSNorm: the input has fewer dimensions than are "
                  "normalized, give a smaller number (1 is the last dimension)");
    return in;
  }

 protected:
  template <class Builder>
  value_t lower_rows(Builder& builder, value_t x, const Sizes& in, RowNormOp op) const {
    Sizes row;
    for (int i = in.rank() - dims; i < in.rank(); ++i)
      row.append(in[i]);
    op.dims = dims;
    op.geometry.length = row.numel();
    op.geometry.rows = op.geometry.length > 0 ? in.numel() / op.geometry.length : 0;
    return lower_norm(builder, x, in, op, row);
  }
};

}  // namespace detail

// y = (x - mean) / sqrt(variance + eps) w + b over the last `dims` dimensions of a sample; w and b
// have their shape, as torch.nn.LayerNorm(shape of the last dimensions). LayerNorm<> normalizes the
// last dimension, LayerNorm<3> whole images. Ba, Kiros and Hinton, "Layer Normalization", 2016.
template <int dims = 1>
class LayerNorm : public detail::NormOfLast<dims> {
 public:
  constexpr LayerNorm() = default;
  GPUNET_REFUSED_FEATURES(LayerNorm)
  constexpr explicit LayerNorm(const LayerNormOptions& options) : options_(options) {
    detail::check_eps("LayerNorm", options.eps);
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const bool affine = options_.elementwise_affine;
    return this->lower_rows(
        builder, x, in.sizes(),
        {RowNormKind::layer, {}, dims, options_.eps, affine, affine && options_.bias});
  }

 private:
  LayerNormOptions options_{};
};

// y = x / sqrt(mean of x^2 + eps) w over the last `dims` dimensions of a sample, as
// torch.nn.RMSNorm. Zhang and Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019.
template <int dims = 1>
class RMSNorm : public detail::NormOfLast<dims> {
 public:
  GPUNET_REFUSED_FEATURES(RMSNorm)
  constexpr explicit RMSNorm(const RMSNormOptions& options = {})
      : eps_(options.eps ? *options.eps : -1), weight_(options.elementwise_affine) {
    if (options.eps) detail::check_eps("RMSNorm", eps_);
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return this->lower_rows(builder, x, in.sizes(),
                            {RowNormKind::rms, {}, dims, eps_, weight_, false});
  }

 private:
  double eps_;  // negative: the machine epsilon of the element type
  bool weight_;
};

// y = (x - mean) / sqrt(variance + eps) w + b over each of `groups` groups of channels
// (dimension 0 of a sample) and all their elements; w and b [channels], as torch.nn.GroupNorm. Wu
// and He, "Group Normalization", ECCV 2018.
template <index_t groups>
class GroupNorm {
  static_assert(groups >= 1, "gpunet::nn::GroupNorm: the number of groups has to be at least 1");

 public:
  constexpr GroupNorm() = default;
  GPUNET_REFUSED_FEATURES(GroupNorm)
  constexpr explicit GroupNorm(const GroupNormOptions& options) : options_(options) {
    detail::check_eps("GroupNorm", options.eps);
  }

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank >= 1,
                  "gpunet::nn::GroupNorm: the input has to have a dimension of channels");
    if constexpr (In::rank >= 1) {
      const index_t channels = in.template at<0>();
      require(channels % groups == 0, "gpunet::nn::GroupNorm: ", channels, " channels in ", groups,
              " groups (want a number of channels that the groups divide), change one");
    }
    return in;
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const index_t channels = in.template at<0>();
    return detail::lower_norm(builder, x, in.sizes(),
                              {RowNormKind::group,
                               {groups, in.numel() / groups, channels / groups},
                               0,
                               options_.eps,
                               options_.affine,
                               options_.affine},
                              Sizes{channels});
  }

 private:
  GroupNormOptions options_{};
};

namespace detail {

// The common part of InstanceNorm1d, 2d and 3d: each channel of a sample by itself, without running
// statistics. Ulyanov, Vedaldi and Lempitsky, "Instance Normalization", 2016.
class InstanceNorm {
 public:
  constexpr InstanceNorm() = default;
  constexpr explicit InstanceNorm(const InstanceNormOptions& options) : options_(options) {
    check_eps("InstanceNorm", options.eps);
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const index_t channels = in.template at<0>();
    const RowNormGeometry each{channels, per_channel(in), 1};
    return lower_norm(
        builder, x, in.sizes(),
        {RowNormKind::instance, each, 0, options_.eps, options_.affine, options_.affine},
        Sizes{channels});
  }

 private:
  InstanceNormOptions options_{};
};

}  // namespace detail

// Normalization of each channel of [channels, length], as torch.nn.InstanceNorm1d.
class InstanceNorm1d : public detail::InstanceNorm {
 public:
  using detail::InstanceNorm::InstanceNorm;
  GPUNET_REFUSED_FEATURES(InstanceNorm1d)
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 2,
                  "gpunet::nn::InstanceNorm1d: the input has to have rank 2 [channels, length], "
                  "give Input two sizes");
    return in;
  }
};

// Normalization of each channel of [channels, height, width], as torch.nn.InstanceNorm2d.
class InstanceNorm2d : public detail::InstanceNorm {
 public:
  using detail::InstanceNorm::InstanceNorm;
  GPUNET_REFUSED_FEATURES(InstanceNorm2d)
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 3,
                  "gpunet::nn::InstanceNorm2d: the input has to have rank 3 [channels, height, "
                  "width], give Input three sizes");
    return in;
  }
};

// Normalization of each channel of [channels, depth, height, width], as torch.nn.InstanceNorm3d.
class InstanceNorm3d : public detail::InstanceNorm {
 public:
  using detail::InstanceNorm::InstanceNorm;
  GPUNET_REFUSED_FEATURES(InstanceNorm3d)
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 4,
                  "gpunet::nn::InstanceNorm3d: the input has to have rank 4 [channels, depth, "
                  "height, width], give Input four sizes");
    return in;
  }
};

}  // namespace gpunet::nn
