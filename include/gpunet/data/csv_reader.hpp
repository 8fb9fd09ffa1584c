// The fields of a text of comma-separated values (RFC 4180).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>

namespace gpunet::data::detail {

// The fields of a table, in the text that they were read from.
struct CsvRows {
  std::vector<std::string_view> fields = {};  // [lines.size()][width]
  std::vector<index_t> lines = {};            // of the text, where each row begins
  std::size_t width = 0;
};

// Reads a text into rows of equal length, one at least. Throws Error naming the line.
class CsvReader {
 public:
  // `path` is for messages.
  CsvReader(std::span<char> text, const std::string& path, char separator)
      : text_(text), path_(path), separator_(separator) {}

  // Cuts the text into fields, in place: a field never gets longer when its quotes go.
  CsvRows read() {
    require(!is_break(separator_) && separator_ != '"',
            "gpunet::data::read_csv: a separator that is a quote or a line break, give another");
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    char* at = text_.data();
    char* const end = at + text_.size();
    if (std::string_view(at, text_.size()).starts_with(byte_order_mark)) at += byte_order_mark.size();
    for (index_t line = 1; at < end;) {
      if (is_break(*at)) {  // an empty line
        at = behind_break(at, end);
        ++line;
        continue;
      }
      const std::size_t before = rows_.fields.size();
      const index_t first_line = line;
      at = read_row(at, end, line);
      const std::size_t count = rows_.fields.size() - before;
      if (rows_.lines.empty()) rows_.width = count;
      require(count == rows_.width, "gpunet::data::read_csv: ", path_, ":", first_line, ": ", count,
              " fields (want ", rows_.width, " as in the first line): look for a missing or an extra '", separator_,
              "' or quote");
      rows_.lines.push_back(first_line);
    }
    require(!rows_.lines.empty(), "gpunet::data::read_csv: ", path_, " is empty (want a table)");
    return std::move(rows_);
  }

 private:
  static bool is_break(char c) { return c == '\n' || c == '\r'; }
  // Of the lines that end with a break: \n, \r\n or \r.
  static char* behind_break(char* at, char* end) {
    return at + (*at == '\r' && at + 1 < end && at[1] == '\n' ? 2 : 1);
  }

  // Reads fields up to the end of a row; returns where the next one begins.
  char* read_row(char* at, char* end, index_t& line) {
    while (true) {
      if (at < end && *at == '"')
        at = read_quoted(at + 1, end, line);
      else
        at = read_plain(at, end);
      if (at < end && *at == separator_) {
        ++at;
        continue;
      }
      require(at == end || is_break(*at), "gpunet::data::read_csv: ", path_, ":", line,
              ": text behind the closing quote of a field (want '", separator_, "' or the end of the line)");
      ++line;
      return at < end ? behind_break(at, end) : end;
    }
  }

  char* read_plain(char* at, char* end) {
    char* const begin = at;
    while (at < end && *at != separator_ && !is_break(*at))
      ++at;
    rows_.fields.emplace_back(begin, static_cast<std::size_t>(at - begin));
    return at;
  }

  char* read_quoted(char* at, char* end, index_t& line) {
    char* const begin = at;
    char* to = at;
    const index_t first_line = line;
    while (true) {
      require(at < end, "gpunet::data::read_csv: ", path_, ":", first_line,
              ": a quote opens here and is never closed, close it (a quote inside a field is written twice)");
      if (*at == '"') {
        if (at + 1 == end || at[1] != '"') break;
        ++at;
      }
      line += is_break(*at) && behind_break(at, end) == at + 1;  // \r\n is counted once
      *to++ = *at++;
    }
    rows_.fields.emplace_back(begin, static_cast<std::size_t>(to - begin));
    return at + 1;
  }

  std::span<char> text_;
  const std::string& path_;
  char separator_;
  CsvRows rows_;
};

}  // namespace gpunet::data::detail
