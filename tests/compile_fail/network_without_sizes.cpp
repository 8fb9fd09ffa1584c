// expect: gpunet::Network: the function takes another number of values than inputs are given, give the sizes of one sample of each: Network net(host, f, {3, 32, 32}, {10})
// lines: 18
// A network of a function without the sizes of its input.
// `Network net(host, f, {8})` for samples of 8 features.
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
using namespace gpunet;

nn::Value doubled(nn::Value x) {
  return 2 * x;
}
void run(Host& host) {
  Network net(host, doubled);
}
