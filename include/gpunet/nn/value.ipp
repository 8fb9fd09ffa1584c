// Bodies of value.hpp. gpunet::compiled and gpunet::cuda both contain them: the latter also chooses
// kernels of Cuda.
#pragma once

#include <string>

#include <gpunet/core/error.hpp>
#include <gpunet/nn/reshape.hpp>
#include <gpunet/nn/value.hpp>
#include <gpunet/ops/concat.hpp>
#include <gpunet/ops/sources.hpp>

namespace gpunet::nn {

namespace detail {
inline namespace GPUNET_BACKENDS {

GPUNET_BACKENDS_INLINE void refuse_gpu_kernels(const char* signature) {
  throw_error(Error(concat(
      "gpunet::nn: ", gpunet::detail::class_of(signature),
      " runs on Cuda (only a CUDA compiler makes kernels of it), compile this unit with nvcc")));
}

GPUNET_BACKENDS_INLINE ValueBuilder::Part::Part(ValueBuilder& builder, std::string_view name)
    : builder_(builder) {
  if (name.empty())
    builder.enter(builder.numbers_.back()++);
  else
    builder.enter(name);
  builder.numbers_.push_back(0);
}
GPUNET_BACKENDS_INLINE ValueBuilder::Part::~Part() {
  builder_.numbers_.pop_back();
  builder_.leave();
}

GPUNET_BACKENDS_INLINE ValueBuilder::SharedPart::SharedPart(ValueBuilder& builder,
                                                            std::string_view name)
    : builder_(builder) {
  require(!name.empty(),
          "gpunet::nn::shared: the name is empty (by which the parameters are found), give one");
  builder.enter_shared(name);
  builder.numbers_.push_back(0);
}
GPUNET_BACKENDS_INLINE ValueBuilder::SharedPart::~SharedPart() {
  builder_.numbers_.pop_back();
  builder_.leave_shared();
}

GPUNET_BACKENDS_INLINE std::vector<Value> values_of_inputs(Backend backend,
                                                           std::span<const Sizes> inputs) {
  index_t features = 0;
  for (const Sizes& sizes : inputs) {
    for (const index_t extent : sizes)
      require(extent >= 1, "gpunet::Network: an input of ", to_string(sizes),
              " (want extents of 1 or more)");
    require(sizes.at_most(most_elements), "gpunet::Network: an input of ", to_string(sizes),
            " (want 2^48 numbers or fewer, no memory holds more), give smaller sizes");
    features += sizes.numel();
  }
  const auto builder =
      std::make_shared<ValueBuilder>(inputs.size() == 1 ? inputs[0] : Sizes{features}, backend);
  const Value all(builder, GraphBuilder::input);
  if (inputs.size() == 1) return {all};
  builder->set_inputs(inputs);
  std::vector<Value> values;
  index_t first = 0;
  for (const Sizes& sizes : inputs) {
    const NarrowOp part{1, first, sizes.numel(), features};
    values.push_back(add_node<NarrowOp>("input", part, all, sizes));
    first += sizes.numel();
  }
  builder->set_packing(0);
  return values;
}

GPUNET_BACKENDS_INLINE Graph ValueBuilder::take(std::span<const Value> outputs) {
  require(!outputs.empty(),
          "gpunet::Network: the function returns no value (want 1 or more), return the outputs");
  require_same_network("Network", outputs);
  require(&outputs[0].builder() == this,
          "gpunet::Network: the function returns a value of another network, return what it "
          "computes of its inputs");
  value_t output = outputs[0].number();
  if (outputs.size() > 1) {
    std::vector<Sizes> sizes;
    ConcatOp all{.rows = 1, .dim = 1};
    index_t features = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      sizes.push_back(outputs[i].sizes());
      if (i < most_inputs) all.columns[i] = sizes[i].numel();
      features += sizes[i].numel();
    }
    output = detail::add_node<ConcatOp>("outputs", all, outputs, Sizes{features}).number();
    set_packing(nodes() - 1);
    set_outputs(sizes);
  }
  finished_ = true;
  return std::move(static_cast<GraphBuilder&>(*this)).finish(output);
}

GPUNET_BACKENDS_INLINE std::string shape_text(const Sizes& sizes) {
  return "[batch" + (sizes.rank() > 0 ? ", " + to_string(sizes).substr(1) : std::string("]"));
}

GPUNET_BACKENDS_INLINE int sample_dim(std::string_view function, const Value& x, int dim) {
  const int rank = x.dim(), counted = dim < 0 ? dim + rank : dim;
  require(rank > 1, "gpunet::nn::", function, ": dimension ", dim,
          " of a value of shape [batch] (a sample is one number), reshape it");
  require(counted != 0, "gpunet::nn::", function, ": dimension ", dim,
          " is the batch (samples are computed one by one), give one of a sample: 1 is its first");
  require(counted > 0 && counted < rank, "gpunet::nn::", function, ": dimension ", dim,
          " of a value of shape ", shape_text(x.sizes()), " (want 1 to ", rank - 1, ", or -1 to ",
          1 - rank, "), give one of a sample");
  return counted - 1;
}

GPUNET_BACKENDS_INLINE void require_same_network(std::string_view function,
                                                 std::span<const Value> values) {
  require(!values.empty(), "gpunet::nn::", function,
          ": no value (want 1 or more), give what to compute with");
  for (const Value& value : values) {
    static_cast<void>(value.sizes());
    require(&value.builder() == &values[0].builder(), "gpunet::nn::", function,
            ": values of two networks, use only values of the function that is running");
  }
}

GPUNET_BACKENDS_INLINE void require_rank(std::string_view function, const Value& x, int rank,
                                         std::string_view wanted) {
  require(x.sizes().rank() == rank, "gpunet::nn::", function, ": a value of shape ",
          shape_text(x.sizes()), " (want ", wanted, " with ", rank + 1, " dimensions), reshape it");
}

}  // namespace GPUNET_BACKENDS
}  // namespace detail

inline namespace GPUNET_BACKENDS {

GPUNET_BACKENDS_INLINE Sizes Value::sizes() const {
  require(!builder_->is_finished(),
          "gpunet::nn::Value: a value of a network that has been built already, use only values of "
          "the function that is running");
  return builder_->sizes(number_);
}

GPUNET_BACKENDS_INLINE index_t Value::size(int dim) const {
  return sizes()[detail::sample_dim("Value::size", *this, dim)];
}

GPUNET_BACKENDS_INLINE Value parameter(const Value& x, const ParameterSpec& spec) {
  detail::require_same_network("parameter", std::span(&x, 1));
  require(!spec.name.empty(),
          "gpunet::nn::parameter: the name is empty (its key in files), give one");
  // The node is named as its parameter is.
  return detail::add_node<ParameterOp>(
      "parameter", ParameterOp{}, Value(x.shared_builder(), GraphBuilder::input), spec.sizes,
      std::array{ParameterSpec{"", spec.sizes, spec.initial}}, spec.name);
}

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::nn
