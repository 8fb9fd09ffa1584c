// expect: gpunet::nn::Named: a name without the type of its layer (it does not follow from the argument of a type), write nn::named<name>(nn::Linear{n}), or nn::Named<name, nn::Linear<8>>
// A layer with run-time sizes and a name.
// The function deduces the type: `nn::named<"fc1">(nn::Linear{n})`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(index_t n) {
  nn::Sequential layers(nn::Input<4>{}, nn::Named<"fc1">{nn::Linear{n}});
}
