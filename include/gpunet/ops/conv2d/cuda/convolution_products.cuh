// Convolutions on Cuda as matrix products, with the ReLU and the pooling behind them: one launch
// forward, one back. Large ones by a library if the program has one.
#pragma once

#include <gpunet/device/cuda/gemm/tiled_gemm.cuh>
#include <gpunet/ops/conv2d/cuda/operands.cuh>
#include <gpunet/ops/conv2d/library.hpp>
#include <gpunet/ops/parameter_gradient.cuh>

namespace gpunet {

namespace detail {

// The three products of a convolution with its activation and pooling, for a number of samples.
//
//   forward      y [out channels, outputs] = w [out channels, taps] patches [taps, outputs]
//   parameters   dw [out channels, taps] = dy [out channels, outputs] patches [outputs, taps];
//                  db: the sums of the rows of dy
//   input        dx [in channels, pixels]
//                  = flipped w [in channels, (out channel, row, column)] dy
struct ConvolutionProducts : BatchConvolution {
  // Channels of the images: more than those of the convolution if it is one group.
  index_t x_channels = g.in_channels, y_channels = g.out_channels;

  using BatchConvolution::BatchConvolution;

  // Returns the products of the first group of channels.
  static ConvolutionProducts of_group(const Slice& slice, const Conv2dGeometry& all,
                                      const Bounds& bounds = {}) {
    ConvolutionProducts one(slice, all.of_group());
    one.bounds = bounds;
    one.x_channels = all.in_channels;
    one.y_channels = all.out_channels;
    return one;
  }

  // Return the columns, and all outputs, of the convolution that contribute to y.
  index_t used_columns() const { return width() * (pool ? 2 : 1); }
  index_t outputs() const { return samples * used_height() * used_columns(); }
  OutputOrder order() const { return {height(), width(), pool}; }

  ProductSizes forward_sizes() const { return {g.out_channels, outputs(), g.taps()}; }
  ProductSizes parameter_sizes() const { return {g.out_channels, g.taps(), outputs()}; }
  ProductSizes input_sizes() const {
    return {g.in_channels, samples * g.in_pixels(), g.out_channels * g.area()};
  }

  template <class T>
  auto forward(const T* x, const T* w, OptionalArray<const T> b, T* y, PoolChoice* choice) const {
    check_sizes();
    const auto [m, n, k] = forward_sizes();
    const ConvolutionOutput<T> store{
        {y, y_channels, order().per_image}, b, pool ? choice : nullptr, clamp<T>()};
    return TiledProduct<Filters<T>, PatchColumns<T>, ConvolutionOutput<T>>{
        m, n, k, {w, static_cast<int>(k)}, {{g, order(), x, x_channels}}, store};
  }
  // dw may be null: then the product is empty.
  template <class T>
  auto parameters(const T* x, const OutputGradient<T>& dy, T* dw, OptionalArray<T> db,
                  Accumulate accumulate) const {
    check_sizes();
    const auto [m, n, k] = parameter_sizes();
    return TiledProduct<OutputGradientRows<T>, PatchRows<T>, ParameterGradientOutput<T>>{
        dw ? m : 0,
        n,
        k,
        {dy, order(), y_channels},
        {{g, order(), x, x_channels}},
        {dw, db, g.taps(), accumulate},
        dw && db ? m : 0};
  }
  // dx may be null: then the product is empty. x is null unless dx has to be rectified.
  template <class T>
  auto input(const OutputGradient<T>& dy, const T* w, OptionalArray<const T> b, T* dx,
             const T* x) const {
    check_sizes();
    const auto [m, n, k] = input_sizes();
    const OutputOrder pixels(g.rows.size, g.columns.size, false);
    const OutputGradientColumns<T> columns{dy,
                                           order(),
                                           TapOrder(g),
                                           pixels,
                                           Divisor(g.rows.stride),
                                           Divisor(g.columns.stride),
                                           y_channels,
                                           static_cast<int>(used_height()),
                                           static_cast<int>(used_columns()),
                                           static_cast<int>(g.rows.padding),
                                           static_cast<int>(g.columns.padding)};
    return TiledProduct<TurnedFilters<T>, OutputGradientColumns<T>, InputGradientOutput<T>>{
        dx ? m : 0, n,
        k,          {w, static_cast<int>(g.taps()), Divisor(g.area())},
        columns,    {{dx, x_channels, pixels.per_image}, b, x}};
  }

 private:
  // Kernels compute in int inside of a sample and of the weights.
  void check_sizes() const {
    constexpr index_t most = std::numeric_limits<int>::max();
    const index_t largest = std::max(
        {x_channels * g.in_pixels(), y_channels * g.out_pixels(), g.out_channels * g.taps()});
    const index_t reach = std::max(g.rows.reach(), g.columns.reach());
    require(largest <= most && reach <= most_reach, "gpunet::Cuda: a convolution has ", largest,
            " elements in a sample or its weights and a kernel that reaches over ", reach,
            " pixels (want at most ", most, " and ", most_reach,
            "), use a smaller image or fewer channels");
  }
};

// Properties of the products, whose rows are channels, known from the type of a convolution's
// sizes.
template <class Geometry>
inline constexpr Known known_of =
    std::derived_from<Geometry, WideConv2dGeometry> ? Known::nothing : Known::few_rows;
static_assert(WideConv2dGeometry::many_rows < least_tensor_rows);

// y [sample][channel][pixel] += b [channel]. One index = one element of y.
template <class T>
struct AddChannelBias {
  index_t channels, pixels;
  const T* b;
  T* y;
  GPUNET_FN void operator()(index_t i) const { y[i] += b[i / pixels % channels]; }
};

// Returns whether a convolution is a tiled product, or one for each of a few groups of channels;
// else an element is one thread or one sum.
inline bool is_tiled(const Conv2dGeometry& g) {
  constexpr index_t most_groups = 16, least_channels = 8;
  if (std::max(g.rows.reach(), g.columns.reach()) > most_reach) return false;
  return g.groups == 1 ||
         (g.groups <= most_groups && std::min(g.ins(), g.outs()) >= least_channels);
}

// Calls f(arguments) for each group of channels of all samples.
template <class Args, class F>
void for_each_product_group(const Args& a, F f) {
  for (index_t group = 0; group < a.block.g.groups; ++group)
    f(a.of_group(0, group));
}

}  // namespace detail

template <class T>
index_t conv2d_scratch(const Cuda& device, const Slice& slice, const Conv2dGeometry& g, T) {
  if (!detail::is_tiled(g)) return 0;
  const detail::ConvolutionProducts all = detail::ConvolutionProducts::of_group(slice, g);
  index_t most = 0;
  for (const detail::ProductSizes& sizes :
       {all.forward_sizes(), all.parameter_sizes(), all.input_sizes()})
    most = std::max(most, detail::product_scratch<T>(device, std::array{sizes}));
  return g.groups > 1 ? most : std::max(most, detail::library_scratch<T>(device, all));
}

template <class T, class Geometry>
void conv2d_forward(Cuda& device, const Conv2dForwardArgs<T, Geometry>& a) {
  const Conv2dGeometry& g = a.block.g;
  const auto all = detail::ConvolutionProducts::of_group(a.slice, g, a.block.bounds);
  if (!detail::is_tiled(g)) return conv2d_forward<Cuda, T, Geometry>(device, a);
  if (g.groups > 1)
    return detail::for_each_product_group(a, [&](const Conv2dForwardArgs<T, Geometry>& one) {
      detail::product(device, all.forward<T>(one.x, one.w, one.b, one.y, nullptr), one.scratch);
    });
  auto* library = detail::library_for<T>(device, all);
  if (library && library->forward(device, all, a.general())) return;
  detail::product(device, all.forward<T>(a.x, a.w, a.b, a.y, nullptr), a.scratch);
}

template <class T, class Geometry>
void conv2d_backward_input(Cuda& device, const Conv2dBackwardArgs<T, Geometry>& a) {
  const Conv2dGeometry& g = a.block.g;
  const auto all = detail::ConvolutionProducts::of_group(a.slice, g);
  if (!detail::is_tiled(g)) return conv2d_backward_input<Cuda, T, Geometry>(device, a);
  if (g.groups > 1)
    return detail::for_each_product_group(a, [&](const Conv2dBackwardArgs<T, Geometry>& one) {
      detail::product(device, all.input<T>({one.dy, nullptr}, one.w, one.b, one.dx, nullptr),
                      one.scratch);
    });
  auto* library = detail::library_for<T>(device, all);
  if (!library)
    return detail::product(device, all.input<T>({a.dy, nullptr}, a.w, a.b, a.dx, nullptr),
                           a.scratch);
  library->backward_input(device, all, a.dy, a.w, a.dx, a.scratch);
  if (a.b)
    for_each(device, a.slice.samples() * g.in_features(),
             detail::AddChannelBias<T>{g.in_channels, g.in_pixels(), a.b.data(), a.dx});
}

template <class T, class Geometry>
void conv2d_backward_parameters(Cuda& device, const Conv2dBackwardArgs<T, Geometry>& a) {
  const Conv2dGeometry& g = a.block.g;
  const auto all = detail::ConvolutionProducts::of_group(a.slice, g);
  if (!detail::is_tiled(g)) return conv2d_backward_parameters<Cuda, T, Geometry>(device, a);
  if (g.groups > 1)
    return detail::for_each_product_group(a, [&](const Conv2dBackwardArgs<T, Geometry>& one) {
      detail::product(device,
                      all.parameters<T>(one.x, {one.dy, nullptr}, one.dw, one.db, one.accumulate),
                      one.scratch);
    });
  if (auto* library = detail::library_for<T>(device, all))
    return library->backward_parameters(device, all, a.general());
  detail::product(device, all.parameters<T>(a.x, {a.dy, nullptr}, a.dw, a.db, a.accumulate),
                  a.scratch);
}

// Returns the elements of T that the two functions below need as scratch.
template <class Geometry, class T>
index_t conv2d_block_scratch(const Cuda& device, const Slice& slice,
                             const Conv2dBlock<Geometry>& block, T) {
  const detail::ConvolutionProducts all(slice, block);
  constexpr detail::Known known = detail::known_of<Geometry>;
  return std::max(
      {detail::library_scratch<T>(device, all),
       detail::product_scratch<T, known>(device, std::array{all.forward_sizes()}),
       detail::products_scratch<T, known>(device, all.parameter_sizes(), all.input_sizes())});
}

// y = pool(activation(x * w + b)).
template <class T, class Geometry>
void conv2d_block_forward(Cuda& device, const Conv2dForwardArgs<T, Geometry>& a) {
  const detail::ConvolutionProducts all(a.slice, a.block);
  auto* library = detail::library_for<T>(device, all);
  if (library && library->forward(device, all, a.general())) return;
  detail::product<detail::known_of<Geometry>>(device, all.forward<T>(a.x, a.w, a.b, a.y, a.choice),
                                              a.scratch);
}

template <class T, class Geometry>
void conv2d_block_backward(Cuda& device, const Conv2dBackwardArgs<T, Geometry>& a) {
  const Conv2dBlock<Geometry>& block = a.block;
  if (block.activation == Activation::relu && a.y)
    rectify_gradient(device, a.slice.samples() * block.out_features(), a.y, a.dy, a.dy);
  const detail::ConvolutionProducts all(a.slice, block);
  if (auto* library = detail::library_for<T>(device, all)) {
    Conv2dBackwardArgs<T> convolution = a.general();
    convolution.dy = library->through_pool(device, all, a.choice, a.dy, a.scratch);
    if (a.dw) library->backward_parameters(device, all, convolution);
    if (!a.dx) return;
    library->backward_input(device, all, convolution.dy, a.w, a.dx, a.scratch);
    if (a.rectify_dx)
      rectify_gradient(device, a.slice.samples() * block.g.in_features(), a.x, a.dx, a.dx);
    return;
  }
  const detail::OutputGradient<T> gradient{a.dy, block.pool ? a.choice : nullptr};
  detail::products<detail::known_of<Geometry>>(
      device, all.parameters<T>(a.x, gradient, a.dw, a.db, a.accumulate),
      all.input<T>(gradient, a.w, a.b, a.dx, a.rectify_dx ? a.x : nullptr), a.scratch);
}

}  // namespace gpunet
