// Networks as functions of values:
//   Network net(host, [](nn::Value x) { return linear(relu(linear(x, 20)), 3); }, {4});
// The function is called once, with values that stand for the inputs; its operations on them make
// the graph. Sizes are known and checked then. value_math.hpp has arithmetic, functional.hpp has
// layers and losses. Dimensions are counted as in PyTorch: 0 is the batch, -1 the last one.
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/functions/function.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/refused_value_methods.hpp>

namespace gpunet::nn {

inline namespace GPUNET_BACKENDS {

class Value;

}  // namespace GPUNET_BACKENDS

namespace detail {
inline namespace GPUNET_BACKENDS {

// The device and element type that a function of values makes a graph for.
enum class Backend { none, host_float, host_double, gpu_float, gpu_double };

template <class D, class T>
constexpr Backend backend_of() {
  constexpr bool is_double = std::is_same_v<T, double>;
  if constexpr (std::is_same_v<D, Host>)
    return is_double ? Backend::host_double : Backend::host_float;
  else
    return is_double ? Backend::gpu_double : Backend::gpu_float;
}

[[noreturn]] void refuse_gpu_kernels(const char* signature);

// Returns the table of the kernels K.
template <class K>
const void* kernels_for(Backend backend) {
  switch (backend) {
    case Backend::none:
      return nullptr;
    case Backend::host_float:
      return kernels_of<K, Host, float>();
    case Backend::host_double:
      return kernels_of<K, Host, double>();
    case Backend::gpu_float:
    case Backend::gpu_double:
      if constexpr (GPUNET_NVCC || (GPUNET_CUDA && gpunet::detail::is_in_library<K>))
        return backend == Backend::gpu_float
                   ? static_cast<const void*>(kernels_of<K, Cuda, float>())
                   : kernels_of<K, Cuda, double>();
      else
        refuse_gpu_kernels(gpunet::detail::signature<typename K::op_type>());
  }
  return nullptr;
}

// Builds the graph of a function of values: a Lowering whose device is known at run time only.
class ValueBuilder : public GraphBuilder {
 public:
  using device_type = void;  // layers take the kernels for any size
  using value_type = void;

  ValueBuilder(const Sizes& sizes, Backend backend) : GraphBuilder(sizes), backend_(backend) {}

  // As in Lowering.
  template <class Op, class K = gpunet::detail::OwnKernels<Op>>
  value_t add(const Op& op, value_t x, const Sizes& output,
              std::span<const ParameterSpec> parameters = {},
              std::span<const BufferSpec> buffers = {}) {
    return add<Op, K>(op, std::span(&x, 1), output, parameters, buffers);
  }
  template <class Op, class K = gpunet::detail::OwnKernels<Op>>
  value_t add(const Op& op, std::span<const value_t> inputs, const Sizes& output,
              std::span<const ParameterSpec> parameters = {},
              std::span<const BufferSpec> buffers = {}) {
    return add_op(op, kernels_for<K>(backend_), inputs, output, parameters, buffers);
  }

  // The part of a network with a name, or with the number of such parts so far; until its end.
  class Part {
   public:
    Part(ValueBuilder& builder, std::string_view name);
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part();

   private:
    ValueBuilder& builder_;
  };
  // A part whose parameters are shared, see GraphBuilder::enter_shared.
  class SharedPart {
   public:
    SharedPart(ValueBuilder& builder, std::string_view name);
    SharedPart(const SharedPart&) = delete;
    SharedPart& operator=(const SharedPart&) = delete;
    ~SharedPart();

   private:
    ValueBuilder& builder_;
  };

  bool is_finished() const { return finished_; }
  // Returns the graph, of which nothing can be made any more.
  Graph take(std::span<const Value> outputs);

 private:
  Backend backend_;
  std::vector<index_t> numbers_{0};  // of the parts so far, in each part that is open
  bool finished_ = false;
};

}  // namespace GPUNET_BACKENDS
}  // namespace detail

inline namespace GPUNET_BACKENDS {

// A value of a network that is being built: stands for an array [batch, ...sizes()] in a function
// of values. Copies are the same value.
class Value : public detail::RefusedValueMethods {
 public:
  // Made by gpunet, for value `number` of the graph of `builder`.
  Value(std::shared_ptr<detail::ValueBuilder> builder, value_t number)
      : builder_(std::move(builder)), number_(number) {}

  // The sizes of one sample. Throws Error if the network has been built already.
  Sizes sizes() const;
  // The number of dimensions with the batch.
  int dim() const { return sizes().rank() + 1; }
  // The extent of dimension `dim`, which is 1 for the first one of a sample, or counted from the
  // end: -1 is the last. Throws Error if there is no such dimension.
  index_t size(int dim) const;

  // An index does not compile.
  template <class Index>
  Value operator[](const Index&) const {
    static_assert(sizeof(Index) == 0,
                  "gpunet::nn::Value: no elements of values (dimension 0 is the batch), write "
                  "narrow(x, 1, i, 1) for a part of a dimension");
    return *this;
  }

  // For functions that append nodes.
  detail::ValueBuilder& builder() const { return *builder_; }
  const std::shared_ptr<detail::ValueBuilder>& shared_builder() const { return builder_; }
  value_t number() const { return number_; }

 private:
  std::shared_ptr<detail::ValueBuilder> builder_;
  value_t number_;
};

}  // namespace GPUNET_BACKENDS

namespace detail {
inline namespace GPUNET_BACKENDS {

// Returns the shape with the batch, for messages: "[batch, 3, 32]".
std::string shape_text(const Sizes& sizes);

// Returns dimension `dim` of PyTorch's counting as that of a sample. Throws Error if there is none;
// `function` is the caller's name.
int sample_dim(std::string_view function, const Value& x, int dim);

// Throws Error unless all values belong to one network that is being built.
void require_same_network(std::string_view function, std::span<const Value> values);

// Appends a node that computes values of sizes `out`, printed as a layer of class Layer. Its name
// is that of the function, or, if it has parameters, `name` or else a number.
template <class Layer, class Op, class K = gpunet::detail::OwnKernels<Op>>
Value add_node(std::string_view function, const Op& op, std::span<const Value> inputs,
               const Sizes& out, std::span<const ParameterSpec> parameters = {},
               std::string_view name = {}, std::span<const BufferSpec> buffers = {}) {
  require_same_network(function, inputs);
  std::array<value_t, most_inputs> numbers;
  require(inputs.size() <= most_inputs, "gpunet::nn::", function, ": ", inputs.size(),
          " values (want 1 to ", most_inputs, "), join some before");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    numbers[i] = inputs[i].number();
  ValueBuilder& builder = inputs[0].builder();
  const ValueBuilder::Part part(builder, parameters.empty() ? function : name);
  builder.set_layer(gpunet::detail::signature<Layer>());
  return Value(
      inputs[0].shared_builder(),
      builder.add<Op, K>(op, std::span(numbers.data(), inputs.size()), out, parameters, buffers));
}
template <class Layer, class Op, class K = gpunet::detail::OwnKernels<Op>>
Value add_node(std::string_view function, const Op& op, const Value& x, const Sizes& out,
               std::span<const ParameterSpec> parameters = {}, std::string_view name = {},
               std::span<const BufferSpec> buffers = {}) {
  return add_node<Layer, Op, K>(function, op, std::span(&x, 1), out, parameters, name, buffers);
}

// Calls f with `sizes` as a Shape<dyn, ...> of `rank` dimensions. Returns its result.
template <int rank, class F>
decltype(auto) with_shape(const Sizes& sizes, F f) {
  return [&]<std::size_t... I>(std::index_sequence<I...>)->decltype(auto) {
    return f(Shape(Dim<dyn>(sizes[static_cast<int>(I)])...));
  }
  (std::make_index_sequence<static_cast<std::size_t>(rank)>{});
}

// Throws Error unless x has `rank` dimensions without the batch; `wanted` names them.
void require_rank(std::string_view function, const Value& x, int rank, std::string_view wanted);

// Whether F takes N values. A layer does not: its call is a compile error.
template <class F, class... Values>
concept FunctionOf = !gpunet::detail::has_output<F> && std::invocable<F&, Values...>;

// Calls a function for inputs of these sizes; `call` gets the values and appends the function's
// results.
template <class Call>
Graph graph_of_call(Backend backend, std::span<const Sizes> inputs, Call call);

// Returns the values of several inputs, or of one.
std::vector<Value> values_of_inputs(Backend backend, std::span<const Sizes> inputs);

inline void append_results(std::vector<Value>& results, const Value& value) {
  results.push_back(value);
}
template <class Values>
requires requires(const Values& values) {
  { *values.begin() } -> std::convertible_to<Value>;
}
void append_results(std::vector<Value>& results, const Values& values) {
  results.insert(results.end(), values.begin(), values.end());
}

template <class Call>
Graph graph_of_call(Backend backend, std::span<const Sizes> inputs, Call call) {
  const std::vector<Value> values = values_of_inputs(backend, inputs);
  std::vector<Value> results;
  append_results(results, call(values));
  return values[0].builder().take(results);
}

// Returns the graph of a function of values for inputs of one, two or three shapes; a compile error
// for a function that does not take as many.
template <class F>
Graph graph_of_function(Backend backend, F& f, std::initializer_list<Sizes> inputs) {
  return graph_of_call(backend, std::span(inputs.begin(), inputs.size()),
                       [&](const std::vector<Value>& x) {
                         if constexpr (FunctionOf<F, Value>)
                           return f(x[0]);
                         else if constexpr (FunctionOf<F, Value, Value>)
                           return f(x[0], x[1]);
                         else
                           return f(x[0], x[1], x[2]);
                       });
}

}  // namespace GPUNET_BACKENDS
}  // namespace detail

inline namespace GPUNET_BACKENDS {

// Whether F is a function of one, two or three values.
template <class F>
inline constexpr int values_taken_by = detail::FunctionOf<F, Value>                 ? 1
                                       : detail::FunctionOf<F, Value, Value>        ? 2
                                       : detail::FunctionOf<F, Value, Value, Value> ? 3
                                                                                    : 0;

// Returns layer(x): apply<3>(Conv2d<16, 3>{}, x) for any layer or block, also of your own, and x of
// `rank` dimensions without the batch. Its parameters are called name.weight, ...; without a name
// the number of layers so far stands for it. Throws Error for x of another rank or sizes that the
// layer cannot take.
template <int rank, class L>
Value apply(const L& layer, const Value& x, std::string_view name = {}) {
  static_assert(detail::check_layer<L>());
  detail::require_same_network("apply", std::span(&x, 1));
  detail::require_rank("apply", x, rank, class_name<L>());
  detail::ValueBuilder& builder = x.builder();
  const detail::ValueBuilder::Part part(builder, name);
  return Value(x.shared_builder(), detail::with_shape<rank>(x.sizes(), [&](auto shape) {
                 static_cast<void>(detail::output_shape(layer, shape));
                 return nn::lower(builder, layer, x.number(), shape);
               }));
}

// Returns f(x, more...), a function of values whose parameters are called name.0.weight, ...: a
// block with a name, as a module in PyTorch. named("layer1", block, x).
template <class F, class... Values>
auto named(std::string_view name, F f, const Value& x, const Values&... more) {
  detail::require_same_network("named", std::span(&x, 1));
  const detail::ValueBuilder::Part part(x.builder(), name);
  return f(x, more...);
}

// Returns f(x, more...) with parameters called name.0.weight, ... from the beginning of the
// network's names. All calls with one name share them: shared("embed", encoder, a) and
// shared("embed", encoder, b) are a siamese network. Gradients are added.
// Throws Error if the layers differ, or have buffers, as BatchNorm2d has.
template <class F, class... Values>
auto shared(std::string_view name, F f, const Value& x, const Values&... more) {
  detail::require_same_network("shared", std::span(&x, 1));
  const detail::ValueBuilder::SharedPart part(x.builder(), name);
  return f(x, more...);
}

// Returns a parameter as a value, the same for all samples, of the network that x is in:
//   Value gain = parameter(x, nn::constant("gain", {8}, 1));
Value parameter(const Value& x, const ParameterSpec& spec);

// Give the compiler one clear error for a function of values without its header or with other
// arguments: the last choice beside the functions of functional.hpp.
#define GPUNET_REFUSED_FUNCTION(name)                                                        \
  template <std::same_as<Value> X>                                                           \
  auto name(const X& x, ...) {                                                               \
    static_assert(                                                                           \
        gpunet::detail::never<X>,                                                            \
        "gpunet::nn::" #name                                                                 \
        ": no function of values takes these arguments, include "                            \
        "<gpunet/functional.hpp>, and give options by name: linear(x, 8, {.bias = false})"); \
    return x;                                                                                \
  }
// clang-format off
#define GPUNET_REFUSED_NAMES(f) \
  f(adaptive_avg_pool2d) f(avg_pool2d) f(batch_norm) \
  f(cat) f(clamp) f(conv2d) f(cross_entropy) f(detach) \
  f(dropout) f(embedding) f(flatten) f(group_norm) f(gru) \
  f(layer_norm) f(linear) f(log_softmax) f(lstm) f(max_pool2d) f(maximum) f(mean) f(minimum) \
  f(multihead_attention) f(narrow) f(nll_loss) f(permute) f(pow) f(relu) f(reshape) \
  f(rms_norm) f(rnn) f(scaled_dot_product_attention) f(softmax) f(sum) \
  f(transformer_decoder_layer) f(transpose)
GPUNET_REFUSED_NAMES(GPUNET_REFUSED_FUNCTION)
// clang-format on
#undef GPUNET_REFUSED_NAMES
#undef GPUNET_REFUSED_FUNCTION
// The same for functions that take tensors, too, such as tanh(x), and for losses.
template <class F, std::same_as<Value> X>
X apply_function(const F&, const X& x, ...) {
  static_assert(gpunet::detail::never<X>,
                "gpunet::nn: a function of values without its header, include "
                "<gpunet/functional.hpp>");
  return x;
}
template <std::same_as<Value> X>
X loss_of_values(std::string_view function, const X& x, const X& target, ...) {
  return apply_function(function, x, target);
}

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::nn

template <>
inline constexpr bool gpunet::detail::is_function_argument<gpunet::nn::Value> = true;

#if !GPUNET_COMPILED
#include <gpunet/nn/value.ipp>
#endif
