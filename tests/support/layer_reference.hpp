// Outputs and gradients of layers in PyTorch.
#pragma once

#include <string>
#include <vector>

#include "support/reference_file.hpp"

struct LayerReference {
  std::vector<double> y, dx, parameters;
};

// Returns the arrays of a layer.
inline LayerReference layer_reference(const ReferenceFile& file, const std::string& layer) {
  return {file.values(layer + ".y"), file.values(layer + ".dx"),
          file.values(layer + ".parameters")};
}
