// Normalization of the rows of each sample: the plain single-source version.
#pragma once

#include <cmath>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/ops/inverse_deviation.hpp>
#include <gpunet/ops/slice.hpp>
#include <gpunet/ops/sum_pair.hpp>

namespace gpunet {

// Sizes of one normalization: x, y [rows, length] per sample. Weights and biases belong to the
// place in the row, [length], or, where each row has `channels` of them, to a part of it:
// [rows * channels], each for length / channels elements.
struct RowNormGeometry {
  index_t rows, length;
  index_t channels = 0;  // 0: a weight for each place in the row

  GPUNET_FN index_t features() const { return rows * length; }
  GPUNET_FN index_t weights() const { return channels == 0 ? length : rows * channels; }
  // Neighbors in a row with one weight.
  GPUNET_FN index_t run() const { return channels == 0 ? 1 : length / channels; }
  // Returns the weight of a feature of a sample.
  GPUNET_FN index_t weight_of(index_t feature) const {
    return channels == 0 ? feature % length : feature / run();
  }
};

// Where a slice has its rows: row i is row i / inner of all groups, of sample i % inner in it.
struct RowNormRows {
  RowNormGeometry g;
  Slice slice;

  GPUNET_FN index_t count() const { return slice.samples() * g.rows; }
  GPUNET_FN index_t elements() const { return slice.samples() * g.features(); }
  // Returns where element r of row i lies.
  GPUNET_FN index_t offset(index_t i, index_t r) const {
    return (i / slice.inner * g.length + r) * slice.inner + i % slice.inner;
  }
  // Returns the row of the element at offset i.
  GPUNET_FN index_t row_at(index_t i) const {
    return i / (g.length * slice.inner) * slice.inner + i % slice.inner;
  }
  // Returns the weight of the element at offset i.
  GPUNET_FN index_t weight_at(index_t i) const {
    return g.weight_of(i / slice.inner % g.features());
  }
};

// Statistics of rows, in double, as rows may be long: mean, which RMSNorm takes as 0, and
// inverse = 1 / sqrt(variance + eps).
struct RowStatistics {
  double *mean, *inverse;

  template <class T>
  GPUNET_FN double normal(index_t row, T x) const {
    return (static_cast<double>(x) - mean[row]) * inverse[row];
  }
};

// The arguments of the passes. A weight may be missing, which is 1.
template <class T>
struct RowNormForward {
  RowNormRows rows;
  double eps;
  bool centers;  // else the mean is 0
  const T *x, *w;
  OptionalArray<const T> b;
  RowStatistics statistics;
  T* y;
};
template <class T>
struct RowNormBackward {
  RowNormRows rows;
  bool centers;
  const T *x, *dy, *w;
  RowStatistics statistics;
  T* dw;
  OptionalArray<T> db;
  Accumulate accumulate;
  T* dx;
  double* means;  // scratch, [2][rows]
};

// mean of row i. One sum = one row.
template <class T>
struct RowMeanSum {
  RowNormForward<T> pass;
  GPUNET_FN double operator()(index_t i, index_t r) const {
    return static_cast<double>(pass.x[pass.rows.offset(i, r)]);
  }
  GPUNET_FN void store(index_t i, double sum) const {
    pass.statistics.mean[i] = pass.centers ? sum / static_cast<double>(pass.rows.g.length) : 0.0;
  }
};

// inverse of row i, after its mean. One sum = one row.
template <class T>
struct RowVarianceSum {
  RowNormForward<T> pass;
  GPUNET_FN double operator()(index_t i, index_t r) const {
    const double distance =
        static_cast<double>(pass.x[pass.rows.offset(i, r)]) - pass.statistics.mean[i];
    return distance * distance;
  }
  GPUNET_FN void store(index_t i, double sum) const {
    pass.statistics.inverse[i] =
        inverse_deviation<T>(sum / static_cast<double>(pass.rows.g.length), pass.eps);
  }
};

// y = (x - mean) inverse w + b. One index = one element.
template <class T>
struct NormalizeRowElement {
  static constexpr bool one_copy = true;
  RowNormForward<T> pass;
  GPUNET_FN void operator()(index_t i) const {
    const index_t at = pass.rows.weight_at(i);
    const T normal = static_cast<T>(pass.statistics.normal(pass.rows.row_at(i), pass.x[i]));
    pass.y[i] = normal * (pass.w ? pass.w[at] : T{1}) + pass.b[at];
  }
};

// The means over a row that the gradient of x needs: of dy w x' and of dy w, with x' = (x - mean)
// inverse. One sum = one row.
template <class T>
struct RowGradientSum {
  RowNormBackward<T> pass;
  GPUNET_FN SumPair operator()(index_t i, index_t r) const {
    const index_t at = pass.rows.offset(i, r);
    const double weight = pass.w ? static_cast<double>(pass.w[pass.rows.weight_at(at)]) : 1.0;
    const double gradient = static_cast<double>(pass.dy[at]) * weight;
    return {gradient * pass.statistics.normal(i, pass.x[at]), gradient};
  }
  GPUNET_FN void store(index_t i, const SumPair& sum) const {
    pass.means[i] = sum.first / static_cast<double>(pass.rows.g.length);
    pass.means[pass.rows.count() + i] =
        pass.centers ? sum.second / static_cast<double>(pass.rows.g.length) : 0.0;
  }
};

// dx = inverse (dy w - mean of dy w - x' mean of dy w x'), without the second mean where rows are
// not centered. One index = one element.
template <class T>
struct RowInputGradient {
  static constexpr bool one_copy = true;
  RowNormBackward<T> pass;
  GPUNET_FN void operator()(index_t i) const {
    const index_t row = pass.rows.row_at(i);
    const double weight = pass.w ? static_cast<double>(pass.w[pass.rows.weight_at(i)]) : 1.0;
    const double distance = static_cast<double>(pass.dy[i]) * weight -
                            pass.means[pass.rows.count() + row] -
                            pass.statistics.normal(row, pass.x[i]) * pass.means[row];
    pass.dx[i] = static_cast<T>(pass.statistics.inverse[row] * distance);
  }
};

// dw = sum of dy x', db = sum of dy over the elements of a weight. One sum = one weight.
template <class T>
struct RowParameterSum {
  RowNormBackward<T> pass;
  // Elements of a weight in a sample.
  GPUNET_FN index_t per_sample() const {
    return pass.rows.g.channels == 0 ? pass.rows.g.rows : pass.rows.g.run();
  }
  GPUNET_FN SumPair operator()(index_t c, index_t n) const {
    const RowNormGeometry& g = pass.rows.g;
    const index_t per = per_sample();
    const index_t feature = g.channels == 0 ? n % per * g.length + c : c * per + n % per;
    const index_t at = pass.rows.slice.offset(n / per, feature, g.features());
    const double gradient = static_cast<double>(pass.dy[at]);
    return {gradient * pass.statistics.normal(pass.rows.row_at(at), pass.x[at]), gradient};
  }
  GPUNET_FN void store(index_t c, const SumPair& sum) const {
    store_gradient(pass.dw[c], static_cast<T>(sum.first), pass.accumulate);
    pass.db.store_gradient(c, static_cast<T>(sum.second), pass.accumulate);
  }
};

template <class D, class T>
void row_norm_forward(D& device, const RowNormForward<T>& pass) {
  const index_t rows = pass.rows.count();
  sum_each(device, rows, pass.centers ? pass.rows.g.length : 0, RowMeanSum<T>{pass});
  sum_each(device, rows, pass.rows.g.length, RowVarianceSum<T>{pass});
  for_each(device, pass.rows.elements(), NormalizeRowElement<T>{pass});
}

template <class D, class T>
void row_norm_backward_input(D& device, const RowNormBackward<T>& pass) {
  sum_each(device, pass.rows.count(), pass.rows.g.length, RowGradientSum<T>{pass});
  for_each(device, pass.rows.elements(), RowInputGradient<T>{pass});
}

template <class D, class T>
void row_norm_backward_parameters(D& device, const RowNormBackward<T>& pass) {
  const RowParameterSum<T> sum{pass};
  sum_each(device, pass.rows.g.weights(), pass.rows.slice.samples() * sum.per_sample(), sum);
}

}  // namespace gpunet
