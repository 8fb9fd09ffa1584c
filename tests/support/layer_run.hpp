// One layer by itself.
#pragma once

#include <functional>

#include <gpunet/gpunet.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/guarded_buffer.hpp"

// Every kind of slice that a device gets: full ones, and some with padding.
template <class D>
std::vector<gpunet::Slice> test_slices() {
  if constexpr (std::same_as<D, gpunet::Host>)
    return {{1, 1, 1}, {3, 3, 1}, {4, 1, 4}, {3, 1, 4}, {16, 1, 16}, {11, 1, 16}, {8, 2, 4}, {5, 2, 4}};
  else
    return {{1, 1, 1}, {3, 3, 1}};
}

// Where the parameters of one layer are in an arena of their own, with gaps as in a model's.
struct LayerArena {
  std::vector<gpunet::index_t> offsets, sizes;
  gpunet::index_t elements = 0;

  template <class L, class In>
  LayerArena(const L& layer, In in) {
    for (const auto& spec : gpunet::nn::parameters(layer, in)) {
      offsets.push_back(elements);
      sizes.push_back(spec.sizes.numel());
      elements += gpunet::round_up(spec.sizes.numel(), gpunet::parameter_alignment);
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
  // The way back; the gaps have to be what they were.
  template <class T>
  std::vector<T> gather(const std::vector<T>& arena) const {
    std::vector<T> values;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const T* from = arena.data() + offsets[i];
      const T* gap_end = arena.data() + (i + 1 < sizes.size() ? offsets[i + 1] : elements);
      values.insert(values.end(), from, from + sizes[i]);
      CHECK_MESSAGE(std::all_of(from + sizes[i], gap_end, [](T value) { return std::isnan(value); }),
                    "a layer wrote between its parameters");
    }
    return values;
  }
};

// The same for its buffers, with their first values.
template <class T>
struct BufferArena {
  std::vector<gpunet::index_t> offsets;
  std::vector<T> values;

  template <class L, class In>
  BufferArena(const L& layer, In in) {
    for (const auto& spec : gpunet::nn::buffers(layer, in)) {
      offsets.push_back(static_cast<gpunet::index_t>(values.size()));
      values.resize(values.size() + static_cast<std::size_t>(gpunet::round_up(spec.sizes.numel(), 16)),
                    spec.kind == gpunet::nn::BufferKind::count ? T{} : static_cast<T>(spec.initial));
    }
  }
};

enum class InputGradient { skip, compute };

// What a layer's backward leaves.
template <class T>
struct LayerGradients {
  std::vector<T> dx;          // [count, in]; empty where it was not asked for
  std::vector<T> padding;     // dx of the padding samples
  std::vector<T> parameters;  // one after another
};

// A layer on one slice of a device, fed and read in PyTorch's order: rows of real samples. All memory that it is to
// write begins as NaN. The layer's type is forgotten, so that tests compile once for all layers.
template <class T, class D>
class LayerRun {
 public:
  template <class L, class In>
  LayerRun(D& device, const L& layer, In in, const gpunet::Slice& slice)
      : device_(device),
        slice_(slice),
        in_features_(in.numel()),
        out_features_(layer.output(in).numel()),
        couples_samples_(gpunet::nn::couples_samples<L>),
        arena_(layer, in),
        buffer_arena_(layer, in),
        scratch_(device, gpunet::nn::scratch(layer, device, in, slice, T{})),
        cache_(device, gpunet::ceil_div(gpunet::nn::cache_bytes(layer, in) * slice.samples(), 4)),
        forward_([=, &device](const gpunet::nn::ForwardPass<T>& pass) { layer.forward(device, in, pass); }),
        backward_([=, &device](const gpunet::nn::BackwardPass<T>& pass) { layer.backward(device, in, pass); }) {
    buffers_.upload(buffer_arena_.values);
  }

  // Whether samples depend on each other.
  bool couples_samples() const { return couples_samples_ && mode_ == gpunet::nn::Mode::train; }
  // Whether the layer learns or is used.
  void set_mode(gpunet::nn::Mode mode) { mode_ = mode; }
  // Buffer i from its offset on, `size` elements.
  std::vector<T> buffer(std::size_t i, gpunet::index_t size) const {
    const std::vector<T> all = buffers_.download();
    const T* first = all.data() + buffer_arena_.offsets[i];
    return std::vector<T>(first, first + size);
  }

  const gpunet::Slice& slice() const { return slice_; }
  gpunet::index_t in_features() const { return in_features_; }
  gpunet::index_t out_features() const { return out_features_; }
  gpunet::index_t parameter_count() const {
    return std::accumulate(arena_.sizes.begin(), arena_.sizes.end(), gpunet::index_t{0});
  }

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
  LayerGradients<T> backward(const std::vector<T>& dy, gpunet::Accumulate accumulate = gpunet::Accumulate::no,
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
    const gpunet::Slice all{slice_.samples(), slice_.outer, slice_.inner};
    const std::vector<T> rows = to_rows(all, in_features_, dx.data());
    result.dx.assign(rows.begin(), rows.begin() + slice_.count * in_features_);
    result.padding.assign(rows.begin() + slice_.count * in_features_, rows.end());
    return result;
  }

 private:
  gpunet::nn::ArraySlices<const T> parameters() const { return {parameters_.data(), arena_.offsets.data()}; }
  gpunet::nn::ArraySlices<T> buffers() const { return {buffers_.data(), buffer_arena_.offsets.data()}; }
  std::byte* cache() const { return reinterpret_cast<std::byte*>(cache_.data()); }

  D& device_;
  gpunet::Slice slice_;
  gpunet::index_t in_features_, out_features_;
  bool couples_samples_;
  LayerArena arena_;
  BufferArena<T> buffer_arena_;
  gpunet::nn::Mode mode_ = gpunet::nn::Mode::train;
  GuardedBuffer<T, D> x_{device_, slice_.samples() * in_features_};
  GuardedBuffer<T, D> y_{device_, slice_.samples() * out_features_};
  GuardedBuffer<T, D> dx_{device_, slice_.samples() * in_features_};
  GuardedBuffer<T, D> dy_{device_, slice_.samples() * out_features_};
  GuardedBuffer<T, D> parameters_{device_, arena_.elements};
  GuardedBuffer<T, D> gradients_{device_, arena_.elements};
  GuardedBuffer<T, D> buffers_{device_, static_cast<gpunet::index_t>(buffer_arena_.values.size())};
  GuardedBuffer<T, D> scratch_;
  GuardedBuffer<float, D> cache_;
  std::function<void(const gpunet::nn::ForwardPass<T>&)> forward_;
  std::function<void(const gpunet::nn::BackwardPass<T>&)> backward_;
};
