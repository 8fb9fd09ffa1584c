// expect: gpunet::nn::Sequential: a layer is called as one in a block (its name has a dot), rename it
// A name with a dot is the key of a layer in a block.
// A dot in a key stands between the name of a block and that of a layer in it.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

nn::Sequential<nn::Input<3>, nn::Named<"head.0", nn::Linear<2>>, nn::Named<"head", nn::Sequential<nn::Linear<2>>>>
    net;
