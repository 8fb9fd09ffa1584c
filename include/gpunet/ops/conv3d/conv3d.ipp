// Bodies of conv3d.hpp.
#pragma once

#include <algorithm>

#include <gpunet/ops/conv2d/conv2d.ipp>
#include <gpunet/ops/conv3d/conv3d.hpp>
#include <gpunet/ops/conv3d/planes.hpp>
#include <gpunet/ops/parts.hpp>

namespace gpunet {

namespace detail {

// The elements of windows that are in work at a time, at most, if more than one plane of the output
// is: on Host they stay in the L2 cache, on Cuda a launch has much to do.
inline index_t most_window_elements(const Host&) {
  return index_t{1} << 16;
}
inline index_t most_window_elements(const Cuda&) {
  return index_t{1} << 27;
}

// The passes of a convolution in three dimensions, some planes of its output at a time, in order:
// so a sum does not depend on the number of threads.
template <class D, class T>
class PlaneByPlane {
 public:
  using Forward = Conv2dForwardArgs<T, WideConv2dGeometry>;
  using Backward = Conv2dBackwardArgs<T, WideConv2dGeometry>;

  PlaneByPlane(const D& device, const Conv3dOp& op, const Slice& slice, T* memory = nullptr)
      : op_(op), slice_(slice) {
    const index_t one = slice.samples() * op.plane.in_features();
    some_ = std::clamp(most_window_elements(device) / std::max(one, index_t{1}), index_t{1},
                       std::max(op.planes.outputs, index_t{1}));
    Parts<T> parts(memory);
    windows_ = parts.take(some_ * one);
    outputs_ = parts.take(some_ * slice.samples() * op.plane.out_features());
    const index_t rest = op.planes.outputs % some_;
    scratch_ = parts.take(
        std::max(conv2d_scratch(device, slice_of(some_), geometry(), T{}),
                 rest > 0 ? conv2d_scratch(device, slice_of(rest), geometry(), T{}) : index_t{0}));
    size_ = parts.size();
  }

  // Returns the elements of memory.
  index_t size() const { return size_; }

  // y = x * w + b.
  void forward(D& device, const T* x, const T* w, OptionalArray<const T> b, T* y) const {
    for_each_part([&](index_t first, index_t some) {
      inputs(first, some).gather(device, x, windows_);
      conv2d_forward(device, Forward{.slice = slice_of(some),
                                     .block = {geometry()},
                                     .x = windows_,
                                     .w = w,
                                     .b = b,
                                     .y = outputs_,
                                     .scratch = scratch_});
      outputs(first, some).place(device, outputs_, y);
    });
  }

  // dw = sum of dy x, dx = dy * w + b, each unless it is null. The arrays are of volumes.
  void backward(D& device, const Backward& a) const {
    for_each_part([&](index_t first, index_t some) {
      Backward part = a;
      part.slice = slice_of(some);
      part.block = {geometry()};
      part.b = {};
      part.dy = outputs_;
      part.scratch = scratch_;
      outputs(first, some).gather(device, static_cast<const T*>(a.dy), outputs_);
      if (a.dw) {
        inputs(first, some).gather(device, a.x, windows_);
        part.x = windows_;
        part.accumulate = first > 0 ? Accumulate::yes : a.accumulate;
        conv2d_backward_parameters(device, part);
      }
      if (a.dx) {
        part.dx = windows_;
        conv2d_backward_input(device, part);
        inputs(first, some).add(device, static_cast<const T*>(windows_), a.b, a.dx);
      }
    });
  }

 private:
  WideConv2dGeometry geometry() const { return {op_.plane}; }
  // Returns a slice in which each plane of the output is a sample.
  Slice slice_of(index_t some) const {
    return {some * slice_.samples(), some * slice_.outer, slice_.inner, slice_.threads_of};
  }
  PlaneWindows inputs(index_t first, index_t some) const {
    return {op_.planes,   op_.in_channels(),
            slice_.outer, first,
            some,         op_.plane.in_pixels() * slice_.inner};
  }
  // Of the output a window is one plane.
  PlaneWindows outputs(index_t first, index_t some) const {
    const index_t size = op_.planes.outputs;
    return {{.size = size, .outputs = size},      op_.plane.out_channels, slice_.outer, first, some,
            op_.plane.out_pixels() * slice_.inner};
  }

  template <class F>
  void for_each_part(F f) const {
    for (index_t first = 0; first < op_.planes.outputs; first += some_)
      f(first, std::min(some_, op_.planes.outputs - first));
  }

  const Conv3dOp& op_;
  Slice slice_;
  index_t some_;  // planes of the output at a time
  T *windows_, *outputs_, *scratch_;
  index_t size_;
};

}  // namespace detail

GPUNET_INLINE std::string Conv3dOp::extra_repr(const Sizes&, const Sizes&) const {
  Conv2dGeometry channels = plane;
  channels.in_channels = in_channels();
  const ConvAxis axes[] = {planes, plane.rows, plane.columns};
  return detail::ConvolutionRepr{channels, axes, padded, transposed, same, bias, padding_mode}
      .text();
}

template <class D, class T>
index_t Conv3dOp::scratch(const D& device, const Slice& slice, T) const {
  return detail::PlaneByPlane<D, T>(device, *this, slice).size();
}

template <class D, class T>
void Conv3dOp::forward(D& device, const ForwardPass<T>& pass) const {
  using Passes = detail::PlaneByPlane<D, T>;
  const Passes passes(device, *this, pass.slice, pass.scratch);
  const T *w = pass.parameters[0], *b = bias ? pass.parameters[1] : nullptr;
  if (!transposed) return passes.forward(device, pass.x, w, b, pass.y);
  typename Passes::Backward args{};
  args.dy = const_cast<T*>(pass.x);  // only blocks write to it
  args.w = w;
  args.dx = pass.y;
  args.b = b;
  passes.backward(device, args);
}

template <class D, class T>
void Conv3dOp::backward(D& device, const BackwardPass<T>& pass) const {
  using Passes = detail::PlaneByPlane<D, T>;
  const Passes passes(device, *this, pass.slice, pass.scratch);
  const T *w = pass.parameters[0], *dy = pass.dy;
  typename Passes::Backward args{};
  args.x = transposed ? dy : pass.x;
  args.dy = transposed ? const_cast<T*>(pass.x) : pass.dy;  // only blocks write to it
  args.w = w;
  args.dw = pass.skips_parameters ? nullptr : pass.gradients[0];
  args.dx = transposed ? nullptr : pass.dx;
  args.accumulate = pass.accumulate;
  if (args.dw || args.dx) passes.backward(device, args);
  if (transposed && pass.dx) passes.forward(device, dy, w, {}, pass.dx);
  const index_t channels = transposed ? in_channels() : plane.out_channels;
  if (args.dw && bias)
    conv2d_backward_bias(device, pass.slice, channels, pass.out_features / channels, dy,
                         pass.gradients[1], pass.accumulate);
}

}  // namespace gpunet
