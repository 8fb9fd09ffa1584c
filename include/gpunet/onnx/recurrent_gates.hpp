// The order of gates in recurrent layers of ONNX.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/ops/recurrent/cells.hpp>

namespace gpunet::onnx::detail {

// A cell as an operator of ONNX.
template <class Cell>
struct RecurrentGates;

template <>
struct RecurrentGates<LstmCell> {
  static constexpr std::array<index_t, 4> places{0, 2, 3, 1};  // in i, o, f, c of i, f, c, o
  static std::vector<std::string_view> activations() { return {"Sigmoid", "Tanh", "Tanh"}; }
};
template <>
struct RecurrentGates<GruCell> {
  static constexpr std::array<index_t, 3> places{1, 0, 2};  // in z, r, h of r, z, h
  static std::vector<std::string_view> activations() { return {"Sigmoid", "Tanh"}; }
};
template <bool relu>
struct RecurrentGates<RnnCell<relu>> {
  static constexpr std::array<index_t, 1> places{0};
  static std::vector<std::string_view> activations() { return {relu ? "Relu" : "Tanh"}; }
};

}  // namespace gpunet::onnx::detail
