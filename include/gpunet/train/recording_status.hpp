// The answer of train::Step::recording().
#pragma once

#include <string>

namespace gpunet::train {

// Whether steps are replayed from a recording.
struct RecordingStatus {
  bool recorded = false;
  std::string reason = {};  // why they are not; empty if they are
};

}  // namespace gpunet::train
