// Bodies of recurrent.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include <gpunet/ops/add.hpp>
#include <gpunet/ops/linear/linear.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/recurrent/plain.hpp>
#include <gpunet/ops/recurrent/recurrent.hpp>

namespace gpunet {

namespace detail {

// Arrays one after another.
template <class T>
class Parts {
 public:
  explicit Parts(T* at) : at_(at) {}
  T* take(index_t elements) {
    T* part = at_;
    at_ += elements;
    return part;
  }

 private:
  T* at_;
};

// One layer of a recurrent op in one direction, for a slice.
template <class Cell>
struct RecurrentPart {
  RecurrentGeometry g;
  Slice slice;
  int layer, direction;

  index_t gate_rows() const { return Cell::gates * g.hidden; }
  int index() const { return layer * g.directions + direction; }
  // Steps in their order, which is backwards in the second direction, and the step before; -1 before the first one.
  index_t step(index_t i) const { return direction == 0 ? i : g.steps - 1 - i; }
  index_t previous(index_t i) const { return i == 0 ? -1 : step(i - 1); }
  StepLayout layout() const { return {g.steps, g.hidden * slice.inner, slice.inner}; }
  // The rows of all steps as samples.
  Slice all_steps() const { return {slice.samples() * g.steps, slice.outer * g.steps, slice.inner}; }
  bool whole_batch() const { return slice.outer > 1; }

  int first_parameter() const { return index() * (g.bias ? 4 : 2); }

  // The maps of the inputs of all steps, and of the state of one step.
  template <class D, class T>
  index_t linear_scratch_of(const D& device, T type) const {
    return std::max(
        {linear_scratch(device, AnySizes{}, all_steps(), g.inputs(layer), gate_rows(), type, whole_batch()),
         linear_scratch(device, AnySizes{}, all_steps(), g.hidden, gate_rows(), type, whole_batch()),
         linear_scratch(device, AnySizes{}, slice, g.hidden, gate_rows(), type, whole_batch())});
  }
};

// The arrays that a layer and direction keeps: gates, and a number for each unit.
template <class T>
struct RecurrentKept {
  T *gates, *units;
};

// The arrays of the whole op.
template <class Cell, class T>
struct RecurrentArrays {
  RecurrentGeometry g;
  Slice slice;
  T* cache;

  index_t all(index_t rows) const { return slice.samples() * g.steps * rows; }
  RecurrentKept<T> of(int index) const {
    T* first = cache + index * all((Cell::gates + 1) * g.hidden);
    return {first, first + all(Cell::gates * g.hidden)};
  }
  // The output of a layer but the last one.
  T* output(int layer) const {
    return cache + g.layers * g.directions * all((Cell::gates + 1) * g.hidden) + layer * all(g.out());
  }
};

}  // namespace detail

GPUNET_INLINE index_t RecurrentGeometry::multiply_adds(int gates) const {
  index_t sum = 0;
  for (int layer = 0; layer < layers; ++layer)
    sum += directions * steps * gates * hidden * (inputs(layer) + hidden + (bias ? 2 : 0));
  return sum;
}

GPUNET_INLINE std::string RecurrentGeometry::extra_repr() const {
  return concat(in, ", ", hidden, layers == 1 ? "" : concat(", num_layers=", layers), bias ? "" : ", bias=False",
                ", batch_first=True", directions == 1 ? "" : ", bidirectional=True");
}

template <class Cell>
template <class D, class T>
index_t RecurrentOp<Cell>::scratch(const D& device, const Slice& slice, T type) const {
  index_t linear = 0;
  for (int layer = 0; layer < g.layers; ++layer)
    linear = std::max(linear, detail::RecurrentPart<Cell>{g, slice, layer, 0}.linear_scratch_of(device, type));
  const index_t gates = Cell::gates * g.hidden, one_step = 2 * g.hidden + gates;
  const index_t all_steps = (Cell::apart ? 2 : 1) * gates + g.hidden + 3 * std::max(g.out(), g.in);
  return linear + slice.samples() * (one_step + g.steps * all_steps);
}

template <class Cell>
template <class D, class T>
void RecurrentOp<Cell>::forward(D& device, const ForwardPass<T>& pass) const {
  const detail::RecurrentArrays<Cell, T> arrays{g, pass.slice, reinterpret_cast<T*>(pass.cache)};
  const index_t samples = pass.slice.samples();
  for (int layer = 0; layer < g.layers; ++layer) {
    const T* x = layer == 0 ? pass.x : arrays.output(layer - 1);
    T* y = layer == g.layers - 1 ? pass.y : arrays.output(layer);
    for (int direction = 0; direction < g.directions; ++direction) {
      const detail::RecurrentPart<Cell> part{g, pass.slice, layer, direction};
      const detail::RecurrentKept<T> kept = arrays.of(part.index());
      const auto parameter = [&](int k) {
        return pass.parameters[part.first_parameter() + k];
      };
      detail::Parts<T> scratch(pass.scratch);
      T* state = scratch.take(samples * g.hidden);
      T* of_state = scratch.take(samples * part.gate_rows());
      T* linear = scratch.take(0);
      linear_forward(device, AnySizes{},
                     LinearForwardArgs<T>{.slice = part.all_steps(),
                                          .in = g.inputs(layer),
                                          .out = part.gate_rows(),
                                          .x = x,
                                          .w = parameter(0),
                                          .b = g.bias ? parameter(2) : nullptr,
                                          .y = kept.gates,
                                          .scratch = linear,
                                          .whole_batch = part.whole_batch()});
      fill(device, samples * g.hidden, T{}, state);
      const auto run = [&]<bool first>(std::bool_constant<first>, index_t i) {
        for_each_in_blocks(
            device, pass.slice.outer,
            RecurrentStep<Cell, first, T>{part.layout(), part.step(i), part.previous(i), g.hidden, g.out(),
                                          direction * g.hidden, kept.gates, of_state, kept.units, y, state});
      };
      for (index_t i = 0; i < g.steps; ++i) {
        linear_forward(device, AnySizes{},
                       LinearForwardArgs<T>{.slice = pass.slice,
                                            .in = g.hidden,
                                            .out = part.gate_rows(),
                                            .x = state,
                                            .w = parameter(1),
                                            .b = g.bias ? parameter(3) : nullptr,
                                            .y = of_state,
                                            .scratch = linear});
        i == 0 ? run(std::true_type{}, i) : run(std::false_type{}, i);
      }
    }
  }
}

template <class Cell>
template <class D, class T>
void RecurrentOp<Cell>::backward(D& device, const BackwardPass<T>& pass) const {
  const detail::RecurrentArrays<Cell, T> arrays{g, pass.slice,
                                                const_cast<T*>(reinterpret_cast<const T*>(pass.cache))};
  const index_t samples = pass.slice.samples(), gate_rows = Cell::gates * g.hidden;
  detail::Parts<T> scratch(pass.scratch);
  T* carry = scratch.take(samples * g.hidden);
  T* dh = scratch.take(samples * g.hidden);
  T* db_of_step = scratch.take(samples * gate_rows);
  T* da = scratch.take(arrays.all(gate_rows));
  T* db = Cell::apart ? scratch.take(arrays.all(gate_rows)) : da;
  T* states = scratch.take(arrays.all(g.hidden));
  const index_t widest = std::max(g.out(), g.in);
  const std::array<T*, 2> between{scratch.take(arrays.all(widest)), scratch.take(arrays.all(widest))};
  T* second_dx = scratch.take(arrays.all(widest));
  T* linear = scratch.take(0);
  const T* dy = pass.dy;
  for (int layer = g.layers - 1; layer >= 0; --layer) {
    const T* x = layer == 0 ? pass.x : arrays.output(layer - 1);
    const T* y = layer == g.layers - 1 ? pass.y : arrays.output(layer);
    T* dx = layer == 0 ? pass.dx : between[static_cast<std::size_t>(layer % 2)];
    for (int direction = 0; direction < g.directions; ++direction) {
      const detail::RecurrentPart<Cell> part{g, pass.slice, layer, direction};
      const detail::RecurrentKept<T> kept = arrays.of(part.index());
      const auto index = [&](int k) {
        return part.first_parameter() + k;
      };
      LinearBackwardArgs<T> of_state{.slice = pass.slice,
                                     .in = g.hidden,
                                     .out = gate_rows,
                                     .dy = db_of_step,
                                     .w = pass.parameters[index(1)],
                                     .dx = dh,
                                     .scratch = linear};
      fill(device, samples * g.hidden, T{}, carry);
      fill(device, samples * g.hidden, T{}, dh);
      const auto run = [&]<bool first>(std::bool_constant<first>, index_t i) {
        for_each_in_blocks(
            device, pass.slice.outer,
            RecurrentGradientStep<Cell, first, T>{part.layout(), part.step(i), part.previous(i), g.hidden, g.out(),
                                                  direction * g.hidden, kept.gates, kept.units, y, dy, dh, carry,
                                                  da, db, db_of_step, states});
      };
      for (index_t i = g.steps - 1; i > 0; --i) {
        run(std::false_type{}, i);
        linear_backward_input(device, AnySizes{}, of_state);
      }
      run(std::true_type{}, 0);
      const auto parameters = [&](int weight, int bias, index_t in, const T* from, T* gradient) {
        return LinearBackwardArgs<T>{.slice = part.all_steps(),
                                     .in = in,
                                     .out = gate_rows,
                                     .x = from,
                                     .dy = gradient,
                                     .w = pass.parameters[index(weight)],
                                     .dw = pass.gradients[index(weight)],
                                     .db = g.bias ? pass.gradients[index(bias)] : nullptr,
                                     .accumulate = pass.accumulate,
                                     .scratch = linear,
                                     .whole_batch = part.whole_batch()};
      };
      linear_backward_parameters(device, AnySizes{}, parameters(1, 3, g.hidden, states, db));
      LinearBackwardArgs<T> of_inputs = parameters(0, 2, g.inputs(layer), x, da);
      linear_backward_parameters(device, AnySizes{}, of_inputs);
      if (!dx) continue;
      of_inputs.dx = direction == 0 ? dx : second_dx;
      linear_backward_input(device, AnySizes{}, of_inputs);
      if (direction == 1)
        map(device, arrays.all(g.inputs(layer)), Add{}, static_cast<const T*>(dx), static_cast<const T*>(second_dx),
            dx);
    }
    dy = dx;
  }
}

#if GPUNET_COMPILED
GPUNET_COMPILE_KERNELS(detail::OwnKernels<RecurrentOp<LstmCell>>);
GPUNET_COMPILE_KERNELS(detail::OwnKernels<RecurrentOp<GruCell>>);
GPUNET_COMPILE_KERNELS(detail::OwnKernels<RecurrentOp<RnnCell<false>>>);
GPUNET_COMPILE_KERNELS(detail::OwnKernels<RecurrentOp<RnnCell<true>>>);
#endif

}  // namespace gpunet
