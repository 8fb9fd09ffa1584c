// Ops: the operations that nodes of a graph run.
//
// An op is a small value of run-time sizes that knows no graph, no device and no memory. It has
//
//   forward(device, pass)           reads pass.x, writes all of pass.y
//   backward(device, pass)          reads (and may use up) pass.dy; writes all of pass.dx unless it
//                                   is null, and the gradients of the parameters as pass.accumulate
//                                   says
//
// and any of
//
//   traits(in, out)                 OpTraits other than the defaults; in and out are Sizes of one
//                                   sample
//   scratch(device, slice, T{})     elements of T that forward or backward use while they run
//   leaves_relu_bits(device, slice) whether forward stored in its cache, as bits, which numbers its
//                                   ReLU let through
//   extra_repr(in, out)             std::string, printed in brackets behind the name of its layer,
//                                   as in torch.nn.Module:
//                                   "6, 16, kernel_size=(5, 5), stride=(1, 1)"
//   multiply_adds(in, out)          of one sample in the forward pass, where it is not one for each
//                                   parameter
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <gpunet/core/shape.hpp>
#include <gpunet/device/device.hpp>
#include <gpunet/functions/clamp.hpp>
#include <gpunet/ops/philox.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

class BatchRanks;  // ops/batch_ranks.hpp

namespace nn {

// Training or evaluation mode: some layers behave differently.
enum class Mode { train, eval };

}  // namespace nn

// The parameters (or their gradients, or the buffers) of one node: the i-th begins at
// base + offsets[i].
template <class T>
struct ArraySlices {
  T* base;
  const index_t* offsets;
  int size;
  // Throws Error if there is no such array.
  T* operator[](int i) const {
    require(0 <= i && i < size, "gpunet::ForwardPass: a layer uses element ", i,
            " of pass.parameters, gradients or buffers and declares ", size,
            " (want an index below that), add it to what parameters(in) or buffers(in) returns");
    return base + offsets[i];
  }
  // Returns a buffer that counts.
  index_t* count(int i) const { return reinterpret_cast<index_t*>((*this)[i]); }
};

// The random numbers of a pass: an OpRandom where the op's traits say uses_random.
class PassRandom {
 public:
  PassRandom() = default;
  PassRandom(const OpRandom& random) : random_(random) {}

  // Returns the numbers, for a functor. Throws Error where there are none.
  operator const OpRandom&() const {
    require(random_.exists(),
            "gpunet::OpPass: an op uses pass.random and its traits lack uses_random (the network "
            "has no random numbers for it), return {.uses_random = true} from traits(in, out)");
    return random_;
  }
  // As OpRandom::uniform.
  float uniform(index_t i, std::uint32_t draw = 0) const {
    const OpRandom& random = *this;
    return random.uniform(i, draw);
  }

 private:
  OpRandom random_;
};

// The most inputs of an op.
inline constexpr std::size_t most_inputs = 16;

// The arguments that both passes through a node have. Data of samples are [outer][feature][inner],
// see Slice.
struct OpPass {
  Slice slice;
  index_t first_sample;  // the place of the slice's first sample in the batch
  index_t in_features, out_features;
  nn::Mode mode;
  PassRandom random;
  BatchRanks* ranks;  // whose samples together are the batch; null: this process

  // Return the number of elements of x, of y.
  index_t in_elements() const { return slice.samples() * in_features; }
  index_t out_elements() const { return slice.samples() * out_features; }
};

// The arguments of an op in the forward pass.
template <class T>
struct ForwardPass : OpPass {
  const T* x;  // the first input
  T* y;
  ArraySlices<const T> parameters;
  ArraySlices<T> buffers;
  std::byte* cache;
  T* scratch;
  std::span<const T* const> inputs;  // all of them
  const T* constants = nullptr;      // of the network, see Graph::constants
};

// The arguments of an op in the backward pass. x and y are as in the forward pass; dy may be
// overwritten; dx is null where it is not needed.
//
// A device may have the gradient of an op that ends in a ReLU rectified (0 where the ReLU gave 0)
// by the op above that computes it, if that op can.
template <class T>
struct BackwardPass : OpPass {
  const T* x;
  const T* y;
  T* dy;
  T* dx;
  ArraySlices<const T> parameters;
  ArraySlices<T> gradients;
  ArraySlices<T> buffers;
  Accumulate accumulate;
  // The gradients of the parameters are not needed: an op may leave them out.
  bool skips_parameters;
  bool rectify_dx;       // dx is to be 0 where x, which a ReLU made, is
  bool dy_is_rectified;  // the op above has done so with dy
  const std::byte* cache;
  const std::byte* relu_bits;  // of the op below, see leaves_relu_bits
  T* scratch;
  std::span<const T* const> inputs;
  std::span<T* const> input_gradients;  // all dx
};

// How the output of an op is stored with a storage of 16 bits, after the lists of PyTorch's
// autocast.
enum class StoredAs : std::uint8_t {
  narrow,    // in 16 bits
  full,      // as it is computed: sums and probabilities
  promoted,  // full if an input is: numbers that are moved, or combined element by element
  constant,  // full, but a value combined with it need not be
};

// Properties of an op, for samples of certain sizes.
struct OpTraits {
  index_t cache_bytes = 0;     // bytes per sample that forward stores for backward
  index_t cache_elements = 0;  // the same in elements of the network's type; not both
  // In training it looks at the whole batch: the batch comes in one slice.
  bool couples_samples = false;
  bool is_view = false;         // output and input are the same memory, nothing is run
  bool ends_in_relu = false;    // y is the output of a ReLU
  bool can_rectify_dx = false;  // see BackwardPass
  bool uses_random = false;     // it reads pass.random
  bool stops_gradient = false;  // the gradients of its inputs are 0: it has no backward pass
  // The op only clamps, to these bounds; see clamp.hpp.
  std::optional<Bounds> clamps = std::nullopt;
  StoredAs stored_as = StoredAs::narrow;
};

// The functions of a type of op that need no device. One object for each type, whose address
// identifies it.
struct OpType {
  std::string (*extra_repr)(const void* op, const Sizes& in, const Sizes& out);
  index_t (*multiply_adds)(const void* op, const Sizes& in, const Sizes& out, index_t parameters);
  OpTraits (*traits)(const void* op, const Sizes& in, const Sizes& out);
  std::size_t bytes;  // of an op
};

// The kernels of a type of op on device D, computing in T.
template <class D, class T>
struct Kernels {
  void (*forward)(const void* op, D& device, const ForwardPass<T>& pass);
  void (*backward)(const void* op, D& device, const BackwardPass<T>& pass);
  index_t (*scratch)(const void* op, const D& device, const Slice& slice);
  bool (*leaves_relu_bits)(const void* op, const D& device, const Slice& slice);
};

namespace detail {

// The name in it, without namespaces and template arguments: "Conv2d"; "Add" for gpunet::AddOp.
std::string class_of(std::string_view signature);

template <class Op>
const Op& op_at(const void* op) {
  return *static_cast<const Op*>(op);
}

// Whether class C has a member of a name: then the name is ambiguous in a class derived from C and
// OtherNames. It finds members of a wrong signature, too.
struct OtherNames {
  void output();
  void lower();
  void parameters();
  void buffers();
  void value();
  void traits();
  void scratch();
  void leaves_relu_bits();
  void extra_repr();
  void multiply_adds();
};
struct NoClass {};
template <class C>
struct WithOtherNames : std::conditional_t<std::is_class_v<C> && !std::is_final_v<C>, C, NoClass>,
                        OtherNames {};
#define GPUNET_HAS_MEMBER(name)                  \
  template <class C>                             \
  inline constexpr bool has_##name = !requires { \
    &WithOtherNames<C>::name;                    \
  }
GPUNET_HAS_MEMBER(output);
GPUNET_HAS_MEMBER(lower);
GPUNET_HAS_MEMBER(parameters);
GPUNET_HAS_MEMBER(buffers);
GPUNET_HAS_MEMBER(value);
GPUNET_HAS_MEMBER(traits);
GPUNET_HAS_MEMBER(scratch);
GPUNET_HAS_MEMBER(leaves_relu_bits);
GPUNET_HAS_MEMBER(extra_repr);
GPUNET_HAS_MEMBER(multiply_adds);
#undef GPUNET_HAS_MEMBER

// Returns the text in brackets behind the name of an op, or of a functor of nn::Elementwise; by
// default none.
template <class Op>
std::string extra_repr_of(const Op& op, const Sizes& in, const Sizes& out) {
  if constexpr (requires {
                  { op.extra_repr(in, out) } -> std::convertible_to<std::string>;
                }) {
    return op.extra_repr(in, out);
  } else {
    static_assert(!has_extra_repr<Op>,
                  "gpunet::nn: extra_repr of a layer has another signature (it would be ignored), "
                  "write std::string extra_repr(const Sizes& in, const Sizes& out) const");
    return "";
  }
}

template <class Op>
struct OpTypeCalls {
  static std::string extra_repr(const void* op, const Sizes& in, const Sizes& out) {
    return extra_repr_of(op_at<Op>(op), in, out);
  }
  static index_t multiply_adds(const void* op, const Sizes& in, const Sizes& out,
                               index_t parameters) {
    if constexpr (requires(const Op& o) {
                    { o.multiply_adds(in, out) } -> std::convertible_to<index_t>;
                  }) {
      return op_at<Op>(op).multiply_adds(in, out);
    } else {
      static_assert(
          !has_multiply_adds<Op>,
          "gpunet::nn: multiply_adds of a layer has another signature (it would be ignored), write "
          "index_t multiply_adds(const Sizes& in, const Sizes& out) const");
      return parameters;
    }
  }
  static OpTraits traits(const void* op, const Sizes& in, const Sizes& out) {
    if constexpr (requires(const Op& o) {
                    { o.traits(in, out) } -> std::convertible_to<OpTraits>;
                  }) {
      return op_at<Op>(op).traits(in, out);
    } else {
      static_assert(!has_traits<Op>,
                    "gpunet::nn: traits of a layer has another signature (it would be ignored), "
                    "write OpTraits traits(const Sizes& in, const Sizes& out) const");
      return {};
    }
  }
};

// The kernels of an op whose kernels are its member functions. They may write anything for padding
// samples, such as the logarithm of 0: it is set to 0, as the ops above and below expect.
template <class Op>
struct OwnKernels {
  using op_type = Op;
  template <class D, class T>
  static void forward(const Op& op, D& device, const ForwardPass<T>& pass) {
    if constexpr (requires { op.forward(device, pass); }) {
      op.forward(device, pass);
      clear_padding(device, pass.slice, pass.out_features, pass.y);
    }  // else Model refuses it
  }
  template <class D, class T>
  static void backward(const Op& op, D& device, const BackwardPass<T>& pass) {
    if constexpr (requires { op.backward(device, pass); }) {
      op.backward(device, pass);
      if (pass.dx) clear_padding(device, pass.slice, pass.in_features, pass.dx);
    }  // else Model refuses it
  }

 private:
  template <class D, class T>
  static void clear_padding(D& device, const Slice& slice, index_t features, T* data) {
    const index_t padding = slice.samples() - slice.count;
    if (padding > 0) for_each(device, padding * features, ClearPadding<T>{slice, features, data});
  }
};

}  // namespace detail

template <class Op>
inline constexpr OpType op_type = {detail::OpTypeCalls<Op>::extra_repr,
                                   detail::OpTypeCalls<Op>::multiply_adds,
                                   detail::OpTypeCalls<Op>::traits, sizeof(Op)};

namespace detail {

template <class K, class D, class T>
struct KernelCalls {
  using Op = typename K::op_type;

  static void forward(const void* op, D& device, const ForwardPass<T>& pass) {
    K::forward(op_at<Op>(op), device, pass);
  }
  static void backward(const void* op, D& device, const BackwardPass<T>& pass) {
    K::backward(op_at<Op>(op), device, pass);
  }
  static index_t scratch(const void* op, const D& device, const Slice& slice) {
    if constexpr (requires(const Op& o) { K::scratch(o, device, slice, T{}); })
      return K::scratch(op_at<Op>(op), device, slice, T{});
    else if constexpr (requires(const Op& o) {
                         { o.scratch(device, slice, T{}) } -> std::convertible_to<index_t>;
                       })
      return op_at<Op>(op).scratch(device, slice, T{});
    else {
      static_assert(
          !has_scratch<Op>,
          "gpunet::nn: scratch of a layer has another signature (it would be ignored), write "
          "index_t scratch(const auto& device, const Slice& slice, auto zero) const");
      return 0;
    }
  }
  static bool leaves_relu_bits(const void* op, const D& device, const Slice& slice) {
    if constexpr (requires(const Op& o) {
                    { o.leaves_relu_bits(device, slice) } -> std::convertible_to<bool>;
                  }) {
      return op_at<Op>(op).leaves_relu_bits(device, slice);
    } else {
      static_assert(
          !has_leaves_relu_bits<Op>,
          "gpunet::nn: leaves_relu_bits of an op has another signature (it would be ignored), "
          "write bool leaves_relu_bits(const auto& device, const Slice& slice) const");
      return false;
    }
  }

  static constexpr Kernels<D, T> table = {forward, backward, scratch, leaves_relu_bits};
};

}  // namespace detail

// Returns the table of the kernels `K` of an op on device D for T: K::op_type, K::forward(op,
// device, pass), K::backward(op, device, pass).
template <class K, class D, class T>
const Kernels<D, T>* kernels_of() {
  if constexpr (GPUNET_NVCC || !std::is_same_v<D, Cuda>) {
    return &detail::KernelCalls<K, D, T>::table;
  } else {
    static_assert(sizeof(K) == 0,
                  "gpunet: an op of this program runs on Cuda, and only a CUDA compiler makes "
                  "kernels of it, compile this unit with nvcc");
    return nullptr;
  }
}

namespace detail {

// Whether the compiled library holds the kernels K, see GPUNET_EXTERN_KERNELS.
template <class K>
inline constexpr bool is_in_library = false;

}  // namespace detail

}  // namespace gpunet

// Kernels that the compiled library holds: user units only declare them, the library instantiates
// them.
#define GPUNET_KERNELS_OF(D, T, ...) \
  const ::gpunet::Kernels<D, T>* ::gpunet::kernels_of<__VA_ARGS__, D, T>()
#define GPUNET_OP_OF(...) struct ::gpunet::detail::OpTypeCalls<typename __VA_ARGS__::op_type>
#if GPUNET_CUDA && !GPUNET_NVCC
#define GPUNET_EXTERN_KERNELS(...)                                           \
  template <>                                                                \
  inline constexpr bool ::gpunet::detail::is_in_library<__VA_ARGS__> = true; \
  extern template GPUNET_OP_OF(__VA_ARGS__);                                 \
  GPUNET_EXTERN_HOST_KERNELS(__VA_ARGS__);                                   \
  extern template GPUNET_KERNELS_OF(::gpunet::Cuda, float, __VA_ARGS__);     \
  extern template GPUNET_KERNELS_OF(::gpunet::Cuda, double, __VA_ARGS__)
#elif GPUNET_CUDA  // has all kernels
#define GPUNET_EXTERN_KERNELS(...)                                       \
  extern template GPUNET_OP_OF(__VA_ARGS__);                             \
  GPUNET_EXTERN_HOST_KERNELS(__VA_ARGS__);                               \
  extern template GPUNET_KERNELS_OF(::gpunet::Cuda, float, __VA_ARGS__); \
  extern template GPUNET_KERNELS_OF(::gpunet::Cuda, double, __VA_ARGS__)
#else
#define GPUNET_EXTERN_KERNELS(...)           \
  extern template GPUNET_OP_OF(__VA_ARGS__); \
  GPUNET_EXTERN_HOST_KERNELS(__VA_ARGS__)
#endif
#define GPUNET_COMPILE_DEVICE_KERNELS(...)                                \
  template GPUNET_KERNELS_OF(GPUNET_COMPILED_DEVICE, float, __VA_ARGS__); \
  template GPUNET_KERNELS_OF(GPUNET_COMPILED_DEVICE, double, __VA_ARGS__)
#if GPUNET_NVCC
#define GPUNET_COMPILE_KERNELS(...) GPUNET_COMPILE_DEVICE_KERNELS(__VA_ARGS__)
#else
#define GPUNET_COMPILE_KERNELS(...)   \
  template GPUNET_OP_OF(__VA_ARGS__); \
  GPUNET_COMPILE_DEVICE_KERNELS(__VA_ARGS__)
#endif
// The same for Host alone: kernels for a part of the sizes, see DeviceTraits::unrolls_sizes.
#define GPUNET_EXTERN_HOST_KERNELS(...)                                  \
  extern template GPUNET_KERNELS_OF(::gpunet::Host, float, __VA_ARGS__); \
  extern template GPUNET_KERNELS_OF(::gpunet::Host, double, __VA_ARGS__)
#if GPUNET_NVCC
#define GPUNET_COMPILE_HOST_KERNELS(...) static_assert(true)
#else
#define GPUNET_COMPILE_HOST_KERNELS(...) GPUNET_COMPILE_DEVICE_KERNELS(__VA_ARGS__)
#endif

// The ops of this folder whose kernels the compiled library holds: OF(op) for each. Those of linear
// layers and convolutions, which have kernels by sizes, are in their headers.
#define GPUNET_EACH_OP(OF)               \
  OF(struct AddOp);                      \
  OF(struct AttentionOp);                \
  OF(struct AvgPool2dOp);                \
  OF(struct AvgPool3dOp);                \
  OF(struct BatchNormOp);                \
  OF(struct BilinearOp);                 \
  OF(BinaryOp<functions::BroadcastSum>); \
  OF(BinaryOp<functions::Difference>);   \
  OF(BinaryOp<functions::Maximum>);      \
  OF(BinaryOp<functions::Minimum>);      \
  OF(BinaryOp<functions::Product>);      \
  OF(BinaryOp<functions::Quotient>);     \
  OF(struct ConcatOp);                   \
  OF(struct ConstantOp);                 \
  OF(struct Conv3dOp);                   \
  OF(struct DetachOp);                   \
  OF(struct DropoutOp);                  \
  OF(struct EmbeddingOp);                \
  OF(struct GatherOp);                   \
  OF(struct GluOp);                      \
  OF(struct LastStepOp);                 \
  OF(struct MaxPool2dOp);                \
  OF(struct MaxPool3dOp);                \
  OF(struct NarrowOp);                   \
  OF(struct ParameterOp);                \
  OF(struct PickOp);                     \
  OF(struct PositionEmbeddingOp);        \
  OF(struct PReLUOp);                    \
  OF(struct RandnOp);                    \
  OF(RecurrentOp<struct GruCell>);       \
  OF(RecurrentOp<struct LstmCell>);      \
  OF(RecurrentOp<RnnCell<false>>);       \
  OF(RecurrentOp<RnnCell<true>>);        \
  OF(struct ReluOp);                     \
  OF(struct RowNormOp);                  \
  OF(struct SoftmaxOp);                  \
  OF(struct SumOp)
#define GPUNET_EXTERN_OP(...) GPUNET_EXTERN_KERNELS(detail::OwnKernels<__VA_ARGS__>)
#define GPUNET_COMPILE_OP(...) GPUNET_COMPILE_KERNELS(detail::OwnKernels<__VA_ARGS__>)

#if GPUNET_COMPILED
namespace gpunet {

namespace functions {
struct BroadcastSum;
struct Difference;
struct Maximum;
struct Minimum;
struct Product;
struct Quotient;
}  // namespace functions
template <class F>
struct BinaryOp;
template <class Cell>
struct RecurrentOp;
template <bool relu>
struct RnnCell;

GPUNET_EACH_OP(GPUNET_EXTERN_OP);

}  // namespace gpunet
#else
#include <gpunet/ops/op.ipp>
#endif
