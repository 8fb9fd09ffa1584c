// Whole training steps of a small network in one block of threads.
#pragma once

#include <algorithm>
#include <vector>

#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/device/cuda/group_reduce.cuh>
#include <gpunet/device/cuda/launch.cuh>
#include <gpunet/model/network_access.hpp>
#include <gpunet/ops/cross_entropy/cross_entropy.hpp>
#include <gpunet/ops/linear/linear.hpp>
#include <gpunet/ops/relu.hpp>
#include <gpunet/optim/optimizer.hpp>
#include <gpunet/tensor/buffer.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet::train {

// A network of nothing but linear layers, as numbers: features in and out of each layer, where its
// parameters begin in the arena, and whether a ReLU follows it.
struct DenseNetwork {
  static constexpr int most_layers = 16;
  struct Layer {
    int in, out;
    int weight, bias;  // -1: no bias
    Activation activation;
  };

  int depth = 0;
  Layer layers[most_layers]{};
  int parameters = 0;  // elements of the arena
  int features = 0;    // of the input and of all outputs
  int widest = 0;      // of them
};

// Returns a network as numbers; depth 0 if it is not a chain of linear layers.
inline DenseNetwork dense_network(const Graph& graph, const Plan& plan) {
  DenseNetwork dense;
  constexpr index_t most = 1 << 20;  // far more than a block can hold
  const auto count = plan.nodes.size();
  if (count == 0 || count > DenseNetwork::most_layers || graph.parameter_elements > most ||
      plan.input_features > most || plan.output_elements > most)
    return {};
  dense.parameters = static_cast<int>(graph.parameter_elements);
  dense.features = dense.widest = static_cast<int>(plan.input_features);
  for (const PlannedNode& planned : plan.nodes) {
    const Node& node = graph.nodes[static_cast<std::size_t>(planned.node)];
    const LinearOp* linear = node.as<LinearOp>();
    if (!linear || linear->rows != 1 || node.shares_parameters ||
        planned.inputs[0].value != dense.depth)
      return {};
    const index_t* offsets = graph.parameter_offsets.data() + node.first_parameter;
    const int out = static_cast<int>(linear->out);
    dense.layers[dense.depth++] = {static_cast<int>(linear->in), out, static_cast<int>(offsets[0]),
                                   linear->bias ? static_cast<int>(offsets[1]) : -1,
                                   linear->activation};
    dense.features += out;
    dense.widest = std::max(dense.widest, out);
  }
  return dense;
}

// The batch of the steps, on the device.
template <class T>
struct DenseBatch {
  const T* inputs;  // [batch, in]
  const label_t* labels;
  int batch;
};

namespace detail {

// f(i) for every i < n, shared among the threads of the block.
template <class F>
__device__ void for_each_in_block(int n, const F& f) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    f(i);
}

// f.store(i, s) for every i < n, where s is the sum of f(i, r) over r < length. A warp makes a sum,
// the same in every run.
template <class F>
__device__ void sum_each_in_block(int n, int length, const F& f) {
  constexpr int warp = gpunet::detail::warp_size;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % warp;
  for (int i = thread / warp; i < n; i += static_cast<int>(blockDim.x) / warp) {
    decltype(f(i, lane)) sum{};
    for (int r = lane; r < length; r += warp)
      sum += f(i, r);
    sum = gpunet::detail::combine_warp(sum, gpunet::detail::Sum{});
    if (lane == 0) f.store(i, sum);
  }
}

template <class T>
struct CopyArray {
  const T* from;
  T* to;
  __device__ void operator()(int i) const { to[i] = from[i]; }
};

// Data in a block are [feature][sample]: neighboring threads take neighboring samples, and read the
// same weight. Sums, activation, loss and update are the functors of ops and optimizers; the
// functors around them differ, because the sizes of a single group of samples need fewer divisions
// than sizes of any slice, and in int.

// to [feature][sample] = from [sample][feature]
template <class T>
struct TransposeBatch {
  int features, batch;
  const T* from;
  T* to;
  __device__ void operator()(int i) const { to[i] = from[i % batch * features + i / batch]; }
};

// y = activate(W x + b). One index = one element of y.
template <class T>
struct DenseForward {
  DenseNetwork::Layer layer;
  int batch;
  const T *parameters, *x;
  T* y;

  __device__ void operator()(int i) const {
    const T* w = parameters + layer.weight;
    const OptionalArray<const T> b = layer.bias < 0 ? nullptr : parameters + layer.bias;
    y[i] =
        Activate{layer.activation}(linear_output(w, b, x + i % batch, i / batch, layer.in, batch));
  }
};

// dW = dy^T x and db = sum dy. One sum, over samples, = one element of [dW db], whose last column,
// unless there is no bias, is db.
template <class T>
struct DenseParameterGradient {
  DenseNetwork::Layer layer;
  int batch;
  const T *x, *dy;
  T* gradients;

  __device__ T operator()(int i, int n) const {
    const int o = i / columns(), k = i % columns();
    return k < layer.in ? dy[o * batch + n] * x[k * batch + n] : dy[o * batch + n];
  }
  __device__ void store(int i, T sum) const {
    const int o = i / columns(), k = i % columns();
    gradients[k < layer.in ? layer.weight + o * layer.in + k : layer.bias + o] = sum;
  }
  __device__ int columns() const { return layer.bias < 0 ? layer.in : layer.in + 1; }
};

// dx = dy W, where x > 0 if a ReLU made x. One index = one element of dx.
template <class T>
struct DenseInputGradient {
  DenseNetwork::Layer layer;
  int batch;
  const T *parameters, *x, *dy;
  T* dx;
  Activation before;  // of x

  __device__ void operator()(int i) const {
    const T* w = parameters + layer.weight;
    const T sum = linear_input_gradient(w, dy + i % batch, i / batch, layer.in, layer.out, batch);
    dx[i] = before == Activation::relu ? RectifyGradient{}(x[i], sum) : sum;
  }
};

// The mean of the losses of the samples. `all` gets it too unless it is null.
template <class T>
struct MeanLoss {
  int batch;
  const T* losses;
  T *mean, *all;

  __device__ T operator()(int, int n) const { return losses[n]; }
  __device__ void store(int, T sum) const {
    *mean = sum / static_cast<T>(batch);
    if (all) *all = *mean;
  }
};

inline constexpr int block_threads = 512;

template <class F>
__global__ void __launch_bounds__(block_threads, 1) in_block_kernel(F f) {
  f();
}

}  // namespace detail

// Steps on one batch, done by one block with parameters, gradients, the optimizer's state and
// activations in shared memory. Update s is `first`, then updates[0], updates[1], ... Its results
// outside: the parameters and the state, the gradients and sample losses of the last step, its mean
// loss, and unless it is null the mean loss of every step.
template <class T, class Update>
struct DenseSteps {
  DenseNetwork net;
  DenseBatch<T> data;
  int steps;
  Update first;
  const Update* updates;
  T *losses, *last_mean, *mean_losses;

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char memory[];
    T* free = reinterpret_cast<T*>(memory);
    const auto take = [&free](int size) {
      T* taken = free;
      free += size;
      return taken;
    };
    T* arrays[Update::arrays];  // of the update
    for (int k = 0; k < Update::arrays; ++k) {
      arrays[k] = first.array(k) ? take(net.parameters) : nullptr;
      if (arrays[k])
        detail::for_each_in_block(net.parameters, detail::CopyArray<T>{first.array(k), arrays[k]});
    }
    T* const x = take(net.features * data.batch);
    T* gradient_of[2] = {take(net.widest * data.batch), take(net.widest * data.batch)};
    const int in = net.layers[0].in, out = net.layers[net.depth - 1].out;
    detail::for_each_in_block(in * data.batch,
                              detail::TransposeBatch<T>{in, data.batch, data.inputs, x});
    __syncthreads();

    for (int s = 0; s < steps; ++s) {
      Update update = s == 0 ? first : updates[s - 1];
      update.use(arrays);
      T* y = x;
      for (int l = 0; l < net.depth; ++l) {
        const auto& layer = net.layers[l];
        T* const from = y;
        y += layer.in * data.batch;
        detail::for_each_in_block(
            layer.out * data.batch,
            detail::DenseForward<T>{layer, data.batch, update.parameter, from, y});
        __syncthreads();
      }
      T *dy = gradient_of[0], *dx = gradient_of[1];
      const Slice slice{data.batch, 1, data.batch};
      const CrossEntropy<T> loss{slice,  out, y, data.labels, T{1} / static_cast<T>(data.batch),
                                 losses, dy};
      detail::for_each_in_block(data.batch, loss);
      __syncthreads();
      detail::sum_each_in_block(1, data.batch,
                                detail::MeanLoss<T>{data.batch, losses, last_mean,
                                                    mean_losses ? mean_losses + s : nullptr});
      for (int l = net.depth - 1; l >= 0; --l) {
        const auto& layer = net.layers[l];
        y -= layer.in * data.batch;
        const Activation before = l > 0 ? net.layers[l - 1].activation : Activation::none;
        T* const gradients = const_cast<T*>(update.gradient);
        const detail::DenseParameterGradient<T> gradient{layer, data.batch, y, dy, gradients};
        detail::sum_each_in_block(layer.out * gradient.columns(), data.batch, gradient);
        if (l > 0)
          detail::for_each_in_block(layer.in * data.batch,
                                    detail::DenseInputGradient<T>{
                                        layer, data.batch, update.parameter, y, dy, dx, before});
        __syncthreads();
        T* const used = dy;
        dy = dx;
        dx = used;
      }
      detail::for_each_in_block(net.parameters, update);
      __syncthreads();
    }

    for (int k = 0; k < Update::arrays; ++k)
      if (arrays[k])
        detail::for_each_in_block(net.parameters,
                                  detail::CopyArray<T>{arrays[k], const_cast<T*>(first.array(k))});
  }
};

// Launches the kernel with `shared` bytes of shared memory. A template of the steps alone: nvcc
// drops a kernel that is launched from a template of a network's type with names.
template <class Steps>
void run_in_block(const Cuda& device, Steps steps, std::size_t shared) {
  const auto what = [&steps] {
    return concat("DenseSteps: ", steps.steps, " of a network of ", steps.net.depth,
                  " linear layers on a batch of ", steps.data.batch);
  };
  gpunet::detail::launch(device, {1, detail::block_threads, shared}, what,
                         detail::in_block_kernel<Steps>, steps);
}

// Runs DenseSteps on the networks and batches that they can do.
template <class T, class Optimizer>
class BlockRunner {
  using Update = decltype(std::declval<Optimizer&>().next_of(std::declval<optim::Segment&>()));

 public:
  explicit BlockRunner(Network<Cuda, T>& model)
      : model_(model), net_(dense_network(model.fused_graph(), model.plan())) {
    check(cudaDeviceGetAttribute(&most_bytes_, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                 device().ordinal()));
  }

  // Returns whether a step on `batch` samples fits into the shared memory of a block, and trains
  // all parameters alike.
  bool fits(Optimizer& optimizer, index_t batch) const {
    return net_.depth > 0 && !model_->has_hooks() && model_->storage() == Storage::full &&
           optimizer.is_whole() && batch <= most_bytes_ &&
           bytes(optimizer, batch) <= static_cast<std::size_t>(most_bytes_);
  }

  // Runs `times` steps; writes the loss of step i to losses[i] unless `losses` is null.
  void operator()(Optimizer& optimizer, const View<const T, Cuda>& inputs,
                  const View<const label_t, Cuda>& labels, index_t times, T* losses) {
    optim::Segment& all = optimizer.segments()[0];
    const index_t more = times - 1;
    // Before steps are counted: allocating may fail.
    if (updates_.size() < more) updates_.reset(device(), more);
    next_.clear();
    next_.reserve(static_cast<std::size_t>(more));
    const Update first = optimizer.next_of(all);
    for (index_t i = 0; i < more; ++i)
      next_.push_back(optimizer.next_of(all));
    device().upload(updates_.data(), next_.data(), next_.size() * sizeof(Update));
    const int batch = static_cast<int>(labels.numel());
    run_in_block(device(),
                 DenseSteps<T, Update>{net_,
                                       {inputs.data(), labels.data(), batch},
                                       static_cast<int>(times),
                                       first,
                                       updates_.data(),
                                       gpunet::detail::NetworkAccess::sample_losses(*model_),
                                       gpunet::detail::NetworkAccess::batch_loss(*model_),
                                       losses},
                 bytes(optimizer, batch));
  }

 private:
  Cuda& device() const { return model_->device(); }
  std::size_t bytes(const Optimizer& optimizer, index_t batch) const {
    return static_cast<std::size_t>(optimizer.arrays() * net_.parameters +
                                    batch * (net_.features + 2 * net_.widest)) *
           sizeof(T);
  }

  TrackedPointer<Network<Cuda, T>> model_;
  DenseNetwork net_;
  int most_bytes_ = 0;
  std::vector<Update> next_;
  Buffer<Update, Cuda> updates_;
};

}  // namespace gpunet::train
