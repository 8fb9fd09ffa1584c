// A function of one number, element by element, as a node of a graph.
#pragma once

#include <cstring>
#include <type_traits>

#include <gpunet/functions/activations.hpp>
#include <gpunet/functions/elementwise.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

namespace detail {

// f.value(x), for map.
template <class F>
struct ElementwiseValue {
  F f;
  template <class T>
  GPUNET_FN T operator()(T x) const {
    return f.value(x);
  }
};

// dx[i] = f.gradient(x[i], y[i], dy[i])
template <class F, class T>
struct ElementwiseGradient {
  F f;
  const T *x, *y, *dy;
  T* dx;
  GPUNET_FN void operator()(index_t i) const { dx[i] = f.gradient(x[i], y[i], dy[i]); }
};

}  // namespace detail

// Whether F is a function of gpunet's own. The library has the kernels for each of them.
template <class F>
inline constexpr bool is_elementary = requires {
  requires F::is_of_gpunet;
};

// g(f(x)), with the results of two separate kernels. The value between is not stored: backward
// computes it again.
template <class F, class G>
struct Composition {
  F f;
  G g;
  std::int32_t zero = 0;  // which the compiler of a kernel does not know

  template <class T>
  GPUNET_FN T value(T x) const {
    return g.value(rounded(f.value(x)));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T y, T dy) const {
    const T between = rounded(f.value(x));
    return f.gradient(x, between, rounded(g.gradient(between, y, dy)));
  }

 private:
  // Returns x. Passing through an integer, it is not contracted with what follows into a fused
  // multiply-add.
  template <class T>
  GPUNET_FN T rounded(T x) const {
    std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t> bits;
    static_assert(sizeof bits == sizeof x);
    memcpy(&bits, &x, sizeof x);
    bits ^= zero;
    memcpy(&x, &bits, sizeof x);
    return x;
  }
};

// F has value(x), which returns y, and gradient(x, y, dy), which returns dx; both for T float and
// double.
template <class F>
struct ElementwiseOp {
  F f;

  OpTraits traits(const Sizes&, const Sizes&) const {
    OpTraits traits{.stored_as = StoredAs::promoted};
    if constexpr (requires { f.bounds(); }) traits.clamps = f.bounds();
    return traits;
  }
  std::string extra_repr(const Sizes& in, const Sizes& out) const {
    return detail::extra_repr_of(f, in, out);
  }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const {
    map(device, pass.out_elements(), detail::ElementwiseValue<F>{f}, pass.x, pass.y);
  }
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const {
    if (pass.dx)
      for_each(device, pass.in_elements(),
               detail::ElementwiseGradient<F, T>{f, pass.x, pass.y, pass.dy, pass.dx});
  }
};

}  // namespace gpunet

// All functions of the library, as ops.
#define GPUNET_FUNCTIONS(X)  \
  GPUNET_FLOAT_FUNCTIONS(X)  \
  GPUNET_NUMBER_FUNCTIONS(X) \
  GPUNET_VALUE_FUNCTIONS(X)  \
  GPUNET_ACTIVATIONS(X) GPUNET_ACTIVATIONS_OF_1(X) GPUNET_ACTIVATIONS_OF_2(X) GPUNET_GELUS(X)

#if GPUNET_COMPILED
#define GPUNET_EXTERN_FUNCTION(scope, Name) \
  GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::scope::Name>>);
GPUNET_FUNCTIONS(GPUNET_EXTERN_FUNCTION)
#undef GPUNET_EXTERN_FUNCTION
#endif
