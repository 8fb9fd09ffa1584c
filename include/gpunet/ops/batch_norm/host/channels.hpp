// Batch normalization on Host: by rows of a channel, in vectors.
#pragma once

#include <algorithm>

#include <gpunet/device/host/for_each.hpp>
#include <gpunet/ops/batch_norm/plain.hpp>

namespace gpunet {

namespace detail {

// Calls run(i, n) for the elements i to i + n of channel c that belong to samples, pad(i, n) for
// padding.
template <class Run, class Pad>
[[gnu::always_inline]] inline void each_run(const BatchNormGeometry& g, index_t c, Run run,
                                            Pad pad) {
  const index_t inner = g.slice.inner, row = g.pixels * inner;
  for (index_t o = 0; o < g.slice.outer; ++o) {
    const index_t first = (o * g.channels + c) * row;
    const index_t real = std::clamp(g.slice.count - o * inner, index_t{0}, inner);
    if (real == inner) {
      run(first, row);
    } else {
      for (index_t i = first; i < first + row; i += inner) {
        run(i, real);
        pad(i + real, inner - real);
      }
    }
  }
}

// Independent partial sums, which fill vectors.
template <class Value>
struct LaneValues {
  static constexpr index_t lanes = 16;
  Value sums[lanes] = {};

  [[gnu::always_inline]] void add(index_t lane, const Value& value) { sums[lane] += value; }
  [[gnu::always_inline]] Value operator[](index_t lane) const { return sums[lane]; }
};
template <>
struct LaneValues<SumPair> {
  static constexpr index_t lanes = 16;
  double first[lanes] = {}, second[lanes] = {};

  [[gnu::always_inline]] void add(index_t lane, const SumPair& value) {
    first[lane] += value.first;
    second[lane] += value.second;
  }
  [[gnu::always_inline]] SumPair operator[](index_t lane) const {
    return {first[lane], second[lane]};
  }
};

// One index = one channel.
template <class F>
struct SumChannel {
  F f;
  [[gnu::always_inline]] void operator()(index_t c) const {
    using Lanes = LaneValues<decltype(f.at(c, c))>;
    constexpr index_t lanes = Lanes::lanes;
    Lanes partial;
    each_run(
        f.g, c,
        [&](index_t i, index_t n) {
          index_t k = 0;
          for (; k + lanes <= n; k += lanes)
            for (index_t lane = 0; lane < lanes; ++lane)
              partial.add(lane, f.at(c, i + k + lane));
          for (index_t lane = 0; k < n; ++k, ++lane)
            partial.add(lane, f.at(c, i + k));
        },
        [](index_t, index_t) {});
    for (index_t width = lanes / 2; width > 0; width /= 2)
      for (index_t lane = 0; lane < width; ++lane)
        partial.add(lane, partial[lane + width]);
    f.store(c, partial[0]);
  }
};

// One index = one channel.
template <class F>
struct RunChannel {
  F f;
  [[gnu::always_inline]] void operator()(index_t c) const {
    each_run(
        f.g, c,
        [&](index_t i, index_t n) {
          GPUNET_INDEPENDENT_ITERATIONS
          for (index_t k = i; k < i + n; ++k)
            f.at(c, k);
        },
        [&](index_t i, index_t n) {
          for (index_t k = i; k < i + n; ++k)
            f.pad(k);
        });
  }
};

// Calls f(c) for every channel, on several threads where there is much to do.
template <class F>
void for_each_channel(Host& device, const BatchNormGeometry& g, const F& f) {
  const Loop loop = loop_over<F>();
  device.run_if(g.elements() >= 1 << 16, g.channels, [&](index_t c, int) { loop(&f, c, c + 1); });
}

}  // namespace detail

template <class F>
void sum_channels(Host& device, const F& f) {
  detail::for_each_channel(device, f.g, detail::SumChannel<F>{f});
}

template <class F>
void for_each_in_channels(Host& device, const F& f) {
  detail::for_each_channel(device, f.g, detail::RunChannel<F>{f});
}

}  // namespace gpunet
