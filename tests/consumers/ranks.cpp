// A program of a user: a number of each process, added up on all of them.
#include <cstdio>

#include <gpunet/distributed.hpp>
#ifdef WITH_MPI
#include <gpunet/distributed/mpi.hpp>
#endif
#ifdef WITH_NCCL
#include <gpunet/distributed/nccl.cuh>
#endif

int main() {
  gpunet::distributed::Communicator comm;
  const gpunet::index_t sum = comm.all_reduce(comm.rank() + 1);
  std::printf("rank %ld of %ld by %s: the sum is %ld\n", comm.rank(), comm.size(),
              comm.engine_name().c_str(), sum);
  return comm.size() == 2 && sum == 3 && comm.engine_name() == ENGINE ? 0 : 1;
}
