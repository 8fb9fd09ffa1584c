# The optional component gpunet::mpi: processes are connected by MPI 3 or later. It is enough that one source of a program includes
# <gpunet/distributed/mpi.hpp>. Installed with the library.
cmake_policy(VERSION 3.22)

# gpunet_find_mpi([REQUIRED]): creates the target gpunet::mpi if CMake's FindMPI finds an MPI (MPI_HOME or MPI_CXX_COMPILER choose one
# of several). If not, GPUNET_MPI_WHY_NOT is the reason; with REQUIRED, the configuration fails with it.
function(gpunet_find_mpi)
  unset(GPUNET_MPI_WHY_NOT PARENT_SCOPE)
  if(TARGET gpunet::mpi)
    return()
  endif()
  set(MPI_CXX_SKIP_MPICXX ON)  # the C++ bindings, which MPI 3 no longer has
  find_package(MPI QUIET COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND)
    set(why "found no MPI")
  elseif(MPI_CXX_VERSION VERSION_LESS 3)
    set(why "the MPI in ${MPI_CXX_INCLUDE_DIRS} has version ${MPI_CXX_VERSION} of the standard, which is too old")
  else()
    add_library(gpunet::mpi INTERFACE IMPORTED GLOBAL)
    set_target_properties(gpunet::mpi PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${MPI_CXX_INCLUDE_DIRS}"
      INTERFACE_COMPILE_DEFINITIONS "${MPI_CXX_COMPILE_DEFINITIONS}"
      INTERFACE_LINK_LIBRARIES "gpunet::gpunet;${MPI_CXX_LIBRARIES}")
    return()
  endif()
  string(APPEND why " (gpunet::mpi needs its header and its library), install one, such as Debian's libopenmpi-dev or libmpich-dev, or "
                    "name its compiler in MPI_CXX_COMPILER")
  set(GPUNET_MPI_WHY_NOT "${why}" PARENT_SCOPE)
  if("REQUIRED" IN_LIST ARGV)
    message(FATAL_ERROR "gpunet: ${why}")
  endif()
endfunction()
