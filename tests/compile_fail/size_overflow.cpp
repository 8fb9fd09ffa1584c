// expect: gpunet::Dim: two sizes make a number over 2^63 (no memory holds so many), give smaller sizes
// Sizes that overflow.
// Static sizes are multiplied at compile time, for example channels, height and width of an output.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

using Net = nn::Sequential<nn::Input<1, 1, 1>, nn::Conv2d<1, 1, nn::Padding<index_t{1} << 60>>,
                           nn::Flatten>;
const auto outputs = Net().output().numel();
