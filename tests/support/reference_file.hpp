// Arrays that the scripts of reference/ computed.
#pragma once

#include <doctest/doctest.h>
#include <span>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "test_config.hpp"

// A file reference/NAME.safetensors.
class ReferenceFile {
 public:
  explicit ReferenceFile(const std::string& name)
      : name_(name + ".safetensors"),
        file_(gpunet::io::read_tensors(GPUNET_TEST_REFERENCE "/" + name_)) {}

  // Returns the numbers of an array; fails the test case if there is none of this name.
  template <class T = double>
  std::vector<T> values(const std::string& array) const {
    for (const gpunet::io::TensorEntry& entry : file_.entries())
      if (entry.name == array) {
        std::vector<T> numbers(static_cast<std::size_t>(entry.sizes.numel()));
        gpunet::io::copy_as(entry, std::span(numbers));
        return numbers;
      }
    FAIL(name_ << " has no " << array);
    return {};
  }
  // Returns the names of all arrays.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const gpunet::io::TensorEntry& entry : file_.entries())
      names.push_back(entry.name);
    return names;
  }
  const auto& metadata() const { return file_.metadata(); }

 private:
  std::string name_;
  gpunet::io::TensorFile file_;
};
