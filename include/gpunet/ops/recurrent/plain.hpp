// One step of a recurrent layer in one direction, for all samples of a slice.
#pragma once

#include <cstddef>

#include <gpunet/ops/for_each_block.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// Arrays [outer][steps][rows][inner], of which a step has `hidden` units from `first` on. Neighboring numbers of a step are those
// of units and inner samples: `size` = hidden * inner.
struct StepLayout {
  index_t steps, size, inner;

  // Returns where the rows of a step begin in an array that has `rows` of them, for group g.
  GPUNET_FN index_t at(index_t g, index_t step, index_t rows) const { return (g * steps + step) * rows * inner; }
};

// The functors below do unit and inner sample e < size of group g in at(g, e). `step` follows `previous`, but the first one, before
// which all is 0.

template <class Cell, bool first, class T>
struct RecurrentStep {
  StepLayout layout;
  index_t step, previous, hidden, y_rows, y_first;
  T* a;             // gates of the input [gates * hidden], become what the cell keeps
  const T* b;       // gates of the state, of this step alone
  T *kept, *y, *h;  // kept [hidden], y [y_rows] from row y_first on; the state, of this step alone

  GPUNET_FN index_t size() const { return layout.size; }
  GPUNET_FN void at(index_t g, index_t e) const {
    constexpr auto gates = static_cast<std::size_t>(Cell::gates);
    T* gate = a + layout.at(g, step, Cell::gates * hidden) + e;
    const T* of_state = b + g * Cell::gates * layout.size + e;
    T as[gates], bs[gates];
    for (int k = 0; k < Cell::gates; ++k) {
      as[k] = gate[k * layout.size];
      bs[k] = of_state[k * layout.size];
    }
    const index_t own = g * layout.size + e;
    T state{}, keeps{};
    if constexpr (!first) {
      state = h[own];
      keeps = kept[layout.at(g, previous, hidden) + e];
    }
    Cell{}.forward(as, bs, state, keeps);
    for (int k = 0; k < Cell::gates; ++k)
      gate[k * layout.size] = as[k];
    kept[layout.at(g, step, hidden) + e] = keeps;
    h[own] = state;
    y[layout.at(g, step, y_rows) + y_first * layout.inner + e] = state;
  }
};

template <class Cell, bool first, class T>
struct RecurrentGradientStep {
  StepLayout layout;
  index_t step, previous, hidden, y_rows, y_first;
  const T *a, *kept, *y, *dy;
  const T* dh;    // from the gates of the step behind, of this step alone
  T* carry;       // [hidden], of this step alone
  T *da, *db;     // gradients of the gates [gates * hidden]; db is da where they are the same
  T* db_of_step;  // the same as db, of this step alone
  T* state;       // the state before, [hidden]

  GPUNET_FN index_t size() const { return layout.size; }
  GPUNET_FN void at(index_t g, index_t e) const {
    constexpr auto gates = static_cast<std::size_t>(Cell::gates);
    const index_t gate = layout.at(g, step, Cell::gates * hidden) + e, own = g * layout.size + e;
    const auto of_y = [&](const T* array, index_t at_step) {
      return array[layout.at(g, at_step, y_rows) + y_first * layout.inner + e];
    };
    T as[gates], das[gates], dbs[gates];
    for (int k = 0; k < Cell::gates; ++k)
      as[k] = a[gate + k * layout.size];
    T before{}, kept_before{};
    if constexpr (!first) {
      before = of_y(y, previous);
      kept_before = kept[layout.at(g, previous, hidden) + e];
    }
    T carried = carry[own], gradient = of_y(dy, step) + dh[own];
    if constexpr (Cell::carries_dh) gradient += carried;
    Cell{}.backward(as, of_y(y, step), before, kept[layout.at(g, step, hidden) + e], kept_before, gradient, carried,
                    das, dbs);
    carry[own] = carried;
    for (int k = 0; k < Cell::gates; ++k) {
      const T of_state = Cell::apart ? dbs[k] : das[k];
      da[gate + k * layout.size] = das[k];
      if constexpr (Cell::apart) db[gate + k * layout.size] = of_state;
      db_of_step[g * Cell::gates * layout.size + k * layout.size + e] = of_state;
    }
    state[layout.at(g, step, hidden) + e] = before;
  }
};

}  // namespace gpunet
