// The keys of a network's file of weights, beside those of PyTorch's.
#pragma once

#include <algorithm>
#include <doctest/doctest.h>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/reference_file.hpp"

// Compares key and shape of all arrays with the lines of a file's array.
template <class Net>
void check_keys(const Net& net, const ReferenceFile& file, const std::string& array) {
  std::set<std::string> keys, expected;
  for (const gpunet::ParameterInfo& parameter : net.named_parameters())
    keys.insert(gpunet::concat(parameter.name, " ", to_string(parameter.sizes)));
  for (const gpunet::BufferInfo& buffer : net.named_buffers())
    if (buffer.persistent) keys.insert(gpunet::concat(buffer.name, " ", to_string(buffer.sizes)));
  std::string line;
  for (const double byte : file.values(array))
    if (byte != '\n')
      line += static_cast<char>(byte);
    else
      expected.insert(std::exchange(line, ""));
  std::vector<std::string> differ;
  std::ranges::set_symmetric_difference(keys, expected, std::back_inserter(differ));
  for (const std::string& key : differ)
    FAIL_CHECK("only one has " << key);
  CHECK(!keys.empty());
}
