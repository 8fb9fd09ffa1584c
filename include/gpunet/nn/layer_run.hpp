// One layer by itself, for tests of it. Not in gpunet.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/math.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/tensor/guarded_buffer.hpp>

namespace gpunet::nn {

// Returns rows [count, features] in the order of a slice, padding samples zero. On purpose not by ops/interleave.hpp.
template <class T>
std::vector<T> to_slice_order(const Slice& slice, index_t features, const std::vector<T>& rows) {
  std::vector<T> data(static_cast<std::size_t>(slice.samples() * features), T{});
  for (index_t n = 0; n < slice.count; ++n)
    for (index_t k = 0; k < features; ++k)
      data.data()[(n / slice.inner * features + k) * slice.inner + n % slice.inner] = rows.data()[n * features + k];
  return data;
}

// Returns the real samples of a slice as rows [count, features].
template <class T>
std::vector<T> to_rows(const Slice& slice, index_t features, const T* data) {
  std::vector<T> rows;
  for (index_t n = 0; n < slice.count; ++n)
    for (index_t k = 0; k < features; ++k)
      rows.push_back(data[(n / slice.inner * features + k) * slice.inner + n % slice.inner]);
  return rows;
}

// Returns every kind of slice that a device gets: full ones, and some with padding.
template <class D>
std::vector<Slice> test_slices() {
  if constexpr (std::is_same_v<D, Host>)
    return {{1, 1, 1}, {3, 3, 1}, {4, 1, 4}, {3, 1, 4}, {16, 1, 16}, {11, 1, 16}, {8, 2, 4}, {5, 2, 4}};
  else
    return {{1, 1, 1}, {3, 3, 1}};
}

// Where the parameters of one layer are in an arena of their own, with gaps as in a model's.
struct LayerArena {
  std::vector<index_t> offsets, sizes;
  index_t elements = 0;

  template <class L, class In>
  LayerArena(const L& layer, In in) {
    for (const auto& spec : parameters(layer, in)) {
      offsets.push_back(elements);
      sizes.push_back(spec.sizes.numel());
      elements += round_up(spec.sizes.numel(), index_t{16});
    }
  }

  // Values one after another to the arena, with NaN in the gaps.
  template <class T>
  std::vector<T> spread(const std::vector<T>& values) const {
    std::vector<T> arena(static_cast<std::size_t>(elements), std::numeric_limits<T>::quiet_NaN());
    const T* from = values.data();
    for (std::size_t i = 0; i < sizes.size(); from += sizes[i++])
      std::copy_n(from, sizes[i], arena.data() + offsets[i]);
    return arena;
  }
  // The values in an arena, one after another. Throws Error where a gap is no longer NaN.
  template <class T>
  std::vector<T> gather(const std::vector<T>& arena) const {
    std::vector<T> values;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const T* from = arena.data() + offsets[i];
      const T* gap_end = arena.data() + (i + 1 < sizes.size() ? offsets[i + 1] : elements);
      values.insert(values.end(), from, from + sizes[i]);
      require(std::all_of(from + sizes[i], gap_end, [](T value) { return std::isnan(value); }),
              "gpunet::nn::LayerRun: a layer wrote behind gradient ", i, " of its parameters, which has ", sizes[i],
              " elements: check the sizes in backward");
    }
    return values;
  }
};

// The same for its buffers, with their first values.
template <class T>
struct BufferArena {
  std::vector<index_t> offsets;
  std::vector<T> values;

  template <class L, class In>
  BufferArena(const L& layer, In in) {
    for (const auto& spec : buffers(layer, in)) {
      offsets.push_back(static_cast<index_t>(values.size()));
      values.resize(values.size() + static_cast<std::size_t>(round_up(spec.sizes.numel(), index_t{16})),
                    spec.kind == BufferKind::count ? T{} : static_cast<T>(spec.initial));
    }
  }
};

// Whether backward is asked for the gradient of the inputs.
enum class InputGradient { skip, compute };

// The gradients that a layer's backward pass computes.
template <class T>
struct LayerGradients {
  std::vector<T> dx;          // [count, in]; empty where it was not asked for
  std::vector<T> padding;     // dx of the padding samples
  std::vector<T> parameters;  // one after another
};

// A layer on one slice of a device, fed and read in PyTorch's order: rows of real samples. All memory that it is to
// write begins as NaN. Type-erased, so that tests compile once for all layers.
template <class T, class D>
class LayerRun {
 public:
  // The device must outlive it.
  template <class L, class In>
  LayerRun(D& device, const L& layer, In in, const Slice& slice)
      : device_(device),
        slice_(slice),
        in_features_(in.numel()),
        out_features_(layer.output(in).numel()),
        couples_samples_(nn::couples_samples<L>),
        arena_(layer, in),
        buffer_arena_(layer, in),
        scratch_(device, nn::scratch(layer, device, in, slice, T{})),
        cache_(device, ceil_div(nn::cache_bytes(layer, in) * slice.samples(), 4)),
        forward_([=, &device](const ForwardPass<T>& pass) { layer.forward(device, in, pass); }),
        backward_([=, &device](const BackwardPass<T>& pass) { layer.backward(device, in, pass); }) {
    buffers_.upload(buffer_arena_.values);
  }

  // Whether samples depend on each other.
  bool couples_samples() const { return couples_samples_ && mode_ == Mode::train; }
  // Training or evaluation mode; training at first.
  void set_mode(Mode mode) { mode_ = mode; }
  // Buffer i from its offset on, `size` elements.
  std::vector<T> buffer(std::size_t i, index_t size) const {
    const std::vector<T> all = buffers_.download();
    const T* first = all.data() + buffer_arena_.offsets[i];
    return std::vector<T>(first, first + size);
  }

  // The sizes it was constructed with.
  const Slice& slice() const { return slice_; }
  index_t in_features() const { return in_features_; }
  index_t out_features() const { return out_features_; }
  index_t parameter_count() const { return std::accumulate(arena_.sizes.begin(), arena_.sizes.end(), index_t{0}); }

  // One after another.
  void set_parameters(const std::vector<T>& values) { parameters_.upload(arena_.spread(values)); }

  // x [count, in] -> y [count, out]
  std::vector<T> forward(const std::vector<T>& x) {
    x_.upload(to_slice_order(slice_, in_features_, x));
    y_.fill_with_nan();
    cache_.fill_with_nan();
    scratch_.fill_with_nan();
    forward_({slice_, x_.data(), y_.data(), parameters(), cache(), scratch_.data(), buffers(), mode_});
    return to_rows(slice_, out_features_, y_.download().data());
  }

  // After forward(): dy [count, out] -> gradients. Those of the parameters begin as `before`, or as NaN.
  LayerGradients<T> backward(const std::vector<T>& dy, Accumulate accumulate = Accumulate::no,
                             const std::vector<T>& before = {}, InputGradient input = InputGradient::compute) {
    dy_.upload(to_slice_order(slice_, out_features_, dy));
    dx_.fill_with_nan();
    gradients_.upload(before.empty() ? before : arena_.spread(before));
    scratch_.fill_with_nan();
    backward_({slice_,
               x_.data(),
               y_.data(),
               dy_.data(),
               input == InputGradient::compute ? dx_.data() : nullptr,
               parameters(),
               {gradients_.data(), arena_.offsets.data()},
               accumulate,
               cache(),
               scratch_.data(),
               buffers(),
               mode_});
    LayerGradients<T> result{{}, {}, arena_.gather(gradients_.download())};
    const std::vector<T> dx = dx_.download();
    if (input == InputGradient::skip) return result;
    const Slice all{slice_.samples(), slice_.outer, slice_.inner};
    const std::vector<T> rows = to_rows(all, in_features_, dx.data());
    result.dx.assign(rows.begin(), rows.begin() + slice_.count * in_features_);
    result.padding.assign(rows.begin() + slice_.count * in_features_, rows.end());
    return result;
  }

 private:
  ArraySlices<const T> parameters() const { return {parameters_.data(), arena_.offsets.data()}; }
  ArraySlices<T> buffers() const { return {buffers_.data(), buffer_arena_.offsets.data()}; }
  std::byte* cache() const { return reinterpret_cast<std::byte*>(cache_.data()); }

  D& device_;
  Slice slice_;
  index_t in_features_, out_features_;
  bool couples_samples_;
  LayerArena arena_;
  BufferArena<T> buffer_arena_;
  Mode mode_ = Mode::train;
  GuardedBuffer<T, D> x_{device_, slice_.samples() * in_features_};
  GuardedBuffer<T, D> y_{device_, slice_.samples() * out_features_};
  GuardedBuffer<T, D> dx_{device_, slice_.samples() * in_features_};
  GuardedBuffer<T, D> dy_{device_, slice_.samples() * out_features_};
  GuardedBuffer<T, D> parameters_{device_, arena_.elements};
  GuardedBuffer<T, D> gradients_{device_, arena_.elements};
  GuardedBuffer<T, D> buffers_{device_, static_cast<index_t>(buffer_arena_.values.size())};
  GuardedBuffer<T, D> scratch_;
  GuardedBuffer<float, D> cache_;
  std::function<void(const ForwardPass<T>&)> forward_;
  std::function<void(const BackwardPass<T>&)> backward_;
};

}  // namespace gpunet::nn
