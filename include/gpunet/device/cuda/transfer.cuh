// Bytes from and to Cuda by the shortest way.
#pragma once

#include <gpunet/device/cuda/cuda.cuh>
#include <gpunet/device/transfer.hpp>

namespace gpunet {

inline void transfer(Host&, const void* source, Cuda& to, void* target, std::size_t bytes) {
  to.upload(target, source, bytes);
}

inline void transfer(Cuda& from, const void* source, Host&, void* target, std::size_t bytes) {
  from.download(target, source, bytes);
}

namespace detail {

// What `later` is given from now on waits for what `earlier` was given so far. The host does not.
inline void order(const Cuda& earlier, const Cuda& later) {
  const CurrentDevice current(earlier.ordinal());
  const Event reached = make_event();
  check(cudaEventRecord(reached.get(), earlier.stream()));
  check(cudaStreamWaitEvent(later.stream(), reached.get()));
}

}  // namespace detail

// From one GPU to another, straight where they have a way, or between two streams of one. The host does not wait.
inline void transfer(Cuda& from, const void* source, Cuda& to, void* target, std::size_t bytes) {
  if (&from == &to) return to.copy(target, source, bytes);
  if (bytes == 0) return;
  from.memory().share_with(to.ordinal());
  to.memory().share_with(from.ordinal());
  detail::order(from, to);
  const detail::CurrentDevice current(to.ordinal());
  check(cudaMemcpyPeerAsync(target, to.ordinal(), source, from.ordinal(), bytes, to.stream()));
  detail::order(to, from);  // so that `from` may free or overwrite the source
}

}  // namespace gpunet
