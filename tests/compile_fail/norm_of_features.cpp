// expect: gpunet::nn::BatchNorm2d: a number in the place of the options (the features follow from the layer before it), write nn::BatchNorm2d{}, or nn::BatchNorm2d({.eps = 1e-3})
// lines: 20
// The features of a normalization.
// The same holds for `BatchNorm1d`, `LayerNorm`, `RMSNorm`, `GroupNorm` and `InstanceNorm2d`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

nn::BatchNorm2d layer(64);
