// Convolutions by an optional library (cuDNN): its interface, and the rules of its use.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <type_traits>

#include <gpunet/ops/conv2d/linked_library.hpp>
#include <gpunet/ops/conv2d/plain.hpp>

#if GPUNET_CUDA

namespace gpunet {

namespace detail {

// A convolution with its activation and pooling, for a number of samples.
struct BatchConvolution : Conv2dBlock<Conv2dGeometry> {
  index_t samples;

  template <class Geometry>
  BatchConvolution(const Slice& slice, const Conv2dBlock<Geometry>& block)
      : Conv2dBlock<Conv2dGeometry>{block.g, block.activation, block.pool, block.bounds},
        samples(slice.samples()) {}
  BatchConvolution(const Slice& slice, const Conv2dGeometry& geometry)
      : BatchConvolution(slice, Conv2dBlock<Conv2dGeometry>{geometry, Activation::none, false}) {}

  index_t multiply_adds() const { return samples * g.out_features() * g.taps(); }
};

// The convolutions of arrays of T by a library. It gives its work to the stream of the Cuda that it
// was made for, and allocates nothing on it: `scratch` holds scratch() elements.
template <class T>
class LibraryConvolutions {
 public:
  virtual ~LibraryConvolutions() = default;

  // Returns whether it has algorithms for all three products. The first call for a convolution
  // chooses them, and must not be recorded.
  virtual bool can(const BatchConvolution& c) = 0;
  // Returns the elements of scratch of a convolution that it can do.
  virtual index_t scratch(const BatchConvolution& c) = 0;
  // Computes y = pool(activation(x * w + b)). Returns false, and does nothing, if the library lacks
  // a kernel.
  virtual bool forward(Cuda& device, const BatchConvolution& c, const Conv2dForwardArgs<T>& a) = 0;
  // Returns the gradient of x * w + b, in dy or in scratch; dy is that of the pooled outputs.
  virtual T* through_pool(Cuda& device, const BatchConvolution& c, const PoolChoice* choice, T* dy,
                          T* scratch) = 0;
  // From here on dy is the gradient of x * w + b; it may be in scratch.
  virtual void backward_parameters(Cuda& device, const BatchConvolution& c,
                                   const Conv2dBackwardArgs<T>& a) = 0;
  virtual void backward_input(Cuda& device, const BatchConvolution& c, const T* dy, const T* w,
                              T* dx, T* scratch) = 0;
};

class ConvolutionLibrary {
 public:
  virtual ~ConvolutionLibrary() = default;
  virtual LibraryConvolutions<float>& of(float) = 0;
  virtual LibraryConvolutions<double>& of(double) = 0;
};

enum class LibraryUse { where_it_pays, always, never };

// Returns the value of GPUNET_CUDNN, always or never, for measuring and for tests.
inline LibraryUse library_use() {
  static const LibraryUse use = [] {
    const char* text = std::getenv("GPUNET_CUDNN");
    const std::string_view word = text ? text : "";
    require(word.empty() || word == "always" || word == "never", "gpunet::Cuda: GPUNET_CUDNN is '",
            word, "', want always, never or nothing");
    return word == "always"  ? LibraryUse::always
           : word == "never" ? LibraryUse::never
                             : LibraryUse::where_it_pays;
  }();
  return use;
}

// Returns whether a library is faster than our own kernels (estimated, not measured). These gather
// their operands element by element, which costs as much as the products and is hidden least
// between many channels. A library takes more launches: the bias gradient, the rectifier's and the
// pooling are kernels of their own. 2^27 multiply-adds take an H200 4 us at the least, as long as
// two or three of those. Its kernels for double were not measured.
template <class T>
bool library_pays(const BatchConvolution& c) {
  constexpr index_t least = 1 << 27, least_in = 16, least_out = 32;
  return std::is_same_v<T, float> && c.g.in_channels >= least_in && c.g.out_channels >= least_out &&
         c.multiply_adds() >= least;
}

// Returns whether the outputs are those of equal padding before and behind, as a library assumes.
inline bool has_even_padding(const ConvAxis& axis) {
  const index_t rest = axis.size + 2 * axis.padding - axis.reach();
  return rest >= 0 && rest / axis.stride + 1 == axis.outputs;
}

// Returns the library that does a convolution in place of our own kernels, or null if they do.
template <class T>
LibraryConvolutions<T>* library_for(const Cuda& device, const BatchConvolution& c) {
  // Elements of an array that cuDNN can count.
  constexpr index_t most = std::numeric_limits<int>::max();
  if (!linked_convolution_library.make || library_use() == LibraryUse::never) return nullptr;
  if (c.samples == 0 || std::max({c.samples * c.g.in_features(), c.samples * c.g.out_features(),
                                  c.g.out_channels * c.g.taps()}) > most)
    return nullptr;
  if (!has_even_padding(c.g.rows) || !has_even_padding(c.g.columns)) return nullptr;
  if (library_use() == LibraryUse::where_it_pays && !library_pays<T>(c)) return nullptr;
  auto& library = device.convolution_library();
  if (!library) library = linked_convolution_library.make(device);
  LibraryConvolutions<T>& convolutions = library->of(T{});
  return convolutions.can(c) ? &convolutions : nullptr;
}

template <class T>
index_t library_scratch(const Cuda& device, const BatchConvolution& c) {
  auto* library = library_for<T>(device, c);
  return library ? library->scratch(c) : 0;
}

}  // namespace detail

}  // namespace gpunet

#endif
