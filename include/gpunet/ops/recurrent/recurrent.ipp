// Bodies of recurrent.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include <gpunet/ops/add.hpp>
#include <gpunet/ops/copy_rows.hpp>
#include <gpunet/ops/drop_elements.hpp>
#include <gpunet/ops/linear/linear.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/parts.hpp>
#include <gpunet/ops/recurrent/plain.hpp>
#include <gpunet/ops/recurrent/recurrent.hpp>
#include <gpunet/ops/recurrent/step_map.hpp>

namespace gpunet {

namespace detail {

// One layer of a recurrent op in one direction, for a slice.
template <class Cell>
struct RecurrentPart {
  RecurrentGeometry g;
  Slice slice;
  int layer, direction;

  index_t gate_rows() const { return Cell::gates * g.hidden; }
  int index() const { return layer * g.directions + direction; }
  // Steps in their order, which is backwards in the second direction.
  index_t step(index_t i) const { return direction == 0 ? i : g.steps - 1 - i; }
  StepLayout layout() const { return {g.steps, g.hidden * slice.inner, slice.inner}; }
  // Returns the units before step i, from row `row` of `rows` of an array of all steps; those
  // before the first one are `initial`.
  template <class T>
  UnitsBefore<T> before(index_t i, const T* array, index_t rows, index_t row,
                        const T* initial) const {
    if (i == 0) return {initial, g.hidden * slice.inner};
    return {array + (step(i - 1) * rows + row) * slice.inner, g.steps * rows * slice.inner};
  }
  // Copies this part's state [hidden] from the states of all layers, which are features `first` on
  // of `states` [features].
  template <class D, class T>
  void take_state(D& device, const T* states, index_t features, index_t first, T* to) const {
    const index_t size = g.hidden * slice.inner;
    copy_rows(device, slice.outer,
              CopyRows<T>{size, features * slice.inner, size,
                          states + (first + index() * g.hidden) * slice.inner, to});
  }
  // Copies this part's state [hidden] to the states of all layers.
  template <class D, class T>
  void put_state(D& device, const T* from, T* states) const {
    const index_t size = g.hidden * slice.inner;
    copy_rows(device, slice.outer,
              CopyRows<T>{size, size, g.all_states() * slice.inner, from, states + index() * size});
  }
  // Copies this part's initial state [hidden] from an input, or writes zeros without initial
  // states.
  template <class D, class T>
  void take_initial(D& device, std::span<const T* const> inputs, std::size_t input, T* to) const {
    if (g.initial_states)
      take_state(device, inputs[input], g.all_states(), 0, to);
    else
      fill(device, slice.samples() * g.hidden, T{}, to);
  }
  // The rows of all steps as samples.
  Slice all_steps() const {
    return {slice.samples() * g.steps, slice.outer * g.steps, slice.inner};
  }
  bool whole_batch() const { return slice.outer > 1; }

  int first_parameter() const { return index() * (g.bias ? 4 : 2); }

  // The maps of the inputs and states of all steps, and of the state of one step.
  template <class D, class T>
  index_t linear_scratch_of(const D& device, T type) const {
    return std::max({linear_scratch(device, AnySizes{}, all_steps(), g.inputs(layer), gate_rows(),
                                    type, whole_batch()),
                     linear_scratch(device, AnySizes{}, all_steps(), g.hidden, gate_rows(), type,
                                    whole_batch()),
                     FastStepMap<D, T>::scratch(device, slice, g.hidden, gate_rows())});
  }
};

// The arrays stored for a layer and direction: gates, and a number for each unit.
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
  // The output of a layer that is not y.
  T* output(int layer) const {
    return cache + g.layers * g.directions * all((Cell::gates + 1) * g.hidden) +
           layer * all(g.out());
  }
};

// The scratch of the forward pass. Behind it is the scratch of linear maps.
template <class Cell, class T>
struct RecurrentForwardScratch {
  T *state, *first_kept, *of_state, *dropped, *linear;

  RecurrentForwardScratch(const RecurrentArrays<Cell, T>& arrays, Parts<T>& parts) {
    const RecurrentGeometry& g = arrays.g;
    const index_t samples = arrays.slice.samples();
    state = parts.take(samples * g.hidden);
    // Others do not read it.
    first_kept = Cell::has_cell_state ? parts.take(samples * g.hidden) : state;
    of_state = parts.take(samples * Cell::gates * g.hidden);
    dropped = parts.take(g.drops() ? arrays.all(g.out()) : 0);
    linear = parts.take(0);
  }
};

// The scratch of the backward pass. Behind it is the scratch of linear maps.
template <class Cell, class T>
struct RecurrentBackwardScratch {
  T *carry, *dh, *first_state, *first_kept, *db_of_step, *da, *db, *states;
  std::array<T*, 2> between;  // gradients of the outputs of layers
  T *second_dx, *dropped, *linear;

  RecurrentBackwardScratch(const RecurrentArrays<Cell, T>& arrays, Parts<T>& parts) {
    const RecurrentGeometry& g = arrays.g;
    const index_t samples = arrays.slice.samples(), gate_rows = Cell::gates * g.hidden;
    const index_t widest = std::max(g.out(), g.in);
    carry = parts.take(samples * g.hidden);
    dh = parts.take(samples * g.hidden);
    first_state = parts.take(samples * g.hidden);
    // Others do not read it.
    first_kept = Cell::has_cell_state ? parts.take(samples * g.hidden) : first_state;
    db_of_step = parts.take(samples * gate_rows);
    da = parts.take(arrays.all(gate_rows));
    db = Cell::apart ? parts.take(arrays.all(gate_rows)) : da;
    states = parts.take(arrays.all(g.hidden));
    between = {parts.take(arrays.all(widest)), parts.take(arrays.all(widest))};
    second_dx = parts.take(arrays.all(widest));
    dropped = parts.take(g.drops() ? arrays.all(g.out()) : 0);
    linear = parts.take(0);
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
  return concat(in, ", ", hidden, layers == 1 ? "" : concat(", num_layers=", layers),
                bias ? "" : ", bias=False", ", batch_first=True",
                dropout > 0 ? concat(", dropout=", detail::python_repr(dropout)) : "",
                directions == 1 ? "" : ", bidirectional=True");
}

template <class Cell>
template <class D, class T>
index_t RecurrentOp<Cell>::scratch(const D& device, const Slice& slice, T type) const {
  index_t linear = 0;
  for (int layer = 0; layer < g.layers; ++layer)
    linear = std::max(
        linear, detail::RecurrentPart<Cell>{g, slice, layer, 0}.linear_scratch_of(device, type));
  const detail::RecurrentArrays<Cell, T> arrays{g, slice, nullptr};
  detail::Parts<T> forward, backward;
  detail::RecurrentForwardScratch<Cell, T>{arrays, forward};
  detail::RecurrentBackwardScratch<Cell, T>{arrays, backward};
  return std::max(forward.size(), backward.size()) + linear;
}

template <class Cell>
template <class D, class T>
const T* RecurrentOp<Cell>::drop(D& device, const OpPass& pass, int layer, const T* from,
                                 T* to) const {
  if (!g.drops() || pass.mode == nn::Mode::eval) return from;
  OpPass all_steps = pass;
  all_steps.random = static_cast<const OpRandom&>(pass.random).with_features(g.steps * g.out());
  for_each_random(device, all_steps,
                  detail::DropElements<T>{detail::DropoutFactor<T>(g.dropout), from, to},
                  static_cast<std::uint32_t>(layer));
  return to;
}

template <class Cell>
template <class D, class T>
void RecurrentOp<Cell>::forward(D& device, const ForwardPass<T>& pass) const {
  const detail::RecurrentArrays<Cell, T> arrays{g, pass.slice, reinterpret_cast<T*>(pass.cache)};
  detail::Parts<T> parts(pass.scratch);
  const auto [state, first_kept, of_state, dropped, linear] =
      detail::RecurrentForwardScratch<Cell, T>(arrays, parts);
  for (int layer = 0; layer < g.layers; ++layer) {
    const T* x =
        layer == 0 ? pass.x : drop(device, pass, layer - 1, arrays.output(layer - 1), dropped);
    T* y = layer == g.inner_outputs() ? pass.y : arrays.output(layer);
    for (int direction = 0; direction < g.directions; ++direction) {
      const detail::RecurrentPart<Cell> part{g, pass.slice, layer, direction};
      const detail::RecurrentKept<T> kept = arrays.of(part.index());
      const auto parameter = [&](int k) {
        return pass.parameters[part.first_parameter() + k];
      };
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
      const detail::FastStepMap<D, T> map_state(device, pass.slice, g.hidden, part.gate_rows(),
                                                parameter(1), Transpose::no, linear);
      const T* bias = g.bias ? parameter(3) : nullptr;
      part.take_initial(device, pass.inputs, 1, state);
      if (Cell::has_cell_state) part.take_initial(device, pass.inputs, 2, first_kept);
      for (index_t i = 0; i < g.steps; ++i) {
        map_state.apply(device, bias, state, of_state);
        const UnitsBefore<T> kept_before =
            part.template before<T>(i, kept.units, g.hidden, 0, first_kept);
        for_each_in_blocks(device, pass.slice.outer,
                           RecurrentStep<Cell, T>{part.layout(), part.step(i), g.hidden, g.out(),
                                                  direction * g.hidden, kept.gates, of_state,
                                                  kept_before, kept.units, y, state});
      }
    }
  }
  if (g.last_state) store_last_states(device, pass);
  if (g.final_states) store_final_states(device, pass);
}

template <class Cell>
template <class D, class T>
void RecurrentOp<Cell>::store_last_states(D& device, const ForwardPass<T>& pass) const {
  const detail::RecurrentArrays<Cell, T> arrays{g, pass.slice, reinterpret_cast<T*>(pass.cache)};
  const index_t inner = pass.slice.inner, out = g.out() * inner, size = g.hidden * inner;
  for_each_last_state([&](index_t row, index_t step) {
    const T* from = arrays.output(g.layers - 1) + step * out + row * inner;
    detail::copy_rows(device, pass.slice.outer,
                      detail::CopyRows<T>{size, g.steps * out, out, from, pass.y + row * inner});
  });
}

template <class Cell>
template <class D, class T>
void RecurrentOp<Cell>::store_final_states(D& device, const ForwardPass<T>& pass) const {
  const detail::RecurrentArrays<Cell, T> arrays{g, pass.slice, reinterpret_cast<T*>(pass.cache)};
  const index_t inner = pass.slice.inner, row = pass.out_features * inner;
  const index_t all = g.steps * g.out() * inner, hidden = g.hidden * inner;
  const auto copy = [&](index_t columns, index_t from_row, const T* from, index_t to) {
    detail::copy_rows(device, pass.slice.outer,
                      detail::CopyRows<T>{columns, from_row, row, from, pass.y + to * inner});
  };
  copy(all, all, arrays.output(g.layers - 1), 0);
  for (int layer = 0; layer < g.layers; ++layer)
    for_each_last_state([&](index_t first, index_t step) {
      const int index = layer * g.directions + (first == 0 ? 0 : 1);
      const index_t to = g.steps * g.out() + index * g.hidden;
      copy(hidden, all, arrays.output(layer) + (step * g.out() + first) * inner, to);
      if (Cell::has_cell_state)
        copy(hidden, g.steps * hidden, arrays.of(index).units + step * hidden, to + g.all_states());
    });
}

template <class Cell>
template <class D, class T>
void RecurrentOp<Cell>::backward(D& device, const BackwardPass<T>& pass) const {
  const detail::RecurrentArrays<Cell, T> arrays{
      g, pass.slice, const_cast<T*>(reinterpret_cast<const T*>(pass.cache))};
  const index_t samples = pass.slice.samples(), gate_rows = Cell::gates * g.hidden;
  detail::Parts<T> parts(pass.scratch);
  const auto [carry, dh, first_state, first_kept, db_of_step, da, db, states, between, second_dx,
              dropped, linear] = detail::RecurrentBackwardScratch<Cell, T>(arrays, parts);
  const T* dy = pass.dy;
  if (g.last_state) {
    T* const dy_of_steps = between[static_cast<std::size_t>(g.layers % 2)];
    const index_t inner = pass.slice.inner, out = g.out() * inner, size = g.hidden * inner;
    fill(device, arrays.all(g.out()), T{}, dy_of_steps);
    for_each_last_state([&](index_t row, index_t step) {
      T* to = dy_of_steps + step * out + row * inner;
      detail::copy_rows(device, pass.slice.outer,
                        detail::CopyRows<T>{size, out, g.steps * out, pass.dy + row * inner, to});
    });
    dy = dy_of_steps;
  }
  if (g.final_states) {
    T* const dy_of_steps = between[static_cast<std::size_t>(g.layers % 2)];
    const index_t inner = pass.slice.inner, all = g.steps * g.out() * inner;
    detail::copy_rows(
        device, pass.slice.outer,
        detail::CopyRows<T>{all, pass.out_features * inner, all, pass.dy, dy_of_steps});
    dy = dy_of_steps;
  }
  // Copies a part's gradient of a final state, features `first` on of the output, or writes zeros
  // without final states.
  const auto take_final = [&](const detail::RecurrentPart<Cell>& part, bool has_state,
                              index_t first, T* to) {
    if (g.final_states && has_state)
      part.template take_state<D, T>(device, pass.dy, pass.out_features, first, to);
    else
      fill(device, samples * g.hidden, T{}, to);
  };
  // Returns the gradient of an initial state; null where it is not needed.
  const auto initial_gradient = [&](std::size_t input) {
    return g.initial_states ? pass.input_gradients[input] : nullptr;
  };
  for (int layer = g.layers - 1; layer >= 0; --layer) {
    const T* x =
        layer == 0 ? pass.x : drop(device, pass, layer - 1, arrays.output(layer - 1), dropped);
    const T* y = layer == g.inner_outputs() ? pass.y : arrays.output(layer);
    T* dx = layer == 0 ? pass.dx : between[static_cast<std::size_t>(layer % 2)];
    for (int direction = 0; direction < g.directions; ++direction) {
      const detail::RecurrentPart<Cell> part{g, pass.slice, layer, direction};
      const detail::RecurrentKept<T> kept = arrays.of(part.index());
      const auto index = [&](int k) {
        return part.first_parameter() + k;
      };
      const detail::FastStepMap<D, T> map_gates(device, pass.slice, g.hidden, gate_rows,
                                                pass.parameters[index(1)], Transpose::yes, linear);
      part.take_initial(device, pass.inputs, 1, first_state);
      if (Cell::has_cell_state) part.take_initial(device, pass.inputs, 2, first_kept);
      const index_t of_states = g.steps * g.out();
      take_final(part, true, of_states, dh);
      take_final(part, Cell::has_cell_state, of_states + g.all_states(), carry);
      for (index_t i = g.steps - 1; i >= 0; --i) {
        const index_t row = direction * g.hidden;
        const UnitsBefore<T> state_before =
            part.template before<T>(i, y, g.out(), row, first_state);
        const UnitsBefore<T> kept_before =
            part.template before<T>(i, kept.units, g.hidden, 0, first_kept);
        for_each_in_blocks(
            device, pass.slice.outer,
            RecurrentGradientStep<Cell, T>{part.layout(), part.step(i), g.hidden, g.out(), row,
                                           state_before, kept_before, kept.gates, kept.units, y, dy,
                                           dh, carry, da, db, db_of_step, states});
        if (i > 0 || initial_gradient(1)) map_gates.apply(device, nullptr, db_of_step, dh);
      }
      if (T* const to = initial_gradient(1)) {
        if (Cell::carries_dh)
          map(device, samples * g.hidden, Add{}, static_cast<const T*>(dh),
              static_cast<const T*>(carry), dh);
        part.template put_state<D, T>(device, dh, to);
      }
      if constexpr (Cell::has_cell_state)
        if (T* const to = initial_gradient(2)) part.template put_state<D, T>(device, carry, to);
      const auto parameters = [&, scratch = linear](int weight, int bias, index_t in, const T* from,
                                                    T* gradient) {
        return LinearBackwardArgs<T>{.slice = part.all_steps(),
                                     .in = in,
                                     .out = gate_rows,
                                     .x = from,
                                     .dy = gradient,
                                     .w = pass.parameters[index(weight)],
                                     .dw = pass.gradients[index(weight)],
                                     .db = g.bias ? pass.gradients[index(bias)] : nullptr,
                                     .accumulate = pass.accumulate,
                                     .scratch = scratch,
                                     .whole_batch = part.whole_batch()};
      };
      if (!pass.skips_parameters)
        linear_backward_parameters(device, AnySizes{}, parameters(1, 3, g.hidden, states, db));
      LinearBackwardArgs<T> of_inputs = parameters(0, 2, g.inputs(layer), x, da);
      if (!pass.skips_parameters) linear_backward_parameters(device, AnySizes{}, of_inputs);
      if (!dx) continue;
      of_inputs.dx = direction == 0 ? dx : second_dx;
      linear_backward_input(device, AnySizes{}, of_inputs);
      if (direction == 1)
        map(device, arrays.all(g.inputs(layer)), Add{}, static_cast<const T*>(dx),
            static_cast<const T*>(second_dx), dx);
    }
    dy = layer == 0 ? nullptr : drop(device, pass, layer - 1, dx, dx);
  }
}

}  // namespace gpunet
