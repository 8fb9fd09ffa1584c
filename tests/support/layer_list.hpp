// All layers and losses of gpunet.hpp: a line for each, from which tests/docs/layers.cpp writes
// docs/layers.md. A new layer needs
//   list.layer(nn::NewLayer<4>{}, Shape<3, 8>{});
// with an example of it and of an input. PyTorch's name and differences follow where there are any.
// A type of nn that is neither a layer nor a loss stands in not_layers() below.
#pragma once

#include <set>
#include <string>

#include <gpunet/gpunet.hpp>

// What a line says beside its example; all of it may be left out.
struct LayerText {
  std::string name = {};       // where it is not that of the type
  std::string pytorch = "nn";  // "nn": the same name
  std::string differs = {};    // from PyTorch
  bool takes_indices = false;
  bool pairs = false;  // a loss with the targets 1 and -1
};

// Returns the name of a line for a layer or loss of type L.
template <class L>
std::string name_of(const LayerText& text) {
  return text.name.empty() ? gpunet::detail::class_of(gpunet::detail::signature<L>()) : text.name;
}

// Calls list.section, layer, losses and loss for each line, as tests/docs/layers.cpp has them.
template <class List>
void list_layers(List& list) {
  using namespace gpunet;

  list.section("Linear layers, convolutions, embeddings");
  list.layer(nn::Linear<5>{}, Shape<4>{});
  list.layer(nn::Conv2d<4, 3>{}, Shape<2, 8, 8>{});
  list.layer(nn::Conv1d<4, 3>{}, Shape<2, 8>{});
  list.layer(nn::Conv3d<4, 3>{}, Shape<2, 4, 4, 4>{});
  list.layer(nn::ConvTranspose1d<4, 3>{}, Shape<2, 8>{}, {.differs = "no `output_size`"});
  list.layer(nn::ConvTranspose2d<4, 3>{}, Shape<2, 4, 4>{}, {.differs = "no `output_size`"});
  list.layer(nn::ConvTranspose3d<4, 3>{}, Shape<2, 2, 3, 3>{}, {.differs = "no `output_size`"});
  list.layer(nn::Embedding<9, 4>{}, Shape<3>{},
             {.differs = "indices are numbers of the network's type", .takes_indices = true});

  list.section("Pooling");
  list.layer(nn::MaxPool1d<2>{}, Shape<3, 8>{}, {.differs = "no dilation, no indices"});
  list.layer(nn::MaxPool2d<2>{}, Shape<3, 8, 8>{}, {.differs = "no dilation, no indices"});
  list.layer(nn::MaxPool3d<2>{}, Shape<2, 4, 4, 4>{}, {.differs = "no dilation, no indices"});
  list.layer(nn::AvgPool1d<2>{}, Shape<3, 8>{});
  list.layer(nn::AvgPool2d<2>{}, Shape<3, 8, 8>{});
  list.layer(nn::AvgPool3d<2>{}, Shape<2, 4, 4, 4>{});
  list.layer(nn::AdaptiveAvgPool1d<2>{}, Shape<3, 8>{});
  list.layer(nn::AdaptiveAvgPool2d<2, 2>{}, Shape<3, 8, 8>{});
  list.layer(nn::AdaptiveAvgPool3d<2, 2, 2>{}, Shape<2, 4, 4, 4>{});

  list.section("Normalization and dropout");
  list.layer(nn::BatchNorm1d{}, Shape<4>{});
  list.layer(nn::BatchNorm2d{}, Shape<3, 4, 4>{});
  list.layer(nn::BatchNorm3d{}, Shape<2, 3, 3, 3>{});
  list.layer(nn::LayerNorm<>{}, Shape<3, 4>{},
             {.differs = "takes the number of dimensions, not their sizes"});
  list.layer(nn::RMSNorm<>{}, Shape<3, 4>{},
             {.differs = "takes the number of dimensions, not their sizes"});
  list.layer(nn::GroupNorm<2>{}, Shape<4, 3, 3>{});
  list.layer(nn::InstanceNorm1d{}, Shape<3, 4>{}, {.differs = "without running statistics"});
  list.layer(nn::InstanceNorm2d{}, Shape<3, 4, 4>{}, {.differs = "without running statistics"});
  list.layer(nn::InstanceNorm3d{}, Shape<2, 3, 3, 3>{}, {.differs = "without running statistics"});
  list.layer(nn::Dropout{}, Shape<16>{},
             {.differs = "other random numbers, the same on all devices"});
  list.layer(nn::Dropout1d{}, Shape<16, 3>{},
             {.differs = "other random numbers, the same on all devices"});
  list.layer(nn::Dropout2d{}, Shape<16, 2, 2>{},
             {.differs = "other random numbers, the same on all devices"});
  list.layer(nn::Dropout3d{}, Shape<16, 2, 2, 2>{},
             {.differs = "other random numbers, the same on all devices"});

  list.section("Sequences");
  list.layer(nn::LSTM<4>{}, Shape<3, 2>{},
             {.differs = "`batch_first=True`, no `proj_size`; `LastState` returns h_n; the "
                         "function `lstm` has h_0 and c_0"});
  list.layer(
      nn::GRU<4>{}, Shape<3, 2>{},
      {.differs = "`batch_first=True`; `LastState` returns h_n; the function `gru` has h_0"});
  list.layer(
      nn::RNN<4>{}, Shape<3, 2>{},
      {.differs = "`batch_first=True`; `LastState` returns h_n; the function `rnn` has h_0"});
  list.layer(nn::LastStep{}, Shape<3, 2>{}, {.pytorch = "x[:, -1]"});
  list.layer(nn::MultiheadAttention<2>{}, Shape<3, 4>{},
             {.differs = "`batch_first=True`; of (x, x, x), without weights"});
  list.layer(nn::TransformerEncoderLayer<2, 8>{}, Shape<3, 4>{}, {.differs = "`batch_first=True`"});
  list.layer(nn::TransformerEncoder<2, nn::TransformerEncoderLayer<2, 8>, nn::LayerNorm<>>{},
             Shape<3, 4>{});
  list.layer(nn::PositionEmbedding{}, Shape<3, 4>{},
             {.pytorch = "x + nn.Parameter(torch.randn(n, d))"});

  list.section("Activations");
  list.layer(nn::ReLU{}, Shape<8>{});
#define GPUNET_LAYER(scope, Name) list.layer(scope::Name(), Shape<8>{});
  GPUNET_ACTIVATIONS(GPUNET_LAYER)
  GPUNET_ACTIVATIONS_OF_1(GPUNET_LAYER)
  GPUNET_ACTIVATIONS_OF_2(GPUNET_LAYER)
#undef GPUNET_LAYER
  list.layer(nn::Softmax{}, Shape<8>{},
             {.differs = "over the first dimension of a sample, `dim=1`"});
  list.layer(nn::LogSoftmax{}, Shape<8>{},
             {.differs = "over the first dimension of a sample, `dim=1`"});
  list.layer(nn::GELU{}, Shape<8>{});
  list.layer(nn::GLU<>{}, Shape<8>{});
  list.layer(nn::PReLU<>{}, Shape<8>{});
  list.layer(nn::AnyActivation{"tanh"}, Shape<8>{},
             {.pytorch = "", .differs = "an activation that is chosen at run time"});

  list.section("Moving data");
  list.layer(nn::Flatten{}, Shape<2, 3>{});
  list.layer(nn::Unflatten<2, 4>{}, Shape<8>{}, {.differs = "all dimensions of a sample"});
  list.layer(nn::Reshape<2, 4>{}, Shape<8>{}, {.pytorch = "x.reshape"});
  list.layer(nn::Permute<1, 0>{}, Shape<2, 3>{},
             {.pytorch = "x.permute", .differs = "dimensions of a sample, without the batch"});
  list.layer(nn::ZeroPad1d<1>{}, Shape<2, 3>{});
  list.layer(nn::ZeroPad2d<0, 1, 0, 1>{}, Shape<2, 3, 3>{});
  list.layer(nn::ZeroPad3d<1>{}, Shape<2, 3, 3, 3>{});
  list.layer(nn::ConstantPad1d<1>{0.5}, Shape<2, 3>{});
  list.layer(nn::ConstantPad2d<1>{0.5}, Shape<2, 3, 3>{});
  list.layer(nn::ConstantPad3d<1>{0.5}, Shape<2, 3, 3, 3>{});
  list.layer(nn::ReflectionPad1d<1>{}, Shape<2, 3>{}, {.differs = "no negative paddings"});
  list.layer(nn::ReflectionPad2d<1>{}, Shape<2, 3, 3>{}, {.differs = "no negative paddings"});
  list.layer(nn::ReflectionPad3d<1>{}, Shape<2, 3, 3, 3>{}, {.differs = "no negative paddings"});
  list.layer(nn::ReplicationPad1d<1>{}, Shape<2, 3>{}, {.differs = "no negative paddings"});
  list.layer(nn::ReplicationPad2d<1>{}, Shape<2, 3, 3>{}, {.differs = "no negative paddings"});
  list.layer(nn::ReplicationPad3d<1>{}, Shape<2, 3, 3, 3>{}, {.differs = "no negative paddings"});
  list.layer(nn::CircularPad1d<1>{}, Shape<2, 3>{}, {.differs = "no negative paddings"});
  list.layer(nn::CircularPad2d<1>{}, Shape<2, 3, 3>{}, {.differs = "no negative paddings"});
  list.layer(nn::CircularPad3d<1>{}, Shape<2, 3, 3, 3>{}, {.differs = "no negative paddings"});
  list.layer(nn::PixelShuffle<2>{}, Shape<4, 2, 2>{});
  list.layer(nn::Upsample<2>{}, Shape<2, 3, 3>{},
             {.differs = "whole factors; nearest and bilinear"});
  list.layer(nn::Identity{}, Shape<8>{});

  list.section("Blocks");
  list.layer(nn::Residual<nn::Linear<8>>{}, Shape<8>{}, {.pytorch = "f(x) + x"});
  list.layer(nn::Parallel<nn::Linear<8>, nn::Identity>{}, Shape<8>{}, {.pytorch = "f(x) + g(x)"});
  list.layer(nn::Concat<1, nn::Linear<8>, nn::Identity>{}, Shape<8>{}, {.pytorch = "torch.cat"});
  list.layer(nn::Repeat<2, nn::Linear<8>>{}, Shape<8>{},
             {.name = "Repeat", .pytorch = "nn.Sequential(*[f() for _ in range(n)])"});
  list.layer(nn::Shared<"shared", nn::Linear<8>>{}, Shape<8>{},
             {.name = "Shared", .pytorch = "a module that is called in several places"});

  list.losses();
  list.loss(nn::CrossEntropyLoss{}, {.differs = "class indices; no `ignore_index` by default"});
  list.loss(nn::SoftCrossEntropyLoss{},
            {.pytorch = "nn.CrossEntropyLoss", .differs = "probabilities"});
  list.loss(nn::NLLLoss{}, {.differs = "no `ignore_index` by default"});
  list.loss(nn::MSELoss{});
  list.loss(nn::L1Loss{});
  list.loss(nn::SmoothL1Loss{});
  list.loss(nn::HuberLoss{});
  list.loss(nn::PoissonNLLLoss{});
  list.loss(nn::BCELoss{}, {.differs = "no `weight`"});
  list.loss(nn::BCEWithLogitsLoss{},
            {.differs = "no `weight`; a `pos_weight` of classes is for the first dimension"});
  list.loss(nn::KLDivLoss{});
  list.loss(nn::HingeEmbeddingLoss{}, {.pairs = true});
}

// The types of nn that are options and parts of layers. Names that end in "Options" are, too.
inline const std::set<std::string>& not_layers() {
  static const std::set<std::string> names{
      "AfterSum",    "AlignCorners", "Bidirectional", "Bilinear",    "Causal",
      "DropoutRate", "Elementwise",  "Fans",          "FixedString", "Input",
      "LastState",   "Named",        "Nearest",       "NormFirst",   "NumLayers",
      "OutputLoss",  "PosWeight",    "Projection",    "Sequential",  "Value"};
  return names;
}
