// expect: gpunet::nn::Sequential: two layers have the same name (their parameters would be one key), rename one
// A block and a layer of the same name.
// Blocks and layers of one list share their names.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

nn::Sequential<nn::Input<3>, nn::Named<"head", nn::Sequential<nn::Linear<2>>>, nn::Named<"head", nn::ReLU>> net;
