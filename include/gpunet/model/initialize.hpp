// Initial parameters and buffers of a network.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gpunet/device/host/draw.hpp>
#include <gpunet/graph/graph.hpp>
#include <gpunet/ops/map.hpp>

namespace gpunet {

// Returns the indices of the parameters in the order in which their values are drawn.
inline std::vector<std::size_t> drawing_order(const Graph& graph) {
  const auto place = [&](std::size_t i) {
    const auto after = static_cast<std::size_t>(graph.parameters[i].initial.drawn_after);
    return 2 * (i + after) + (after > 0 ? 1 : 0);
  };
  const auto is_before = [&](std::size_t i, std::size_t j) {
    return place(i) < place(j);
  };
  std::vector<std::size_t> order;
  order.reserve(graph.parameters.size());
  // Nearly all are inserted at the end: no element moves.
  for (std::size_t i = 0; i < graph.parameters.size(); ++i)
    order.insert(std::upper_bound(order.begin(), order.end(), i, is_before), i);
  return order;
}

// Draws the initial parameters of a network, in the order of torch.nn.
template <class D, class T>
void draw_parameters(D& device, const Graph& graph, Generator& generator, T* arena) {
  // Uniform values at a time, so that a large network needs no second copy.
  constexpr index_t most = 4096;
  std::vector<T> values;
  const auto lock = generator.lock();
  for (const std::size_t index : drawing_order(graph)) {
    const ParameterInfo& parameter = graph.parameters[index];
    T* first = arena + parameter.offset;
    T* const end = first + parameter.sizes.numel();
    const Initial& initial = parameter.initial;
    if (initial.copied_from > 0) continue;
    const auto a = static_cast<T>(initial.a), b = static_cast<T>(initial.b);
    generator.discard(static_cast<std::uint64_t>(initial.unused) * sizeof(T) /
                      sizeof(std::uint32_t));
    if (initial.kind == Initial::Kind::constant) {
      fill(device, end - first, a, first);
      continue;
    }
    const bool is_normal = initial.kind == Initial::Kind::normal;
    for (T* at = first; at < end; at += values.size()) {
      values.resize(static_cast<std::size_t>(is_normal ? end - at : std::min(most, end - at)));
      if (is_normal)
        draw_normal(generator, end - at, values.data(), initial.a, initial.b);
      else
        draw_uniform(generator, std::ssize(values), values.data(), a, b);
      device.upload(at, values.data(), values.size() * sizeof(T));
    }
    if (initial.zero_row < 0) continue;
    const index_t row = parameter.sizes.numel() / parameter.sizes[0];
    fill(device, row, T{}, first + initial.zero_row * row);
  }
  for (std::size_t i = 0; i < graph.parameters.size(); ++i)
    if (const auto distance = static_cast<std::size_t>(graph.parameters[i].initial.copied_from);
        distance > 0) {
      const ParameterInfo &to = graph.parameters[i], &from = graph.parameters[i - distance];
      device.copy(arena + to.offset, arena + from.offset,
                  static_cast<std::size_t>(to.sizes.numel()) * sizeof(T));
    }
}

// Returns a seed for the random numbers that ops use.
inline std::uint64_t draw_seed(Generator& generator) {
  const auto lock = generator.lock();
  return generator.random64();
}

// Sets the initial values of buffers.
template <class D, class T>
void initialize_buffers(D& device, const Graph& graph, T* arena) {
  fill(device, graph.buffer_elements, T{}, arena);  // counts are 0
  for (const BufferInfo& buffer : graph.buffers)
    if (buffer.kind == BufferKind::numbers)
      fill(device, buffer.sizes.numel(), static_cast<T>(buffer.initial), arena + buffer.offset);
}

}  // namespace gpunet
