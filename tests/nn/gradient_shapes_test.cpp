// The numeric gradient check of every layer and loss of support/layer_list.hpp, and of functions of
// values, at 20 or more shapes: how many is counted. Sizes are known at run time, so that one kind
// of layer compiles once for all of them. On Host: what runs on Cuda is checked at a few shapes in
// the tests of each layer.
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/nn/gradient_check.hpp>

#include "support/check_gradients.hpp"
#include "support/layer_list.hpp"

using namespace gpunet;
using nn::Value;

namespace {

// A batch, and the sizes of one sample.
struct BatchShape {
  index_t batch;
  Sizes sizes;
};
using BatchShapes = std::vector<BatchShape>;

const BatchShapes vectors{{1, {1}}, {2, {1}}, {3, {2}},  {1, {3}},  {5, {2}}, {2, {5}}, {7, {1}},
                          {1, {8}}, {4, {3}}, {16, {2}}, {17, {3}}, {3, {7}}, {2, {9}}, {1, {16}},
                          {9, {4}}, {6, {5}}, {1, {17}}, {2, {12}}, {3, {6}}, {5, {11}}};
const BatchShapes rows{{1, {1, 1}},  {2, {1, 1}}, {3, {2, 1}}, {1, {1, 3}}, {5, {1, 2}},
                       {2, {2, 3}},  {7, {2, 1}}, {1, {3, 3}}, {4, {3, 2}}, {16, {1, 2}},
                       {17, {2, 1}}, {3, {4, 3}}, {2, {5, 1}}, {1, {5, 4}}, {9, {1, 1}},
                       {6, {2, 2}},  {1, {7, 2}}, {2, {1, 6}}, {3, {2, 5}}, {5, {3, 2}}};
const BatchShapes images{{1, {1, 1, 1}}, {2, {1, 1, 1}},  {3, {2, 1, 3}},  {1, {1, 2, 2}},
                         {5, {1, 3, 1}}, {2, {2, 2, 3}},  {7, {1, 2, 1}},  {1, {3, 3, 2}},
                         {4, {2, 1, 1}}, {16, {1, 1, 2}}, {17, {1, 2, 1}}, {3, {1, 4, 3}},
                         {2, {3, 1, 2}}, {1, {2, 5, 3}},  {9, {1, 1, 1}},  {6, {2, 2, 2}},
                         {1, {1, 1, 7}}, {2, {1, 6, 1}},  {3, {3, 2, 2}},  {5, {2, 3, 2}}};

// Returns the images with a depth of 1 to 3.
BatchShapes with_depth(const BatchShapes& shapes) {
  BatchShapes all;
  for (const BatchShape& shape : shapes) {
    const Sizes& image = shape.sizes;
    const index_t depth = static_cast<index_t>(all.size()) % 3 + 1;
    all.push_back({shape.batch, {image[0], depth, image[1], image[2]}});
  }
  return all;
}
const BatchShapes volumes = with_depth(images);

// Returns the shapes with factor * x + more in place of the extents x of dimensions first to last,
// counted without the batch.
BatchShapes with_extents(const BatchShapes& shapes, int first, int last, index_t factor,
                         index_t more) {
  BatchShapes all;
  for (const BatchShape& shape : shapes) {
    Sizes sizes;
    for (int i = 0; i < shape.sizes.rank(); ++i)
      sizes.append(first <= i && i <= last ? factor * shape.sizes[i] + more : shape.sizes[i]);
    all.push_back({shape.batch, sizes});
  }
  return all;
}
BatchShapes times(const BatchShapes& shapes, int dim, index_t factor) {
  return with_extents(shapes, dim, dim, factor, 0);
}
BatchShapes constant(const BatchShapes& shapes, int dim, index_t extent) {
  return with_extents(shapes, dim, dim, 0, extent);
}
// Larger images, or longer rows.
BatchShapes larger(const BatchShapes& shapes, index_t more) {
  return with_extents(shapes, 1, 2, 1, more);
}

BatchShapes one_sample_more(BatchShapes shapes) {
  for (BatchShape& shape : shapes)
    ++shape.batch;
  return shapes;
}

// Short sequences, as attention has many numbers to change; those of one step where a slice has
// most padding, see slice_of.
BatchShapes sequences(index_t features) {
  BatchShapes shapes;
  for (const auto& [batch, steps] : std::initializer_list<std::pair<index_t, index_t>>{
           {5, 2}, {1, 1}, {2, 1}, {1, 3}, {1, 2},  {3, 1}, {3, 2}, {2, 2},  {5, 1}, {2, 3},
           {4, 2}, {7, 1}, {1, 4}, {6, 1}, {16, 1}, {1, 5}, {3, 3}, {17, 1}, {1, 7}, {4, 1}})
    shapes.push_back({batch, {steps, features}});
  return shapes;
}

// The slices of the numbers of samples in turn: each kind has samples of padding where it can.
Slice slice_of(index_t batch, std::size_t number) {
  const index_t inner = std::array<index_t, 3>{1, 4, 16}[number % 3];
  return {batch, ceil_div(batch, inner), inner};
}

class Checks {
 public:
  // Checks a layer at shapes of `rank` dimensions.
  template <int rank, class L>
  void layer(const L& layer, const BatchShapes& shapes, std::string name = name_of<L>({})) {
    each(name, shapes, [&](const BatchShape& shape, const Slice& slice) {
      return nn::detail::with_shape<rank>(shape.sizes, [&](auto in) {
        nn::LayerRun<double, Host> run(test_device<Host>(), layer, in, slice);
        return run_check(run);
      });
    });
  }

  // Checks a function of values; inputs(sizes) returns the sizes of its arguments.
  void function(const std::string& name, const BatchShapes& shapes,
                const std::function<std::vector<Sizes>(const Sizes&)>& inputs,
                const std::function<Value(const std::vector<Value>&)>& f) {
    each(name, shapes, [&](const BatchShape& shape, const Slice& slice) {
      const std::vector<Sizes> sizes = inputs(shape.sizes);
      nn::LayerRun<double, Host> run(
          test_device<Host>(),
          nn::detail::graph_of_call(nn::detail::Backend::host_double, sizes, f), slice);
      return run_check(run);
    });
  }

  template <class Loss>
  void loss(const Loss& loss, const BatchShapes& shapes, const nn::LossRange& range = {}) {
    each(name_of<Loss>({}), shapes, [&](const BatchShape& shape, const Slice& slice) {
      return nn::check_loss_gradients(test_device<Host>(), loss, shape.sizes, slice, range).error;
    });
  }

  // Returns the names of what was checked at 20 or more shapes; the same shape with other options
  // is one.
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : shapes_) {
      CHECK_MESSAGE(entry.second.size() >= 20, entry.first);
      all.insert(entry.first);
    }
    MESSAGE("the largest relative error is " << largest_error_ << ", of " << worst_);
    return all;
  }

 private:
  // In a build with assertions, which the sanitizers slow down, each shape runs once instead of for
  // every derivative.
  static double run_check(nn::LayerRun<double, Host>& run) {
#ifdef NDEBUG
    return nn::check_gradients(run).error;
#else
    Generator generator(1);
    const index_t count = run.slice().count;
    run.set_parameters(random_values<double>(run.parameter_count(), generator));
    run.forward(spread_values(count * run.in_features(), generator));
    run.backward(random_values<double>(count * run.out_features(), generator));
    return 0;
#endif
  }

  void each(const std::string& name, const BatchShapes& shapes,
            const std::function<double(const BatchShape&, const Slice&)>& check) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const std::string shape = to_string(shapes[i].sizes.with_front(shapes[i].batch));
      CAPTURE(name);
      CAPTURE(shape);
      double error = 0;
      CHECK_NOTHROW(error = check(shapes[i], slice_of(shapes[i].batch, i)));
      shapes_[name].insert(shape);
      if (error > largest_error_) largest_error_ = error, worst_ = name + " " + shape;
    }
  }

  std::map<std::string, std::set<std::string>> shapes_;
  double largest_error_ = 0;
  std::string worst_;
};

// The names of support/layer_list.hpp.
struct Names {
  std::set<std::string> layers, of_losses;
  void section(const std::string&) {}
  void losses() {}
  template <class L, class In>
  void layer(const L&, In, const LayerText& text = {}) {
    layers.insert(name_of<L>(text));
  }
  template <class Loss>
  void loss(const Loss&, const LayerText& text = {}) {
    of_losses.insert(name_of<Loss>(text));
  }
};
Names names_of_list() {
  Names names;
  list_layers(names);
  return names;
}

void check_linear_layers(Checks& check) {
  check.layer<1>(nn::Linear(3), vectors);
  check.layer<2>(nn::Linear(2), rows);
  check.layer<2>(nn::Linear(5, nn::Bias<false>{}), rows);
  check.layer<3>(nn::Conv2d(2, 1), images);
  check.layer<3>(nn::Conv2d(2, 3, 2, 1), images);
  check.layer<3>(nn::Conv2d(1, 2, 1, 0, nn::Bias<false>{}), larger(images, 1));
  check.layer<3>(nn::Conv2d<2, 3, nn::PaddingSame, nn::PaddingCircular>{}, images);
  check.layer<3>(
      nn::Conv2d<2, 2, nn::KernelWidth<3>, nn::Groups<2>, nn::Dilation<2>, nn::Padding<1, 2>>{},
      times(images, 0, 2));
  check.layer<2>(nn::Conv1d(2, 3, 2, 1), rows);
  check.layer<2>(
      nn::Conv1d<2, 2, nn::Groups<2>, nn::Dilation<3>, nn::Padding<2>, nn::Bias<false>>{},
      times(rows, 0, 2));
  check.layer<4>(nn::Conv3d(2, 3, 2, 1), volumes);
  check.layer<4>(nn::Conv3d<2, 2, nn::KernelHeight<1>, nn::KernelWidth<3>, nn::Groups<2>,
                            nn::Dilation<2, 1, 1>, nn::Padding<1, 0, 2>, nn::Bias<false>>{},
                 times(volumes, 0, 2));
  check.layer<2>(nn::ConvTranspose1d(2, 3, 2, 1), rows);
  check.layer<2>(nn::ConvTranspose1d<2, 2, nn::Groups<2>, nn::Dilation<2>, nn::OutputPadding<1>,
                                     nn::Bias<false>>{},
                 times(rows, 0, 2));
  check.layer<3>(nn::ConvTranspose2d(1, 3, 2, 1), images);
  check.layer<3>(nn::ConvTranspose2d<2, 2, nn::KernelWidth<1>, nn::Groups<2>, nn::Stride<3, 1>,
                                     nn::OutputPadding<2, 0>>{},
                 times(images, 0, 2));
  check.layer<4>(nn::ConvTranspose3d(1, 3, 2, 1), volumes);
  check.layer<4>(nn::ConvTranspose3d<2, 2, nn::KernelWidth<1>, nn::Groups<2>, nn::Stride<1, 3, 1>,
                                     nn::OutputPadding<0, 2, 0>>{},
                 times(volumes, 0, 2));
}

void check_pooling(Checks& check) {
  check.layer<2>(nn::MaxPool1d<3, nn::Stride<2>, nn::Padding<1>>{}, rows);
  check.layer<2>(nn::MaxPool1d<2, nn::CeilMode<true>>{}, larger(rows, 1));
  check.layer<3>(nn::MaxPool2d<2>{}, larger(images, 1));
  check.layer<3>(
      nn::MaxPool2d<3, nn::KernelWidth<2>, nn::Stride<2, 1>, nn::Padding<1>, nn::CeilMode<true>>{},
      images);
  check.layer<4>(nn::MaxPool3d<2, nn::KernelHeight<3>, nn::Stride<1, 2, 1>, nn::Padding<1>,
                               nn::CeilMode<true>>{},
                 volumes);
  check.layer<2>(nn::AvgPool1d<3, nn::Stride<2>, nn::Padding<1>>{}, rows);
  check.layer<2>(nn::AvgPool1d<2, nn::CeilMode<true>>{}, larger(rows, 1));
  check.layer<3>(nn::AvgPool2d<2>{}, larger(images, 1));
  check.layer<3>(nn::AvgPool2d<3, nn::KernelWidth<2>, nn::Stride<2, 1>, nn::Padding<1>,
                               nn::CountIncludePad<false>>{},
                 images);
  check.layer<4>(nn::AvgPool3d<3, nn::KernelWidth<2>, nn::Stride<1, 2, 1>, nn::Padding<1>,
                               nn::CountIncludePad<false>>{},
                 volumes);
  check.layer<2>(nn::AdaptiveAvgPool1d<3>{}, rows);
  check.layer<3>(nn::AdaptiveAvgPool2d<1, 1>{}, images);
  check.layer<3>(nn::AdaptiveAvgPool2d<2, 3>{}, images);
  check.layer<4>(nn::AdaptiveAvgPool3d<2, 1, 3>{}, volumes);
}

// With eps the functions are smooth where all numbers of a group are the same.
void check_normalization(Checks& check) {
  check.layer<1>(nn::BatchNorm1d{{.eps = 0.1}}, one_sample_more(vectors));
  check.layer<2>(nn::BatchNorm1d{{.eps = 0.1}}, larger(rows, 1));
  check.layer<3>(nn::BatchNorm2d{{.eps = 0.1}}, larger(images, 1));
  check.layer<4>(nn::BatchNorm3d{{.eps = 0.1}}, with_extents(volumes, 1, 3, 1, 1));
  check.layer<2>(nn::LayerNorm<>{{.eps = 0.1}}, rows);
  check.layer<3>(nn::LayerNorm<2>{{.eps = 0.1, .bias = false}}, images);
  check.layer<2>(nn::RMSNorm<>{{.eps = 0.1}}, rows);
  check.layer<3>(nn::RMSNorm<3>{{.eps = 0.1, .elementwise_affine = false}}, images);
  check.layer<2>(nn::GroupNorm<2>{{.eps = 0.1}}, times(rows, 0, 2));
  check.layer<3>(nn::GroupNorm<1>{{.eps = 0.1, .affine = false}}, images);
  check.layer<2>(nn::InstanceNorm1d{{.eps = 0.1, .affine = true}}, rows);
  check.layer<3>(nn::InstanceNorm2d{{.eps = 0.1, .affine = true}}, images);
  check.layer<4>(nn::InstanceNorm3d{{.eps = 0.1, .affine = true}}, volumes);
  check.layer<1>(nn::Dropout{0.3}, vectors);
  check.layer<2>(nn::Dropout1d{0.6}, rows);
  check.layer<3>(nn::Dropout2d{0.6}, images);
  check.layer<4>(nn::Dropout3d{0.6}, volumes);
}

void check_sequences(Checks& check) {
  check.layer<2>(nn::LSTM<2>{}, rows);
  check.layer<2>(nn::LSTM<1, nn::NumLayers<2>, nn::Bidirectional, nn::Bias<false>>{}, rows);
  check.layer<2>(nn::GRU<2>{}, rows);
  check.layer<2>(nn::GRU<1, nn::NumLayers<2>, nn::Bidirectional, nn::LastState>{}, rows);
  check.layer<2>(nn::RNN<3>{}, rows);
  check.layer<2>(nn::RNN<1, nn::NumLayers<2>, nn::Bidirectional>{{.dropout = 0.5}}, rows);
  check.layer<2>(nn::LastStep{}, rows);
  check.layer<3>(nn::LastStep{}, images);
  check.layer<2>(nn::MultiheadAttention<1, nn::Causal, nn::Bias<false>>{}, rows);
  check.layer<2>(nn::MultiheadAttention<2>{}, sequences(4));
  // The normalization of two or three features, which may be close, is nearly a step: finite
  // differences of it are inexact.
  check.layer<2>(nn::TransformerEncoderLayer<1, 2, nn::GELU>{}, sequences(5));
  check.layer<2>(
      nn::TransformerEncoder<1, nn::TransformerEncoderLayer<5, 1, nn::GELU, nn::NormFirst>,
                             nn::LayerNorm<>>{},
      sequences(5));
  check.layer<2>(nn::PositionEmbedding{}, rows);
}

void check_activations(Checks& check) {
  const auto all = [&](const auto&... layers) {
    (check.layer<3>(layers, images), ...);
  };
  all(nn::ReLU{}, nn::Tanh{}, nn::Sigmoid{}, nn::Softmax{}, nn::LogSoftmax{}, nn::ELU{},
      nn::ELU{0.5}, nn::GELU{}, nn::GELU{nn::Approximate::tanh}, nn::Hardsigmoid{}, nn::Hardswish{},
      nn::LeakyReLU{}, nn::LeakyReLU{-0.5}, nn::LogSigmoid{}, nn::Mish{}, nn::PReLU<>{},
      nn::ReLU6{}, nn::SELU{}, nn::SiLU{}, nn::Softplus{}, nn::Softplus{2}, nn::Softsign{},
      nn::Hardshrink{0.03}, nn::AnyActivation{"tanh"}, nn::AnyActivation{"relu"});
  check.layer<3>(nn::Hardtanh{0, 3}, images);  // no input of any of these shapes is near 0
  check.layer<3>(nn::PReLU<2>{}, constant(images, 0, 2));
  check.layer<2>(nn::GLU<>{}, times(rows, 1, 2));
  check.layer<3>(nn::GLU<1>{}, times(images, 0, 2));
}

void check_moves(Checks& check) {
  const auto of_rows = [&](const auto&... layers) {
    (check.layer<2>(layers, rows), ...);
  };
  check.layer<3>(nn::Flatten{}, images);
  check.layer<1>(nn::Unflatten<2, -1>{}, times(vectors, 0, 2));
  check.layer<3>(nn::Reshape<-1, 1>{}, images);
  of_rows(nn::Permute<1, 0>{}, nn::Identity{});
  check.layer<3>(nn::Permute<2, 0, 1>{}, images);
  of_rows(nn::ZeroPad1d<-1, 2>{}, nn::ConstantPad1d<1>{0.5}, nn::ReplicationPad1d<3, 1>{},
          nn::CircularPad1d<0, 1>{});
  check.layer<2>(nn::ReflectionPad1d<1>{}, larger(rows, 1));
  check.layer<3>(nn::ZeroPad2d<2, 0, 1, 3>{}, images);
  check.layer<3>(nn::ConstantPad2d<0, 1, -1, 2>{3}, images);
  check.layer<3>(nn::ReflectionPad2d<1, 0, 1, 1>{}, larger(images, 1));
  check.layer<3>(nn::ReplicationPad2d<2, 0, 1, 3>{}, images);
  check.layer<3>(nn::CircularPad2d<1>{}, images);
  check.layer<4>(nn::ZeroPad3d<1, 0, 0, 1, 1, -1>{}, volumes);
  check.layer<4>(nn::ConstantPad3d<1>{-1}, volumes);
  check.layer<4>(nn::ReflectionPad3d<1, 0, 0, 1, 1, 1>{}, with_extents(volumes, 1, 3, 1, 1));
  check.layer<4>(nn::ReplicationPad3d<1, 0, 2, 1, 0, 1>{}, volumes);
  check.layer<4>(nn::CircularPad3d<1, 0, 1, 1, 0, 1>{}, volumes);
  check.layer<3>(nn::PixelShuffle<2>{}, times(images, 0, 4));
  check.layer<3>(nn::PixelShuffle<1>{}, images);
  check.layer<2>(nn::Upsample<2>{}, rows);
  check.layer<3>(nn::Upsample<2>{}, images);
  check.layer<4>(nn::Upsample<2>{}, volumes);
  check.layer<3>(nn::Upsample<3, nn::Bilinear>{}, images);
  check.layer<3>(nn::Upsample<2, nn::Bilinear, nn::AlignCorners<true>>{}, images);
}

void check_blocks(Checks& check) {
  using Map = nn::Conv2d<2, 1>;
  check.layer<3>(nn::Residual<Map, nn::Tanh, nn::Projection<Map>>{}, images);
  check.layer<3>(nn::Residual<nn::Tanh>{}, images);
  check.layer<3>(nn::Parallel<Map, nn::Sequential<Map, nn::Sigmoid>>{}, images);
  check.layer<3>(nn::Concat<1, nn::Identity, Map, nn::Tanh>{}, images);
  check.layer<3>(nn::Concat<3, nn::Identity, nn::Tanh>{}, images);
  check.layer<3>(nn::Repeat<2, Map, nn::Tanh>{}, images, "Repeat");
  check.layer<3>(nn::Sequential<Map, nn::Shared<"s", Map>, nn::Tanh, nn::Shared<"s", Map>>{},
                 images, "Shared");
}

}  // namespace

TEST_CASE("the gradients of every layer at 20 shapes") {
  Checks check;
  check_linear_layers(check);
  check_pooling(check);
  check_normalization(check);
  check_sequences(check);
  check_activations(check);
  check_moves(check);
  check_blocks(check);
  // Indices 0 and 2, which a small change of x leaves as they are.
  check.function(
      "Embedding", rows, [](const Sizes& sizes) { return std::vector{sizes}; },
      [](const std::vector<Value>& x) {
        return embedding(2 * detach(clamp(1e6 * x[0], 0, 1)), 3, 2);
      });
  CHECK(check.names() == names_of_list().layers);
}

TEST_CASE("the gradients of every loss at 20 shapes") {
  Checks check;
  const nn::LossRange any{-3, 3, -3, 3}, probabilities{0.1, 0.9, 0, 1}, logits{-3, 3, 0, 1};
  const nn::LossRange apart{1, 3, -3, 0};  // no kink between outputs and targets
  for (const BatchShapes& shapes : {vectors, rows}) {
    check.loss(nn::CrossEntropyLoss{}, shapes);
    check.loss(nn::CrossEntropyLoss({.label_smoothing = 0.2}), shapes);
    check.loss(nn::SoftCrossEntropyLoss({.label_smoothing = 0.2}), shapes);
    check.loss(nn::NLLLoss{}, shapes);
    check.loss(nn::MSELoss{}, shapes, any);
    check.loss(nn::L1Loss{}, shapes, apart);
    check.loss(nn::SmoothL1Loss({.beta = 0.5}), shapes, apart);
    check.loss(nn::SmoothL1Loss({.beta = 9}), shapes, any);
    check.loss(nn::HuberLoss({.delta = 0.5}), shapes, apart);
    check.loss(nn::HuberLoss({.delta = 9}), shapes, any);
    check.loss(nn::BCELoss({.reduction = nn::Reduction::sum}), shapes, probabilities);
    check.loss(nn::BCEWithLogitsLoss({.pos_weight = 3}), shapes, logits);
    check.loss(nn::KLDivLoss({.reduction = nn::Reduction::batchmean}), shapes, {-3, 0, 0, 1});
    check.loss(nn::KLDivLoss({.log_target = true}), shapes, {-3, 0, -3, 0});
    check.loss(nn::PoissonNLLLoss({.full = true}), shapes, {-3, 3, 0, 9});
    check.loss(nn::PoissonNLLLoss({.log_input = false}), shapes, {1, 3, 0, 9});
    check.loss(nn::HingeEmbeddingLoss({.margin = 4}), shapes, {-3, 3, 1, 1});
    check.loss(nn::HingeEmbeddingLoss({.margin = 4}), shapes, {-3, 3, -1, -1});
  }
  check.loss(nn::CrossEntropyLoss({.weight = {1, 0.5, 3}, .ignore_index = 1}),
             constant(rows, 0, 3));
  CHECK(check.names() == names_of_list().of_losses);
}

namespace {

using Inputs = std::vector<Value>;
struct FunctionCase {
  std::string name;
  BatchShapes shapes;
  std::function<std::vector<Sizes>(const Sizes&)> inputs;  // the sizes of the arguments
  std::function<Value(const Inputs&)> f;
};

// 0 or 1, without a gradient: a small change of t leaves them as they are.
Value labels(const Value& t) {
  return detach(clamp(1e6 * t, 0, 1));
}
Value signs(const Value& t) {
  return 2 * labels(t) - 1;
}

std::vector<Sizes> one(const Sizes& sizes) {
  return {sizes};
}
std::vector<Sizes> two(const Sizes& sizes) {
  return {sizes, sizes};
}
std::vector<Sizes> three(const Sizes& sizes) {
  return {sizes, sizes, sizes};
}
// x and what x.sum(1) has the shape of.
std::vector<Sizes> with_tail(const Sizes& sizes) {
  return {sizes, sizes.tail()};
}
// The sizes and ones, which broadcasts.
std::vector<Sizes> with_broadcast(const Sizes& sizes) {
  return {sizes, Sizes{1}.with_front(sizes[0])};
}
// Sequences [steps, features] and [steps + 1, features].
std::vector<Sizes> with_longer(const Sizes& sizes) {
  return {sizes, Sizes{sizes[0] + 1, sizes[1]}};
}

// Sequences, and the states of two layers, or directions, of two units.
std::vector<Sizes> with_state(const Sizes& sizes) {
  return {sizes, {2, 2}};
}
std::vector<Sizes> with_states(const Sizes& sizes) {
  return {sizes, {2, 2}, {2, 2}};
}

const BatchShapes classes = times(rows, 0, 2), features = times(rows, 1, 2),
                  channels = times(images, 0, 2);

// With margins that no distance reaches: the functions are smooth.
std::vector<FunctionCase> losses_of_values() {
  return {
      {"mse_loss", rows, two,
       [](const Inputs& x) {
         return mse_loss(x[0], x[1]);
       }},
      {"l1_loss", rows, two,
       [](const Inputs& x) {
         return l1_loss(x[0], x[1]);
       }},
      {"smooth_l1_loss", rows, two,
       [](const Inputs& x) {
         return smooth_l1_loss(x[0], x[1], 9) + smooth_l1_loss(x[0], x[1], 1e-4);
       }},
      {"huber_loss", rows, two,
       [](const Inputs& x) {
         return huber_loss(x[0], x[1], 9) + huber_loss(x[0], x[1], 1e-4);
       }},
      {"binary_cross_entropy", rows, two,
       [](const Inputs& x) {
         return binary_cross_entropy(sigmoid(x[0]), sigmoid(x[1]));
       }},
      {"binary_cross_entropy_with_logits", rows, two,
       [](const Inputs& x) {
         return binary_cross_entropy_with_logits(x[0], sigmoid(x[1]));
       }},
      {"nll_loss", classes, with_tail,
       [](const Inputs& x) {
         return nll_loss(x[0], labels(x[1]));
       }},
      {"cross_entropy", classes, with_tail,
       [](const Inputs& x) {
         return cross_entropy(x[0], labels(x[1]));
       }},
      {"kl_div", classes, two,
       [](const Inputs& x) {
         return kl_div(log_softmax(x[0], 1), softmax(x[1], 1));
       }},
      {"hinge_embedding_loss", rows, two,
       [](const Inputs& x) {
         return hinge_embedding_loss(x[0], signs(x[1]), 9);
       }},
      {"cosine_embedding_loss", features, two,
       [](const Inputs& x) {
         return cosine_embedding_loss(x[0], x[1], signs(sum(x[1], -1)), -2);
       }},
      {"triplet_margin_loss", rows, three,
       [](const Inputs& x) {
         return triplet_margin_loss(x[0], x[1], x[2], 9);
       }},
  };
}

std::vector<FunctionCase> functions_of_values() {
  return {
      {"add, sub, mul, div", rows, with_broadcast,
       [](const Inputs& x) {
         return (x[0] + x[1]) * x[0] - x[1] / (square(x[0]) + 1) + (2 - x[1]) * 0.5;
       }},
      {"maximum, minimum", rows, two,
       [](const Inputs& x) {
         return maximum(x[0], x[1]) + minimum(x[0], x[1]) * 2;
       }},
      {"exp, log, sqrt, square, abs, sin, cos, pow, clamp", images, one,
       [](const Inputs& x) {
         const Value a = x[0];
         return exp(a) + log(square(a) + 1) + sqrt(exp(a)) + abs(a) + sin(a) * cos(a) +
                pow(exp(a), 1.5) + clamp(a, 0, 3);
       }},
      {"sum, mean", images, one,
       [](const Inputs& x) {
         const Value squares = square(x[0]);
         return sum(squares, {1, -1}, true) + mean(squares, 2, true) * mean(squares) + sum(squares);
       }},
      {"reshape, permute, transpose, flatten", images, one,
       [](const Inputs& x) {
         const Value moved = permute(x[0], {0, 3, 1, 2});
         return flatten(moved) * flatten(transpose(x[0], 1, -1)) + reshape(x[0], {-1});
       }},
      {"cat, narrow", rows, two,
       [](const Inputs& x) {
         const Value all = nn::cat({x[0], square(x[1]), x[0]}, -1);
         return narrow(all, -1, 1, x[0].size(-1)) * x[1];
       }},
      {"gather", classes, with_tail,
       [](const Inputs& x) {
         return gather(square(x[0]), labels(x[1]));
       }},
      {"softmax, log_softmax", features, one,
       [](const Inputs& x) {
         return softmax(x[0], -1) * log_softmax(x[0], -1);
       }},
      {"pairwise_distance", rows, two,
       [](const Inputs& x) {
         return pairwise_distance(x[0], x[1]);
       }},
      {"cosine_similarity", features, two,
       [](const Inputs& x) {
         return cosine_similarity(x[0], x[1]);
       }},
      {"parameter, shared, detach", rows, two,
       [](const Inputs& x) {
         const auto encode = [](const Value& v) {
           return tanh(linear(v, 2));
         };
         const Value gain = parameter(x[0], nn::constant("gain", {2}, 1));
         return shared("e", encode, x[0]) * shared("e", encode, x[1]) * gain;
       }},
      {"linear, layer_norm, rms_norm, group_norm, batch_norm", one_sample_more(features), one,
       [](const Inputs& x) {
         const Value y = linear(x[0], 4, {.bias = false});
         const Value first = nn::layer_norm(y, {.eps = 0.1}) + nn::rms_norm(y, {.eps = 0.1});
         return first + nn::group_norm(y, 1, {.eps = 0.1}) + nn::batch_norm(y, {.eps = 0.1});
       }},
      {"conv2d, max_pool2d, avg_pool2d, adaptive_avg_pool2d", channels, one,
       [](const Inputs& x) {
         const Value y = conv2d(x[0], 2, 3, {.padding = 2, .dilation = 2, .groups = 2});
         const Value z = tanh(y) + conv2d(x[0], 2, 1, {.bias = false});
         return sum(max_pool2d(x[0], 2, {.padding = 1}), {1, 2, 3}) +
                sum(square(adaptive_avg_pool2d(z, 2, 1)), {1, 2, 3}) +
                sum(square(avg_pool2d(z, 2, {.stride = 1, .padding = 1, .ceil_mode = true})),
                    {1, 2, 3});
       }},
      {"lstm", rows, with_states,
       [](const Inputs& x) {
         const auto [y, h, c] = lstm(x[0], 2, {.num_layers = 2, .h_0 = x[1], .c_0 = x[2]});
         return nn::cat({flatten(y), flatten(h), flatten(c)}, 1);
       }},
      {"gru", rows, with_state,
       [](const Inputs& x) {
         const auto [y, h] = gru(x[0], 2, {.bidirectional = true, .h_0 = x[1]});
         return nn::cat({flatten(y), flatten(h)}, 1);
       }},
      {"rnn", rows, with_state,
       [](const Inputs& x) {
         const auto [y, h] = rnn(x[0], 2, {.num_layers = 2, .bias = false, .h_0 = x[1]});
         return nn::cat({flatten(y), flatten(h)}, 1);
       }},
      {"scaled_dot_product_attention", rows, with_longer,
       [](const Inputs& x) {
         return scaled_dot_product_attention(x[0], x[1], square(x[1]));
       }},
      {"multihead_attention", sequences(2), with_longer,
       [](const Inputs& x) {
         return multihead_attention(x[0], x[1], 2);
       }},
      {"transformer_decoder_layer", sequences(5), with_longer,
       [](const Inputs& x) {
         const auto activation = [](const Value& v) {
           return gelu(v);
         };
         return transformer_decoder_layer(x[0], x[1], 1,
                                          {.dim_feedforward = 1,
                                           .activation = activation,
                                           .norm_first = true,
                                           .tgt_is_causal = true});
       }},
  };
}

}  // namespace

TEST_CASE("the gradients of functions of values at 20 shapes") {
  Checks check;
  const std::vector<FunctionCase> losses = losses_of_values(), others = functions_of_values();
  for (const std::vector<FunctionCase>* some : {&losses, &others})
    for (const FunctionCase& one : *some)
      check.function(one.name, one.shapes, one.inputs, one.f);
  CHECK(check.names().size() == losses.size() + others.size());
}
