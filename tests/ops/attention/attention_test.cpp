// The op alone: queries, keys and values that are values of their own, of different lengths, and
// masks of keys.
#include <array>

#include <gpunet/gpunet.hpp>

#include "support/attention_reference.hpp"
#include "support/check_gradients.hpp"

using namespace gpunet;

namespace {

// to[f] = from[first + f] for each sample.
template <class T>
struct CopyFeatures {
  Slice slice;
  index_t first, features, of_all;
  const T* from;
  T* to;
  GPUNET_FN void operator()(index_t i) const {
    const index_t f = i % features, n = i / features;
    to[slice.offset(n, f, features)] = from[slice.offset(n, first + f, of_all)];
  }
};

// The gradient of that: 0 for the other features.
template <class T>
struct CopyFeaturesBack {
  Slice slice;
  index_t first, features, of_all;
  const T* from;
  T* to;
  GPUNET_FN void operator()(index_t i) const {
    const index_t f = i % of_all - first, n = i / of_all;
    const bool inside = f >= 0 && f < features;
    to[slice.offset(n, i % of_all, of_all)] = inside ? from[slice.offset(n, f, features)] : T{};
  }
};

// 1 where x > 1/2.
template <class T>
struct Threshold {
  T* x;
  GPUNET_FN void operator()(index_t i) const { x[i] = x[i] > T{0.5} ? T{1} : T{}; }
};

// Some of the features of x; as a mask 1 where they exceed 1/2, without a gradient.
struct TakeOp {
  index_t first, features;
  bool is_mask;

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const {
    for_each(device, pass.slice.samples() * features,
             CopyFeatures<T>{pass.slice, first, features, pass.in_features, pass.x, pass.y});
    if (is_mask) for_each(device, pass.slice.samples() * features, Threshold<T>{pass.y});
  }
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const {
    if (pass.dx)
      for_each(device, pass.in_elements(),
               CopyFeaturesBack<T>{pass.slice, first, is_mask ? 0 : features, pass.in_features,
                                   pass.dy, pass.dx});
  }
};

// Attention of the parts of x: [queries, heads * dim], [keys, heads * dim], [keys,
// heads * value_dim] and perhaps [keys].
struct Attend {
  index_t heads, queries, keys, dim, value_dim;
  bool causal, masked;

  index_t features() const {
    return heads * (queries * dim + keys * (dim + value_dim)) + (masked ? keys : 0);
  }
  constexpr auto output(auto) const { return Shape(Dim(queries), Dim(heads * value_dim)); }
  template <class Builder>
  value_t lower(Builder& builder, value_t x, auto) const {
    const std::array<index_t, 4> sizes{queries * heads * dim, keys * heads * dim,
                                       keys * heads * value_dim, keys};
    std::array<value_t, 4> parts{};
    index_t first = 0;
    for (std::size_t i = 0; i < (masked ? 4 : 3); ++i) {
      parts[i] = builder.add(TakeOp{first, sizes[i], i == 3}, x, Sizes{sizes[i]});
      first += sizes[i];
    }
    const AttentionOp op{.g = {.heads = heads,
                               .queries = queries,
                               .keys = keys,
                               .dim = dim,
                               .value_dim = value_dim,
                               .q = {0, heads * dim},
                               .k = {1, heads * dim},
                               .v = {2, heads * value_dim},
                               .causal = causal,
                               .scale = 1 / std::sqrt(static_cast<double>(dim))},
                         .mask = masked ? 3 : -1};
    return builder.add(op, std::span<const value_t>(parts).first(masked ? 4 : 3),
                       Sizes{queries, heads * value_dim});
  }
};

template <class D, class T>
class ProductCases {
 public:
  ProductCases(D& device, double tolerance) : cases_(device, "products", tolerance) {}
  void operator()(index_t batch, const Attend& attend) {
    cases_(batch, attend, Shape(Dim(attend.features())));
  }
  void skip() { cases_.skip(); }
  int number() const { return cases_.number(); }

 private:
  AttentionCases<D, T> cases_;
};

// On Cuda without the long ones, which take the simulator seconds.
template <class D, class T>
void check_products(D& device, double tolerance) {
  constexpr bool all = std::same_as<D, Host>;
  ProductCases<D, T> products(device, tolerance);
  products(2, {2, 3, 4, 2, 2, false, false});
  products(1, {1, 1, 1, 1, 1, false, false});
  products(3, {2, 4, 7, 3, 2, false, true});
  all ? products(17, {1, 5, 3, 2, 4, true, false}) : products.skip();
  products(4, {3, 6, 6, 2, 1, true, true});
  all ? products(2, {1, 20, 140, 2, 3, false, true}) : products.skip();
  all ? products(16, {1, 9, 70, 1, 2, false, true}) : products.skip();
  all ? products(5, {2, 3, 9, 18, 17, false, true}) : products.skip();
  products(3, {1, 40, 33, 4, 4, true, true});
  all ? products(33, {2, 2, 2, 2, 2, false, true}) : products.skip();
  CHECK(products.number() == 10);
}

}  // namespace

TEST_CASE_TEMPLATE("ten attentions of several values and masks are PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  check_products<D, double>(test_device<D>(), 2e-7);  // the references are in float
  check_products<D, float>(test_device<D>(), 2e-6);
}

TEST_CASE_TEMPLATE("gradients of attention of several values", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Attend attend{2, 3, 4, 2, 1, false, false}, causal{1, 3, 2, 1, 1, true, false};
  for (const Slice& slice : test_slices<D>()) {
    if (std::same_as<D, Cuda> && slice.count > 1) continue;  // the simulator would take seconds
    check_layer_gradients(device, causal, Shape(Dim(causal.features())), slice);
    if (std::same_as<D, Host>)
      check_layer_gradients(device, attend, Shape(Dim(attend.features())), slice);
  }
}

TEST_CASE_TEMPLATE("a query whose keys are all ignored gets zeros and gives no gradients", D,
                   GPUNET_TEST_DEVICES) {
  const Attend attend{1, 2, 3, 1, 1, false, true};
  nn::LayerRun<float, D> run(test_device<D>(), attend, Shape(Dim(attend.features())),
                             Slice{1, 1, 1});
  CHECK(run.forward({1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1}) == std::vector<float>{0, 0});
  CHECK(run.backward({1, 1}).dx == std::vector<float>(11));
}
