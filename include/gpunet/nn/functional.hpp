// Layers and losses as functions of values (value.hpp), as torch.nn.functional; those with
// parameters create them where they are called, named name.weight, ... or by the number of such
// calls so far: 0.weight. Initial values are as in the layers.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include <gpunet/functions/activations.hpp>
#include <gpunet/nn/batch_norm.hpp>
#include <gpunet/nn/loss_of_values.hpp>
#include <gpunet/nn/normalization.hpp>
#include <gpunet/nn/value_math.hpp>

namespace gpunet::nn {

inline namespace GPUNET_BACKENDS {

// max(x, 0). The other activations are in functions/activations.hpp.
Value relu(const Value& x);

// Softmax along a dimension, and its logarithm.
Value softmax(const Value& x, int dim);
Value log_softmax(const Value& x, int dim);

// Options of linear.
struct LinearOptions {
  bool bias = true;            // whether there is a b
  std::string_view name = {};  // of the parameters in files: name.weight
};
// y = x W^T + b on the last dimension: [batch, ..., in] -> [batch, ..., out].
Value linear(const Value& x, index_t out_features, const LinearOptions& options = {});

// Options of conv2d, as in PyTorch.
struct Conv2dOptions {
  index_t stride = 1, padding = 0, dilation = 1;  // in pixels
  index_t groups = 1;                             // of channels; one for each channel: depthwise
  bool bias = true;                               // whether a bias is added
  std::string_view name = {};                     // of the parameters in files: name.weight
};
// Convolution of images [batch, channels, height, width] with square kernels, see Conv2d.
Value conv2d(const Value& x, index_t out_channels, index_t kernel_size,
             const Conv2dOptions& options = {});

// x with elements around it, as torch.nn.functional.pad: `paddings` are two numbers for each
// dimension, from the last on: left, right, top, bottom; the batch has none. The mode is "constant"
// (then the elements are `value`, and negative paddings leave some out), "reflect", "replicate" or
// "circular".
Value pad(const Value& x, std::initializer_list<index_t> paddings,
          std::string_view mode = "constant", double value = 0);

// Options of poolings, as in PyTorch.
struct PoolOptions {
  index_t stride = 0;      // in pixels; 0: that of the kernel
  index_t padding = 0;     // in pixels
  bool ceil_mode = false;  // whether a last window that is only partly in the image counts
};
// Maximum, and mean, over square windows of images [batch, channels, height, width], see MaxPool2d,
// AvgPool2d.
Value max_pool2d(const Value& x, index_t kernel_size, const PoolOptions& options = {});
Value avg_pool2d(const Value& x, index_t kernel_size, const PoolOptions& options = {});
// Mean over height * width windows of about equal size, see AdaptiveAvgPool2d; 1, 1: of whole
// channels.
Value adaptive_avg_pool2d(const Value& x, index_t height, index_t width);

// Batch normalization of [batch, features], [batch, channels, length], [batch, channels, height,
// width] or [batch, channels, depth, height, width], see BatchNorm1d, 2d and 3d.
Value batch_norm(const Value& x, const BatchNormOptions& options = {}, std::string_view name = {});
// Normalization over the last dimension, see LayerNorm, RMSNorm.
Value layer_norm(const Value& x, const LayerNormOptions& options = {}, std::string_view name = {});
Value rms_norm(const Value& x, const RMSNormOptions& options = {}, std::string_view name = {});
// Normalization over groups of channels, see GroupNorm.
Value group_norm(const Value& x, index_t num_groups, const GroupNormOptions& options = {},
                 std::string_view name = {});

// Zeros with probability p in training mode, see Dropout.
Value dropout(const Value& x, double p = 0.5);

// Rows of a table for whole numbers: [batch, ...] -> [batch, ..., embedding_dim], see Embedding.
Value embedding(const Value& x, index_t num_embeddings, index_t embedding_dim,
                std::string_view name = {});

// Options of scaled_dot_product_attention.
struct AttentionOptions {
  bool is_causal = false;  // query i attends to the keys 0 to i
  // The probability that a weight is 0 in training mode.
  double dropout_p = 0;
  // [batch, keys]: nonzero where a key is ignored.
  std::optional<Value> key_padding_mask = std::nullopt;
};
// softmax(query key^T / sqrt(features)) value for query [batch, heads, queries, features], key
// [batch, heads, keys, features] and value [batch, heads, keys, value features], or the same
// without heads, as in PyTorch. Scores are computed in tiles and not stored. A query whose keys are
// all ignored gets zeros.
Value scaled_dot_product_attention(const Value& query, const Value& key, const Value& value,
                                   const AttentionOptions& options = {});

// Options of multihead_attention.
struct MultiheadAttentionOptions {
  bool is_causal = false;  // query i attends to the keys 0 to i
  bool bias = true;        // of all projections
  // The probability that a weight is 0 in training mode.
  double dropout = 0;
  // [batch, keys]: nonzero where a key is ignored.
  std::optional<Value> key_padding_mask = std::nullopt;
  // Of the parameters in files: name.in_proj_weight.
  std::string_view name = {};
};
// Attention of query [batch, queries, embed] to memory [batch, keys, embed], as
// torch.nn.MultiheadAttention of (query, memory, memory) without weights; see MultiheadAttention.
Value multihead_attention(const Value& query, const Value& memory, index_t num_heads,
                          const MultiheadAttentionOptions& options = {});

// Options of transformer_decoder_layer, as in PyTorch.
struct TransformerDecoderOptions {
  index_t dim_feedforward = 2048;
  double dropout = 0.1;  // the probability of a zero in training mode
  // Behind the first linear layer; a function of more arguments as [](const nn::Value& x)
  // { return gelu(x); }.
  Value (*activation)(const Value&) = relu;
  bool norm_first = false;     // normalizations before the layers, not behind the sums
  bool tgt_is_causal = false;  // place i of the target attends to the places 0 to i
  std::optional<Value> tgt_key_padding_mask =
      std::nullopt;  // [batch, target length]: nonzero where a place is ignored
  std::optional<Value> memory_key_padding_mask = std::nullopt;  // [batch, memory length]
  std::string_view name = {};  // of the parameters in files: name.self_attn.in_proj_weight
};
// A layer of a transformer's decoder, for target [batch, length, embed] and memory [batch, memory
// length, embed], as torch.nn.TransformerDecoderLayer(embed, num_heads, batch_first=True).
// Parameters belong to self_attn, multihead_attn, linear1, linear2, norm1, norm2 and norm3.
Value transformer_decoder_layer(const Value& target, const Value& memory, index_t num_heads,
                                const TransformerDecoderOptions& options = {});

// Options of gru, as in PyTorch. Initial states are 0 unless given, [batch,
// num_layers * directions, hidden_size]: the batch is first, as in all values; in PyTorch it is
// second.
struct GRUOptions {
  // Each but the first takes the outputs of the one before.
  int num_layers = 1;
  bool bias = true;  // whether there are b_ih and b_hh
  // The probability of zeros between the layers in training mode.
  double dropout = 0;
  bool bidirectional = false;               // whether there is a second direction: directions is 2
  std::optional<Value> h_0 = std::nullopt;  // the states before the first step
  std::string_view name = {};               // of the parameters in files: name.weight_ih_l0
};
// Options of lstm, see GRUOptions.
struct LSTMOptions {
  int num_layers = 1;                       // as of GRUOptions
  bool bias = true;                         // as of GRUOptions
  double dropout = 0;                       // as of GRUOptions
  bool bidirectional = false;               // as of GRUOptions
  std::optional<Value> h_0 = std::nullopt;  // with c_0, or neither
  std::optional<Value> c_0 = std::nullopt;  // the cell states before the first step
  std::string_view name = {};               // as of GRUOptions
};
// Options of rnn, see GRUOptions.
struct RNNOptions {
  int num_layers = 1;                       // as of GRUOptions
  std::string_view nonlinearity = "tanh";   // of the cells: tanh or relu
  bool bias = true;                         // as of GRUOptions
  double dropout = 0;                       // as of GRUOptions
  bool bidirectional = false;               // as of GRUOptions
  std::optional<Value> h_0 = std::nullopt;  // as of GRUOptions
  std::string_view name = {};               // as of GRUOptions
};
// The results of gru and rnn. h_n may be the initial states of the sequence's continuation.
struct GRUOutput {
  // The states of the last layer in all steps [batch, steps, directions * hidden_size].
  Value output;
  // The states of all layers after the last step [batch, num_layers * directions, hidden_size].
  Value h_n;
};
using RNNOutput = GRUOutput;
// The results of lstm, see GRUOutput.
struct LSTMOutput {
  Value output;  // as of GRUOutput
  Value h_n;     // as of GRUOutput
  Value c_n;     // the cell states, as h_n
};
// Run recurrent layers over sequences x [batch, steps, features], see LSTM, GRU, RNN; as
// torch.nn.LSTM(features, hidden_size, num_layers, batch_first=True)(x, (h_0, c_0)). Throw Error
// for states of another shape, and for h_0 without c_0.
//   const auto [y, h_n, c_n] = lstm(x, 64, {.h_0 = h, .c_0 = c});
LSTMOutput lstm(const Value& x, index_t hidden_size, const LSTMOptions& options = {});
GRUOutput gru(const Value& x, index_t hidden_size, const GRUOptions& options = {});
RNNOutput rnn(const Value& x, index_t hidden_size, const RNNOptions& options = {});

// The numbers of x [batch, classes, ...] whose classes are `indices` [batch, ...], whole numbers:
// [batch, ...], as torch.gather(x, 1, indices.unsqueeze(1)). An index out of range is an Error on
// Host, on Cuda its result is NaN.
Value gather(const Value& x, const Value& indices);

// The Euclidean distance, and the cosine of the angle, along the last dimension, as in PyTorch.
Value pairwise_distance(const Value& a, const Value& b, double eps = 1e-6);
Value cosine_similarity(const Value& a, const Value& b, double eps = 1e-8);

// Losses of each sample, the mean over its numbers; more are in elementwise_losses.hpp. `target` is
// a value too: classes as whole numbers [batch, ...] for logits [batch, classes, ...], or for
// log-probabilities.
Value nll_loss(const Value& x, const Value& target);
Value cross_entropy(const Value& x, const Value& target);
// target is 1 or -1.
Value cosine_embedding_loss(const Value& a, const Value& b, const Value& target, double margin = 0);
Value triplet_margin_loss(const Value& anchor, const Value& positive, const Value& negative,
                          double margin = 1);

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::nn

#if !GPUNET_COMPILED
#include <gpunet/nn/functional.ipp>
#endif
