// Arrays that the scripts of reference/ computed.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/shape.hpp>
#include <gpunet/io/formats.hpp>

#include "test_config.hpp"

// A file reference/NAME.safetensors.
class ReferenceFile {
 public:
  explicit ReferenceFile(const std::string& name)
      : name_(name + ".safetensors"),
        file_(gpunet::io::read_tensors(GPUNET_TEST_REFERENCE "/" + name_)) {}

  // Returns the numbers of an array. Throws std::runtime_error if there is none of this name.
  template <class T = double>
  std::vector<T> values(std::string_view array) const {
    const gpunet::io::TensorEntry& entry = entry_of(array);
    std::vector<T> numbers(static_cast<std::size_t>(entry.sizes.numel()));
    gpunet::io::copy_as(entry, std::span(numbers));
    return numbers;
  }
  // Returns the rows of an array [rows, columns].
  template <class T = double>
  std::vector<std::vector<T>> rows(std::string_view array) const {
    const std::vector<T> numbers = values<T>(array);
    const gpunet::index_t columns = sizes(array)[1];
    std::vector<std::vector<T>> rows;
    for (auto row = numbers.begin(); row != numbers.end(); row += columns)
      rows.emplace_back(row, row + columns);
    return rows;
  }
  const gpunet::Sizes& sizes(std::string_view array) const { return entry_of(array).sizes; }
  // Returns the names of all arrays that begin and end like this.
  std::vector<std::string> names(std::string_view begin = "", std::string_view end = "") const {
    std::vector<std::string> names;
    for (const gpunet::io::TensorEntry& entry : file_.entries())
      if (entry.name.starts_with(begin) && entry.name.ends_with(end)) names.push_back(entry.name);
    return names;
  }
  const auto& metadata() const { return file_.metadata(); }

 private:
  const gpunet::io::TensorEntry& entry_of(std::string_view array) const {
    for (const gpunet::io::TensorEntry& entry : file_.entries())
      if (entry.name == array) return entry;
    throw std::runtime_error(name_ + " has no " + std::string(array));
  }

  std::string name_;
  gpunet::io::TensorFile file_;
};
