// The order of the next epoch of a loader.
#pragma once

#include <optional>
#include <vector>

#include <gpunet/data/sampler.hpp>

inline std::vector<gpunet::index_t> draw_order(
    gpunet::index_t n, const std::optional<gpunet::data::RandomSampler>& sampler,
    gpunet::Generator& generator = gpunet::default_generator()) {
  return gpunet::data::order_of(n, sampler, gpunet::data::draw_seeds(sampler, generator));
}
