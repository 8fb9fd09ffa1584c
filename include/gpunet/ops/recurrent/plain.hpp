// One step of a recurrent layer in one direction, for all samples of a slice.
#pragma once

#include <cstddef>

#include <gpunet/ops/for_each_block.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// Arrays [outer][steps][rows][inner], of which a step has `hidden` units from `first` on.
// Neighboring numbers of a step are units and inner samples: `size` = hidden * inner.
struct StepLayout {
  index_t steps, size, inner;

  // Returns where the rows of a step begin in an array that has `rows` of them, for group g.
  GPUNET_FN index_t at(index_t g, index_t step, index_t rows) const {
    return (g * steps + step) * rows * inner;
  }
};

// The units of the previous step, or of the initial state: of group g at first + g * stride.
template <class T>
struct UnitsBefore {
  const T* first;
  index_t stride;

  GPUNET_FN T at(index_t g, index_t e) const { return first[g * stride + e]; }
};

// In the functors below, at(g, e) computes unit and inner sample e < size of group g.

template <class Cell, class T>
struct RecurrentStep {
  StepLayout layout;
  index_t step, hidden, y_rows, y_first;
  // Gates of the input [gates * hidden]; overwritten by the values stored for the backward pass.
  T* a;
  const T* b;  // gates of the state, of this step alone
  UnitsBefore<T> kept_before;
  T* kept;  // [hidden]
  T* y;     // [y_rows], from row y_first on
  T* h;     // [hidden], the previous state; overwritten by that of this step

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
    T state = h[own], keeps = kept_before.at(g, e);
    Cell{}.forward(as, bs, state, keeps);
    for (int k = 0; k < Cell::gates; ++k)
      gate[k * layout.size] = as[k];
    kept[layout.at(g, step, hidden) + e] = keeps;
    h[own] = state;
    y[layout.at(g, step, y_rows) + y_first * layout.inner + e] = state;
  }
};

template <class Cell, class T>
struct RecurrentGradientStep {
  StepLayout layout;
  index_t step, hidden, y_rows, y_first;
  UnitsBefore<T> state_before, kept_before;
  const T *a, *kept, *y, *dy;
  const T* dh;    // from the gates of the next step, of this step alone
  T* carry;       // [hidden], of this step alone
  T *da, *db;     // gradients of the gates [gates * hidden]; db is da where they are the same
  T* db_of_step;  // the same as db, of this step alone
  T* state;       // [hidden], receives the previous state

  GPUNET_FN index_t size() const { return layout.size; }
  GPUNET_FN void at(index_t g, index_t e) const {
    constexpr auto gates = static_cast<std::size_t>(Cell::gates);
    const index_t gate = layout.at(g, step, Cell::gates * hidden) + e, own = g * layout.size + e;
    const index_t own_y = layout.at(g, step, y_rows) + y_first * layout.inner + e;
    T as[gates], das[gates], dbs[gates];
    for (int k = 0; k < Cell::gates; ++k)
      as[k] = a[gate + k * layout.size];
    const T before = state_before.at(g, e);
    T carried = carry[own], gradient = dy[own_y] + dh[own];
    if constexpr (Cell::carries_dh) gradient += carried;
    Cell{}.backward(as, y[own_y], before, kept[layout.at(g, step, hidden) + e],
                    kept_before.at(g, e), gradient, carried, das, dbs);
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
