// Convolutions by cuDNN. A unit that includes this makes all units of its program use it.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include <gpunet/device/cuda/cudnn.cuh>
#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/ops/conv2d/library.hpp>
#include <gpunet/ops/max_pool2d/plain.hpp>

namespace gpunet::detail {

// Returns whether an algorithm adds the products of the definition, in a fixed order: Winograd's
// and Fourier's lose digits, and the others of the backward pass add with atomics.
inline bool is_plain(cudnnConvolutionFwdAlgo_t a) {
  return a == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
         a == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
         a == CUDNN_CONVOLUTION_FWD_ALGO_GEMM || a == CUDNN_CONVOLUTION_FWD_ALGO_DIRECT;
}
inline bool is_plain(cudnnConvolutionBwdDataAlgo_t a) {
  return a == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
}
inline bool is_plain(cudnnConvolutionBwdFilterAlgo_t a) {
  return a == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
}

// The descriptors of a convolution for cuDNN.
template <class T>
struct CudnnDescriptors {
  CudnnTensor x, y, b;
  CudnnFilter w;
  CudnnConvolution convolution;
  CudnnActivation activation;

  CudnnDescriptors(const BatchConvolution& c, Precision precision)
      : x(cudnn_tensor<T>(c.samples, c.g.in_channels, c.g.rows.size, c.g.columns.size)),
        y(cudnn_tensor<T>(c.samples, c.g.out_channels, c.g.rows.outputs, c.g.columns.outputs)),
        b(cudnn_tensor<T>(1, c.g.out_channels, 1, 1)),
        w(make_cudnn<CudnnFilter>(cudnnCreateFilterDescriptor)),
        convolution(make_cudnn<CudnnConvolution>(cudnnCreateConvolutionDescriptor)),
        activation(make_cudnn<CudnnActivation>(cudnnCreateActivationDescriptor)) {
    const int out = static_cast<int>(c.g.out_channels), in = static_cast<int>(c.g.in_channels);
    // Returns a number of the rows or the columns as cuDNN takes it.
    const auto number = [](index_t n) {
      return static_cast<int>(n);
    };
    const ConvAxis &rows = c.g.rows, &columns = c.g.columns;
    const auto what = [] {
      return "describing a convolution";
    };
    check_cudnn(cudnnSetFilter4dDescriptor(w.get(), cudnn_type<T>, CUDNN_TENSOR_NCHW, out, in,
                                           number(rows.kernel), number(columns.kernel)),
                what);
    check_cudnn(cudnnSetConvolution2dDescriptor(
                    convolution.get(), number(rows.padding), number(columns.padding),
                    number(rows.stride), number(columns.stride), number(rows.dilation),
                    number(columns.dilation), CUDNN_CROSS_CORRELATION, cudnn_type<T>),
                what);
    check_cudnn(cudnnSetConvolutionMathType(convolution.get(), cudnn_math<T>(precision)), what);
    const auto mode =
        c.activation == Activation::relu ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY;
    check_cudnn(cudnnSetActivationDescriptor(activation.get(), mode, CUDNN_PROPAGATE_NAN, 0), what);
  }
};

// The plan of one convolution by cuDNN: for each product the algorithm that it expects to be the
// fastest with the same bits in every run. Nothing is measured, so every run makes the same choice.
template <class T>
class CudnnPlan {
 public:
  CudnnPlan(cudnnHandle_t handle, Precision precision, const BatchConvolution& what)
      : d(what, precision), c_(what), precision_(precision), handle_(handle) {
    choose();
    if (is_complete()) find_workspace();
  }

  bool is_for(const BatchConvolution& other) const {
    return c_.g == other.g && c_.samples == other.samples && c_.activation == other.activation;
  }
  // Returns whether there is an algorithm for each product.
  bool is_complete() const { return forward_ && input_ && parameters_; }
  // For messages.
  std::string describe(const char* what) const {
    return concat(what, " of a convolution of [", c_.samples, ", ", c_.g.in_channels, ", ",
                  c_.g.rows.size, ", ", c_.g.columns.size, "] by ", c_.g.out_channels,
                  " filters of ", c_.g.rows.kernel, " x ", c_.g.columns.kernel, ", stride ",
                  c_.g.rows.stride, " x ", c_.g.columns.stride, ", padding ", c_.g.rows.padding,
                  " x ", c_.g.columns.padding, ", dilation ", c_.g.rows.dilation, " x ",
                  c_.g.columns.dilation, sizeof(T) == 4 ? ", float" : ", double");
  }

  cudnnConvolutionFwdAlgo_t forward() const { return *forward_; }
  cudnnConvolutionBwdDataAlgo_t input() const { return *input_; }
  cudnnConvolutionBwdFilterAlgo_t parameters() const { return *parameters_; }
  std::size_t workspace() const { return workspace_; }  // bytes that serve each of the three

  const CudnnDescriptors<T> d;
  // Without a bias, and with one: until a call says that it has no kernel.
  bool has_forward[2] = {true, true};

 private:
  static constexpr std::size_t most_workspace = std::size_t{256} << 20;

  void choose() {
    const auto x = d.x.get(), y = d.y.get();
    const auto w = d.w.get();
    const auto convolution = d.convolution.get();
    forward_ = first<cudnnConvolutionFwdAlgoPerf_t>([&](int n, int* found, auto* ways) {
      return cudnnGetConvolutionForwardAlgorithm_v7(handle_, x, w, convolution, y, n, found, ways);
    });
    input_ = first<cudnnConvolutionBwdDataAlgoPerf_t>([&](int n, int* found, auto* ways) {
      return cudnnGetConvolutionBackwardDataAlgorithm_v7(handle_, w, y, convolution, x, n, found,
                                                         ways);
    });
    parameters_ = first<cudnnConvolutionBwdFilterAlgoPerf_t>([&](int n, int* found, auto* ways) {
      return cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle_, x, y, convolution, w, n, found,
                                                           ways);
    });
  }

  void find_workspace() {
    const auto x = d.x.get(), y = d.y.get();
    const auto w = d.w.get();
    const auto convolution = d.convolution.get();
    std::size_t bytes[3];
    const auto what = [this] {
      return describe("the workspace");
    };
    check_cudnn(cudnnGetConvolutionForwardWorkspaceSize(handle_, x, w, convolution, y, forward(),
                                                        &bytes[0]),
                what);
    check_cudnn(cudnnGetConvolutionBackwardDataWorkspaceSize(handle_, w, y, convolution, x, input(),
                                                             &bytes[1]),
                what);
    check_cudnn(cudnnGetConvolutionBackwardFilterWorkspaceSize(handle_, x, y, convolution, w,
                                                               parameters(), &bytes[2]),
                what);
    workspace_ = *std::max_element(bytes, bytes + 3);
  }

  // Returns the first usable algorithm of `list`, which gives the fastest first, or nothing.
  template <class Way, class List>
  auto first(const List& list) const -> std::optional<decltype(Way::algo)> {
    std::array<Way, 16> ways{};
    int found = 0;
    check_cudnn(list(static_cast<int>(ways.size()), &found, ways.data()),
                [this] { return describe("the choice"); });
    const auto end = ways.begin() + found;
    const auto way =
        std::find_if(ways.begin(), end, [this](const Way& each) { return may_use(each); });
    return way == end ? std::nullopt : std::optional(way->algo);
  }
  template <class Way>
  bool may_use(const Way& way) const {
    const bool exact = cudnn_math<T>(precision_) == CUDNN_FMA_MATH;
    return way.status == CUDNN_STATUS_SUCCESS && way.determinism == CUDNN_DETERMINISTIC &&
           way.memory <= most_workspace && way.mathType != CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION &&
           !(exact && way.mathType == CUDNN_TENSOR_OP_MATH) &&
           (precision_ != Precision::exact || is_plain(way.algo)) && may_end(way.algo);
  }
  // Returns whether bias and activation may stand behind it: without a rectifier, cuDNN documents
  // one algorithm.
  bool may_end(cudnnConvolutionFwdAlgo_t a) const {
    return c_.activation == Activation::relu ||
           a == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  }
  template <class Backward>
  bool may_end(Backward) const {
    return true;
  }

  BatchConvolution c_;
  Precision precision_;
  cudnnHandle_t handle_;
  std::optional<cudnnConvolutionFwdAlgo_t> forward_;
  std::optional<cudnnConvolutionBwdDataAlgo_t> input_;
  std::optional<cudnnConvolutionBwdFilterAlgo_t> parameters_;
  std::size_t workspace_ = 0;
};

// The convolutions of T that one Cuda was asked for.
template <class T>
class CudnnConvolutions final : public LibraryConvolutions<T> {
 public:
  CudnnConvolutions(int ordinal, Precision precision, cudnnHandle_t handle)
      : ordinal_(ordinal), precision_(precision), handle_(handle) {}

  bool can(const BatchConvolution& c) override { return plan(c).is_complete(); }

  index_t scratch(const BatchConvolution& c) override {
    return unpooled(c) + ceil_div(static_cast<index_t>(plan(c).workspace()), index_t{sizeof(T)});
  }

  bool forward(Cuda& device, const BatchConvolution& c, const Conv2dForwardArgs<T>& a) override {
    CudnnPlan<T>& p = plan(c);
    bool& has_forward = p.has_forward[a.b ? 1 : 0];
    if (!has_forward) return false;
    const CurrentDevice current(ordinal_);
    T* out = c.pool ? a.scratch : a.y;
    const cudnnStatus_t status =
        a.b ? cudnnConvolutionBiasActivationForward(
                  handle_, &one, p.d.x.get(), a.x, p.d.w.get(), a.w, p.d.convolution.get(),
                  p.forward(), workspace(c, a.scratch), p.workspace(), &zero, p.d.y.get(), out,
                  p.d.b.get(), a.b.data(), p.d.activation.get(), p.d.y.get(), out)
            : cudnnConvolutionForward(handle_, &one, p.d.x.get(), a.x, p.d.w.get(), a.w,
                                      p.d.convolution.get(), p.forward(), workspace(c, a.scratch),
                                      p.workspace(), &zero, p.d.y.get(), out);
    if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) return has_forward = false;
    check_cudnn(device, status, [&] { return p.describe("the forward pass"); });
    if ((!a.b && c.activation == Activation::relu) || c.bounds != Bounds{})
      map(device, c.samples * c.g.out_features(), c.template clamp<T>(), out, out);
    if (c.pool)
      max_pool2d_forward(device, slice(c), c.pooling(c.g.rows.outputs), out, a.y, a.choice);
    return true;
  }

  T* through_pool(Cuda& device, const BatchConvolution& c, const PoolChoice* choice, T* dy,
                  T* scratch) override {
    if (!c.pool) return dy;
    max_pool2d_backward(device, slice(c), c.pooling(c.g.rows.outputs), dy, choice, scratch);
    return scratch;
  }

  void backward_parameters(Cuda& device, const BatchConvolution& c,
                           const Conv2dBackwardArgs<T>& a) override {
    const CudnnPlan<T>& p = plan(c);
    const CurrentDevice current(ordinal_);
    const T& before = a.accumulate == Accumulate::yes ? one : zero;
    check_cudnn(device,
                cudnnConvolutionBackwardFilter(handle_, &one, p.d.x.get(), a.x, p.d.y.get(), a.dy,
                                               p.d.convolution.get(), p.parameters(),
                                               workspace(c, a.scratch), p.workspace(), &before,
                                               p.d.w.get(), a.dw),
                [&] { return p.describe("the weight gradient"); });
    if (!a.db) return;
    check_cudnn(device,
                cudnnConvolutionBackwardBias(handle_, &one, p.d.y.get(), a.dy, &before, p.d.b.get(),
                                             a.db.data()),
                [&] { return p.describe("the bias gradient"); });
  }

  void backward_input(Cuda& device, const BatchConvolution& c, const T* dy, const T* w, T* dx,
                      T* scratch) override {
    const CudnnPlan<T>& p = plan(c);
    const CurrentDevice current(ordinal_);
    check_cudnn(device,
                cudnnConvolutionBackwardData(
                    handle_, &one, p.d.w.get(), w, p.d.y.get(), dy, p.d.convolution.get(),
                    p.input(), workspace(c, scratch), p.workspace(), &zero, p.d.x.get(), dx),
                [&] { return p.describe("the input gradient"); });
  }

 private:
  static constexpr T one = 1, zero = 0;

  static Slice slice(const BatchConvolution& c) { return {c.samples, c.samples, 1}; }

  // Returns the elements of scratch for the output of the convolution before its pooling, or the
  // gradient of that.
  static index_t unpooled(const BatchConvolution& c) {
    constexpr index_t alignment = 64;
    return c.pool ? round_up(c.samples * c.g.out_features(), alignment) : 0;
  }
  static void* workspace(const BatchConvolution& c, T* scratch) {
    return scratch ? scratch + unpooled(c) : nullptr;
  }

  CudnnPlan<T>& plan(const BatchConvolution& c) {
    for (const auto& known : plans_)
      if (known->is_for(c)) return *known;
    const CurrentDevice current(ordinal_);
    return *plans_.emplace_back(std::make_unique<CudnnPlan<T>>(handle_, precision_, c));
  }

  int ordinal_;
  Precision precision_;
  cudnnHandle_t handle_;
  std::vector<std::unique_ptr<CudnnPlan<T>>> plans_;
};

// cuDNN for one Cuda.
class Cudnn final : public ConvolutionLibrary {
 public:
  explicit Cudnn(const Cuda& device)
      : handle_(handle(device)),
        float_(device.ordinal(), device.precision(), handle_.get()),
        double_(device.ordinal(), device.precision(), handle_.get()) {}

  LibraryConvolutions<float>& of(float) override { return float_; }
  LibraryConvolutions<double>& of(double) override { return double_; }

 private:
  static CudnnHandle handle(const Cuda& device) {
    const CurrentDevice current(device.ordinal());
    return make_cudnn_handle(device.stream());
  }

  CudnnHandle handle_;
  CudnnConvolutions<float> float_;
  CudnnConvolutions<double> double_;
};

inline const bool cudnn_is_linked = [] {
  linked_convolution_library = {[](const Cuda& device) -> std::shared_ptr<ConvolutionLibrary> {
                                  return std::make_shared<Cudnn>(device);
                                },
                                cudnnGetVersion};
  return true;
}();

}  // namespace gpunet::detail
