// Bodies of launch.hpp.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/core/launch.hpp>

namespace gpunet {

namespace detail {

// The variables of a launcher.
struct LaunchVariables {
  const char *launcher, *rank, *world_size, *local_rank, *local_world_size;
};
inline constexpr LaunchVariables launch_variables[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    // Of a step of srun: a batch script is no process of it. The last is a list, "4(x2)".
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"},
};

// Reads a variable into `number` if it is set. Returns what is wrong with it, or nothing.
GPUNET_INLINE std::string read_launch_number(const char* name, index_t least, index_t& number) {
  const char* const text = std::getenv(name);
  if (!text) return {};
  const std::string_view all = text;
  index_t read = -1;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), read);
  const bool is_whole = end == all.data() + all.size() || *end == '(';
  if (error != std::errc{} || !is_whole || read < least)
    return concat(name, "='", text, "' (want a number, ", least, " or more)");
  number = read;
  return {};
}

}  // namespace detail

GPUNET_INLINE Launch launch_of_process() {
  for (const detail::LaunchVariables& names : detail::launch_variables) {
    if (!std::getenv(names.rank) || !std::getenv(names.world_size)) continue;
    Launch launch{.launcher = names.launcher};
    for (const std::string& problem :
         {detail::read_launch_number(names.rank, 0, launch.rank),
          detail::read_launch_number(names.world_size, 1, launch.world_size),
          detail::read_launch_number(names.local_rank, 0, launch.local_rank),
          detail::read_launch_number(names.local_world_size, 1, launch.local_world_size)})
      if (!problem.empty()) return {.launcher = names.launcher, .problem = problem};
    if (launch.rank >= launch.world_size)
      return {.launcher = names.launcher,
              .problem = concat(names.rank, "=", launch.rank, " and ", names.world_size, "=", launch.world_size,
                                " (want ranks that are less)")};
    launch.local_world_size = std::max(launch.local_world_size, launch.local_rank + 1);
    return launch;
  }
  return {};
}

}  // namespace gpunet
