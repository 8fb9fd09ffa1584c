// Kills a process that saves without a pause, at random moments: gpunet_crash [kills]. Whatever
// moment that was, the file is the last one that was saved or the next, as a whole, the one before
// is there too, and the next save leaves nothing else in the folder.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gpunet/gpunet.hpp>
#include <gpunet/io/atomic_file.hpp>

#include "faults/weights.hpp"
#include "io/temp_folder.hpp"

using namespace gpunet;

namespace {

int failures = 0;

void check(bool is_right, const std::string& what) {
  if (is_right) return;
  ++failures;
  std::printf("WRONG: %s\n", what.c_str());
}

// Weights that say how often they were saved.
struct Saved : Weights {
  index_t number = 0;

  void set_number(index_t value) {
    number = value;
    set(static_cast<float>(value));
  }
  io::Checkpoint checkpoint(const std::string& path) {
    io::Checkpoint file(path, {.keep_last = 2});
    file.add("model", net).add("number", number);
    return file;
  }
  // Returns the number in a file.
  index_t load(const std::string& path) {
    number = -1;
    check(checkpoint(path).load(), path + " is gone");
    check(are(static_cast<float>(number)), path + " has weights of two saves");
    return number;
  }
};

// Memory that the processes share: the number of the last save that has returned, of the checkpoint
// and of the weights alone.
struct Done {
  std::atomic<index_t> checkpoint, weights;
};

[[noreturn]] void save_without_end(Saved& saved, const std::string& path,
                                   const std::string& weights, Done& done) {
  for (index_t i = done.checkpoint;;) {
    saved.set_number(++i);
    saved.checkpoint(path).save();
    done.checkpoint = i;
    io::save(saved.net, weights);
    done.weights = i;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long kills = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20;
  if (kills < 1 || argc > 2) {
    std::fprintf(stderr, "gpunet_crash: want the number of kills, 1 or more\n");
    return 2;
  }
  const TempFolder folder;
  const std::string path = folder / "run.safetensors", weights = folder / "weights.pth";
  void* const memory =
      ::mmap(nullptr, sizeof(Done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Done& done = *new (memory) Done{};
  Saved saved;
  saved.set_number(0);
  saved.checkpoint(path).save();
  io::save(saved.net, weights);

  index_t in_the_middle = 0;  // kills that left a temporary file
  for (long i = 0; i < kills; ++i) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) save_without_end(saved, path, weights, done);
    ::usleep(static_cast<useconds_t>(default_generator().uniform(0.0, 20000.0)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
          concat("kill ", i, ": the process had ended by itself"));
    in_the_middle += folder.count() > 3;

    const index_t last = done.checkpoint;
    const index_t found = saved.load(path);
    check(found == last || found == last + 1,
          concat("kill ", i, ": ", found, " is in the file, ", last, " was saved"));
    if (last > 0) {
      const index_t before = saved.load(io::earlier_name(path, 1));
      check(before == found || before == found - 1,
            concat("kill ", i, ": ", before, " is in the file before ", found));
    }
    io::load(saved.net, weights);
    const auto of_weights = static_cast<index_t>(saved.first());
    check(saved.are(saved.first()), concat("kill ", i, ": the weights are of two saves"));
    check(done.weights <= of_weights && of_weights <= found,
          concat("kill ", i, ": weights ", of_weights, " are in the file, ", done.weights.load(),
                 " were saved"));
    done.checkpoint = found;
    done.weights = of_weights;
  }
  saved.set_number(done.checkpoint);
  saved.checkpoint(path).save();
  io::save(saved.net, weights);
  check(folder.count() == 3, "other files are left in the folder");
  check(in_the_middle > 0, "no kill was within a save");
  std::printf("%ld kills, %lld of them within a save, %lld saves: %d wrong\n", kills,
              static_cast<long long>(in_the_middle), static_cast<long long>(done.checkpoint.load()),
              failures);
  return failures != 0;
}
