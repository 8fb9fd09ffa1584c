// Bodies of cross_entropy.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

#include <gpunet/device/host/flush_subnormals.hpp>
#include <gpunet/device/host/vector_math.hpp>
#include <gpunet/ops/cross_entropy/cross_entropy.hpp>

#define GPUNET_KERNELS <gpunet/ops/cross_entropy/host/groups.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet {

GPUNET_INLINE void cross_entropy(Host& device, const CrossEntropy<float>& loss) {
  if (loss.slice.inner != 16) return cross_entropy<Host, float>(device, loss);
  const detail::FlushSubnormals flush;  // as in a training step, where this is part of a task
  GPUNET_CALL_PATH(16, cross_entropy, loss);
}

GPUNET_INLINE void check_labels(std::string_view name, Host&, const label_t* labels, index_t count,
                                index_t classes, std::optional<index_t> ignored) {
  // One of these has its highest bit set unless a label is a class. In steps that compilers
  // vectorize.
  const auto last = static_cast<std::uint32_t>(
      std::min(classes - 1, index_t{std::numeric_limits<label_t>::max()}));
  const auto bits_of = [last](label_t label) {
    return static_cast<std::uint32_t>(label) | (last - static_cast<std::uint32_t>(label));
  };
  constexpr index_t step = 8;
  std::uint32_t bits[step] = {};
  index_t done = 0;
  for (; done + step <= count; done += step)
    for (index_t k = 0; k < step; ++k)
      bits[k] |= bits_of(labels[done + k]);
  for (; done < count; ++done)
    bits[0] |= bits_of(labels[done]);
  if (std::accumulate(bits, bits + step, std::uint32_t{0}, std::bit_or<>()) >> 31 == 0) return;
  for (index_t n = 0; n < count; ++n)
    require((labels[n] >= 0 && labels[n] < classes) || ignored == labels[n], "gpunet::", name,
            ": label ", labels[n], " of sample ", n, " of the batch is no class (want 0 to ",
            classes - 1, "): check the labels, or ",
            labels[n] < 0
                ? concat("leave those out that are none by {.ignore_index = ", labels[n], "}")
                : "give the network as many outputs as there are classes");
}

}  // namespace gpunet
