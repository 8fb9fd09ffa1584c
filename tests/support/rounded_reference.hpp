// Layers in double, each with a bound of the error of the same layer in float, and the rounding of
// what it stores.
//
// The float64 model of 16-bit storage is checked layer by layer: a layer is given what the network
// has stored, so that a value that lies so near a tie that float and double round it to different
// sides does not change the layers after it. A stored value has to be what some number within the
// error bound of float is rounded to; that is one number unless a tie lies within the bound.
#pragma once

#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/float16.hpp>

// Numbers with bounds of the errors of their computation in float.
struct Bounded {
  std::vector<double> value, error;

  explicit Bounded(std::size_t size) : value(size), error(size) {}
  std::size_t size() const { return value.size(); }
};

inline constexpr double unit = 0x1p-24;  // the largest relative error of a float operation

// A sum of products: each order of additions, with or without fused multiply-adds, has an error of
// at most (terms + 1) units of the sum of the magnitudes (Higham, Accuracy and Stability of
// Numerical Algorithms, 3.1), to first order; the second term more is for the higher orders.
struct Sum {
  double value = 0, magnitude = 0;
  int terms = 0;
  void add(double x) {
    value += x;
    magnitude += std::abs(x);
    ++terms;
  }
  double error() const { return (terms + 2) * unit * magnitude; }
  void store(Bounded& out, std::size_t i) const {
    out.value[i] = value;
    out.error[i] = error();
  }
};

// Checks floats against numbers with bounds.
inline void check_near(const std::string& what, const std::vector<float>& got,
                       const Bounded& want) {
  CAPTURE(what);
  REQUIRE(got.size() == want.size());
  int wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool is_near =
        std::abs(got[i] - want.value[i]) <= want.error[i] + unit * std::abs(want.value[i]);
    if (!is_near && ++wrong < 5)
      CHECK_MESSAGE(is_near, i << ": " << got[i] << " (want " << want.value[i] << ")");
  }
  CHECK(wrong == 0);
}

// Checks floats against the same, rounded to H. Returns how many have one possible value.
template <class H>
std::size_t check_rounded(const std::string& what, const std::vector<float>& got,
                          const Bounded& want) {
  CAPTURE(what);
  REQUIRE(got.size() == want.size());
  int wrong = 0;
  std::size_t certain = 0;
  // Of the next float in a direction: x itself may be none.
  const auto rounded = [](double x, float toward) {
    return static_cast<float>(H(std::nextafter(static_cast<float>(x), toward)));
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float low = rounded(want.value[i] - want.error[i], -infinity),
                high = rounded(want.value[i] + want.error[i], infinity);
    certain += low == high;
    const bool is_fine = low <= got[i] && got[i] <= high;
    if (!is_fine && ++wrong < 5)
      CHECK_MESSAGE(is_fine, i << ": " << got[i] << " (want " << low << " to " << high << ")");
  }
  CHECK(wrong == 0);
  return certain;
}

// y = x w^T + b: x [rows, in], w [out, in], b [out].
inline Bounded linear_reference(const std::vector<float>& x, const std::vector<float>& w,
                                const std::vector<float>& b) {
  const std::size_t out = b.size(), in = w.size() / out, rows = x.size() / in;
  Bounded y(rows * out);
  for (std::size_t n = 0; n < rows; ++n)
    for (std::size_t o = 0; o < out; ++o) {
      Sum sum;
      sum.add(b[o]);
      for (std::size_t i = 0; i < in; ++i)
        sum.add(double{x[n * in + i]} * w[o * in + i]);
      sum.store(y, n * out + o);
    }
  return y;
}

// The gradients of x, w and b.
struct LayerDerivatives {
  Bounded x, w, b;
};
inline LayerDerivatives linear_gradients(const std::vector<float>& x, const std::vector<float>& w,
                                         const std::vector<float>& dy, std::size_t out) {
  const std::size_t in = w.size() / out, rows = x.size() / in;
  LayerDerivatives g{Bounded(x.size()), Bounded(w.size()), Bounded(out)};
  for (std::size_t n = 0; n < rows; ++n)
    for (std::size_t i = 0; i < in; ++i) {
      Sum sum;
      for (std::size_t o = 0; o < out; ++o)
        sum.add(double{dy[n * out + o]} * w[o * in + i]);
      sum.store(g.x, n * in + i);
    }
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t i = 0; i < in; ++i) {
      Sum sum;
      for (std::size_t n = 0; n < rows; ++n)
        sum.add(double{dy[n * out + o]} * x[n * in + i]);
      sum.store(g.w, o * in + i);
    }
    Sum sum;
    for (std::size_t n = 0; n < rows; ++n)
      sum.add(dy[n * out + o]);
    sum.store(g.b, o);
  }
  return g;
}

// The shape of a convolution with kernels of 3 x 3 and a padding of 1: images [samples, in, size,
// size].
struct SameConvolution {
  int samples, in, out, size;

  // Calls f(index of y or dy, of x, of w) for each product.
  template <class F>
  void each(F f) const {
    for (int n = 0; n < samples; ++n)
      for (int o = 0; o < out; ++o)
        for (int r = 0; r < size; ++r)
          for (int c = 0; c < size; ++c)
            for (int i = 0; i < in; ++i)
              for (int kr = 0; kr < 3; ++kr)
                for (int kc = 0; kc < 3; ++kc) {
                  const int xr = r + kr - 1, xc = c + kc - 1;
                  if (xr < 0 || xr >= size || xc < 0 || xc >= size) continue;
                  f(static_cast<std::size_t>(((n * out + o) * size + r) * size + c),
                    static_cast<std::size_t>(((n * in + i) * size + xr) * size + xc),
                    static_cast<std::size_t>(((o * in + i) * 3 + kr) * 3 + kc));
                }
  }
  std::size_t channel_of(std::size_t y) const {
    return y / static_cast<std::size_t>(size * size) % static_cast<std::size_t>(out);
  }
  std::size_t outputs() const { return static_cast<std::size_t>(samples * out * size * size); }

  Bounded forward(const std::vector<float>& x, const std::vector<float>& w,
                  const std::vector<float>& b) const {
    std::vector<Sum> sums(outputs());
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i].add(b[channel_of(i)]);
    each([&](std::size_t y, std::size_t at, std::size_t k) { sums[y].add(double{x[at]} * w[k]); });
    return stored(sums);
  }
  LayerDerivatives backward(const std::vector<float>& x, const std::vector<float>& w,
                            const std::vector<float>& dy) const {
    std::vector<Sum> dx(x.size()), dw(w.size()), db(static_cast<std::size_t>(out));
    each([&](std::size_t y, std::size_t at, std::size_t k) {
      dx[at].add(double{dy[y]} * w[k]);
      dw[k].add(double{dy[y]} * x[at]);
    });
    for (std::size_t i = 0; i < dy.size(); ++i)
      db[channel_of(i)].add(dy[i]);
    return {stored(dx), stored(dw), stored(db)};
  }

 private:
  static Bounded stored(const std::vector<Sum>& sums) {
    Bounded out(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i].store(out, i);
    return out;
  }
};

// Normalization y = (x - mean) / sqrt(variance + 1e-5) w + b over groups of elements: of a channel
// of a batch, or of a row. The elements of group g are those with group_of(i) == g; their weight is
// w[weight_of(i)].
//
// Bounds, for a group of N elements, mean m, s = 1 / sqrt(variance + eps), h = (x - m) s: the mean
// has an error of (N + 2) units of the mean of |x|, which shifts all differences; the variance is a
// mean of their squares, so that s has a relative error of (N + 8) / 2 units; and the last
// operations have a unit each.
template <class GroupOf, class WeightOf>
struct Normalization {
  std::size_t groups;
  GroupOf group_of;
  WeightOf weight_of;

  struct Statistics {
    Sum x;
    double mean = 0, shift = 0, s = 0;
    int n = 0;
  };
  std::vector<Statistics> statistics(const std::vector<float>& x) const {
    std::vector<Statistics> all(groups);
    for (std::size_t i = 0; i < x.size(); ++i)
      all[group_of(i)].x.add(x[i]);
    std::vector<double> squares(groups);
    for (Statistics& group : all) {
      group.n = group.x.terms;
      group.mean = group.x.value / group.n;
      group.shift = group.x.error() / group.n;
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double d = x[i] - all[group_of(i)].mean;
      squares[group_of(i)] += d * d;
    }
    for (std::size_t g = 0; g < groups; ++g)
      all[g].s = 1 / std::sqrt(squares[g] / all[g].n + 1e-5);
    return all;
  }
  // h and its error.
  Bounded normalized(const std::vector<float>& x, const std::vector<Statistics>& all) const {
    Bounded h(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Statistics& group = all[group_of(i)];
      h.value[i] = (x[i] - group.mean) * group.s;
      h.error[i] = group.shift * group.s + (group.n + 8) * unit * std::abs(h.value[i]);
    }
    return h;
  }
  Bounded forward(const std::vector<float>& x, const std::vector<float>& w,
                  const std::vector<float>& b) const {
    const std::vector<Statistics> all = statistics(x);
    Bounded y = normalized(x, all);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double weight = w[weight_of(i)], bias = b[weight_of(i)], product = y.value[i] * weight;
      y.value[i] = product + bias;
      y.error[i] = std::abs(weight) * y.error[i] + 2 * unit * (std::abs(product) + std::abs(bias));
    }
    return y;
  }
  // dx = s (w dy - mean of w dy - h mean of (w dy h)); dw = sum of dy h; db = sum of dy. Terms have
  // the errors of h, and sums those of sums.
  LayerDerivatives backward(const std::vector<float>& x, const std::vector<float>& w,
                            const std::vector<float>& dy) const {
    const std::vector<Statistics> all = statistics(x);
    const Bounded h = normalized(x, all);
    struct Means {
      Sum dy, dy_h;
      double h_error = 0;  // of the terms of dy_h
    };
    std::vector<Means> means(groups);
    std::vector<Sum> dw(w.size()), db(w.size());
    std::vector<double> dw_error(w.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double d = double{dy[i]} * w[weight_of(i)];
      Means& group = means[group_of(i)];
      group.dy.add(d);
      group.dy_h.add(d * h.value[i]);
      group.h_error += std::abs(d) * h.error[i];
      dw[weight_of(i)].add(dy[i] * h.value[i]);
      dw_error[weight_of(i)] += std::abs(dy[i]) * h.error[i];
      db[weight_of(i)].add(dy[i]);
    }
    LayerDerivatives g{Bounded(x.size()), Bounded(w.size()), Bounded(w.size())};
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Means& mean = means[group_of(i)];
      const Statistics& group = all[group_of(i)];
      const double n = group.n, d = double{dy[i]} * w[weight_of(i)], first = mean.dy.value / n,
                   second = mean.dy_h.value / n;
      g.x.value[i] = group.s * (d - first - h.value[i] * second);
      const double second_error =
          (mean.dy_h.error() + mean.h_error) / n + 4 * unit * std::abs(second);
      g.x.error[i] =
          group.s *
          (mean.dy.error() / n + std::abs(h.value[i]) * second_error +
           h.error[i] * std::abs(second) +
           (n + 16) * unit * (std::abs(d) + std::abs(first) + std::abs(h.value[i] * second)));
    }
    for (std::size_t k = 0; k < w.size(); ++k) {
      dw[k].store(g.w, k);
      g.w.error[k] += dw_error[k];
      db[k].store(g.b, k);
    }
    return g;
  }
};
template <class GroupOf, class WeightOf>
Normalization(int, GroupOf, WeightOf) -> Normalization<GroupOf, WeightOf>;
