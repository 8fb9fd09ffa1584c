// expect: gpunet::nn::Linear: these are not the arguments of the layer (the size of its input follows from the layer before it, options are template arguments), write nn::Linear<8> or Linear{8}
// lines: 20
// Inputs and outputs of a layer.
// The same holds for convolutions, pooling, `Embedding`, recurrent layers and attention.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

nn::Linear layer(4, 8);
