// Learning rates of PyTorch's schedules: reference/lr_schedulers.py.
#pragma once

#include <string>
#include <vector>

#include "support/reference_file.hpp"

// The numbers when the schedule is made, and after each of 48 steps; no momentum where it stays.
struct ScheduleReference {
  std::vector<double> lr, momentum;
};

inline ScheduleReference schedule_reference(const std::string& name) {
  static const ReferenceFile file("lr_schedulers");
  const std::string momentum = name + ".momentum";
  return {file.values(name + ".lr"),
          file.names(momentum).empty() ? std::vector<double>() : file.values(momentum)};
}
