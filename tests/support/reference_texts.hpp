// Texts that the scripts of reference/ printed.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "test_config.hpp"

struct ReferenceText {
  std::string title, text;
};

// Returns the texts of a file reference/NAME.txt, without their last newline. A line "#### TITLE"
// begins each; those before the first are a comment.
inline std::vector<ReferenceText> reference_texts(const std::string& name) {
  std::ifstream file(GPUNET_TEST_REFERENCE "/" + name + ".txt");
  if (!file) throw std::runtime_error("no texts " + name);
  const std::string mark = "#### ";
  std::vector<ReferenceText> texts;
  bool is_first_line = false;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(mark)) {
      texts.push_back({line.substr(mark.size()), ""});
      is_first_line = true;
    } else if (!texts.empty()) {
      texts.back().text += (is_first_line ? "" : "\n") + line;
      is_first_line = false;
    }
  return texts;
}
