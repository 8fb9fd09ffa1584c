// The search for the layer in which nan or infinity came up.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gpunet/graph/run_slice.hpp>
#include <gpunet/ops/batch_ranks.hpp>
#include <gpunet/ops/norm.hpp>

namespace gpunet::detail {

// Returns whether all numbers of an array are finite. `sums` is memory for that.
template <class D, class T>
bool is_finite(D& device, index_t n, const T* x, Buffer<double, D>& sums) {
  const index_t count = norm_scratch_bytes(n) / static_cast<index_t>(sizeof(double));
  if (sums.size() < count + 1) sums.reset(device, count + 1);
  T* const result = reinterpret_cast<T*>(sums.data() + sums.size() - 1);
  norm<IsFinite>(device, n, x, sums.data(), result);
  T total;
  device.download(&total, result, sizeof total);
  return std::isfinite(total);
}

// A number that is not finite, in an array of samples.
struct NotFinite {
  index_t sample = 0, feature = 0;
  double value = 0;
};

// The kinds of places that are searched, in the order of a step.
enum class AnomalyIn {
  inputs,
  parameter,
  output,
  loss,
  batch_loss,
  loss_gradient,
  input_gradient,
  parameter_gradient
};

// The first of the numbers that are not finite: of the earliest place, and there of the first
// sample.
class Anomaly {
 public:
  bool found() const { return order_ < no_order; }
  // Whether something at a place of this order would be earlier.
  bool is_before(std::size_t order) const { return order_ < order; }

  // Notes a number. `node` may be null; `sizes` are of one sample, or of a parameter, called
  // `name`.
  void note(std::size_t order, const NotFinite& number, AnomalyIn in, const Node* node,
            const Sizes& sizes, const std::string& name = {});
  // Throws the Error that says it.
  [[noreturn]] void report() const;

 private:
  static constexpr std::size_t no_order = std::numeric_limits<std::size_t>::max();

  std::size_t order_ = no_order;
  NotFinite first_;
  AnomalyIn in_ = AnomalyIn::inputs;
  std::string place_;
  Sizes sizes_;
};

// Looks at all that the nodes of a graph compute. A rank searches by itself, with statistics of its
// own samples.
template <class D, class T>
class AnomalySearch final : public NodeProbe<T>, public BatchRanks {
 public:
  AnomalySearch(D& device, const Graph& graph, const Plan& plan)
      : device_(device), graph_(graph), plan_(plan) {}

  Anomaly first;

  // Where the next slice is.
  Slice slice{};
  index_t first_sample = 0;

  // Looks at rows [slice] of `features`.
  void look(std::size_t order, AnomalyIn in, const Node* node, const Sizes& sizes, const T* data) {
    const index_t features = sizes.numel(), inner = slice.inner;
    look_at(order, in, node, sizes, {}, data, features * slice.samples(), [&](index_t i) {
      return NotFinite{first_sample + i / (features * inner) * inner + i % inner,
                       i / inner % features};
    });
  }
  // The same for the losses of the samples, without padding.
  void look_at_losses(const T* data) {
    look_at(loss_order(), AnomalyIn::loss, nullptr, {}, {}, data, slice.count,
            [&](index_t i) { return NotFinite{first_sample + i}; });
  }
  // The same for an array without samples.
  void look_at_array(std::size_t order, AnomalyIn in, const Node* node, const Sizes& sizes,
                     const std::string& name, const T* data) {
    look_at(order, in, node, sizes, name, data, sizes.numel(), [](index_t i) {
      return NotFinite{0, i};
    });
  }

  void see_output(const PlannedNode& planned, const T* y) override {
    const Node& node = node_of(planned);
    look(order_of(planned), AnomalyIn::output, &node, graph_.output_of(node), y);
  }
  void see_gradients(const PlannedNode& planned, std::span<T* const> input_gradients,
                     const T* gradients) override {
    const Node& node = node_of(planned);
    // After all outputs and the loss.
    const std::size_t order = 2 * plan_.nodes.size() + 2 - order_of(planned);
    for (std::size_t i = 0; i < input_gradients.size(); ++i)
      if (input_gradients[i])
        look(order, AnomalyIn::input_gradient, &node,
             graph_.values[static_cast<std::size_t>(node.inputs[i])], input_gradients[i]);
    if (planned.skips_parameters) return;
    const std::span<const ParameterInfo> parameters = graph_.parameters_of(node);
    for (std::size_t p = 0; p < parameters.size(); ++p)
      if (parameters[p].requires_grad)
        look_at_array(
            order, AnomalyIn::parameter_gradient, &node, parameters[p].sizes, parameters[p].name,
            gradients + plan_.gradient_offsets[static_cast<std::size_t>(node.first_parameter) + p]);
  }

  index_t ranks() const override { return 1; }
  double* numbers(index_t n) override {
    if (statistics_.size() < n) statistics_.reset(device_, n);
    return statistics_.data();
  }
  void gather(const double* from, index_t n, double* to) override {
    device_.copy(to, from, static_cast<std::size_t>(n) * sizeof(double));
  }
  void sum(double*, index_t) override {}

  // The order of the loss: after all outputs, and before the gradients.
  std::size_t loss_order() const { return plan_.nodes.size() + 1; }

 private:
  const Node& node_of(const PlannedNode& planned) const {
    return graph_.nodes[static_cast<std::size_t>(planned.node)];
  }
  // 0 is the order of the inputs and parameters.
  std::size_t order_of(const PlannedNode& planned) const {
    return static_cast<std::size_t>(&planned - plan_.nodes.data()) + 1;
  }

  template <class Place>
  void look_at(std::size_t order, AnomalyIn in, const Node* node, const Sizes& sizes,
               const std::string& name, const T* data, index_t n, Place place) {
    if (first.is_before(order)) return;
    numbers_.resize(static_cast<std::size_t>(n));
    device_.download(numbers_.data(), data, numbers_.size() * sizeof(T));
    for (index_t i = 0; i < n; ++i)
      if (const T value = numbers_[static_cast<std::size_t>(i)]; !std::isfinite(value)) {
        NotFinite number = place(i);
        number.value = static_cast<double>(value);
        first.note(order, number, in, node, sizes, name);
      }
  }

  D& device_;
  const Graph& graph_;
  const Plan& plan_;
  std::vector<T> numbers_;
  Buffer<double, D> statistics_;
};

}  // namespace gpunet::detail

#if !GPUNET_COMPILED
#include <gpunet/model/anomaly.ipp>
#endif
