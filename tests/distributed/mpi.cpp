// The engine of the tests under mpirun.
#include <gpunet/distributed/mpi.hpp>
