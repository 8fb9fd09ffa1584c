// The map of the state of one time step, which runs for many steps with the same weights.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

#include <gpunet/device/host/gemm/packed_matrix.hpp>
#include <gpunet/ops/linear/linear.hpp>

namespace gpunet::detail {

// For the samples of a slice and weights W [out, in]: y = W x + b, or of the transpose dx = W^T dy.
// The maps of linear layers.
template <class D, class T>
class StepMap {
 public:
  // Returns the elements that a map takes.
  static index_t scratch(const D& device, const Slice& slice, index_t in, index_t out) {
    return linear_scratch(device, AnySizes{}, slice, in, out, T{});
  }
  StepMap(D&, const Slice& slice, index_t in, index_t out, const T* w, Transpose transpose,
          T* scratch)
      : slice_(slice), in_(in), out_(out), w_(w), transpose_(transpose), scratch_(scratch) {}

  // Computes `to` from `from`, which may be used up; b is for W, and may be null.
  void apply(D& device, const T* b, T* from, T* to) const {
    if (transpose_ == Transpose::no)
      linear_forward(device, AnySizes{},
                     LinearForwardArgs<T>{.slice = slice_,
                                          .in = in_,
                                          .out = out_,
                                          .x = from,
                                          .w = w_,
                                          .b = b,
                                          .y = to,
                                          .scratch = scratch_});
    else
      linear_backward_input(device, AnySizes{},
                            LinearBackwardArgs<T>{.slice = slice_,
                                                  .in = in_,
                                                  .out = out_,
                                                  .dy = from,
                                                  .w = w_,
                                                  .dx = to,
                                                  .scratch = scratch_});
  }

 private:
  Slice slice_;
  index_t in_, out_;
  const T* w_;
  Transpose transpose_;
  T* scratch_;
};

// On Host the weights are packed once for all steps, where samples come in groups of 16.
template <class D, class T>
class PackedStepMap : public StepMap<D, T> {
 public:
  static index_t scratch(const D& device, const Slice& slice, index_t in, index_t out) {
    return packs(slice, in, out)
               ? std::max(PackedMatrix::elements(out, in), PackedMatrix::elements(in, out))
               : StepMap<D, T>::scratch(device, slice, in, out);
  }
  PackedStepMap(D& device, const Slice& slice, index_t in, index_t out, const T* w,
                Transpose transpose, T* scratch)
      : StepMap<D, T>(device, slice, in, out, w, transpose, scratch),
        groups_(slice.outer),
        from_(transpose == Transpose::no ? in : out),
        to_(transpose == Transpose::no ? out : in) {
    if (packs(slice, in, out)) packed_.emplace(to_, from_, GemmOperand{w, in}, transpose, scratch);
  }

  void apply(D& device, const T* b, T* from, T* to) const {
    if (!packed_) return StepMap<D, T>::apply(device, b, from, to);
    packed_->multiply(device, 16 * groups_, {from, 16, 16 * from_}, {to, 16, 16 * to_}, b);
  }

 private:
  static bool packs(const Slice& slice, index_t in, index_t out) {
    return slice.inner == 16 && in >= 8 && out >= 8;
  }

  index_t groups_, from_, to_;
  std::optional<PackedMatrix> packed_;
};

// The map that a device uses for elements of type T.
template <class D, class T>
using FastStepMap = std::conditional_t<std::is_same_v<D, Host> && std::is_same_v<T, float>,
                                       PackedStepMap<D, T>, StepMap<D, T>>;

}  // namespace gpunet::detail
