// A single layer on a device. For tests; not in gpunet.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/math.hpp>
#include <gpunet/device/traits.hpp>
#include <gpunet/graph/run_slice.hpp>
#include <gpunet/nn/catch_fault.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/tensor/guarded_buffer.hpp>

namespace gpunet::nn {

// Returns rows [count, features] in the order of a slice, with padding samples 0. Independent of
// ops/interleave.hpp, which it tests.
template <class T>
std::vector<T> to_slice_order(const Slice& slice, index_t features, const std::vector<T>& rows) {
  std::vector<T> data(static_cast<std::size_t>(slice.samples() * features), T{});
  for (index_t n = 0; n < slice.count; ++n)
    for (index_t k = 0; k < features; ++k)
      data.data()[(n / slice.inner * features + k) * slice.inner + n % slice.inner] =
          rows.data()[n * features + k];
  return data;
}

// Returns the real samples of a slice as rows [count, features].
template <class T>
std::vector<T> to_rows(const Slice& slice, index_t features, const T* data) {
  std::vector<T> rows;
  for (index_t n = 0; n < slice.count; ++n)
    for (index_t k = 0; k < features; ++k)
      rows.push_back(data[(n / slice.inner * features + k) * slice.inner + n % slice.inner]);
  return rows;
}

// Returns every kind of slice that a device uses: full ones, and some with padding.
template <class D>
std::vector<Slice> test_slices() {
  if (DeviceTraits<D>::most_inner > 1)
    return {{1, 1, 1},   {3, 3, 1},   {4, 1, 4}, {3, 1, 4},
            {16, 1, 16}, {11, 1, 16}, {8, 2, 4}, {5, 2, 4}};
  return {{1, 1, 1}, {3, 3, 1}};
}

// The gradients from a layer's backward pass.
template <class T>
struct LayerGradients {
  std::vector<T> dx;          // [count, in]; empty if not requested
  std::vector<T> padding;     // dx of the padding samples
  std::vector<T> parameters;  // concatenated
};

// A layer on one slice of a device. Inputs and outputs are rows of real samples, as in PyTorch.
// Memory that the layer has to write is NaN before. Type-erased, so that tests compile once for all
// layers.
template <class T, class D>
class LayerRun {
 public:
  // The device must outlive it.
  template <class L, class In>
  LayerRun(D& device, const L& layer, In in, const Slice& slice)
      : LayerRun(device, graph_of(layer, in), slice) {}
  LayerRun(D& device, Graph graph, const Slice& slice);

  // Returns whether samples depend on each other.
  bool couples_samples() const { return plan_.couples_samples && mode_ == Mode::train; }
  // Sets training or evaluation mode. The default is training mode.
  void set_mode(Mode mode) { mode_ = mode; }
  // Returns `size` elements of buffer i.
  std::vector<T> buffer(std::size_t i, index_t size) const {
    require(i < graph_.buffers.size() && size == graph_.buffers[i].sizes.numel(),
            "gpunet::nn::LayerRun: ", size, " elements of buffer ", i,
            ", which the layer does not have");
    const std::vector<T> all = buffers_.download();
    const T* first = all.data() + graph_.buffers[i].offset;
    return std::vector<T>(first, first + size);
  }

  // The slice, sizes and parameters of the layer.
  const Slice& slice() const { return slice_; }
  index_t in_features() const { return plan_.input_features; }
  index_t out_features() const { return plan_.output_features; }
  const std::vector<ParameterInfo>& parameters() const { return graph_.parameters; }
  index_t parameter_count() const {
    index_t count = 0;
    for (const ParameterInfo& parameter : graph_.parameters)
      count += parameter.sizes.numel();
    return count;
  }

  // Sets all parameters, concatenated.
  void set_parameters(const std::vector<T>& values) {
    require_size("parameters", values, parameter_count());
    parameters_.upload(spread(values));
  }

  // Runs the forward pass: x [count, in] -> y [count, out].
  std::vector<T> forward(const std::vector<T>& x);

  // After forward(), runs the backward pass: dy [count, out] -> gradients. Gradients of parameters
  // begin as `before`, or as NaN.
  LayerGradients<T> backward(const std::vector<T>& dy, Accumulate accumulate = Accumulate::no,
                             const std::vector<T>& before = {},
                             InputGradient input = InputGradient::compute);

 private:
  template <class L, class In>
  static Graph graph_of(const L& layer, In in) {
    static_assert(detail::check_layer<L>());
    static_assert(detail::can_run<L, D, T>(),
                  "gpunet::nn::LayerRun: a layer lacks forward(device, pass) or backward(device, "
                  "pass) for this device and element type, write both (docs/adding_a_layer.md)");
    Lowering<D, T> builder(in.sizes());
    builder.enter("layer");
    const value_t output = nn::lower(builder, layer, GraphBuilder::input, in);
    return std::move(builder).finish(output);
  }

  SliceRun<D, T> run(const Plan& plan) {
    return {.device = device_,
            .graph = graph_,
            .plan = plan,
            .slice = slice_,
            .first_sample = 0,
            .x = x_.data(),
            .parameters = parameters_.data(),
            .state = {buffers_.data(),
                      mode_,
                      {0, plan.uses_random ? random_step_.data() : nullptr},
                      constants_.data()},
            .memory = {x_.data(), outputs_.data(), reinterpret_cast<std::byte*>(cache_.data()),
                       dy_.data(), dx_.data(), scratch_.data()}};
  }
  static void require_size(const char* what, const std::vector<T>& values, index_t wanted) {
    require(static_cast<index_t>(values.size()) == wanted, "gpunet::nn::LayerRun: ", values.size(),
            " numbers of ", what, " (want ", wanted,
            "), give those of the real samples, row by row");
  }
  // Returns a slice; throws Error if there is none of these sizes.
  static Slice checked(const Slice& slice) {
    require(
        slice.outer >= 1 && slice.inner >= 1 && slice.count >= 1 && slice.count <= slice.samples(),
        "gpunet::nn::LayerRun: a slice of ", slice.count, " samples in ", slice.outer, " x ",
        slice.inner, " (want 1 to outer * inner samples), give Slice{count, outer, inner}");
    return slice;
  }
  // Returns whether nothing runs: y is x, dx is dy.
  bool is_view() const { return plan_.nodes.empty(); }
  index_t output_offset() const {
    return plan_.values[static_cast<std::size_t>(plan_.output)].offset * slice_.samples();
  }

  // Returns the end of the last value, without padding for alignment.
  index_t end_of_values() const {
    index_t end = 0;
    for (const PlannedValue& value : plan_.values)
      if (value.offset >= 0) end = std::max(end, value.offset + value.features);
    return end * slice_.samples();
  }
  // Returns the end of the last gradient, stored or added; the larger of both plans', which place
  // gradients differently.
  index_t end_of_gradients() const {
    index_t end = 0;
    for (const Plan* plan : {&plan_, &plan_without_dx_}) {
      for (const PlannedValue& value : plan->values)
        if (value.gradient >= 0) end = std::max(end, value.gradient + value.features);
      for (const PlannedNode& node : plan->nodes) {
        index_t adding = node.adding;
        for (const PlannedInput& input : node.inputs) {
          if (!input.adds_gradient) continue;
          const index_t features = plan->values[static_cast<std::size_t>(input.value)].features;
          end = std::max(end, adding + features);
          adding += round_up(features, sample_alignment);
        }
      }
    }
    return end * slice_.samples();
  }

  // Returns an arena of concatenated values, with NaN in the gaps.
  std::vector<T> spread(const std::vector<T>& values) const;
  // Returns the values in an arena, concatenated. Throws Error if a gap is no longer NaN.
  std::vector<T> gather(const std::vector<T>& arena) const;

  D& device_;
  Slice slice_;
  Graph graph_;
  Plan plan_, plan_without_dx_;
  Mode mode_ = Mode::train;
  Buffer<std::uint64_t, D> random_step_{device_, 1};
  GuardedBuffer<T, D> x_{device_, slice_.samples() * plan_.input_features, "pass.x, "};
  GuardedBuffer<T, D> outputs_{device_, end_of_values(), "pass.y, "};
  GuardedBuffer<T, D> dx_{device_, end_of_gradients(), "pass.dx, "};
  GuardedBuffer<T, D> dy_{device_, slice_.samples() * plan_.output_features, "pass.dy, "};
  GuardedBuffer<T, D> parameters_{device_, graph_.parameter_elements, "pass.parameters, "};
  GuardedBuffer<T, D> gradients_{device_, graph_.parameter_elements, "pass.gradients, "};
  Buffer<T, D> constants_{constants_on<T>(device_, graph_)};
  GuardedBuffer<T, D> buffers_{device_, graph_.buffer_elements, "pass.buffers, "};
  GuardedBuffer<T, D> scratch_;
  GuardedBuffer<float, D> cache_;
};

template <class T, class D>
LayerRun<T, D>::LayerRun(D& device, Graph graph, const Slice& slice)
    : device_(device),
      slice_(checked(slice)),
      graph_(std::move(graph)),
      plan_(graph_, DeviceTraits<D>::rectifies_gradients, InputGradient::compute,
            {.element_bytes = sizeof(T)}),
      plan_without_dx_(graph_, DeviceTraits<D>::rectifies_gradients, InputGradient::skip,
                       {.element_bytes = sizeof(T)}),
      scratch_(device, scratch_elements<D, T>(device, graph_, plan_, slice), "pass.scratch, "),
      cache_(device, ceil_div(plan_.cache_bytes * slice.samples(), 4), "pass.cache (floats), ") {
  fill(device, 1, std::uint64_t{1}, random_step_.data());
  std::vector<T> values(static_cast<std::size_t>(graph_.buffer_elements));
  for (const BufferInfo& buffer : graph_.buffers)
    if (buffer.kind == BufferKind::numbers)
      std::fill_n(values.data() + buffer.offset, buffer.sizes.numel(),
                  static_cast<T>(buffer.initial));
  buffers_.upload(values);
}

template <class T, class D>
std::vector<T> LayerRun<T, D>::forward(const std::vector<T>& x) {
  require_size("x", x, slice_.count * in_features());
  x_.upload(to_slice_order(slice_, in_features(), x));
  outputs_.fill_with_nan();
  cache_.fill_with_nan();
  scratch_.fill_with_nan();
  run(plan_).forward();
  buffers_.check(), cache_.check(), scratch_.check();
  if (is_view()) return to_rows(slice_, out_features(), x_.download().data());
  return to_rows(slice_, out_features(), outputs_.download().data() + output_offset());
}

template <class T, class D>
LayerGradients<T> LayerRun<T, D>::backward(const std::vector<T>& dy, Accumulate accumulate,
                                           const std::vector<T>& before, InputGradient input) {
  require_size("dy", dy, slice_.count * out_features());
  if (!before.empty()) require_size("before", before, parameter_count());
  dy_.upload(to_slice_order(slice_, out_features(), dy));
  dx_.fill_with_nan();
  gradients_.upload(before.empty() ? before : spread(before));
  scratch_.fill_with_nan();
  if (input == InputGradient::compute)
    run(plan_).backward(gradients_.data(), accumulate);
  else
    require(detail::runs_without_null_access(
                [&] { run(plan_without_dx_).backward(gradients_.data(), accumulate); }),
            "gpunet::nn::LayerRun: backward writes to pass.dx where it is null (the first layer of "
            "a network gets no dx), test it: if (pass.dx)");
  dy_.check(), dx_.check(), cache_.check(), scratch_.check();
  LayerGradients<T> result{{}, {}, gather(gradients_.download())};
  if (input == InputGradient::skip) return result;
  std::vector<T> rows(static_cast<std::size_t>(slice_.samples() * in_features()));
  if (is_view() || plan_.values[0].gradient >= 0) {  // else it is 0: nothing passes it down
    const std::vector<T> dx = is_view() ? dy_.download() : dx_.download();
    const index_t offset = is_view() ? 0 : plan_.values[0].gradient * slice_.samples();
    rows =
        to_rows({slice_.samples(), slice_.outer, slice_.inner}, in_features(), dx.data() + offset);
  }
  result.dx.assign(rows.begin(), rows.begin() + slice_.count * in_features());
  result.padding.assign(rows.begin() + slice_.count * in_features(), rows.end());
  return result;
}

template <class T, class D>
std::vector<T> LayerRun<T, D>::spread(const std::vector<T>& values) const {
  std::vector<T> arena(static_cast<std::size_t>(graph_.parameter_elements),
                       std::numeric_limits<T>::quiet_NaN());
  const T* from = values.data();
  for (const ParameterInfo& parameter : graph_.parameters) {
    std::copy_n(from, parameter.sizes.numel(), arena.data() + parameter.offset);
    from += parameter.sizes.numel();
  }
  return arena;
}

template <class T, class D>
std::vector<T> LayerRun<T, D>::gather(const std::vector<T>& arena) const {
  std::vector<T> values;
  for (std::size_t i = 0; i < graph_.parameters.size(); ++i) {
    const index_t size = graph_.parameters[i].sizes.numel();
    const T* from = arena.data() + graph_.parameters[i].offset;
    const T* gap_end =
        arena.data() + (i + 1 < graph_.parameters.size() ? graph_.parameters[i + 1].offset
                                                         : graph_.parameter_elements);
    values.insert(values.end(), from, from + size);
    require(std::all_of(from + size, gap_end, [](T value) { return std::isnan(value); }),
            "gpunet::nn::LayerRun: a layer wrote behind gradient ", i,
            " of its parameters, which has ", size, " elements: check the sizes in backward");
  }
  return values;
}

}  // namespace gpunet::nn
