// Messages of errors.
#pragma once

#include <string>
#include <string_view>

#include <gpunet/core/error.hpp>

// Returns the message of the Error that `action` throws; empty if it throws none.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const gpunet::Error& error) {
    return error.what();
  }
  return {};
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
