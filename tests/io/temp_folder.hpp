// Files for one test, and what an error says.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/file.hpp>

#include "support/errors.hpp"

// A new, empty folder that is removed with all it holds.
class TempFolder {
 public:
  TempFolder() : path_((std::filesystem::temp_directory_path() / "gpunet-test-XXXXXX").string()) {
    if (!mkdtemp(path_.data())) throw std::runtime_error("no temporary folder");
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::size_t count() const {
    const std::filesystem::directory_iterator files(path_);
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

 private:
  std::string path_;
};

inline std::string read_text(const std::string& path) {
  const std::vector<std::byte> bytes = gpunet::io::read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
