// The tests of the simulator in one program, since nvcc takes most of its time to read the headers.
// Usage: tests NAME [ARGUMENT]; without arguments, prints the names.
#include "async.cuh"
#include "blas.cuh"
#include "bugs.cuh"
#include "cooperative.cuh"
#include "devices.cuh"
#include "diff.cuh"
#include "features.cuh"
#include "graph.cuh"
#include "language.cuh"
#include "matmul.cuh"
#include "ptx.cuh"
#include "shuffle.cuh"
#include "tensor.cuh"
#if CUDASIM_TEST_NCCL
#include "nccl.cuh"
#include "processes.cuh"
#endif

int main(int argc, char** argv) {
  return run_test(argc, argv, {
    {"async", async::run}, {"blas", blas::run}, {"bugs", bugs::run},
        {"cooperative", cooperative::run}, {"devices", devices::run}, {"diff", diff::run},
        {"features", features::run}, {"graph", graph::run}, {"language", language::run},
        {"matmul", matmul::run},
#if CUDASIM_TEST_NCCL
        {"nccl", nccl::run}, {"processes", processes::run},
#endif
        {"ptx", ptx::run}, {"shuffle", shuffle::run}, {
      "tensor", tensor::run
    }
  });
}
