#include <cstdlib>
#include <doctest/doctest.h>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/launch.hpp>
#include <gpunet/data/sampler.hpp>
#include <gpunet/device/host/host.hpp>

#include "support/errors.hpp"

using namespace gpunet;

namespace {

const char* const variables[] = {"RANK",
                                 "WORLD_SIZE",
                                 "LOCAL_RANK",
                                 "LOCAL_WORLD_SIZE",
                                 "OMPI_COMM_WORLD_RANK",
                                 "OMPI_COMM_WORLD_SIZE",
                                 "OMPI_COMM_WORLD_LOCAL_RANK",
                                 "OMPI_COMM_WORLD_LOCAL_SIZE",
                                 "PMI_RANK",
                                 "PMI_SIZE",
                                 "MPI_LOCALRANKID",
                                 "MPI_LOCALNRANKS",
                                 "SLURM_PROCID",
                                 "SLURM_STEP_NUM_TASKS",
                                 "SLURM_LOCALID",
                                 "SLURM_STEP_TASKS_PER_NODE",
                                 "SLURM_NODEID",
                                 "TORCHELASTIC_RUN_ID"};

// The environment of a launched process until the end of the scope; then that of before.
class Environment {
 public:
  explicit Environment(std::initializer_list<std::pair<const char*, const char*>> set) {
    for (const char* name : variables) {
      if (const char* value = std::getenv(name)) before_.emplace_back(name, value);
      unsetenv(name);
    }
    for (const auto& [name, value] : set)
      setenv(name, value, 1);
  }
  ~Environment() {
    for (const char* name : variables)
      unsetenv(name);
    for (const auto& [name, value] : before_)
      setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::pair<std::string, std::string>> before_;
};

void check_launch(std::initializer_list<std::pair<const char*, const char*>> set,
                  const std::string& launcher, const std::vector<index_t>& want) {
  const Environment environment(set);
  const Launch launch = launch_of_process();
  CHECK(launch.problem == "");
  CHECK((launch.launcher ? launch.launcher : "") == launcher);
  CHECK(std::vector{launch.rank, launch.world_size, launch.local_rank, launch.local_world_size} ==
        want);
}

std::string problem_of(std::initializer_list<std::pair<const char*, const char*>> set) {
  const Environment environment(set);
  const Launch launch = launch_of_process();
  CHECK(launch.world_size == 1);
  CHECK(launch.local_world_size == 1);
  return launch.problem;
}

}  // namespace

TEST_CASE("the place of a process is what its launcher says") {
  check_launch({}, "", {0, 1, 0, 1});
  check_launch({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "4"}},
               "torchrun", {5, 8, 1, 4});
  check_launch({{"OMPI_COMM_WORLD_RANK", "3"},
                {"OMPI_COMM_WORLD_SIZE", "4"},
                {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}},
               "Open MPI", {3, 4, 0, 2});
  check_launch(
      {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}},
      "MPICH", {1, 2, 1, 2});
  // srun --mpi=pmi2
  check_launch({{"PMI_RANK", "5"},
                {"PMI_SIZE", "7"},
                {"SLURM_PROCID", "5"},
                {"SLURM_LOCALID", "1"},
                {"SLURM_NODEID", "1"},
                {"SLURM_STEP_TASKS_PER_NODE", "4,3"}},
               "MPICH", {5, 7, 1, 3});
  // mpirun of MPICH within a step of srun
  check_launch(
      {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "3"}},
      "MPICH", {1, 2, 0, 1});
  check_launch({{"SLURM_PROCID", "6"},
                {"SLURM_STEP_NUM_TASKS", "8"},
                {"SLURM_LOCALID", "2"},
                {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"}},
               "Slurm", {6, 8, 2, 4});
  // torchrun's count first; a batch script of Slurm was not launched; one word alone means
  // something else.
  check_launch({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"PMI_RANK", "7"}, {"PMI_SIZE", "9"}},
               "torchrun", {1, 2, 0, 1});
  check_launch({{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}}, "", {0, 1, 0, 1});
  check_launch({{"RANK", "colonel"}}, "", {0, 1, 0, 1});
  check_launch({{"RANK", "2"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "2"}}, "torchrun", {2, 4, 2, 3});
}

TEST_CASE("what is left in a shell does not hide the launcher") {
  check_launch({{"RANK", "0"},
                {"WORLD_SIZE", "1"},
                {"OMPI_COMM_WORLD_RANK", "3"},
                {"OMPI_COMM_WORLD_SIZE", "4"}},
               "Open MPI", {3, 4, 0, 1});
  check_launch({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, "MPICH",
               {1, 2, 0, 1});
  check_launch(
      {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}},
      "Slurm", {1, 2, 0, 1});
  check_launch({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "1"}},
               "torchrun", {0, 1, 0, 1});
  check_launch({{"RANK", "0"}, {"WORLD_SIZE", "1"}}, "torchrun", {0, 1, 0, 1});
  // Processes of torchrun in a step of srun are what torchrun says.
  check_launch({{"RANK", "0"},
                {"WORLD_SIZE", "1"},
                {"TORCHELASTIC_RUN_ID", "none"},
                {"SLURM_PROCID", "1"},
                {"SLURM_STEP_NUM_TASKS", "2"}},
               "torchrun", {0, 1, 0, 1});
  // One of torchrun's two variables.
  check_launch({{"WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
               "Open MPI", {1, 2, 0, 1});
  check_launch({{"RANK", "3"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}, "MPICH", {0, 1, 0, 1});
  check_launch({{"WORLD_SIZE", "1"}}, "", {0, 1, 0, 1});
  check_launch({{"WORLD_SIZE", "large"}}, "", {0, 1, 0, 1});
}

TEST_CASE("a process of srun takes the number of processes of its own node") {
  const auto check = [](const char* tasks, const char* node, const std::vector<index_t>& want) {
    INFO(tasks, " on node ", node ? node : "(not set)");
    const std::pair<const char*, const char*> own{"SLURM_NODEID", node ? node : ""};
    check_launch({{"SLURM_PROCID", "1"},
                  {"SLURM_STEP_NUM_TASKS", "30"},
                  {"SLURM_LOCALID", "1"},
                  {"SLURM_STEP_TASKS_PER_NODE", tasks},
                  node ? own : std::pair<const char*, const char*>{"SLURM_LOCALID", "1"}},
                 "Slurm", want);
  };
  check("4,3", "0", {1, 30, 1, 4});
  check("4,3", "1", {1, 30, 1, 3});
  check("4(x2),3", "0", {1, 30, 1, 4});
  check("4(x2),3", "1", {1, 30, 1, 4});
  check("4(x2),3", "2", {1, 30, 1, 3});
  check("5,4(x3),3(x2),2", "3", {1, 30, 1, 4});
  check("5,4(x3),3(x2),2", "4", {1, 30, 1, 3});
  check("5,4(x3),3(x2),2", "6", {1, 30, 1, 2});
  check("7", "0", {1, 30, 1, 7});
  // Without a number of the node, or one that is not in the list: the first.
  check("4(x2),3", nullptr, {1, 30, 1, 4});
  check("4,3", "2", {1, 30, 1, 4});
  check("4,3", "x", {1, 30, 1, 4});
  check("1,3", "0", {1, 30, 1, 2});  // at least those up to this one
}

TEST_CASE("an environment that cannot be right is a problem, and the process counts as alone") {
  CHECK(problem_of({{"RANK", "x"}, {"WORLD_SIZE", "2"}}) == "RANK='x' (want a number, 0 or more)");
  CHECK(problem_of({{"RANK", "1"}, {"WORLD_SIZE", ""}}) ==
        "WORLD_SIZE='' (want a number, 1 or more)");
  CHECK(problem_of({{"RANK", "0"}, {"WORLD_SIZE", "0"}}) ==
        "WORLD_SIZE='0' (want a number, 1 or more)");
  CHECK(problem_of({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}) ==
        "RANK='-1' (want a number, 0 or more)");
  CHECK(problem_of({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "1.5"}}) ==
        "LOCAL_RANK='1.5' (want a number, 0 or more)");
  CHECK(problem_of({{"RANK", "0"}, {"WORLD_SIZE", "99999999999999999999"}}) ==
        "WORLD_SIZE='99999999999999999999' (want a number, 1 or more)");
  CHECK(problem_of({{"RANK", "2"}, {"WORLD_SIZE", "2"}}) ==
        "RANK=2 and WORLD_SIZE=2 (want ranks that are less)");
  const std::string alone = " (each process would train alone)";
  CHECK(problem_of({{"WORLD_SIZE", "4"}}) == "WORLD_SIZE=4 and no RANK" + alone);
  CHECK(problem_of({{"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}}) ==
        "WORLD_SIZE=4 and no RANK" + alone);
  CHECK(problem_of({{"RANK", "0"}}) == "RANK=0 and no WORLD_SIZE" + alone);
  CHECK(problem_of({{"RANK", "3"}, {"PMI_RANK", "3"}}) == "RANK=3 and no WORLD_SIZE" + alone);
  for (const char* tasks : {"", "four", "4,", ",4", "4(x", "4(x)", "4(x2", "4(2)", "4(x2)3", "0",
                            "4,0", "4(x0)", "4 ,3", "-4"})
    CHECK(problem_of({{"SLURM_PROCID", "0"},
                      {"SLURM_STEP_NUM_TASKS", "8"},
                      {"SLURM_STEP_TASKS_PER_NODE", tasks}}) ==
          concat("SLURM_STEP_TASKS_PER_NODE='", tasks,
                 "' (want the number of processes on each node, such as 4(x2),3)"));
  CHECK(problem_of({{"RANK", "1("}, {"WORLD_SIZE", "2"}}) ==
        "RANK='1(' (want a number, 0 or more)");
}

TEST_CASE("processes that were launched together on a machine share its processors") {
  int alone = 0;
  {
    const Environment environment({});
    alone = Host().threads();
  }
  const Environment environment(
      {{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "1000"}});
  const int beside_others = Host().threads();
  // alone: the launcher has given it processors of its own.
  CHECK((beside_others == 1 || beside_others == alone));
  CHECK(Host({.threads = 3}).threads() == 3);
}

TEST_CASE(
    "a sampler of launched processes has the part of its own, or says why it does not know it") {
  {
    const Environment environment({{"RANK", "1"}, {"WORLD_SIZE", "3"}});
    CHECK(data::DistributedSampler(9, {.shuffle = false}).order(0) ==
          std::vector<index_t>{1, 4, 7});
  }
  const Environment environment({{"WORLD_SIZE", "3"}});
  CHECK(contains(error_of([] { data::DistributedSampler(9); }),
                 "gpunet::data::DistributedSampler: the environment has WORLD_SIZE=3 and no RANK"));
  CHECK(data::DistributedSampler(9, {.num_replicas = 3, .rank = 2, .shuffle = false}).order(0) ==
        std::vector<index_t>{2, 5, 8});
}

TEST_CASE("processors that a launcher leaves unused are told once a machine") {
  const auto text = [](const char* launcher, index_t local_rank, index_t local_world_size,
                       index_t bound) {
    return unused_processors(
        {.local_rank = local_rank, .local_world_size = local_world_size, .launcher = launcher},
        bound, 16);
  };
  CHECK(text("Open MPI", 0, 2, 1) ==
        "gpunet: Open MPI has bound each process to 1 of 16 processors, so a Host has as many "
        "threads (unused "
        "processors: "
        "14), start with mpirun --bind-to none, or srun --cpu-bind=none");
  CHECK(text("Open MPI", 0, 1, 1) != "");
  CHECK(text("Open MPI", 1, 2, 1) == "");
  CHECK(text("Open MPI", 0, 2, 8) == "");
  CHECK(text("Open MPI", 0, 16, 1) == "");
  CHECK(text(nullptr, 0, 1, 1) == "");  // taskset: somebody wants it
}
