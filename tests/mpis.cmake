# Sets `mpis` to the MPIs of this machine that start processes, and mpirun_MPI to the command that does; `missing_mpis` to the others,
# whose tests are skipped and counted, and why_no_MPI. Debian names the programs of each, openmpi and mpich, and GPUNET_MPICXX_MPI is its
# compiler; where there is neither, the one that CMake finds is called mpi.

gpunet_find_mpi()
# As root, as containers are; more processes than processors (Open MPI 4, 5).
set(openmpi_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)
set(mpis "")
set(missing_mpis "")
foreach(mpi openmpi mpich mpi)
  if(mpi STREQUAL "mpi")
    if(mpis OR NOT TARGET gpunet::mpi OR NOT MPIEXEC_EXECUTABLE)
      continue()
    endif()
    set(GPUNET_MPIRUN_mpi ${MPIEXEC_EXECUTABLE})
  else()
    find_program(GPUNET_MPICXX_${mpi} mpicxx.${mpi})
    find_program(GPUNET_MPIRUN_${mpi} mpirun.${mpi})
    mark_as_advanced(GPUNET_MPICXX_${mpi} GPUNET_MPIRUN_${mpi})
    if(NOT GPUNET_MPICXX_${mpi} OR NOT GPUNET_MPIRUN_${mpi})
      list(APPEND missing_mpis ${mpi})
      set(why_no_${mpi} "no mpicxx.${mpi} and mpirun.${mpi}")
      continue()
    endif()
  endif()
  set(mpirun_${mpi} ${CMAKE_COMMAND} -E env ${openmpi_environment} ${GPUNET_MPIRUN_${mpi}})
  # Without a network or shared memory, it may start none.
  execute_process(COMMAND ${mpirun_${mpi}} -n 2 ${CMAKE_COMMAND} -E true RESULT_VARIABLE problem OUTPUT_QUIET ERROR_VARIABLE why
    TIMEOUT 60)
  if(problem EQUAL 0)
    list(APPEND mpis ${mpi})
  else()
    message(STATUS "the mpirun of ${mpi} starts no processes here: ${why}")
    list(APPEND missing_mpis ${mpi})
    set(why_no_${mpi} "the mpirun of ${mpi} starts no processes here")
  endif()
endforeach()
