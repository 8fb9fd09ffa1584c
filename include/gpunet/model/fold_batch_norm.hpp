// Folding: batch normalizations with running statistics become part of the weights and biases of
// the layers before them, as torch.nn.utils.fuse_conv_bn_eval.
#pragma once

#include <vector>

#include <gpunet/graph/graph.hpp>
#include <gpunet/model/arena.hpp>

namespace gpunet::detail {

// The weights of a layer as runs, each of one output channel. A group of channels has a block of
// runs, in which the channels take turns.
struct ChannelRuns {
  index_t runs, size;                  // size: weights of a run
  index_t block_runs, block_channels;  // of a group

  GPUNET_FN index_t channels() const { return runs / block_runs * block_channels; }
  GPUNET_FN index_t channel_of(index_t run) const {
    return run / block_runs * block_channels + run % block_channels;
  }
};

// A layer with its batch normalization: offsets of the arrays of both in the network's arenas, and
// of its new parameters.
struct FoldedLayer {
  ChannelRuns of;
  double eps;
  index_t weight, bias;  // bias -1: none
  index_t norm_weight, norm_bias, mean, variance;
  index_t folded_weight = 0, folded_bias = 0;
};

// A graph for inference, and the sources of its parameters and buffers.
struct FoldedGraph {
  Graph graph;
  CommonRanges copied;  // from the network's arenas (there) to new ones (here)
  std::vector<FoldedLayer> layers;
};

// Returns the graph as it is.
FoldedGraph unfolded(const Graph& network);

// Returns the graph of a network in evaluation mode with each batch normalization folded into the
// convolution or linear layer before it, if that has no other reader. Such layers get parameters
// of their own, a weight and a bias, also where the network's layers share them. Parameters and
// buffers without a reader are left out, and hooks. Values keep their numbers.
FoldedGraph fold_batch_norm(const Graph& network);

// Computes the parameters and buffers of a folded graph from the arenas of the network.
template <class D, class T>
void fold_arrays(D& device, const FoldedGraph& folded, const T* parameters, const T* buffers,
                 T* folded_parameters, T* folded_buffers);

}  // namespace gpunet::detail

#if !GPUNET_COMPILED
#include <gpunet/model/fold_batch_norm.ipp>
#endif
