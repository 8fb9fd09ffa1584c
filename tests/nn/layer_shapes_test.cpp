// Ten shapes of every layer and loss against PyTorch: the list of reference/layer_shapes.py, drawn
// and run here. Sizes are known at run time unless a case is the one that shows what is compiled
// for constant ones.
#include <functional>
#include <optional>

#include <gpunet/gpunet.hpp>
#include <gpunet/nn/layer_run.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/isas.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;

namespace {

// What PyTorch made of the cases of one kind of layer.
class Expected {
 public:
  explicit Expected(std::string kind) : kind_(std::move(kind)), file_("layer_shapes") {}

  std::vector<float> operator()(int number, std::string_view what) const {
    return file_.values<float>(kind_ + "." + std::to_string(number) + "." + std::string(what));
  }
  // The gradients of all parameters, one after another.
  std::vector<float> gradients(int number, const std::vector<ParameterInfo>& parameters,
                               const std::string& prefix) const {
    std::vector<float> all;
    for (const ParameterInfo& parameter : parameters)
      for (float value :
           (*this)(number, prefix + "d" + parameter.name.substr(parameter.name.rfind('.') + 1)))
        all.push_back(value);
    return all;
  }

 private:
  std::string kind_;
  ReferenceFile file_;
};

// The slices that hold a batch.
template <class D>
std::vector<Slice> slices_of(index_t batch) {
  if constexpr (std::same_as<D, Host>)
    return {{batch, batch, 1}, {batch, ceil_div(batch, 4), 4}, {batch, ceil_div(batch, 16), 16}};
  else
    return {{batch, batch, 1}};
}

template <class D, class T = float>
class Cases {
 public:
  Cases(D& device, const std::string& kind) : device_(device), expected_(kind) {}

  template <class L, class In>
  void operator()(index_t batch, const L& layer, In in) {
    run_case(batch, in.sizes()[0],
             [&](const Slice& slice) { return nn::LayerRun<T, D>(device_, layer, in, slice); });
  }
  int number() const { return number_; }

 private:
  // Compiled once for all layers.
  void run_case(index_t batch, index_t channels,
                const std::function<nn::LayerRun<T, D>(const Slice&)>& make) {
    const KeepIsa keep;
    for (const Slice& slice : slices_of<D>(batch))
      for (Isa path : isas()) {
        CAPTURE(number_);
        CAPTURE(slice.inner);
        CAPTURE(static_cast<int>(path));
        set_isa(path);
        nn::LayerRun<T, D> run = make(slice);
        Generator generator(number_);
        const auto draw = [&](index_t n) {
          const std::vector<float> values = random_values<float>(n, generator);
          return std::vector<T>(values.begin(), values.end());
        };
        run.set_parameters(draw(run.parameter_count()));
        const index_t inputs = batch * run.in_features();
        const bool couples_samples = run.couples_samples();
        if (couples_samples) run.forward(draw(inputs));  // running statistics with a past
        const std::vector<T> x = draw(inputs), dy = draw(batch * run.out_features());
        check(run, x, dy, "");
        if (couples_samples) {
          check_close(run.buffer(0, channels), "running_mean");
          check_close(run.buffer(1, channels), "running_var");
          run.set_mode(nn::Mode::eval);
          check(run, x, dy, "eval.");
        }
      }
    ++number_;
  }
  void check(nn::LayerRun<T, D>& run, const std::vector<T>& x, const std::vector<T>& dy,
             const std::string& prefix) {
    check_close(run.forward(x), prefix + "y");
    const nn::LayerGradients<T> gradients = run.backward(dy);
    check_close(gradients.dx, prefix + "dx");
    CHECK(relative_error(gradients.parameters,
                         expected_.gradients(number_, run.parameters(), prefix)) <= 1e-6);
  }
  void check_close(const std::vector<T>& values, std::string_view what) {
    CAPTURE(what);
    CHECK(relative_error(values, expected_(number_, what)) <= 1e-6);
  }

  D& device_;
  Expected expected_;
  int number_ = 0;
};

// A shape that is known at run time.
auto shape(std::integral auto... sizes) {
  return Shape(Dim(static_cast<index_t>(sizes))...);
}

template <class D, class L>
void check_element_wise(D& device, const std::string& kind, const L& layer) {
  Cases<D> cases(device, kind);
  cases(1, layer, shape(1));
  cases(2, layer, shape(7));
  cases(17, layer, shape(5));
  cases(3, layer, shape(33));
  cases(16, layer, shape(16));
  cases(2, layer, shape(129));
  cases(5, layer, shape(6, 2));
  cases(2, layer, shape(3, 4, 4));
  cases(1, layer, shape(1, 5, 7));
  cases(4, layer, shape(2, 3, 1));
  CHECK(cases.number() == 10);
}

}  // namespace

TEST_CASE_TEMPLATE("ten shapes of Linear are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> linear(test_device<D>(), "linear");
  linear(1, nn::Linear(1), shape(1));
  linear(2, nn::Linear(3), shape(7));
  linear(4, nn::Linear<10>{}, Shape<12>{});
  linear(17, nn::Linear(4), shape(5));
  linear(3, nn::Linear(17), shape(16));
  linear(5, nn::Linear(9), shape(33));
  linear(33, nn::Linear(2), shape(3));
  linear(16, nn::Linear<16>{}, Shape<16>{});
  linear(2, nn::Linear(5), shape(64));
  linear(7, nn::Linear(33), shape(2));
  CHECK(linear.number() == 10);

  Cases<D> rows(test_device<D>(), "linear_of_rows");
  rows(1, nn::Linear(3), shape(2, 5));
  rows(2, nn::Linear<4>{}, Shape<3, 4>{});
  rows(17, nn::Linear(9), shape(4, 12));
  rows(4, nn::Linear<8>{}, Shape<2, 3, 4>{});
  rows(1, nn::Linear(33), shape(20, 16));
  rows(1, nn::Linear<16, nn::Bias<false>>{}, Shape<30, 8>{});
  rows(16, nn::Linear(40), shape(3, 24));
  rows(5, nn::Linear(2), shape(1, 7));
  rows(33, nn::Linear<20>{}, Shape<5, 9>{});
  rows(3, nn::Linear(1), shape(2, 2, 2));
  CHECK(rows.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of Conv2d are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> conv2d(test_device<D>(), "conv2d");
  conv2d(2, nn::Conv2d(3, 3), shape(2, 5, 4));
  conv2d(2, nn::Conv2d<6, 5>{}, Shape<3, 9, 8>{});
  conv2d(3, nn::Conv2d(4, 3, 1, 1), shape(3, 6, 6));
  conv2d(5, nn::Conv2d(2, 1), shape(4, 3, 3));
  conv2d(3, nn::Conv2d(5, 2, 2), shape(2, 7, 6));
  conv2d(2, nn::Conv2d(3, 5, 2, 2), shape(1, 9, 7));
  conv2d(4, nn::Conv2d(1, 3, 3, 1), shape(2, 8, 5));
  conv2d(1, nn::Conv2d(2, 4, 1, 3), shape(3, 3, 4));
  conv2d(2, nn::Conv2d<8, 3, nn::Padding<1>>{}, Shape<5, 4, 4>{});
  conv2d(17, nn::Conv2d(7, 2, 1, 1), shape(1, 3, 2));
  CHECK(conv2d.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of Linear without bias are PyTorch's", D, GPUNET_TEST_DEVICES) {
  constexpr nn::Bias<false> no_bias;
  Cases<D> linear(test_device<D>(), "linear_without_bias");
  linear(1, nn::Linear(1, no_bias), shape(1));
  linear(2, nn::Linear(3, no_bias), shape(7));
  linear(4, nn::Linear<10, nn::Bias<false>>{}, Shape<12>{});
  linear(17, nn::Linear<4, nn::Bias<false>>{}, Shape<5>{});
  linear(3, nn::Linear(17, no_bias), shape(16));
  linear(5, nn::Linear(9, no_bias), shape(33));
  linear(33, nn::Linear<2, nn::Bias<false>>{}, Shape<3>{});
  linear(16, nn::Linear<16, nn::Bias<false>>{}, Shape<16>{});
  linear(2, nn::Linear(5, no_bias), shape(64));
  linear(16, nn::Linear(33, no_bias), shape(40));
  CHECK(linear.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of Conv2d without bias are PyTorch's", D, GPUNET_TEST_DEVICES) {
  constexpr nn::Bias<false> no_bias;
  Cases<D> conv2d(test_device<D>(), "conv2d_without_bias");
  conv2d(2, nn::Conv2d(3, 3, 1, 0, no_bias), shape(2, 5, 4));
  conv2d(2, nn::Conv2d<6, 5, nn::Bias<false>>{}, Shape<3, 9, 8>{});
  conv2d(3, nn::Conv2d(4, 3, 1, 1, no_bias), shape(3, 6, 6));
  conv2d(5, nn::Conv2d(2, 1, 1, 0, no_bias), shape(4, 3, 3));
  conv2d(3, nn::Conv2d<5, 2, nn::Bias<false>, nn::Stride<2>>{}, Shape<2, 7, 6>{});
  conv2d(2, nn::Conv2d(3, 5, 2, 2, no_bias), shape(1, 9, 7));
  conv2d(1, nn::Conv2d(2, 4, 1, 3, no_bias), shape(3, 3, 4));
  conv2d(17, nn::Conv2d(7, 2, 1, 1, no_bias), shape(1, 3, 2));
  conv2d(2, nn::Conv2d(17, 3, 1, 1, no_bias), shape(18, 4, 4));
  conv2d(3, nn::Conv2d(16, 3, 2, 1, no_bias), shape(17, 5, 5));
  CHECK(conv2d.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of MaxPool2d are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> max_pool2d(test_device<D>(), "max_pool2d");
  max_pool2d(2, nn::MaxPool2d<2>{}, shape(3, 4, 6));
  max_pool2d(3, nn::MaxPool2d<2>{}, shape(1, 5, 7));
  max_pool2d(2, nn::MaxPool2d<3>{}, shape(2, 9, 6));
  max_pool2d(1, nn::MaxPool2d<3, nn::Stride<1>>{}, shape(2, 4, 5));
  max_pool2d(4, nn::MaxPool2d<3, nn::Stride<2>, nn::Padding<1>>{}, shape(1, 7, 8));
  max_pool2d(17, nn::MaxPool2d<2, nn::Stride<1>>{}, shape(1, 3, 3));
  max_pool2d(2, nn::MaxPool2d<2, nn::Padding<1>>{}, shape(2, 4, 3));
  max_pool2d(2, nn::MaxPool2d<1>{}, shape(3, 2, 2));
  max_pool2d(1, nn::MaxPool2d<4, nn::Stride<3>, nn::Padding<2>>{}, shape(2, 9, 10));
  max_pool2d(3, nn::MaxPool2d<2, nn::Stride<3>>{}, shape(2, 8, 8));
  CHECK(max_pool2d.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of AvgPool2d are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> avg_pool2d(test_device<D>(), "avg_pool2d");
  avg_pool2d(2, nn::AvgPool2d<2>{}, shape(3, 4, 6));
  avg_pool2d(3, nn::AvgPool2d<2>{}, shape(1, 5, 7));
  avg_pool2d(2, nn::AvgPool2d<3>{}, shape(2, 9, 6));
  avg_pool2d(1, nn::AvgPool2d<3, nn::Stride<1>>{}, shape(2, 4, 5));
  avg_pool2d(4, nn::AvgPool2d<3, nn::Stride<2>, nn::Padding<1>>{}, shape(1, 7, 8));
  avg_pool2d(17, nn::AvgPool2d<2, nn::Stride<1>>{}, shape(1, 3, 3));
  avg_pool2d(2, nn::AvgPool2d<2, nn::Padding<1>>{}, shape(2, 4, 3));
  avg_pool2d(2, nn::AvgPool2d<8>{}, Shape<3, 8, 8>{});
  avg_pool2d(1, nn::AvgPool2d<17, nn::Stride<2>, nn::Padding<8>>{}, shape(2, 9, 20));
  avg_pool2d(3, nn::AvgPool2d<2, nn::Stride<3>>{}, shape(2, 8, 8));
  CHECK(avg_pool2d.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of AdaptiveAvgPool2d are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> adaptive(test_device<D>(), "adaptive_avg_pool2d");
  adaptive(2, nn::AdaptiveAvgPool2d<1, 1>{}, shape(3, 4, 6));
  adaptive(17, nn::AdaptiveAvgPool2d<1, 1>{}, Shape<4, 8, 8>{});
  adaptive(3, nn::AdaptiveAvgPool2d<1, 1>{}, shape(5, 1, 1));
  adaptive(2, nn::AdaptiveAvgPool2d<2, 2>{}, shape(3, 4, 4));
  adaptive(4, nn::AdaptiveAvgPool2d<3, 2>{}, shape(2, 7, 5));
  adaptive(1, nn::AdaptiveAvgPool2d<7, 7>{}, shape(2, 10, 15));
  adaptive(2, nn::AdaptiveAvgPool2d<5, 4>{}, shape(2, 3, 2));
  adaptive(16, nn::AdaptiveAvgPool2d<1, 3>{}, shape(1, 6, 8));
  adaptive(3, nn::AdaptiveAvgPool2d<6, 1>{}, shape(2, 9, 4));
  adaptive(1, nn::AdaptiveAvgPool2d<2, 2>{}, shape(1, 33, 37));
  CHECK(adaptive.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of ReLU, Tanh and Sigmoid are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_element_wise(test_device<D>(), "relu", nn::ReLU{});
  check_element_wise(test_device<D>(), "tanh", nn::Tanh{});
  check_element_wise(test_device<D>(), "sigmoid", nn::Sigmoid{});
}

TEST_CASE_TEMPLATE("ten shapes of AnyActivation are PyTorch's", D, GPUNET_TEST_DEVICES) {
  for (const char* name : {"relu", "tanh", "sigmoid"})
    check_element_wise(test_device<D>(), name, nn::AnyActivation(name));
}

TEST_CASE_TEMPLATE("ten shapes of Softmax are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> softmax(test_device<D>(), "softmax");
  softmax(1, nn::Softmax{}, shape(1));
  softmax(2, nn::Softmax{}, shape(10));
  softmax(17, nn::Softmax{}, shape(3));
  softmax(4, nn::Softmax{}, shape(33));
  softmax(3, nn::Softmax{}, shape(100));
  softmax(16, nn::Softmax{}, shape(5));
  softmax(33, nn::Softmax{}, shape(2));
  softmax(2, nn::Softmax{}, shape(3, 4));
  softmax(1, nn::Softmax{}, shape(7, 2));
  softmax(5, nn::Softmax{}, shape(2, 3, 2));
  CHECK(softmax.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of LogSoftmax are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> log_softmax(test_device<D>(), "log_softmax");
  log_softmax(1, nn::LogSoftmax{}, shape(1));
  log_softmax(2, nn::LogSoftmax{}, shape(10));
  log_softmax(17, nn::LogSoftmax{}, shape(3));
  log_softmax(4, nn::LogSoftmax{}, shape(33));
  log_softmax(3, nn::LogSoftmax{}, shape(100));
  log_softmax(16, nn::LogSoftmax{}, shape(5));
  log_softmax(33, nn::LogSoftmax{}, shape(2));
  log_softmax(2, nn::LogSoftmax{}, shape(3, 4));
  log_softmax(1, nn::LogSoftmax{}, shape(7, 2));
  log_softmax(5, nn::LogSoftmax{}, shape(2, 3, 2));
  CHECK(log_softmax.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of PReLU are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> prelu(test_device<D>(), "prelu");
  prelu(1, nn::PReLU<>{}, shape(1));
  prelu(2, nn::PReLU<>{}, shape(10));
  prelu(17, nn::PReLU<3>{}, shape(3));
  prelu(4, nn::PReLU<33>{}, shape(33));
  prelu(3, nn::PReLU<>{}, shape(100));
  prelu(16, nn::PReLU<5>{}, shape(5));
  prelu(33, nn::PReLU<>{}, shape(2));
  prelu(2, nn::PReLU<3>{}, shape(3, 4));
  prelu(1, nn::PReLU<7>{}, shape(7, 2));
  prelu(5, nn::PReLU<2>{}, shape(2, 3, 2));
  CHECK(prelu.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of LayerNorm are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> norm(test_device<D>(), "layer_norm");
  norm(3, nn::LayerNorm<>{}, shape(5));
  norm(2, nn::LayerNorm<>{}, shape(3, 4));
  norm(17, nn::LayerNorm<2>{}, shape(3, 4));
  norm(4, nn::LayerNorm<>{{.eps = 0.01}}, shape(33));
  norm(5, nn::LayerNorm<3>{}, shape(2, 3, 4));
  norm(16, nn::LayerNorm<>{{.bias = false}}, shape(2, 6));
  norm(3, nn::LayerNorm<2>{{.elementwise_affine = false}}, shape(3, 2, 2));
  norm(2, nn::LayerNorm<>{}, shape(128));
  norm(33, nn::LayerNorm<>{}, shape(3));
  norm(1, nn::LayerNorm<>{}, shape(5, 7));
  CHECK(norm.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of RMSNorm are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> norm(test_device<D>(), "rms_norm");
  norm(3, nn::RMSNorm<>{{.eps = 1e-5}}, shape(5));
  norm(2, nn::RMSNorm<>{{.eps = 1e-5}}, shape(3, 4));
  norm(17, nn::RMSNorm<2>{{.eps = 1e-5}}, shape(3, 4));
  norm(4, nn::RMSNorm<>{{.eps = 0.01}}, shape(33));
  norm(5, nn::RMSNorm<3>{{.eps = 1e-5}}, shape(2, 3, 4));
  norm(16, nn::RMSNorm<>{{.eps = 1e-5}}, shape(2, 6));
  norm(3, nn::RMSNorm<2>{{.eps = 1e-5, .elementwise_affine = false}}, shape(3, 2, 2));
  norm(2, nn::RMSNorm<>{{.eps = 1e-5}}, shape(128));
  norm(33, nn::RMSNorm<>{{.eps = 1e-5}}, shape(3));
  norm(1, nn::RMSNorm<>{{.eps = 1e-5}}, shape(5, 7));
  CHECK(norm.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of GLU are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> glu(test_device<D>(), "glu");
  glu(3, nn::GLU<>{}, shape(4));
  glu(2, nn::GLU<>{}, shape(3, 6));
  glu(17, nn::GLU<1>{}, Shape<4, 5>{});
  glu(4, nn::GLU<-2>{}, Shape<2, 6, 3>{});
  glu(1, nn::GLU<2>{}, shape(3, 8, 2));
  glu(16, nn::GLU<>{}, shape(32));
  glu(5, nn::GLU<1>{}, Shape<2>{});
  glu(33, nn::GLU<-1>{}, shape(2, 2));
  glu(2, nn::GLU<1>{}, shape(34, 3, 3));
  glu(3, nn::GLU<3>{}, Shape<2, 2, 10>{});
  CHECK(glu.number() == 10);
}

// In double: what follows a step multiplies its rounding.
template <template <index_t, class...> class Layer, class D, class... Relu>
void check_recurrent(D& device, const char* kind) {
  Cases<D, double> cases(device, kind);
  cases(2, Layer<4>{}, Shape<5, 3>{});
  cases(1, Layer<1>{}, Shape<1, 1>{});
  cases(17, Layer<16>{}, shape(3, 8));
  cases(4, Layer<3, nn::NumLayers<2>>{}, Shape<4, 5>{});
  cases(3, Layer<4, nn::Bidirectional>{}, Shape<4, 2>{});
  cases(2, Layer<2, nn::Bidirectional, nn::NumLayers<3>>{}, shape(3, 3));
  cases(16, Layer<5, nn::Bias<false>>{}, Shape<2, 6>{});
  cases(5, Layer<9>{}, Shape<6, 12>{});
  cases(33, Layer<8, Relu...>{}, Shape<2, 4>{});
  cases(1, Layer<20, nn::NumLayers<2>, nn::Bias<false>, nn::Bidirectional>{}, Shape<7, 2>{});
  CHECK(cases.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of LSTM, GRU and RNN are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_recurrent<nn::LSTM>(test_device<D>(), "lstm");
  check_recurrent<nn::GRU>(test_device<D>(), "gru");
  check_recurrent<nn::RNN, D, nn::ReLU>(test_device<D>(), "rnn");
}

TEST_CASE_TEMPLATE("twelve shapes of GroupNorm and InstanceNorm are PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  Cases<D> norm(test_device<D>(), "group_norm");
  norm(3, nn::GroupNorm<2>{}, shape(4, 5));
  norm(2, nn::GroupNorm<1>{}, shape(3, 4, 2));
  norm(17, nn::GroupNorm<3>{}, shape(9));
  norm(4, nn::GroupNorm<2>{{.eps = 0.01}}, shape(6, 3, 3));
  norm(16, nn::GroupNorm<4>{{.affine = false}}, shape(8, 2, 1));
  norm(2, nn::InstanceNorm2d{}, shape(3, 4, 4));
  norm(5, nn::InstanceNorm2d{{.affine = true}}, shape(2, 3, 1));
  norm(17, nn::InstanceNorm2d{{.eps = 0.1}}, shape(1, 2, 5));
  norm(1, nn::InstanceNorm2d{{.affine = true}}, shape(4, 6, 3));
  norm(3, nn::GroupNorm<5>{}, shape(5, 7));
  norm(2, nn::InstanceNorm1d{{.affine = true}}, shape(3, 5));
  norm(3, nn::InstanceNorm3d{{.eps = 0.1, .affine = true}}, shape(2, 3, 1, 4));
  CHECK(norm.number() == 12);
}

TEST_CASE_TEMPLATE("ten shapes of BatchNorm1d are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> batch_norm(test_device<D>(), "batch_norm1d");
  batch_norm(4, nn::BatchNorm1d{}, shape(3));
  batch_norm(5, nn::BatchNorm1d{}, shape(1));
  batch_norm(17, nn::BatchNorm1d{}, shape(4));
  batch_norm(6, nn::BatchNorm1d{{.momentum = 0.5}}, shape(16));
  batch_norm(16, nn::BatchNorm1d{{.eps = 0.01}}, shape(5));
  batch_norm(33, nn::BatchNorm1d{}, shape(2));
  batch_norm(7, nn::BatchNorm1d{{.momentum = std::nullopt}}, shape(8));
  batch_norm(4, nn::BatchNorm1d{}, shape(2, 7));
  batch_norm(3, nn::BatchNorm1d{}, shape(5, 4));
  batch_norm(1, nn::BatchNorm1d{{.momentum = 1.0}}, shape(3, 6));
  CHECK(batch_norm.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of BatchNorm2d are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> batch_norm(test_device<D>(), "batch_norm2d");
  batch_norm(2, nn::BatchNorm2d{}, shape(3, 4, 4));
  batch_norm(1, nn::BatchNorm2d{}, shape(2, 3, 3));
  batch_norm(17, nn::BatchNorm2d{}, shape(1, 2, 2));
  batch_norm(3, nn::BatchNorm2d{{.momentum = 0.5}}, shape(4, 1, 5));
  batch_norm(5, nn::BatchNorm2d{{.eps = 0.01}}, shape(2, 3, 1));
  batch_norm(4, nn::BatchNorm2d{}, shape(3, 2, 2));
  batch_norm(2, nn::BatchNorm2d{{.momentum = std::nullopt}}, shape(8, 3, 3));
  batch_norm(3, nn::BatchNorm2d{}, shape(1, 7, 5));
  batch_norm(16, nn::BatchNorm2d{}, shape(2, 2, 2));
  batch_norm(2, nn::BatchNorm2d{{.momentum = 1.0}}, shape(5, 6, 1));
  CHECK(batch_norm.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of CrossEntropyLoss are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Expected expected("cross_entropy");
  const KeepIsa keep;
  int number = 0;
  for (auto [samples, classes] : std::vector<std::pair<index_t, index_t>>{{1, 2},
                                                                          {2, 10},
                                                                          {4, 5},
                                                                          {17, 3},
                                                                          {3, 100},
                                                                          {16, 16},
                                                                          {33, 2},
                                                                          {5, 1},
                                                                          {7, 33},
                                                                          {8, 65}}) {
    Generator generator(number);
    std::vector<float> rows = random_values<float>(samples * classes, generator, -8, 8);
    std::vector<label_t> labels;
    for (index_t i = 0; i < samples; ++i)
      labels.push_back(static_cast<label_t>(i * 7 % classes));
    const Tensor<label_t, D> targets(device, {samples}, labels);
    for (const Slice& slice : slices_of<D>(samples))
      for (Isa path : isas()) {
        const int path_number = static_cast<int>(path);
        CAPTURE(number);
        CAPTURE(slice.inner);
        CAPTURE(path_number);
        set_isa(path);
        GuardedBuffer<float, D> x(device, slice.samples() * classes),
            dx(device, slice.samples() * classes);
        GuardedBuffer<float, D> losses(device, samples);
        x.upload(nn::to_slice_order(slice, classes, rows));
        nn::CrossEntropyLoss{}.evaluate(
            device, nn::LossPass<float, label_t>{slice, classes, x.data(), targets.data(),
                                                 1 / static_cast<float>(samples), losses.data(),
                                                 dx.data()});
        CHECK(relative_error(losses.download(), expected(number, "losses")) <= 1e-6);
        CHECK(relative_error(nn::to_rows(slice, classes, dx.download().data()),
                             expected(number, "dx")) <= 1e-6);
      }
    ++number;
  }
  CHECK(number == 10);
}

TEST_CASE_TEMPLATE("ten shapes of Permute are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> permute(test_device<D>(), "permute");
  permute(2, nn::Permute<1, 0>{}, shape(3, 4));
  permute(17, nn::Permute<1, 0>{}, shape(33, 5));
  permute(3, nn::Permute<2, 0, 1>{}, shape(2, 3, 4));
  permute(2, nn::Permute<1, 2, 0>{}, shape(5, 4, 3));
  permute(16, nn::Permute<0, 2, 1>{}, shape(3, 2, 7));
  permute(1, nn::Permute<2, 1, 0>{}, shape(16, 3, 8));
  permute(3, nn::Permute<0, 1, 2>{}, shape(2, 2, 2));
  permute(4, nn::Permute<3, 1, 0, 2>{}, shape(2, 3, 4, 5));
  permute(5, nn::Permute<1, 0, 3, 2>{}, shape(3, 2, 1, 4));
  permute(4, nn::Permute<0>{}, shape(6));
  CHECK(permute.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of Reshape and Unflatten are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> reshape(test_device<D>(), "reshape");
  reshape(4, nn::Unflatten<2, 3>{}, shape(6));
  reshape(1, nn::Unflatten<6>{}, shape(6));
  reshape(17, nn::Unflatten<2, -1, 2>{}, shape(12));
  reshape(3, nn::Unflatten<1, 5, 1, 2>{}, shape(10));
  reshape(16, nn::Unflatten<3, 4, 4>{}, shape(48));
  reshape(2, nn::Reshape<3, 2>{}, shape(6));
  reshape(4, nn::Reshape<6, 4>{}, shape(2, 3, 4));
  reshape(5, nn::Reshape<-1>{}, shape(3, 3));
  reshape(3, nn::Reshape<2, -1>{}, shape(4, 5));
  reshape(33, nn::Reshape<1, 7, 2>{}, shape(14));
  CHECK(reshape.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of ZeroPad2d are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> zero_pad2d(test_device<D>(), "zero_pad2d");
  zero_pad2d(2, nn::ZeroPad2d<1>{}, shape(3, 4, 5));
  zero_pad2d(17, nn::ZeroPad2d<2>{}, shape(1, 3, 3));
  zero_pad2d(3, nn::ZeroPad2d<1, 2, 3, 4>{}, shape(2, 5, 4));
  zero_pad2d(4, nn::ZeroPad2d<0, 1, 0, 1>{}, shape(3, 7, 7));
  zero_pad2d(1, nn::ZeroPad2d<0, 0, 2, 0>{}, shape(2, 3, 1));
  zero_pad2d(16, nn::ZeroPad2d<3, 0, 0, 0>{}, shape(1, 1, 6));
  zero_pad2d(2, nn::ZeroPad2d<0>{}, shape(2, 2, 2));
  zero_pad2d(1, nn::ZeroPad2d<5>{}, shape(1, 1, 1));
  zero_pad2d(5, nn::ZeroPad2d<0, 0, 0, 1>{}, shape(4, 2, 3));
  zero_pad2d(2, nn::ZeroPad2d<7, 8, 1, 0>{}, shape(1, 9, 2));
  CHECK(zero_pad2d.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of PixelShuffle are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> pixel_shuffle(test_device<D>(), "pixel_shuffle");
  pixel_shuffle(2, nn::PixelShuffle<2>{}, shape(4, 3, 3));
  pixel_shuffle(3, nn::PixelShuffle<2>{}, shape(8, 4, 5));
  pixel_shuffle(17, nn::PixelShuffle<3>{}, shape(9, 2, 1));
  pixel_shuffle(1, nn::PixelShuffle<3>{}, shape(18, 3, 4));
  pixel_shuffle(4, nn::PixelShuffle<1>{}, shape(3, 2, 2));
  pixel_shuffle(2, nn::PixelShuffle<4>{}, shape(16, 5, 3));
  pixel_shuffle(16, nn::PixelShuffle<2>{}, shape(12, 1, 1));
  pixel_shuffle(1, nn::PixelShuffle<5>{}, shape(25, 1, 2));
  pixel_shuffle(5, nn::PixelShuffle<2>{}, shape(4, 7, 1));
  pixel_shuffle(33, nn::PixelShuffle<2>{}, shape(4, 1, 6));
  CHECK(pixel_shuffle.number() == 10);
}

TEST_CASE_TEMPLATE("twelve shapes of Upsample are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> upsample(test_device<D>(), "upsample");
  upsample(2, nn::Upsample<2>{}, shape(3, 4, 5));
  upsample(17, nn::Upsample<2>{}, shape(1, 1, 1));
  upsample(3, nn::Upsample<3>{}, shape(2, 2, 7));
  upsample(4, nn::Upsample<1>{}, shape(2, 3, 3));
  upsample(1, nn::Upsample<4>{}, shape(5, 3, 2));
  upsample(16, nn::Upsample<2>{}, shape(4, 2, 2));
  upsample(2, nn::Upsample<5>{}, shape(1, 1, 3));
  upsample(5, nn::Upsample<2>{}, shape(2, 7, 1));
  upsample(1, nn::Upsample<3>{}, shape(1, 9, 8));
  upsample(2, nn::Upsample<7>{}, shape(2, 2, 2));
  upsample(3, nn::Upsample<3>{}, shape(2, 5));
  upsample(2, nn::Upsample<2>{}, shape(2, 3, 1, 4));
  CHECK(upsample.number() == 12);
}

TEST_CASE_TEMPLATE("ten shapes of bilinear Upsample are PyTorch's", D, GPUNET_TEST_DEVICES) {
  Cases<D> bilinear(test_device<D>(), "bilinear");
  bilinear(2, nn::Upsample<2, nn::Bilinear>{}, shape(3, 4, 5));
  bilinear(17, nn::Upsample<2, nn::Bilinear>{}, shape(1, 1, 1));
  bilinear(3, nn::Upsample<3, nn::Bilinear>{}, shape(2, 2, 7));
  bilinear(4, nn::Upsample<1, nn::Bilinear>{}, shape(2, 3, 3));
  bilinear(16, nn::Upsample<4, nn::Bilinear>{}, shape(5, 3, 2));
  bilinear(2, nn::Upsample<2, nn::Bilinear, nn::AlignCorners<true>>{}, shape(3, 4, 5));
  bilinear(17, nn::Upsample<3, nn::Bilinear, nn::AlignCorners<true>>{}, shape(1, 1, 2));
  bilinear(5, nn::Upsample<2, nn::Bilinear, nn::AlignCorners<true>>{}, shape(2, 7, 1));
  bilinear(1, nn::Upsample<1, nn::Bilinear, nn::AlignCorners<true>>{}, shape(1, 1, 4));
  bilinear(3, nn::Upsample<5, nn::Bilinear, nn::AlignCorners<true>>{}, shape(2, 3, 6));
  CHECK(bilinear.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of rectangular MaxPool2d and AvgPool2d are PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  Cases<D> max_pool2d_rectangular(test_device<D>(), "max_pool2d_rectangular");
  max_pool2d_rectangular(
      2, nn::MaxPool2d<3, nn::KernelWidth<2>, nn::Stride<2, 1>, nn::Padding<1, 0>>{},
      shape(3, 6, 5));
  max_pool2d_rectangular(3, nn::MaxPool2d<2, nn::KernelWidth<3>>{}, shape(1, 5, 7));
  max_pool2d_rectangular(2, nn::MaxPool2d<1, nn::KernelWidth<3>, nn::Stride<2>>{}, shape(2, 9, 6));
  max_pool2d_rectangular(1, nn::MaxPool2d<3, nn::KernelWidth<1>, nn::Stride<1>>{}, shape(2, 4, 5));
  max_pool2d_rectangular(4, nn::MaxPool2d<3, nn::Stride<2, 1>, nn::Padding<1>>{}, shape(1, 7, 8));
  max_pool2d_rectangular(17, nn::MaxPool2d<2, nn::Stride<1>, nn::Padding<0, 1>>{}, shape(1, 3, 4));
  max_pool2d_rectangular(2, nn::MaxPool2d<4, nn::KernelWidth<3>, nn::Padding<2, 1>>{},
                         shape(2, 4, 3));
  max_pool2d_rectangular(2, nn::MaxPool2d<2, nn::Stride<1, 2>>{}, shape(3, 2, 2));
  max_pool2d_rectangular(
      1, nn::MaxPool2d<5, nn::KernelWidth<4>, nn::Stride<3, 2>, nn::Padding<0, 2>>{},
      shape(2, 9, 10));
  max_pool2d_rectangular(3, nn::MaxPool2d<2, nn::KernelWidth<8>, nn::Stride<3, 1>>{},
                         shape(2, 8, 8));
  CHECK(max_pool2d_rectangular.number() == 10);

  Cases<D> avg_pool2d_rectangular(test_device<D>(), "avg_pool2d_rectangular");
  avg_pool2d_rectangular(
      2, nn::AvgPool2d<3, nn::KernelWidth<2>, nn::Stride<2, 1>, nn::Padding<1, 0>>{},
      shape(3, 6, 5));
  avg_pool2d_rectangular(3, nn::AvgPool2d<2, nn::KernelWidth<3>>{}, shape(1, 5, 7));
  avg_pool2d_rectangular(2, nn::AvgPool2d<1, nn::KernelWidth<3>, nn::Stride<2>>{}, shape(2, 9, 6));
  avg_pool2d_rectangular(1, nn::AvgPool2d<3, nn::KernelWidth<1>, nn::Stride<1>>{}, shape(2, 4, 5));
  avg_pool2d_rectangular(4, nn::AvgPool2d<3, nn::Stride<2, 1>, nn::Padding<1>>{}, shape(1, 7, 8));
  avg_pool2d_rectangular(17, nn::AvgPool2d<2, nn::Stride<1>, nn::Padding<0, 1>>{}, shape(1, 3, 4));
  avg_pool2d_rectangular(2, nn::AvgPool2d<4, nn::KernelWidth<3>, nn::Padding<2, 1>>{},
                         shape(2, 4, 3));
  avg_pool2d_rectangular(2, nn::AvgPool2d<2, nn::Stride<1, 2>>{}, shape(3, 2, 2));
  avg_pool2d_rectangular(
      1, nn::AvgPool2d<5, nn::KernelWidth<4>, nn::Stride<3, 2>, nn::Padding<0, 2>>{},
      shape(2, 9, 10));
  avg_pool2d_rectangular(3, nn::AvgPool2d<2, nn::KernelWidth<8>, nn::Stride<3, 1>>{},
                         shape(2, 8, 8));
  CHECK(avg_pool2d_rectangular.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of MaxPool2d and AvgPool2d in ceil mode are PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  Cases<D> max_pool2d_ceil(test_device<D>(), "max_pool2d_ceil");
  max_pool2d_ceil(2, nn::MaxPool2d<2, nn::CeilMode<true>>{}, shape(3, 5, 7));
  max_pool2d_ceil(3, nn::MaxPool2d<3, nn::Stride<2>, nn::Padding<1>, nn::CeilMode<true>>{},
                  shape(1, 5, 7));
  max_pool2d_ceil(2, nn::MaxPool2d<3, nn::Stride<2>, nn::CeilMode<true>>{}, shape(2, 9, 6));
  max_pool2d_ceil(1, nn::MaxPool2d<3, nn::Stride<3>, nn::Padding<1>, nn::CeilMode<true>>{},
                  shape(2, 4, 5));
  max_pool2d_ceil(4, nn::MaxPool2d<2, nn::Stride<3>, nn::Padding<1>, nn::CeilMode<true>>{},
                  shape(1, 6, 8));
  max_pool2d_ceil(17, nn::MaxPool2d<2, nn::Stride<3>, nn::CeilMode<true>>{}, shape(1, 3, 4));
  max_pool2d_ceil(2,
                  nn::MaxPool2d<4, nn::KernelWidth<3>, nn::Stride<3, 2>, nn::Padding<2, 1>,
                                nn::CeilMode<true>>{},
                  shape(2, 4, 3));
  max_pool2d_ceil(2, nn::MaxPool2d<3, nn::CeilMode<true>>{}, shape(3, 2, 2));
  max_pool2d_ceil(1,
                  nn::MaxPool2d<5, nn::KernelWidth<4>, nn::Stride<4, 3>, nn::Padding<0, 2>,
                                nn::CeilMode<true>>{},
                  shape(2, 8, 10));
  max_pool2d_ceil(3, nn::MaxPool2d<2, nn::CeilMode<true>>{}, shape(2, 8, 8));
  CHECK(max_pool2d_ceil.number() == 10);

  Cases<D> avg_pool2d_ceil(test_device<D>(), "avg_pool2d_ceil");
  avg_pool2d_ceil(2, nn::AvgPool2d<2, nn::CeilMode<true>>{}, shape(3, 5, 7));
  avg_pool2d_ceil(3, nn::AvgPool2d<3, nn::Stride<2>, nn::Padding<1>, nn::CeilMode<true>>{},
                  shape(1, 5, 7));
  avg_pool2d_ceil(2, nn::AvgPool2d<3, nn::Stride<2>, nn::CeilMode<true>>{}, shape(2, 9, 6));
  avg_pool2d_ceil(1, nn::AvgPool2d<3, nn::Stride<3>, nn::Padding<1>, nn::CeilMode<true>>{},
                  shape(2, 4, 5));
  avg_pool2d_ceil(4, nn::AvgPool2d<2, nn::Stride<3>, nn::Padding<1>, nn::CeilMode<true>>{},
                  shape(1, 6, 8));
  avg_pool2d_ceil(17, nn::AvgPool2d<2, nn::Stride<3>, nn::CeilMode<true>>{}, shape(1, 3, 4));
  avg_pool2d_ceil(2,
                  nn::AvgPool2d<4, nn::KernelWidth<3>, nn::Stride<3, 2>, nn::Padding<2, 1>,
                                nn::CeilMode<true>>{},
                  shape(2, 4, 3));
  avg_pool2d_ceil(2, nn::AvgPool2d<3, nn::CeilMode<true>>{}, shape(3, 2, 2));
  avg_pool2d_ceil(1,
                  nn::AvgPool2d<5, nn::KernelWidth<4>, nn::Stride<4, 3>, nn::Padding<0, 2>,
                                nn::CeilMode<true>>{},
                  shape(2, 8, 10));
  avg_pool2d_ceil(3, nn::AvgPool2d<2, nn::CeilMode<true>>{}, shape(2, 8, 8));
  CHECK(avg_pool2d_ceil.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of AvgPool2d without its padding are PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  Cases<D> pool(test_device<D>(), "avg_pool2d_without_padding");
  pool(2, nn::AvgPool2d<2, nn::Padding<1>, nn::CountIncludePad<false>>{}, shape(3, 4, 6));
  pool(3, nn::AvgPool2d<3, nn::Stride<2>, nn::Padding<1>, nn::CountIncludePad<false>>{},
       shape(1, 5, 7));
  pool(2, nn::AvgPool2d<3, nn::Stride<1>, nn::Padding<1>, nn::CountIncludePad<false>>{},
       shape(2, 9, 6));
  pool(1,
       nn::AvgPool2d<5, nn::Stride<1>, nn::Padding<2>, nn::CeilMode<true>,
                     nn::CountIncludePad<false>>{},
       shape(2, 4, 5));
  pool(4,
       nn::AvgPool2d<3, nn::Stride<2>, nn::Padding<1>, nn::CeilMode<true>,
                     nn::CountIncludePad<false>>{},
       shape(1, 7, 8));
  pool(17, nn::AvgPool2d<2, nn::CountIncludePad<false>>{}, shape(1, 3, 3));
  pool(2,
       nn::AvgPool2d<3, nn::KernelWidth<2>, nn::Stride<2, 1>, nn::Padding<1, 0>,
                     nn::CountIncludePad<false>>{},
       shape(2, 4, 3));
  pool(16, nn::AvgPool2d<4, nn::Stride<4>, nn::Padding<2>, nn::CountIncludePad<false>>{},
       shape(3, 3, 3));
  pool(1, nn::AvgPool2d<17, nn::Stride<2>, nn::Padding<8>, nn::CountIncludePad<false>>{},
       shape(2, 9, 20));
  pool(3,
       nn::AvgPool2d<2, nn::Stride<3>, nn::Padding<1>, nn::CeilMode<true>,
                     nn::CountIncludePad<false>>{},
       shape(2, 6, 8));
  CHECK(pool.number() == 10);
}

TEST_CASE_TEMPLATE("ten shapes of MaxPool1d, AvgPool1d and AdaptiveAvgPool1d are PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  Cases<D> max_pool1d(test_device<D>(), "max_pool1d");
  max_pool1d(2, nn::MaxPool1d<2>{}, shape(3, 6));
  max_pool1d(3, nn::MaxPool1d<3, nn::Stride<1>>{}, shape(1, 7));
  max_pool1d(2, nn::MaxPool1d<3, nn::Stride<2>, nn::Padding<1>>{}, shape(2, 9));
  max_pool1d(1, nn::MaxPool1d<2, nn::CeilMode<true>>{}, shape(2, 5));
  max_pool1d(4, nn::MaxPool1d<4, nn::Stride<3>, nn::Padding<2>, nn::CeilMode<true>>{}, shape(1, 8));
  max_pool1d(17, nn::MaxPool1d<1>{}, shape(1, 3));
  max_pool1d(2, nn::MaxPool1d<17, nn::Stride<2>, nn::Padding<8>>{}, shape(2, 40));
  max_pool1d(16, nn::MaxPool1d<2, nn::Stride<3>, nn::Padding<1>, nn::CeilMode<true>>{},
             shape(3, 6));
  max_pool1d(1, nn::MaxPool1d<2>{}, shape(5, 33));
  max_pool1d(3, nn::MaxPool1d<3, nn::CeilMode<true>>{}, shape(2, 2));
  CHECK(max_pool1d.number() == 10);

  Cases<D> avg_pool1d(test_device<D>(), "avg_pool1d");
  avg_pool1d(2, nn::AvgPool1d<2>{}, shape(3, 6));
  avg_pool1d(3, nn::AvgPool1d<3, nn::Stride<1>>{}, shape(1, 7));
  avg_pool1d(2, nn::AvgPool1d<3, nn::Stride<2>, nn::Padding<1>>{}, shape(2, 9));
  avg_pool1d(1, nn::AvgPool1d<2, nn::CeilMode<true>>{}, shape(2, 5));
  avg_pool1d(4, nn::AvgPool1d<4, nn::Stride<3>, nn::Padding<2>, nn::CeilMode<true>>{}, shape(1, 8));
  avg_pool1d(17, nn::AvgPool1d<1>{}, shape(1, 3));
  avg_pool1d(2, nn::AvgPool1d<17, nn::Stride<2>, nn::Padding<8>, nn::CountIncludePad<false>>{},
             shape(2, 40));
  avg_pool1d(16,
             nn::AvgPool1d<2, nn::Stride<3>, nn::Padding<1>, nn::CeilMode<true>,
                           nn::CountIncludePad<false>>{},
             shape(3, 6));
  avg_pool1d(1, nn::AvgPool1d<2>{}, shape(5, 33));
  avg_pool1d(3, nn::AvgPool1d<3, nn::CeilMode<true>>{}, shape(2, 2));
  CHECK(avg_pool1d.number() == 10);

  Cases<D> adaptive_avg_pool1d(test_device<D>(), "adaptive_avg_pool1d");
  adaptive_avg_pool1d(2, nn::AdaptiveAvgPool1d<1>{}, shape(3, 6));
  adaptive_avg_pool1d(17, nn::AdaptiveAvgPool1d<1>{}, shape(4, 8));
  adaptive_avg_pool1d(3, nn::AdaptiveAvgPool1d<1>{}, shape(5, 1));
  adaptive_avg_pool1d(2, nn::AdaptiveAvgPool1d<2>{}, shape(3, 4));
  adaptive_avg_pool1d(4, nn::AdaptiveAvgPool1d<3>{}, shape(2, 7));
  adaptive_avg_pool1d(1, nn::AdaptiveAvgPool1d<7>{}, shape(2, 15));
  adaptive_avg_pool1d(2, nn::AdaptiveAvgPool1d<5>{}, shape(2, 3));
  adaptive_avg_pool1d(16, nn::AdaptiveAvgPool1d<3>{}, shape(1, 8));
  adaptive_avg_pool1d(3, nn::AdaptiveAvgPool1d<6>{}, shape(2, 4));
  adaptive_avg_pool1d(1, nn::AdaptiveAvgPool1d<2>{}, shape(1, 37));
  CHECK(adaptive_avg_pool1d.number() == 10);
}

namespace {

template <class T, class D>
void check_conv2d_of_options() {
  Cases<D, T> conv2d(test_device<D>(), "conv2d_of_options");
  conv2d(2, nn::Conv2d<6, 3, nn::Groups<2>>{}, shape(4, 5, 4));
  conv2d(17, nn::Conv2d<5, 3, nn::Padding<1>, nn::Groups<5>>{}, shape(5, 4, 6));
  conv2d(3, nn::Conv2d<12, 3, nn::Stride<2>, nn::Padding<1>, nn::Groups<3>>{}, shape(3, 7, 8));
  conv2d(4, nn::Conv2d<7, 3, nn::Padding<2>, nn::Dilation<2>>{}, shape(2, 6, 5));
  conv2d(2, nn::Conv2d<4, 1, nn::KernelWidth<5>, nn::Padding<0, 2>>{}, shape(3, 3, 7));
  conv2d(5,
         nn::Conv2d<3, 4, nn::KernelWidth<2>, nn::Stride<1, 3>, nn::Padding<2, 0>,
                    nn::Dilation<1, 2>, nn::Bias<false>>{},
         shape(2, 5, 9));
  conv2d(1, nn::Conv2d<4, 4, nn::PaddingSame, nn::Groups<2>>{}, shape(4, 3, 5));
  conv2d(3, nn::Conv2d<3, 3, nn::PaddingSame>{}, shape(2, 4, 4));
  conv2d(16, nn::Conv2d<2, 2, nn::KernelWidth<3>, nn::PaddingSame, nn::Dilation<3, 1>>{},
         shape(2, 5, 3));
  conv2d(2, nn::Conv2d<12, 1, nn::Stride<2>, nn::Groups<4>>{}, shape(8, 3, 3));
  CHECK(conv2d.number() == 10);
}

template <class T, class D>
void check_conv1d() {
  Cases<D, T> conv1d(test_device<D>(), "conv1d");
  conv1d(2, nn::Conv1d<3, 3>{}, shape(2, 7));
  conv1d(17, nn::Conv1d<8, 5, nn::Padding<2>>{}, shape(3, 9));
  conv1d(3, nn::Conv1d<6, 4, nn::Stride<2>, nn::Padding<1>>{}, shape(4, 12));
  conv1d(4, nn::Conv1d<5, 3, nn::Padding<4>, nn::Dilation<4>>{}, shape(2, 10));
  conv1d(5, nn::Conv1d<6, 3, nn::Padding<1>, nn::Groups<6>>{}, shape(6, 8));
  conv1d(2, nn::Conv1d<10, 2, nn::Stride<3>, nn::Groups<2>, nn::Bias<false>>{}, shape(4, 11));
  conv1d(1, nn::Conv1d<4, 4, nn::PaddingSame>{}, shape(3, 33));
  conv1d(16, nn::Conv1d{16, 1}, shape(16, 2));
  conv1d(1, nn::Conv1d<1, 1>{}, shape(1, 1));
  conv1d(33, nn::Conv1d{2, 21, 2, 10}, shape(1, 20));
  CHECK(conv1d.number() == 10);
}

template <class T, class D>
void check_conv_transpose1d() {
  Cases<D, T> conv_transpose1d(test_device<D>(), "conv_transpose1d");
  conv_transpose1d(2, nn::ConvTranspose1d<3, 3>{}, shape(2, 5));
  conv_transpose1d(17, nn::ConvTranspose1d<8, 2, nn::Stride<2>>{}, shape(3, 4));
  conv_transpose1d(3, nn::ConvTranspose1d{6, 4, 2, 1}, shape(4, 6));
  conv_transpose1d(4, nn::ConvTranspose1d<5, 3, nn::Dilation<2>, nn::Padding<1>>{}, shape(2, 7));
  conv_transpose1d(5,
                   nn::ConvTranspose1d<6, 3, nn::Stride<2>, nn::Padding<1>, nn::OutputPadding<1>,
                                       nn::Groups<6>>{},
                   shape(6, 4));
  conv_transpose1d(2, nn::ConvTranspose1d<10, 2, nn::Stride<3>, nn::Groups<2>, nn::Bias<false>>{},
                   shape(4, 3));
  conv_transpose1d(1, nn::ConvTranspose1d<4, 5, nn::Stride<4>, nn::OutputPadding<3>>{},
                   shape(3, 8));
  conv_transpose1d(16, nn::ConvTranspose1d<8, 1>{}, shape(16, 2));
  conv_transpose1d(1, nn::ConvTranspose1d<1, 1>{}, shape(1, 1));
  conv_transpose1d(33,
                   nn::ConvTranspose1d<2, 9, nn::Stride<3>, nn::Padding<4>, nn::OutputPadding<2>>{},
                   shape(1, 5));
  CHECK(conv_transpose1d.number() == 10);
}

template <class T, class D>
void check_conv_transpose2d() {
  Cases<D, T> conv_transpose2d(test_device<D>(), "conv_transpose2d");
  conv_transpose2d(2, nn::ConvTranspose2d<3, 3>{}, shape(2, 3, 4));
  conv_transpose2d(17, nn::ConvTranspose2d<4, 2, nn::Stride<2>>{}, shape(3, 3, 2));
  conv_transpose2d(3, nn::ConvTranspose2d{6, 4, 2, 1}, shape(4, 3, 3));
  conv_transpose2d(4,
                   nn::ConvTranspose2d<5, 3, nn::Stride<2>, nn::Padding<1>, nn::OutputPadding<1>>{},
                   shape(2, 3, 4));
  conv_transpose2d(5, nn::ConvTranspose2d<4, 3, nn::Stride<2>, nn::Padding<1>, nn::Groups<4>>{},
                   shape(4, 2, 3));
  conv_transpose2d(2, nn::ConvTranspose2d<6, 2, nn::Dilation<2>, nn::Groups<2>, nn::Bias<false>>{},
                   shape(4, 4, 3));
  conv_transpose2d(1,
                   nn::ConvTranspose2d<2, 3, nn::KernelWidth<2>, nn::Stride<1, 3>,
                                       nn::Padding<1, 0>, nn::OutputPadding<0, 2>>{},
                   shape(3, 5, 4));
  conv_transpose2d(16, nn::ConvTranspose2d<8, 1>{}, shape(9, 2, 2));
  conv_transpose2d(3, nn::ConvTranspose2d<3, 1, nn::Stride<2>>{}, shape(2, 3, 3));
  conv_transpose2d(
      33, nn::ConvTranspose2d<2, 1, nn::KernelWidth<5>, nn::Padding<0, 2>, nn::Dilation<1, 2>>{},
      shape(1, 2, 6));
  CHECK(conv_transpose2d.number() == 10);
}

}  // namespace

TEST_CASE_TEMPLATE("ten shapes of Conv2d with options are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_conv2d_of_options<float, D>();
  check_conv2d_of_options<double, D>();
}

TEST_CASE_TEMPLATE("ten shapes of Conv1d are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_conv1d<float, D>();
  check_conv1d<double, D>();
}

TEST_CASE_TEMPLATE("ten shapes of ConvTranspose1d are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_conv_transpose1d<float, D>();
  check_conv_transpose1d<double, D>();
}

TEST_CASE_TEMPLATE("ten shapes of ConvTranspose2d are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_conv_transpose2d<float, D>();
  check_conv_transpose2d<double, D>();
}
