// Normalization of the rows of each sample as a node of a graph: LayerNorm, RMSNorm, GroupNorm and
// InstanceNorm.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/ops/op.hpp>
#include <gpunet/ops/row_norm/plain.hpp>

namespace gpunet {

// The layer that a RowNormOp is.
enum class RowNormKind { layer, rms, group, instance };

// y = (x - mean) / sqrt(variance + eps) w + b, with mean and variance of each row; RMSNorm takes
// the mean as 0. w and b are the parameters 0 and 1; either may be missing.
struct RowNormOp {
  RowNormKind kind;
  RowNormGeometry geometry;
  int dims;    // of a row
  double eps;  // negative: the machine epsilon of the element type
  bool weight = true, bias = true;

  bool centers() const { return kind != RowNormKind::rms; }
  std::string extra_repr(const Sizes& in, const Sizes&) const;

  OpTraits traits(const Sizes&, const Sizes&) const {
    return {.cache_bytes = 2 * geometry.rows * static_cast<index_t>(sizeof(double))};
  }
  template <class T>
  index_t scratch(const auto&, const Slice& slice, T) const {  // two doubles for each row
    return 2 * slice.samples() * geometry.rows * static_cast<index_t>(sizeof(double) / sizeof(T));
  }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;

 private:
  static RowStatistics statistics_in(const void* cache, const RowNormRows& rows) {
    auto* mean = static_cast<double*>(const_cast<void*>(cache));
    return {mean, mean + rows.count()};
  }
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/row_norm/row_norm.ipp>
#endif
