// The groups of parameters of an optimizer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gpunet/graph/plan.hpp>
#include <gpunet/optim/rates.hpp>

namespace gpunet::optim {

// Parameters of one group with the same number of steps, which one update does.
struct Segment {
  int group;
  index_t steps;
  std::vector<ArenaRange> ranges;
};

// The rates of an optimizer, and which parameters of its network it updates with which of them.
class ParamGroups : public Rates {
 public:
  // Returns a number that changes when the segments do.
  std::uint64_t layout() const { return layout_; }

 protected:
  ParamGroups(const char* name, double lr, double momentum, double weight_decay, std::size_t parameters)
      : Rates(name, lr, momentum, weight_decay), group_of_(parameters), steps_of_(parameters) {}
  ParamGroups(ParamGroups&&) = default;
  ~ParamGroups() = default;

  // Leaves all other parameters out.
  void select(std::span<const int> parameters);
  // Appends a group of the parameters with these indices. Throws Error for one that another such group has.
  void add_group(const Graph& graph, std::span<const int> parameters, const ParamGroupOptions& options);
  // Returns the segments of the parameters that have gradients; others are skipped, as in PyTorch. `plan_number`: see Network.
  std::vector<Segment>& segments_of(const Graph& graph, const Plan& plan, std::uint64_t plan_number);

 private:
  std::vector<int> group_of_;      // of the parameters; -1: not updated
  std::vector<index_t> steps_of_;  // of the parameters, when the segments were made
  std::vector<Segment> segments_;
  std::vector<int> segment_of_;               // of the parameters; -1: none
  std::optional<std::uint64_t> plan_number_;  // of the segments
  std::uint64_t layout_ = 0;
};

}  // namespace gpunet::optim

#if !GPUNET_COMPILED
#include <gpunet/optim/param_groups.ipp>
#endif
