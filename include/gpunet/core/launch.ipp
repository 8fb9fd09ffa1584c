// Bodies of launch.hpp.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/launch.hpp>

namespace gpunet {

namespace detail {

// The variables of a launcher.
struct LaunchVariables {
  const char *launcher, *rank, *world_size, *local_rank, *local_world_size;
  bool has_list = false;  // whether the last is a list, of all nodes
};
inline constexpr LaunchVariables launch_variables[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    // Of a step of srun: a batch script is no process of it.
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE",
     true},
};

// Reads all of a text as a number of `least` or more. Returns whether it is one.
GPUNET_INLINE bool read_launch_number(std::string_view text, index_t least, index_t& number) {
  index_t read = -1;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, read);
  if (error != std::errc{} || after != end || read < least) return false;
  number = read;
  return true;
}

// Reads a variable into `number` if it is set. Returns the error in it, or nothing.
GPUNET_INLINE std::string read_launch_variable(const char* name, index_t least, index_t& number) {
  const char* const text = std::getenv(name);
  if (!text || read_launch_number(text, least, number)) return {};
  return concat(name, "='", text, "' (want a number, ", least, " or more)");
}

// The same for Slurm's list of the processes on each node, "4(x2),3" for 4, 4 and 3: reads the
// number of node SLURM_NODEID, of the first if that is not set.
GPUNET_INLINE std::string read_launch_list(const char* name, index_t& number) {
  const char* const text = std::getenv(name);
  if (!text) return {};
  index_t node = 0, first = 0;
  if (const char* const id = std::getenv("SLURM_NODEID")) read_launch_number(id, 0, node);
  std::string_view rest = text;
  for (bool is_last = false; !is_last;) {
    const auto comma = std::min(rest.find(','), rest.size());
    std::string_view entry = rest.substr(0, comma);
    is_last = comma == rest.size();
    rest.remove_prefix(is_last ? comma : comma + 1);
    index_t processes = 0, nodes = 1;
    const auto times = entry.find("(x");
    bool is_entry = times == std::string_view::npos;
    if (!is_entry && entry.back() == ')') {
      is_entry = read_launch_number(entry.substr(times + 2, entry.size() - times - 3), 1, nodes);
      entry = entry.substr(0, times);
    }
    if (!is_entry || !read_launch_number(entry, 1, processes))
      return concat(name, "='", text,
                    "' (want the number of processes on each node, such as 4(x2),3)");
    if (first == 0) number = first = processes;
    if (0 <= node && node < nodes) number = processes;
    node -= nodes;
  }
  return {};
}

// Returns the variables of a launcher.
GPUNET_INLINE gpunet::Launch read_launch(const LaunchVariables& names) {
  gpunet::Launch launch{.launcher = names.launcher};
  const std::string problem_of_rank = read_launch_variable(names.rank, 0, launch.rank);
  // srun --mpi=pmi2 sets the first two of MPICH's, and its own.
  const LaunchVariables& slurm = launch_variables[std::size(launch_variables) - 1];
  index_t of_slurm = -1;
  static_cast<void>(read_launch_variable(slurm.rank, 0, of_slurm));
  const LaunchVariables& local =
      !std::getenv(names.local_rank) && of_slurm == launch.rank ? slurm : names;
  for (const std::string& problem :
       {problem_of_rank, read_launch_variable(names.world_size, 1, launch.world_size),
        read_launch_variable(local.local_rank, 0, launch.local_rank),
        local.has_list ? read_launch_list(local.local_world_size, launch.local_world_size)
                       : read_launch_variable(local.local_world_size, 1, launch.local_world_size)})
    if (!problem.empty()) return {.launcher = names.launcher, .problem = problem};
  if (launch.rank >= launch.world_size)
    return {.launcher = names.launcher,
            .problem = concat(names.rank, "=", launch.rank, " and ", names.world_size, "=",
                              launch.world_size, " (want ranks that are less)")};
  launch.local_world_size = std::max(launch.local_world_size, launch.local_rank + 1);
  return launch;
}

// Returns the error if only one of torchrun's two variables is set. A word that is no number means
// something else.
GPUNET_INLINE gpunet::Launch half_launch() {
  const auto number_of = [](const char* name, index_t least) {
    index_t number = -1;
    if (const char* const text = std::getenv(name)) read_launch_number(text, least, number);
    return number;
  };
  const index_t rank = number_of("RANK", 0), world_size = number_of("WORLD_SIZE", 1);
  if (rank >= 0 && !std::getenv("WORLD_SIZE"))
    return {
        .launcher = "torchrun",
        .problem = concat("RANK=", rank, " and no WORLD_SIZE (each process would train alone)")};
  if (world_size > 1 && !std::getenv("RANK"))
    return {.launcher = "torchrun",
            .problem =
                concat("WORLD_SIZE=", world_size, " and no RANK (each process would train alone)")};
  return {};
}

}  // namespace detail

GPUNET_INLINE Launch launch_of_process() {
  Launch alone;
  for (const detail::LaunchVariables& names : detail::launch_variables) {
    if (!std::getenv(names.rank) || !std::getenv(names.world_size)) continue;
    Launch launch = detail::read_launch(names);
    // RANK=0 WORLD_SIZE=1 may be left in a shell: then mpirun or srun is right.
    if (alone.launcher && launch.world_size == 1) continue;
    const bool may_be_left = names.launcher == detail::launch_variables[0].launcher &&
                             launch.world_size == 1 && launch.problem.empty() &&
                             !std::getenv("TORCHELASTIC_RUN_ID");
    if (!may_be_left) return launch;
    alone = std::move(launch);
  }
  return alone.launcher ? alone : detail::half_launch();
}

GPUNET_INLINE std::string unused_processors(const Launch& launch, index_t bound, index_t all) {
  if (!launch.launcher || launch.local_rank != 0 || bound * launch.local_world_size >= all)
    return {};
  return concat("gpunet: ", launch.launcher, " has bound each process to ", bound, " of ", all,
                " processors, so a Host has as many threads (unused processors: ",
                all - bound * launch.local_world_size,
                "), start with mpirun --bind-to none, or srun --cpu-bind=none");
}

}  // namespace gpunet
