// The tests that need CUB and Thrust, which take nvcc minutes. Usage: cccl NAME; without arguments,
// prints the names.
#include "cub_block.cuh"
#include "cub_device.cuh"
#include "thrust_algorithms.cuh"

int main(int argc, char** argv) {
  return run_test(argc, argv,
                  {{"cub_block", cub_block::run},
                   {"cub_device", cub_device::run},
                   {"thrust_algorithms", thrust_algorithms::run}});
}
