// The recorded graphs of training steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/device/cuda/launch.cuh>
#include <gpunet/device/cuda/recorded_graph.cuh>
#include <gpunet/nn/layer.hpp>
#include <gpunet/train/recording_status.hpp>

namespace gpunet::train {

// The properties of steps that submit the same work.
struct StepKind {
  index_t batch;
  nn::Mode mode;
  bool adds;  // to earlier gradients
  bool updates, reduces;
  double loss_gradient;

  bool operator==(const StepKind&) const = default;
};

// The state on which the graphs of a model and its optimizer depend.
struct StepBasis {
  std::array<const void*, 6> memory;  // NetworkAccess::memory_addresses
  std::uint64_t plan, layout;         // Network::plan_number(), ParamGroups::layout()
  std::uint64_t reducer;              // Network::reducer_number()

  bool operator==(const StepBasis&) const = default;
};

// The graphs of the steps of a model, one for each kind. No template: all optimizers share its
// code.
class StepRecordings {
 public:
  // Runs the work of a step: eagerly the first time, in which libraries and kernels are loaded,
  // then from a recording. Work that cannot be recorded stays eager. `work` changes nothing on the
  // host, so that it may run again.
  void run(Cuda& device, const StepKind& kind, const StepBasis& basis,
           const std::function<void()>& work) {
    if (gpunet::detail::checks_every_launch()) return work();
    if (basis != basis_) forget_graphs();
    basis_ = basis;
    Recording& recording = of(kind);
    if (recording.graph) return gpunet::detail::replay(device, recording.graph);
    if (!std::exchange(recording.is_warm, true) || recording.is_eager()) return work();
    gpunet::detail::Recorded recorded = gpunet::detail::record(device, std::cref(work));
    if (recorded.graph)
      gpunet::detail::replay(device, recorded.graph);
    else
      work();  // throws the errors of the work itself
    recording.graph = std::move(recorded.graph);
    recording.problem = std::move(recorded.problem);
  }

  // Drops the graphs of memory that has moved, or of other work. Steps that cannot be recorded are
  // not tried again.
  void forget_graphs() {
    std::erase_if(recordings_, [](const Recording& recording) { return !recording.is_eager(); });
  }

  // Returns whether steps on such batches are replayed.
  RecordingStatus status(index_t batch, nn::Mode mode) const {
    if (gpunet::detail::checks_every_launch())
      return {false, "GPUNET_CUDA_CHECK waits for every launch"};
    for (const Recording& r : recordings_)
      if (r.kind.batch == batch && r.kind.mode == mode && (r.graph || r.is_eager()))
        return {!r.is_eager(), r.problem};
    return {false, "not yet: the second step on batches of this size is recorded"};
  }

 private:
  struct Recording {
    StepKind kind;
    bool is_warm = false;
    gpunet::detail::GraphExec graph = nullptr;
    std::string problem = {};  // why there can be none

    bool is_eager() const { return !problem.empty(); }
  };
  // Of three batch sizes with three parts each; the oldest makes room.
  static constexpr index_t most_graphs = 9;
  // Kinds that cannot be recorded and are not tried again.
  static constexpr index_t most_eager = 256;

  Recording& of(const StepKind& kind) {
    for (Recording& recording : recordings_)
      if (recording.kind == kind) return recording;
    drop_oldest(false, most_graphs);
    drop_oldest(true, most_eager);
    return recordings_.emplace_back(Recording{kind});
  }

  // Makes room for one more step that can, or cannot, be recorded.
  void drop_oldest(bool eager, index_t most) {
    const auto is_of_kind = [eager](const Recording& recording) {
      return recording.is_eager() == eager;
    };
    if (std::count_if(recordings_.begin(), recordings_.end(), is_of_kind) >= most)
      recordings_.erase(std::find_if(recordings_.begin(), recordings_.end(), is_of_kind));
  }

  StepBasis basis_{};
  std::vector<Recording> recordings_;
};

}  // namespace gpunet::train
