// The place of this process among the processes of a launcher: torchrun, mpirun, srun.
#pragma once

#include <string>

#include <gpunet/core/config.hpp>

namespace gpunet {

// The variables of the environment: RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE, as torchrun
// sets them, else the variables of Open MPI, MPICH and Slurm; these also where RANK=0 WORLD_SIZE=1
// is left in a shell. A process that nobody launched is alone.
struct Launch {
  index_t rank = 0, world_size = 1;              // among all processes
  index_t local_rank = 0, local_world_size = 1;  // on this machine
  const char* launcher = nullptr;                // which one has set them; nullptr: none
  // The error in the variables, if they cannot be used; then this process counts as alone.
  std::string problem = {};
};

// Reads it.
Launch launch_of_process();

// Returns a line about processors that a launcher leaves unused by binding each process to `bound`
// of `all`; empty if all are used, and on all but the first process of a machine.
std::string unused_processors(const Launch& launch, index_t bound, index_t all);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/core/launch.ipp>
#endif
