// expect: gpunet::nn::Sequential: an inner Sequential has an Input, leave it out there (the layer before gives it)
// A block with an Input.
// Only the network has an `Input`; the input shape of a block is inferred.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

nn::Sequential<nn::Input<3>, nn::Sequential<nn::Input<3>, nn::Linear<2>>, nn::ReLU> net;
