// expect: gpunet::nn::Sequential: a layer is called as one in a block
// A name with a dot is the key of a layer in a block.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

nn::Sequential<nn::Input<3>, nn::Named<"head.0", nn::Linear<2>>, nn::Named<"head", nn::Sequential<nn::Linear<2>>>>
    net;
