// Pages of errors, each with the lines that provoke it, its text and what to do next: one of all
// errors, and one of the most common ones.
#pragma once

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/temp_folder.hpp"
#include "support/errors.hpp"

// The tokens of some statements as a program would have them, one statement a line.
inline std::string as_code(std::string_view tokens) {
  std::string code(tokens);
  for (std::size_t i = code.find("; "); i != code.npos; i = code.find("; ", i))
    code.replace(i, 2, ";\n");
  // A line break of the source behind a bracket is a space among the tokens.
  for (std::size_t i = code.find("( "); i != code.npos; i = code.find("( ", i))
    code.erase(i + 1, 1);
  return code.ends_with(';') ? code : code + ";";
}

class ErrorPage {
 public:
  // The titles of the most common errors.
  explicit ErrorPage(std::set<std::string, std::less<>> common) : missing_(std::move(common)) {}

  // A paragraph. Before the first section it belongs to both pages, at the beginning of a section
  // to that, else to the error that follows.
  void text(std::string_view paragraph) { before_ += std::string(paragraph) + "\n\n"; }
  void section(std::string_view title) {
    if (all_.empty()) common_ = before_;
    all_ += std::exchange(before_, {});
    text("## " + std::string(title));
    section_.clear();
  }
  void code(std::string_view lines) { block("cpp", lines); }
  // A file as it is when the next error is met.
  void file(std::string_view name, std::string_view contents) {
    text("With this `" + std::string(name) + "`:");
    block("text", contents);
  }
  void error(std::string_view title, std::string_view lines, std::string_view message,
             std::string_view next) {
    CAPTURE(lines);
    CHECK(message.starts_with("gpunet::"));  // where; what is read by people
    CHECK(message.find("/tmp") == message.npos);
    entry(title, lines, "", message, next);
  }
  // The same for what is no Error: `means` is between the lines and their output.
  void entry(std::string_view title, std::string_view lines, std::string_view means,
             std::string_view output, std::string_view next) {
    ++entries_;
    if (before_.starts_with("## ")) section_ = std::exchange(before_, {}), all_ += section_;
    text("### " + std::string(title));
    code(lines);
    if (!means.empty()) text(means);
    block("text", output);
    text(next);
    all_ += before_;
    const std::string own = std::exchange(before_, {});
    if (missing_.erase(std::string(title)) > 0) common_ += std::exchange(section_, {}) + own;
  }

  // The pages, with one line break at the end.
  std::string all() const { return all_.substr(0, all_.size() - 1); }
  std::string common() const {
    for (const std::string& title : missing_)
      FAIL_CHECK("no error has the title \"" << title << "\"");
    return common_.substr(0, common_.size() - 1);
  }
  int entries() const { return entries_; }

 private:
  void block(std::string_view language, std::string_view lines) {
    const std::string fence = lines.find("```") == lines.npos ? "```" : "````";
    text(fence + std::string(language) + "\n" + std::string(lines) +
         (lines.ends_with('\n') ? "" : "\n") + fence);
  }

  std::set<std::string, std::less<>> missing_;
  std::string all_, common_, before_;
  std::string section_;  // its beginning, which the page of common errors lacks so far
  int entries_ = 0;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void write(const std::string& path, const std::string& contents) {
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder);
  std::ofstream(path, std::ios::binary) << contents;
}

// The current folder of the process is an empty one for a while: messages have names, and no paths
// of this machine.
class EmptyFolder {
 public:
  EmptyFolder() : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder_.path());
  }
  ~EmptyFolder() { std::filesystem::current_path(before_); }

 private:
  TempFolder folder_;
  std::filesystem::path before_;
};

// The lines of tests/compile_fail/NAME.cpp: the sentences that check.sh finds in the first error,
// or the note, a title, what to do next, and the program.
inline void compile_errors(ErrorPage& page) {
  page.section("Errors of the compiler");
  page.text(
      "Shapes and devices are part of types, so the compiler finds many errors. **Read only the "
      "first error**, "
      "which begins with "
      "`gpunet::` (after `error: static assertion failed:` in g++); the lines after it are "
      "template "
      "instantiations.");
  page.text(
      "gpunet has no message for template arguments written as in PyTorch, because the compiler "
      "refuses them "
      "before its checks. "
      "Layers name only their outputs:\n\n"
      "| written | g++ | clang++ | means |\n"
      "|---|---|---|---|\n"
      "| `nn::Linear<4, 2>` | `wrong number of template arguments (2, should be at least 0)` | "
      "`too many template "
      "arguments for class template 'Linear'` | `nn::Linear<2>` |\n"
      "| `nn::Conv2d<3, 6, 5>` | `type/value mismatch at argument 3 in template parameter list` | "
      "`template "
      "argument "
      "for template type parameter must be a type` | `nn::Conv2d<6, 5>`; a stride is "
      "`nn::Stride<2>` |");
  std::vector<std::filesystem::path> sources;
  for (const auto& entry :
       std::filesystem::directory_iterator(GPUNET_PROJECT "/tests/compile_fail"))
    if (entry.path().extension() == ".cpp") sources.push_back(entry.path());
  std::sort(sources.begin(), sources.end());
  for (const auto& source : sources) {
    std::istringstream lines(slurp(source));
    std::string line, message, title, next, code;
    while (std::getline(lines, line) && line.starts_with("//"))
      if (line.starts_with("// lines: "))
        continue;
      else if (line.starts_with("// note: "))
        message = line.substr(9);
      else if (line.starts_with("// expect: "))
        message += (message.empty() ? "" : " ") + line.substr(11);
      else if (title.empty())
        title = line.substr(3, line.size() - 4);  // without its stop
      else
        next += (next.empty() ? "" : " ") + line.substr(3);
    while (std::getline(lines, line))
      code +=
          line.starts_with("using namespace") || (code.empty() && line.empty()) ? "" : line + '\n';
    CAPTURE(source);
    CHECK(!next.empty());
    page.error(title, code, message, next);
  }
}

// Runs the statements behind the two texts and writes what they throw.
#define PROVOKE(title, next, ...) \
  page.error(title, as_code(#__VA_ARGS__), error_of([&] { __VA_ARGS__; }), next)
// What the statements below it find.
#define SHOW_AND_RUN(...)           \
  page.code(as_code(#__VA_ARGS__)); \
  __VA_ARGS__;
