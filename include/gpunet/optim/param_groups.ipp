// Bodies of param_groups.hpp.
#pragma once

#include <algorithm>
#include <numeric>

#include <gpunet/optim/param_groups.hpp>

namespace gpunet::optim {

GPUNET_INLINE ParamGroups::ParamGroups(const char* name, double lr, std::optional<double> momentum,
                                       std::optional<double> weight_decay, std::size_t parameters)
    : Rates(name, lr, momentum, weight_decay),
      indices_(parameters),
      group_of_(parameters),
      progress_of_(parameters) {
  std::iota(indices_.begin(), indices_.end(), 0);
}
GPUNET_INLINE ParamGroups::ParamGroups(ParamGroups&&) noexcept = default;
GPUNET_INLINE ParamGroups::~ParamGroups() = default;

GPUNET_INLINE void ParamGroups::select(std::span<const int> parameters) {
  indices_.assign(parameters.begin(), parameters.end());
  std::fill(group_of_.begin(), group_of_.end(), -1);
  for (const int i : parameters)
    group_of_[static_cast<std::size_t>(i)] = 0;
}

GPUNET_INLINE void ParamGroups::add_group(const Graph& graph, std::span<const int> parameters,
                                          const ParamGroupOptions& options) {
  for (const int i : parameters) {
    const auto at = static_cast<std::size_t>(i);
    require(group_of_[at] <= 0, "gpunet::optim::", name_,
            "::add_param_group: ", graph.parameters[at].name,
            " appears in more than one parameter group (group ", group_of_[at],
            " has it), name it in one");
  }
  add_rates(options);
  for (const int i : parameters)
    group_of_[static_cast<std::size_t>(i)] = static_cast<int>(groups()) - 1;
  indices_.clear();
  for (std::size_t i = 0; i < group_of_.size(); ++i)
    if (group_of_[i] >= 0) indices_.push_back(static_cast<int>(i));
  plan_number_ = std::nullopt;
}

GPUNET_INLINE std::vector<int> ParamGroups::in_order() const {
  std::vector<int> order = indices_;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return group_of_[static_cast<std::size_t>(a)] < group_of_[static_cast<std::size_t>(b)];
  });
  return order;
}

GPUNET_INLINE OptionVisitor::OptionVisitor(StateVisitor& state, index_t group)
    : state_(state), prefix_(concat("param_groups.", group, ".")) {}

GPUNET_INLINE void OptionVisitor::operator()(const char* name, double value) const {
  state_.option(prefix_ + name, value);
}

GPUNET_INLINE void ParamGroups::visit_groups(StateVisitor& state) const {
  std::vector<index_t> sizes(static_cast<std::size_t>(groups()));
  for (const int i : indices_)
    ++sizes[static_cast<std::size_t>(group_of_[static_cast<std::size_t>(i)])];
  for (std::size_t i = 0; i < sizes.size(); ++i)
    state.option(concat("param_groups.", i, ".params"), static_cast<double>(sizes[i]));
}

GPUNET_INLINE Progress ParamGroups::progress(int i) const {
  const auto at = static_cast<std::size_t>(i);
  const int segment = at < segment_of_.size() ? segment_of_[at] : -1;
  return segment >= 0 ? segments_[static_cast<std::size_t>(segment)].progress : progress_of_[at];
}

GPUNET_INLINE void ParamGroups::set_progress(std::span<const Progress> of_parameters) {
  progress_of_.assign(of_parameters.begin(), of_parameters.end());
  segments_.clear();
  segment_of_.clear();
  plan_number_ = std::nullopt;
}

GPUNET_INLINE std::vector<Segment>& ParamGroups::segments_of(const Graph& graph, const Plan& plan,
                                                             std::uint64_t plan_number) {
  if (plan_number_ == plan_number) return segments_;
  for (std::size_t i = 0; i < segment_of_.size(); ++i)
    if (segment_of_[i] >= 0)
      progress_of_[i] = segments_[static_cast<std::size_t>(segment_of_[i])].progress;
  segments_.clear();
  segment_of_.assign(group_of_.size(), -1);
  for (std::size_t i = 0; i < group_of_.size(); ++i) {
    if (group_of_[i] < 0 || !plan.has_gradient[i]) continue;
    const auto is_same = [&](const Segment& segment) {
      return segment.group == group_of_[i] && segment.progress == progress_of_[i];
    };
    auto found = std::find_if(segments_.begin(), segments_.end(), is_same);
    if (found == segments_.end())
      found = segments_.insert(found, {group_of_[i], progress_of_[i], {}});
    append(found->ranges, graph.parameters[i]);
    segment_of_[i] = static_cast<int>(found - segments_.begin());
  }
  plan_number_ = plan_number;
  ++layout_;
  return segments_;
}

}  // namespace gpunet::optim
