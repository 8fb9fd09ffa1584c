// expect: gpunet::nn::Sequential: an inner Sequential has an Input
// A block says for itself what enters it.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

nn::Sequential<nn::Input<3>, nn::Sequential<nn::Input<3>, nn::Linear<2>>, nn::ReLU> net;
