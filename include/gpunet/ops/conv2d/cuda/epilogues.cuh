// Convolutions as matrix products: where the sums go.
#pragma once

#include <cstdint>

#include <gpunet/device/cuda/divisor.cuh>
#include <gpunet/device/cuda/product_scalar.cuh>
#include <gpunet/ops/conv2d/geometry.hpp>

namespace gpunet::detail {

// A matrix [channels, (sample, cell)] as images [sample][channel][cell].
template <class T>
struct Images {
  T* data;
  index_t channels;
  Divisor cells;  // of an image

  struct Cell {
    index_t offset;  // of the sample
    int cell;
  };
  __device__ Cell cell(index_t j) const {
    const index_t sample = cells.quotient(j);
    return {sample * channels * cells.divisor, static_cast<int>(j - sample * cells.divisor)};
  }
  // Stores `count` of four neighbours, at once where they lie so. Where `gates` is not null, 0 for those whose gate is 0.
  __device__ void store(index_t channel, Cell first, const T* values, int count, const T* gates = nullptr) const {
    const int all = static_cast<int>(cells.divisor);
    index_t to = first.offset + channel * all + first.cell;
    if (count == 4 && first.cell + 4 <= all && reinterpret_cast<std::uintptr_t>(data + to) % 16 == 0) {
      Four<T> four;
#pragma unroll
      for (int q = 0; q < 4; ++q)
        four.values[q] = gated(values[q], gates, to + q);
      *reinterpret_cast<Four<T>*>(data + to) = four;
      return;
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      if (q < count) data[to] = gated(values[q], gates, to);
      ++to;
      if (++first.cell == all) {  // on to the next sample
        first.cell = 0;
        to += (channels - 1) * all;
      }
    }
  }

 private:
  __device__ static T gated(T value, const T* gates, index_t i) {
    return gates ? RectifyGradient{}(gates[i], value) : value;
  }
};

// y = pool(activation(sum + b)).
template <class T_>
struct ConvolutionOutput {
  using T = T_;
  Images<T> y;
  const T* b;
  PoolChoice* choice;  // null without pooling; else four neighbouring columns are a window
  Activate activate;

  __device__ auto column(index_t j) const { return y.cell(choice ? j / 4 : j); }
  __device__ void store(index_t channel, const typename Images<T>::Cell& cell, T* values, int count) const {
    const T bias = b[channel];
#pragma unroll
    for (int q = 0; q < 4; ++q)
      values[q] = activate(values[q] + bias);
    if (!choice) return y.store(channel, cell, values, count);
    T best = values[0];
    int where = 0;
#pragma unroll
    for (int q = 1; q < 4; ++q)
      if (values[q] > best || values[q] != values[q]) {
        best = values[q];
        where = q;
      }
    const index_t i = cell.offset + channel * y.cells.divisor + cell.cell;
    y.data[i] = best;
    choice[i] = static_cast<PoolChoice>(where);
  }
};

// dx = sum; where x is not null, 0 where x is.
template <class T_>
struct InputGradientOutput {
  using T = T_;
  Images<T> dx;
  const T* x;

  __device__ auto column(index_t j) const { return dx.cell(j); }
  __device__ void store(index_t channel, const typename Images<T>::Cell& cell, const T* values, int count) const {
    dx.store(channel, cell, values, count, x);
  }
};

}  // namespace gpunet::detail
