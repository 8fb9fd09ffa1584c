// Normalization of rows of floats, one vector path; see device/host/each_isa_path.inl and rows.hpp.
// The samples of a slice that are innermost are a multiple of the path's lanes, and vectors run
// over samples; or there is one, and they run over the row.

namespace gpunet::GPUNET_PATH {

// Writes the means of the lanes, or the mean over all lanes to each, of n numbers.
GPUNET_TARGET [[gnu::always_inline]] inline void write_means(const LaneSums& sums, bool of_all,
                                                             double n, double* to) {
  double of_lanes[GPUNET_LANES];
  sums.write(of_lanes);
  const double all_lanes = of_all ? sums.wide_all() : 0;
  for (int lane = 0; lane < GPUNET_LANES; ++lane)
    to[lane] = (of_all ? all_lanes : of_lanes[lane]) / n;
}

GPUNET_TARGET [[gnu::always_inline]] inline Vector to_floats(const double* values) {
  WideVector v;
  __builtin_memcpy(&v, values, sizeof v);
  return __builtin_convertvector(v, Vector);
}

// A mean in two floats, so that the distance of a near number keeps its digits.
struct RowMeans {
  Vector high, low;
  GPUNET_TARGET [[gnu::always_inline]] explicit RowMeans(const double* means)
      : high(to_floats(means)) {
    double rest[GPUNET_LANES];
    for (int lane = 0; lane < GPUNET_LANES; ++lane)
      rest[lane] = means[lane] - static_cast<double>(high[lane]);
    low = to_floats(rest);
  }
  GPUNET_TARGET [[gnu::always_inline]] explicit RowMeans(double mean)
      : high(Vector{} + static_cast<float>(mean)),
        low(Vector{} + static_cast<float>(mean - static_cast<double>(static_cast<float>(mean)))) {}
  GPUNET_TARGET [[gnu::always_inline]] Vector distance(Vector x) const { return x - high - low; }
};

// Weights of a row: one for all lanes of a place, or where lanes are neighbors in the row, one for
// each lane.
struct RowWeights {
  const float* weights;  // may be null
  float missing;
  bool neighbors;
  GPUNET_TARGET [[gnu::always_inline]] Vector operator[](index_t place) const {
    return !weights    ? Vector{} + missing
           : neighbors ? load(weights + place)
                       : Vector{} + weights[place];
  }
};

// Calls f(i, place, mask) for all vectors of a row and of sample j and its neighbors: the offset,
// the weight of its first element, and the lanes that earlier vectors have not had. The last vector
// of a run overlaps the one before.
template <class F>
GPUNET_TARGET [[gnu::always_inline]] inline void walk_row(const RowNormRows& rows, index_t row,
                                                          index_t j, F& f) {
  const RowNormGeometry& g = rows.g;
  const index_t inner = rows.slice.inner, runs = g.channels == 0 ? 1 : g.channels,
                run = g.length / runs;
  const Mask all = last_lanes(lanes);
  for (index_t c = 0; c < runs; ++c) {
    const index_t first = (row * g.length + c * run) * inner + j;
    const index_t place = g.channels == 0 ? 0 : row % g.rows * runs + c,
                  next = g.channels == 0 ? 1 : 0;
    if (inner > 1) {
      for (index_t r = 0; r < run; ++r)
        f(first + r * inner, place + r * next, all);
    } else {
      index_t r = 0;
      for (; r + lanes <= run; r += lanes)
        f(first + r, place + r * next, all);
      if (r < run) f(first + run - lanes, place + (run - lanes) * next, last_lanes(run - r));
    }
  }
}

struct RowMean {
  const float* x;
  LaneSums sum{};
  GPUNET_TARGET [[gnu::always_inline]] void operator()(index_t i, index_t, Mask mask) {
    sum.add(keep(load(x + i), mask));
  }
};

struct RowVariance {
  const float* x;
  RowMeans mean;
  LaneSums sum{};
  GPUNET_TARGET [[gnu::always_inline]] void operator()(index_t i, index_t, Mask mask) {
    const Vector distance = keep(mean.distance(load(x + i)), mask);
    sum.add(distance * distance);
  }
};

struct NormalizeRow {
  const float* x;
  RowMeans mean;
  Vector inverse;
  RowWeights w, b;
  float* y;
  GPUNET_TARGET [[gnu::always_inline]] void operator()(index_t i, index_t place, Mask) const {
    store(y + i, mean.distance(load(x + i)) * inverse * w[place] + b[place]);
  }
};

// Row `row` of all samples of a group; rows are counted over all groups.
GPUNET_TARGET inline void row_norm_forward(const RowNormForward<float>& pass, index_t row) {
  const index_t inner = pass.rows.slice.inner;
  const bool one = inner == 1;
  const bool neighbors = one && pass.rows.g.channels == 0;
  const double length = static_cast<double>(pass.rows.g.length);
  for (index_t j = 0; j < inner; j += lanes) {
    double mean[GPUNET_LANES] = {}, inverse[GPUNET_LANES];
    if (pass.centers) {
      RowMean of{pass.x};
      walk_row(pass.rows, row, j, of);
      write_means(of.sum, one, length, mean);
    }
    RowVariance variance{pass.x, RowMeans(mean)};
    walk_row(pass.rows, row, j, variance);
    write_means(variance.sum, one, length, inverse);
    for (double& value : inverse)
      value = inverse_deviation<float>(value, pass.eps);
    const NormalizeRow normalize{pass.x,
                                 RowMeans(mean),
                                 to_floats(inverse),
                                 {pass.w, 1, neighbors},
                                 {pass.b.data(), 0, neighbors},
                                 pass.y};
    walk_row(pass.rows, row, j, normalize);
    const index_t at = row * inner + j;
    for (index_t lane = 0; lane < (one ? 1 : lanes); ++lane) {
      pass.statistics.mean[at + lane] = mean[lane];
      pass.statistics.inverse[at + lane] = inverse[lane];
    }
  }
}

// The statistics of the rows of one vector.
struct RowNormal {
  RowMeans mean;
  Vector inverse;
  GPUNET_TARGET
  [[gnu::always_inline]] RowNormal(const RowNormRows& rows, const RowStatistics& of, index_t row,
                                   index_t j)
      : RowNormal(of.mean + row * rows.slice.inner + j, of.inverse + row * rows.slice.inner + j,
                  rows.slice.inner == 1) {}
  GPUNET_TARGET [[gnu::always_inline]] Vector operator()(Vector x) const {
    return mean.distance(x) * inverse;
  }

 private:
  GPUNET_TARGET
  [[gnu::always_inline]] RowNormal(const double* means, const double* inverses, bool one)
      : mean(one ? RowMeans(*means) : RowMeans(means)),
        inverse(one ? Vector{} + static_cast<float>(*inverses) : to_floats(inverses)) {}
};

struct RowGradient {
  const float *x, *dy;
  RowNormal normal;
  RowWeights w;
  LaneSums normal_sum{}, sum{};
  GPUNET_TARGET [[gnu::always_inline]] void operator()(index_t i, index_t place, Mask mask) {
    const Vector gradient = keep(load(dy + i) * w[place], mask);
    normal_sum.add(gradient * normal(load(x + i)));
    sum.add(gradient);
  }
};

struct RowGradientOfInput {
  const float *x, *dy;
  RowNormal normal;
  RowWeights w;
  Vector normal_mean, mean;
  float* dx;
  GPUNET_TARGET [[gnu::always_inline]] void operator()(index_t i, index_t place, Mask) const {
    const Vector distance = load(dy + i) * w[place] - mean - normal(load(x + i)) * normal_mean;
    store(dx + i, distance * normal.inverse);
  }
};

GPUNET_TARGET inline void row_norm_input_gradient(const RowNormBackward<float>& pass, index_t row) {
  const index_t inner = pass.rows.slice.inner;
  const bool one = inner == 1;
  const RowWeights w{pass.w, 1, one && pass.rows.g.channels == 0};
  const double length = static_cast<double>(pass.rows.g.length);
  for (index_t j = 0; j < inner; j += lanes) {
    const RowNormal normal(pass.rows, pass.statistics, row, j);
    RowGradient sums{pass.x, pass.dy, normal, w};
    walk_row(pass.rows, row, j, sums);
    double normal_mean[GPUNET_LANES], mean[GPUNET_LANES] = {};
    write_means(sums.normal_sum, one, length, normal_mean);
    if (pass.centers) write_means(sums.sum, one, length, mean);
    const RowGradientOfInput gradient{pass.x,          pass.dy, normal, w, to_floats(normal_mean),
                                      to_floats(mean), pass.dx};
    walk_row(pass.rows, row, j, gradient);
  }
}

// The sums of a weight, or of a weight per lane.
struct WeightSums {
  const float *x, *dy;
  LaneSums normal_sum{}, sum{};
  GPUNET_TARGET [[gnu::always_inline]] void add(const RowNormal& normal, index_t i, Mask mask) {
    const Vector gradient = keep(load(dy + i), mask);
    normal_sum.add(gradient * normal(load(x + i)));
    sum.add(gradient);
  }
  // Stores the sum over all lanes.
  GPUNET_TARGET void store_all(const RowNormBackward<float>& pass, index_t weight) {
    RowParameterSum<float>{pass}.store(weight, {normal_sum.wide_all(), sum.wide_all()});
  }
};

// The gradients of the weights first to last - 1, row_norm_weights at most.
GPUNET_TARGET inline void row_norm_parameter_gradients(const RowNormBackward<float>& pass,
                                                       index_t first, index_t last) {
  const RowNormRows& rows = pass.rows;
  const RowNormGeometry& g = rows.g;
  const index_t inner = rows.slice.inner, all_rows = rows.slice.outer * g.rows;
  const Mask all = last_lanes(lanes);
  if (inner == 1 && g.channels == 0) {
    for (index_t next = first; next < last; next += lanes) {
      const index_t place = std::min(next, g.length - lanes);
      WeightSums sums{pass.x, pass.dy};
      for (index_t row = 0; row < all_rows; ++row)
        sums.add(RowNormal(rows, pass.statistics, row, 0), row * g.length + place, all);
      double normals[GPUNET_LANES], gradients[GPUNET_LANES];
      sums.normal_sum.write(normals);
      sums.sum.write(gradients);
      for (index_t k = next; k < std::min(next + lanes, last); ++k)
        RowParameterSum<float>{pass}.store(k, {normals[k - place], gradients[k - place]});
    }
    return;
  }
  if (g.channels == 0) {
    WeightSums sums[row_norm_weights];
    std::fill_n(sums, last - first, WeightSums{pass.x, pass.dy});
    for (index_t row = 0; row < all_rows; ++row)
      for (index_t j = 0; j < inner; j += lanes) {
        const RowNormal normal(rows, pass.statistics, row, j);
        for (index_t k = first; k < last; ++k)
          sums[k - first].add(normal, (row * g.length + k) * inner + j, all);
      }
    for (index_t k = first; k < last; ++k)
      sums[k - first].store_all(pass, k);
    return;
  }
  const index_t run = g.run() * inner;
  for (index_t weight = first; weight < last; ++weight) {
    WeightSums sums{pass.x, pass.dy};
    for (index_t row = weight / g.channels; row < all_rows; row += g.rows)
      for (index_t j = 0; j < inner; j += lanes) {
        const RowNormal normal(rows, pass.statistics, row, j);
        const index_t begin = row * g.length * inner + weight % g.channels * run + j;
        const index_t step = std::max(inner, lanes);
        index_t r = 0;
        for (; r + lanes <= run - j; r += step)
          sums.add(normal, begin + r, all);
        if (r < run - j) sums.add(normal, begin + run - lanes, last_lanes(run - r));
      }
    sums.store_all(pass, weight);
  }
}

}  // namespace gpunet::GPUNET_PATH
