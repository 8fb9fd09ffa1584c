// expect: gpunet::nn::Sequential: two layers have the same name (their parameters would be one key), rename one
// Two layers called fc1.
// Names are the keys of the file that `io::save` writes.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, nn::Named<"fc1", nn::Linear<4>>,
                       nn::Named<"fc1", nn::Linear<2>>>,
        Host>
      net(host);
}
