// After warm-up, predictions and steps on one thread make no system call, take no lock and allocate
// nothing. Each runs in a process of its own, whose system calls a filter reports, and whose
// allocations and locks are counted by the functions below.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/create.hpp>

#include "support/networks.hpp"

using namespace gpunet;

namespace {

std::atomic<int> allocations{0}, locks{0};

// Counts a lock, and returns the function of the C library that takes it.
template <class F>
F* counted_lock(F*& original, const char* name) {
  locks.fetch_add(1);
  if (!original) original = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
  return original;
}

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t n, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);

void* malloc(std::size_t bytes) {
  allocations.fetch_add(1);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t bytes) {
  allocations.fetch_add(1);
  return __libc_calloc(n, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  allocations.fetch_add(1);
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  allocations.fetch_add(1);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  *memory = aligned_alloc(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}
void free(void* memory) {
  if (memory) allocations.fetch_add(1);
  __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static int (*original)(pthread_mutex_t*);
  return counted_lock(original, "pthread_mutex_lock")(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static int (*original)(pthread_mutex_t*);
  return counted_lock(original, "pthread_mutex_trylock")(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  static int (*original)(pthread_rwlock_t*);
  return counted_lock(original, "pthread_rwlock_rdlock")(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  static int (*original)(pthread_rwlock_t*);
  return counted_lock(original, "pthread_rwlock_wrlock")(lock);
}
}

namespace {

// The exit status of a watched process: bits of its findings.
enum Found { nothing = 0, an_allocation = 1, a_lock = 2, a_system_call = 4, an_exception = 8 };

void report_system_call(int, siginfo_t* info, void*) {
  char text[64];
  const int length = std::snprintf(text, sizeof text, "system call %d\n", info->si_syscall);
  [[maybe_unused]] const auto written = ::write(2, text, static_cast<std::size_t>(length));
  ::_exit(a_system_call);
}

// From now on the process may end and return from a signal, and write to stderr; all else is
// reported and ends it. Returns false if the system has no such filters.
bool filter_system_calls() {
  struct sigaction action {};
  action.sa_sigaction = report_system_call;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, nullptr);
  constexpr unsigned number = offsetof(seccomp_data, nr), argument = offsetof(seccomp_data, args);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
  };
  sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Ends this process with what 100 calls of `call` do, after two for warming up.
template <class F>
[[noreturn]] void watch(F call) {
  call();
  call();
  filter_system_calls();
  allocations = locks = 0;
  for (int i = 0; i < 100; ++i)
    call();
  const int allocated = allocations, locked = locks;
  ::_exit((allocated ? an_allocation : 0) | (locked ? a_lock : 0));
}

int failures = 0;

// Calls make(), which is to watch something, in a process of its own.
template <class F>
void expect(const char* what, int expected, F make) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      make();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    ::_exit(an_exception);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const int found = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::printf("%s: %s%s%s%s%s%s\n", what, found == nothing ? "nothing " : "",
              found & an_allocation ? "allocates " : "", found & a_lock ? "locks " : "",
              found & a_system_call ? "calls the system " : "",
              found & an_exception ? "throws " : "", found == expected ? "(right)" : "(WRONG)");
  failures += found != expected;
}

// Convolution, normalization, recurrence, attention.
nn::Value many_layers(nn::Value x) {
  x = nn::relu(nn::batch_norm(nn::conv2d(x, 8, 3, {.padding = 1})));
  x = nn::reshape(x, {16, 8});
  x = nn::lstm(x, 8).output;
  x = nn::layer_norm(x + nn::multihead_attention(x, x, 2));
  return nn::linear(nn::dropout(nn::gelu(nn::flatten(x)), 0.1), 4);
}

template <class Net>
void predict_into(const Net& net, const Sizes& inputs, const PredictorOptions& options = {}) {
  Host& host = net.device();
  const Tensor<float, Host> x = rand(host, inputs);
  Predictor<Host, float> predict(net, options);
  Tensor<float, Host> y(host, predict.output_sizes().with_front(inputs[0]));
  watch([&] { predict.into(y, x); });
}

template <class Net, class Optimizer>
void step(Net& net, Optimizer& optimizer, const Sizes& inputs) {
  Host& host = net.device();
  const Tensor<float, Host> x = rand(host, inputs);
  const Tensor<label_t, Host> labels(host, {inputs[0]},
                                     std::vector<label_t>(static_cast<std::size_t>(inputs[0]), 1));
  const nn::CrossEntropyLoss criterion;
  train::Step step(net, criterion, optimizer);
  [[maybe_unused]] volatile float last = 0;
  watch([&] { last = step(x, labels).item(); });
}

}  // namespace

int main() {
  std::mutex mutex;
  expect("an allocation", an_allocation, [] { watch([] { std::free(std::malloc(100)); }); });
  expect("a new object", an_allocation,
         [] { watch([] { std::make_unique<std::vector<float>>(100); }); });
  expect("a lock", a_lock, [&] { watch([&] { const std::lock_guard lock(mutex); }); });
  if (::fork() == 0) ::_exit(filter_system_calls() ? 0 : 1);
  int no_filters = 0;
  ::wait(&no_filters);
  if (no_filters)
    std::printf("system calls: not watched, this system has no filters for them\n");
  else
    expect("a system call", a_system_call, [] { watch([] { ::syscall(SYS_getppid); }); });

  for (const index_t batch : {1, 3, 16})
    expect("LeNet, predict.into", nothing, [&] {
      Host host({.threads = 1});
      predict_into(Model<LeNet, Host>(host), {batch, 3, 32, 32});
    });
  for (const Storage storage : {Storage::full, Storage::bfloat16, Storage::float16})
    for (const bool fold_batch_norm : {false, true})
      expect("many layers, predict.into", nothing, [&] {
        Host host({.threads = 1});
        predict_into(Network(host, many_layers, {2, 4, 4}), {1, 2, 4, 4},
                     {.storage = storage, .fold_batch_norm = fold_batch_norm});
      });
  expect("two inputs, predict.into", nothing, [] {
    Host host({.threads = 1});
    const Network net(host,
                      [](nn::Value a, nn::Value b) { return nn::linear(a, 3) + nn::linear(b, 3); },
                      {2}, {4});
    const Tensor<float, Host> a = rand(host, {5, 2}), b = rand(host, {5, 4});
    Tensor<float, Host> y(host, {5, 3});
    Predictor predict(net);
    watch([&] { predict.into(y, {a, b}); });
  });
  expect("LeNet, predict", nothing, [] {
    Host host({.threads = 1});
    const Model<LeNet, Host> net(host);
    Predictor<Host, float> predict(net);
    const Tensor<float, Host> x = rand(host, {1, 3, 32, 32});
    volatile float first = 0;
    watch([&] {
      const Tensor<float, Host> y = predict(x);
      first = y.data()[0];
    });
  });
  expect("weights that were published", nothing, [] {
    Host host({.threads = 1});
    Network net(host, many_layers, {2, 4, 4});
    const PublishedWeights weights(net);
    Predictor predict(weights);
    const Tensor<float, Host> x = rand(host, {1, 2, 4, 4});
    Tensor<float, Host> y(host, {1, 4});
    watch([&] { predict.into(y, x); });
  });
  for (const index_t batch : {1, 4, 32}) {
    expect("LeNet, Step with SGD", nothing, [&] {
      Host host({.threads = 1});
      Model<LeNet, Host> net(host);
      optim::SGD optimizer(net, {.lr = 0.01, .momentum = 0.9});
      step(net, optimizer, {batch, 3, 32, 32});
    });
    expect("many layers, Step with AdamW", nothing, [&] {
      Host host({.threads = 1});
      Network net(host, many_layers, {2, 4, 4});
      optim::AdamW optimizer(net, {.lr = 0.01});
      step(net, optimizer, {batch, 2, 4, 4});
    });
  }
  if (failures) std::printf("%d are wrong\n", failures);
  return failures != 0;
}
