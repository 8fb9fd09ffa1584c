// Whole training steps of a small network in one block of threads.
#pragma once

#include <algorithm>
#include <vector>

#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/device/cuda/group.cuh>
#include <gpunet/device/cuda/launch.cuh>
#include <gpunet/model/network.hpp>
#include <gpunet/ops/activation.hpp>
#include <gpunet/ops/cross_entropy/cross_entropy.hpp>
#include <gpunet/ops/linear/linear.hpp>
#include <gpunet/tensor/buffer.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet::train {

// A network of nothing but linear layers, as numbers: what enters and leaves each, where its parameters begin in their
// arena, and whether a ReLU follows it.
struct DenseNetwork {
  static constexpr int most_layers = 16;
  struct Layer {
    int in, out;
    int weight, bias;
    Activation activation;
  };

  int depth = 0;
  Layer layers[most_layers]{};
  int parameters = 0;  // elements of the arena
  int features = 0;    // of the input and of all outputs
  int widest = 0;      // of them
};

// The numbers of a network: none (depth 0) if it is not a chain of linear layers.
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
    if (!linear || planned.inputs[0] != dense.depth) return {};
    const index_t* offsets = graph.parameter_offsets.data() + node.first_parameter;
    const int out = static_cast<int>(linear->out);
    dense.layers[dense.depth++] = {static_cast<int>(linear->in), out, static_cast<int>(offsets[0]),
                                   static_cast<int>(offsets[1]), linear->activation};
    dense.features += out;
    dense.widest = std::max(dense.widest, out);
  }
  return dense;
}

// What the steps work on, all on the device.
template <class T>
struct DenseBatch {
  const T* inputs;  // [batch, in]
  const label_t* labels;
  int batch;
};

namespace detail {

// f(i) for every i < n, shared among the threads of the block.
template <class F>
__device__ void for_each_in_block(int n, F f) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    f(i);
}

// The sum of f(i) for i < n, made by the lanes of a warp; the same in every run, and in every lane.
template <class T, class F>
__device__ T sum_in_warp(int n, F f) {
  using gpunet::detail::warp_size;
  T sum{};
  for (int i = static_cast<int>(threadIdx.x) % warp_size; i < n; i += warp_size)
    sum += f(i);
  return gpunet::detail::combine_warp(sum, gpunet::detail::Sum{});
}

// In a block everything lies [feature][sample]: neighboring threads take neighboring samples, and a weight is the
// same for all of them.

// y = activate(W x + b)
template <class T>
__device__ void dense_forward(const DenseNetwork::Layer& layer, int batch, const T* parameters, const T* x, T* y) {
  const T *w = parameters + layer.weight, *b = parameters + layer.bias;
  for_each_in_block(layer.out * batch, [&](int i) {
    const int o = i / batch, n = i % batch;
    T sum = b[o];
    for (int k = 0; k < layer.in; ++k)
      sum += w[o * layer.in + k] * x[k * batch + n];
    y[i] = Activate{layer.activation}(sum);
  });
}

// dW = dy^T x and db = sum dy, a warp for each element; and unless dx is null, dx = dy W where x > 0 if a ReLU made x.
template <class T>
__device__ void dense_backward(const DenseNetwork::Layer& layer, int batch, const T* parameters, const T* x,
                               const T* dy, Activation before, T* gradients, T* dx) {
  constexpr int warp = gpunet::detail::warp_size;
  const int thread = static_cast<int>(threadIdx.x), warps = static_cast<int>(blockDim.x) / warp;
  const int columns = layer.in + 1;  // the last one is the bias's
  for (int i = thread / warp; i < layer.out * columns; i += warps) {
    const int o = i / columns, k = i % columns;
    const T sum = sum_in_warp<T>(
        batch, [&](int n) { return k < layer.in ? dy[o * batch + n] * x[k * batch + n] : dy[o * batch + n]; });
    if (thread % warp == 0) gradients[k < layer.in ? layer.weight + o * layer.in + k : layer.bias + o] = sum;
  }
  if (!dx) return;
  const T* w = parameters + layer.weight;
  for_each_in_block(layer.in * batch, [&](int i) {
    const int k = i / batch, n = i % batch;
    T sum{};
    for (int o = 0; o < layer.out; ++o)
      sum += w[o * layer.in + k] * dy[o * batch + n];
    dx[i] = before == Activation::relu ? RectifyGradient{}(x[i], sum) : sum;
  });
}

template <class T>
__device__ void copy_in_block(int size, const T* from, T* to) {
  for_each_in_block(size, [&](int i) { to[i] = from[i]; });
}

inline constexpr int block_threads = 512;

template <class F>
__global__ void __launch_bounds__(block_threads, 1) in_block_kernel(F f) {
  f();
}

}  // namespace detail

// Steps on one batch, done by one block with parameters, gradients, the optimizer's state and activations in shared
// memory. Update s is `first`, then updates[0], updates[1], ... What is left outside: the parameters and the state, the
// gradients and sample losses of the last step, its mean loss, and unless it is null the mean loss of every step.
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
      if (arrays[k]) detail::copy_in_block(net.parameters, first.array(k), arrays[k]);
    }
    T* const x = take(net.features * data.batch);
    T* gradient_of[2] = {take(net.widest * data.batch), take(net.widest * data.batch)};
    const int in = net.layers[0].in, out = net.layers[net.depth - 1].out;
    detail::for_each_in_block(in * data.batch,
                              [&](int i) { x[i] = data.inputs[i % data.batch * in + i / data.batch]; });
    __syncthreads();

    for (int s = 0; s < steps; ++s) {
      Update update = s == 0 ? first : updates[s - 1];
      update.use(arrays);
      T* y = x;
      for (int l = 0; l < net.depth; ++l) {
        const auto& layer = net.layers[l];
        T* const from = y;
        y += layer.in * data.batch;
        detail::dense_forward(layer, data.batch, update.parameter, from, y);
        __syncthreads();
      }
      T *dy = gradient_of[0], *dx = gradient_of[1];
      const Slice slice{data.batch, 1, data.batch};
      const CrossEntropy<T> loss{slice, out, y, data.labels, T{1} / static_cast<T>(data.batch), losses, dy};
      detail::for_each_in_block(data.batch, loss);
      __syncthreads();
      if (threadIdx.x < gpunet::detail::warp_size) {
        const T sum = detail::sum_in_warp<T>(data.batch, [&](int n) { return losses[n]; });
        if (threadIdx.x == 0) {
          *last_mean = sum / static_cast<T>(data.batch);
          if (mean_losses) mean_losses[s] = *last_mean;
        }
      }
      for (int l = net.depth - 1; l >= 0; --l) {
        const auto& layer = net.layers[l];
        y -= layer.in * data.batch;
        const Activation before = l > 0 ? net.layers[l - 1].activation : Activation::none;
        detail::dense_backward(layer, data.batch, update.parameter, y, dy, before, const_cast<T*>(update.gradient),
                               l > 0 ? dx : nullptr);
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
        detail::copy_in_block(net.parameters, static_cast<const T*>(arrays[k]), const_cast<T*>(first.array(k)));
  }
};

// Launches the steps with that many bytes of shared memory. A function of its own: nvcc drops a kernel that is launched where the
// type of a network with names is in sight.
template <class Steps>
void run_in_block(const Cuda& device, Steps steps, std::size_t shared) {
  const auto what = [&steps] {
    return concat("DenseSteps: ", steps.steps, " of a network of ", steps.net.depth,
                  " linear layers on a batch of ", steps.data.batch);
  };
  gpunet::detail::launch(device, {1, detail::block_threads, shared}, what, detail::in_block_kernel<Steps>, steps);
}

// Runs such steps.
template <class T, class Optimizer>
class BlockRunner {
  using Update = decltype(std::declval<Optimizer&>().next());

 public:
  explicit BlockRunner(Network<Cuda, T>& model)
      : model_(model), net_(dense_network(model.fused_graph(), model.plan())) {
    check(cudaDeviceGetAttribute(&most_bytes_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device().ordinal()));
  }

  // Whether a step on so many samples fits into the shared memory of a block.
  bool fits(const Optimizer& optimizer, index_t batch) const {
    return net_.depth > 0 && batch <= most_bytes_ &&
           bytes(optimizer, batch) <= static_cast<std::size_t>(most_bytes_);
  }

  // So many steps; losses[i] gets the loss of step i unless it is null.
  void operator()(Optimizer& optimizer, const View<const T, Cuda>& inputs, const View<const label_t, Cuda>& labels,
                  index_t times, T* losses) {
    const Update first = optimizer.next();
    next_.clear();
    for (index_t i = 1; i < times; ++i)
      next_.push_back(optimizer.next());
    const auto more = static_cast<index_t>(next_.size());
    if (updates_.size() < more) updates_.reset(device(), more);
    device().upload(updates_.data(), next_.data(), next_.size() * sizeof(Update));
    const int batch = static_cast<int>(labels.numel());
    run_in_block(device(),
                 DenseSteps<T, Update>{net_,
                                       {inputs.data(), labels.data(), batch},
                                       static_cast<int>(times),
                                       first,
                                       updates_.data(),
                                       model_->sample_losses(),
                                       model_->mean_of_losses(),
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
