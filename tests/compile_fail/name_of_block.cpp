// expect: gpunet::nn::Sequential: two layers have the same name (their parameters would be one key), rename one
// A block and a layer of the same name.
// In one list, the names of blocks and layers must differ.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

nn::Sequential<nn::Input<3>, nn::Named<"head", nn::Sequential<nn::Linear<2>>>,
               nn::Named<"head", nn::ReLU>>
    net;
