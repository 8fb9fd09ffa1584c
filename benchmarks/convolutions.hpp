// The forms of convolution that are compared: two of each, so that the second has an input
// gradient. 64 channels, 28 x 28 or 1024 elements, in three dimensions 32 channels and 8 x 28 x 28;
// opponent_jobs.py has the same.
#pragma once

#include <gpunet/gpunet.hpp>

namespace bench {

namespace nn = gpunet::nn;

// Two of the convolutions Conv<Channels, Kernel, Options...> on inputs of these sizes.
template <class Input, class Conv>
using Twice = nn::Sequential<Input, Conv, Conv>;

template <class... Options>
using Conv3x3 = Twice<nn::Input<64, 28, 28>, nn::Conv2d<64, 3, Options...>>;

using SquareConv = Conv3x3<nn::Padding<1>>;
using WideKernelConv = Conv3x3<nn::KernelWidth<5>, nn::Padding<1, 2>>;
using RowPaddingConv = Conv3x3<nn::Padding<1, 0>>;
using StridedConv = Conv3x3<nn::Stride<2>, nn::Padding<1>>;
using GroupedConv = Conv3x3<nn::Padding<1>, nn::Groups<2>>;
using DepthwiseConv = Conv3x3<nn::Padding<1>, nn::Groups<64>>;
using PointwiseConv = Twice<nn::Input<64, 28, 28>, nn::Conv2d<64, 1>>;
using DilatedConv = Conv3x3<nn::Padding<2>, nn::Dilation<2>>;
using RowConv = Twice<nn::Input<64, 1024>, nn::Conv1d<64, 3, nn::Padding<1>>>;
using DilatedRowConv =
    Twice<nn::Input<64, 1024>, nn::Conv1d<64, 3, nn::Padding<8>, nn::Dilation<8>>>;
using TransposedConv2 = Twice<nn::Input<64, 14, 14>, nn::ConvTranspose2d<64, 2, nn::Stride<2>>>;
using TransposedConv4 =
    Twice<nn::Input<64, 14, 14>, nn::ConvTranspose2d<64, 4, nn::Stride<2>, nn::Padding<1>>>;
using VolumeConv = Twice<nn::Input<32, 8, 28, 28>, nn::Conv3d<32, 3, nn::Padding<1>>>;

}  // namespace bench
