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

// Visits the options of one group of parameters, beside its rates: options("eps", 1e-8).
class OptionVisitor {
 public:
  OptionVisitor(StateVisitor& state, index_t group);
  void operator()(const char* name, double value) const;

 private:
  StateVisitor& state_;
  std::string prefix_;
};

// Numbers that an optimizer stores beside its arrays, from step to step.
struct Progress {
  index_t steps = 0;   // for which arrays were stored
  double product = 1;  // of numbers of all steps, which NAdam needs

  bool operator==(const Progress&) const = default;
};

// Parameters of one group with the same progress, which one update does.
struct Segment {
  int group;
  Progress progress;
  std::vector<ArenaRange> ranges;
};

// The rates of an optimizer, and which parameters of its network it updates with which of them.
class ParamGroups : public Rates {
 public:
  // Returns a number that changes when the segments do.
  std::uint64_t layout() const { return layout_; }
  // Returns which parameters it updates, unless they have no gradient: indices of
  // Network::named_parameters(), ascending.
  const std::vector<int>& indices() const { return indices_; }

 protected:
  // `parameters`: their number. The other arguments are as of Rates.
  ParamGroups(const char* name, double lr, std::optional<double> momentum,
              std::optional<double> weight_decay, std::size_t parameters);
  ParamGroups(ParamGroups&&) noexcept;
  ~ParamGroups();

  // Leaves all other parameters out.
  void select(std::span<const int> parameters);
  // Appends a group of the parameters with these indices. Throws Error for one that another such
  // group has.
  void add_group(const Graph& graph, std::span<const int> parameters,
                 const ParamGroupOptions& options);
  // Returns the parameters in the order of PyTorch's state dict: group 0, then the next ones.
  std::vector<int> in_order() const;
  // Writes or reads the number of parameters of each group.
  void visit_groups(StateVisitor& state) const;
  // Return and set the progress of parameter i.
  Progress progress(int i) const;
  void set_progress(std::span<const Progress> of_parameters);

  // Returns the segments of the parameters that have gradients; others are skipped, as in PyTorch.
  // `plan_number`: see Network.
  std::vector<Segment>& segments_of(const Graph& graph, const Plan& plan,
                                    std::uint64_t plan_number);

 private:
  std::vector<int> indices_;           // of the parameters that are updated
  std::vector<int> group_of_;          // of the parameters; -1: not updated
  std::vector<Progress> progress_of_;  // of the parameters, when the segments were made
  std::vector<Segment> segments_;
  std::vector<int> segment_of_;               // of the parameters; -1: none
  std::optional<std::uint64_t> plan_number_;  // of the segments
  std::uint64_t layout_ = 0;
};

}  // namespace gpunet::optim

#if !GPUNET_COMPILED
#include <gpunet/optim/param_groups.ipp>
#endif
