// The two-dimensional convolution layer.
#pragma once

#include <array>
#include <concepts>

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/nn/parameter_bounds.hpp>
#include <gpunet/ops/conv2d_wide.host.hpp>
#if GPUNET_CUDA
#include <gpunet/ops/conv2d.cuh>
#endif

namespace gpunet::nn {

// Cross-correlation with square kernels, as torch.nn.Conv2d(in, Out, Kernel, stride, padding): x [in, h, w],
// W [Out, in, Kernel, Kernel], b [Out], y [Out, oh, ow] with oh = (h + 2 padding - Kernel) / stride + 1.
// Conv2d<16, 5, Stride<2>, Padding<3>>, or Conv2d{out, kernel, stride, padding} for sizes known at run time.
template <index_t Out = dyn, index_t Kernel = dyn, class... Options>
class Conv2d {
  static_assert(detail::are_window_options<Options...>,
                "gpunet::nn::Conv2d: an option is neither Stride<...> nor Padding<...>");
  static_assert(Out != 0 && Kernel != 0,
                "gpunet::nn::Conv2d: output channels and kernel size have to be at least 1");
  using StrideDim = detail::option_dim<Stride, Stride<1>, Options...>;
  using PaddingDim = detail::option_dim<Padding, Padding<0>, Options...>;

 public:
  constexpr Conv2d() = default;
  constexpr explicit Conv2d(index_t out, index_t kernel, index_t stride = 1, index_t padding = 0) requires
      std::same_as<Conv2d, Conv2d<dyn, dyn, Stride<dyn>, Padding<dyn>>>
      : out_(out), kernel_(kernel), stride_(stride), padding_(padding) {}

  template <class In>
  constexpr auto output(In in) const {
    static_assert(
        In::rank == 3,
        "gpunet::nn::Conv2d: the input has to have rank 3 [channels, height, width], give Input three sizes");
    if constexpr (In::rank == 3) {
      const auto height = in.template at<1>();
      const auto width = in.template at<2>();
      static_assert(window_fits(decltype(height){}, Dim<Kernel>{}, PaddingDim{}) &&
                        window_fits(decltype(width){}, Dim<Kernel>{}, PaddingDim{}),
                    "gpunet::nn::Conv2d: the kernel is larger than the padded image, use a smaller kernel, a "
                    "larger image or Padding");
      check(in.template at<0>(), height, width);
      return Shape(out_, windows(height, kernel_, stride_, padding_), windows(width, kernel_, stride_, padding_));
    }
  }

  template <class In>
  constexpr auto parameters(In in) const {
    const index_t channels = in.template at<0>();
    const index_t fan_in = channels * kernel_ * kernel_;
    return std::array{uniform("weight", {out_, channels, kernel_, kernel_}, kaiming_uniform_bound(fan_in)),
                      uniform("bias", {out_}, bias_bound(fan_in))};
  }

  template <class D, class In, class T>
  index_t scratch(const D& device, In in, const Slice& slice, T type) const {
    return conv2d_scratch(device, slice, geometry(in), type);
  }

  template <class D, class In, class T>
  void forward(D& device, In in, const ForwardPass<T>& pass) const {
    conv2d_forward(device, pass.slice, geometry(in), pass.x, pass.parameters[0], pass.parameters[1], pass.y,
                   pass.scratch);
  }

  template <class D, class In, class T>
  void backward(D& device, In in, const BackwardPass<T>& pass) const {
    const auto g = geometry(in);
    conv2d_backward_parameters(device, pass.slice, g, pass.x, pass.dy, pass.gradients[0], pass.gradients[1],
                               pass.accumulate, pass.scratch);
    if (pass.dx) conv2d_backward_input(device, pass.slice, g, pass.dy, pass.parameters[0], pass.dx, pass.scratch);
  }

  template <class In>
  std::string extra_repr(In in) const {
    const auto pair = [](std::string_view name, index_t n) {
      return concat(", ", name, "=(", n, ", ", n, ")");
    };
    return concat(index_t{in.template at<0>()}, ", ", index_t{out_}, pair("kernel_size", kernel_),
                  pair("stride", stride_), padding_ > 0 ? pair("padding", padding_) : "");
  }

  // Each position of the output takes all weights and biases once.
  template <class In>
  constexpr index_t multiply_adds(In in) const {
    const auto out = output(in);
    return (in.template at<0>() * kernel_ * kernel_ + Dim<1>{}) * out.numel();
  }

  // All sizes, as kernels take them.
  template <class In>
  constexpr auto geometry(In in) const {
    const auto out = output(in);
    const auto channels = in.template at<0>();
    const Conv2dGeometry sizes{channels,
                               in.template at<1>(),
                               in.template at<2>(),
                               out.template at<0>(),
                               out.template at<1>(),
                               out.template at<2>(),
                               kernel_,
                               stride_,
                               padding_};
    constexpr bool few = is_few(decltype(channels){}) && is_few(Dim<Out>{});
    if constexpr ((is_many(decltype(channels){}) && is_many(Dim<Out>{})) ||
                  has_winograd_tiles(decltype(channels){}, decltype(out.template at<1>()){},
                                     decltype(out.template at<2>()){}))
      return WideKernelConv2dGeometry<Kernel>{{sizes}};
    else if constexpr (has_long_rows(decltype(in.template at<2>()){}, decltype(out.template at<2>()){}))
      return with_channels<few>(LongRowConv2dGeometry{sizes});
    else
      return with_channels<few>(sizes);
  }

 private:
  // Whether kernels for many channels may pay; true for run-time sizes.
  template <index_t Channels>
  static constexpr bool is_many(Dim<Channels>) {
    return Channels == dyn || Channels >= WideConv2dGeometry::many;
  }

  // Whether there are certainly few channels.
  template <index_t Channels>
  static constexpr bool is_few(Dim<Channels>) {
    return Channels != dyn && Channels <= FewChannelsConv2dGeometry<Conv2dGeometry>::most;
  }
  template <bool few, class Geometry>
  static constexpr auto with_channels(const Geometry& geometry) {
    if constexpr (few)
      return FewChannelsConv2dGeometry<Geometry>{geometry};
    else
      return geometry;
  }

  // Whether Winograd's way certainly pays, and so much that it is worth compiling.
  template <index_t Channels, index_t OutHeight, index_t OutWidth>
  static constexpr bool has_winograd_tiles(Dim<Channels>, Dim<OutHeight>, Dim<OutWidth>) {
    constexpr Conv2dGeometry sizes{Channels, 0, 0, Out, OutHeight, OutWidth, Kernel, StrideDim{}, PaddingDim{}};
    if constexpr (Channels == dyn || OutHeight == dyn || OutWidth == dyn || Out == dyn ||
                  !gpunet::detail::has_winograd(sizes)) {
      return false;
    } else {
      constexpr gpunet::detail::WinogradCost cost({sizes, 1});
      return 4 * cost.winograd < 3 * cost.direct;
    }
  }

  template <index_t Width, index_t OutWidth>
  static constexpr bool has_long_rows(Dim<Width>, Dim<OutWidth>) {
    using G = LongRowConv2dGeometry;
    return Kernel >= 1 && Kernel <= G::most_kernel && Width >= G::least_width && OutWidth >= G::least_width;
  }

  // Checks run-time sizes.
  constexpr void check(index_t channels, index_t height, index_t width) const {
    require(out_ > 0 && kernel_ > 0 && stride_ > 0 && padding_ >= 0, "gpunet::nn::Conv2d: ", index_t{out_},
            " output channels, kernel ", index_t{kernel_}, ", stride ", index_t{stride_}, ", padding ",
            index_t{padding_}, " (want at least 1, 1, 1, 0)");
    require_possible_image("Conv2d", channels, height, width, padding_);
    require(height + 2 * padding_ >= kernel_ && width + 2 * padding_ >= kernel_, "gpunet::nn::Conv2d: the kernel (",
            index_t{kernel_}, ") is larger than the padded image (", height + 2 * padding_, " x ",
            width + 2 * padding_, "), use a smaller kernel, a larger image or Padding");
  }

  [[no_unique_address]] Dim<Out> out_{};
  [[no_unique_address]] Dim<Kernel> kernel_{};
  [[no_unique_address]] StrideDim stride_{};
  [[no_unique_address]] PaddingDim padding_{};
};

Conv2d(index_t, index_t, index_t = 1, index_t = 0)->Conv2d<dyn, dyn, Stride<dyn>, Padding<dyn>>;

}  // namespace gpunet::nn
