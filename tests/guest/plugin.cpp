// A shared library with a model inside, as a plug-in has it.
#include <algorithm>

#include "guest/training.hpp"

// Writes the losses and parameters of a training to `numbers`; returns how many they are.
extern "C" [[gnu::visibility("default")]] int guest_train(int threads, int workers,
                                                          float* numbers) {
  gpunet::Host device({.threads = threads});
  const auto result = guest::train(device, workers);
  std::copy(result.begin(), result.end(), numbers);
  return static_cast<int>(result.size());
}
