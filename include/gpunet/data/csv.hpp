// Tables in text files.
#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>

namespace gpunet::data {

struct CsvOptions {
  char separator = ',';
  bool header = true;  // whether the first line has the names of the columns; else they are "0", "1", ...
};

// A column of words as numbers: values[row] is a position in `names`, which are sorted (as numbers if all are).
struct Categories {
  std::vector<label_t> values;
  std::vector<std::string> names;
};

// A table of text, as it stands in a file. Columns are asked for by name and then made into numbers.
class Table {
 public:
  // Reads the text of a file: fields between separators, one line a row. A field in double quotes may hold separators,
  // line breaks, and quotes as two of them (RFC 4180). Lines end with \n or \r\n; empty ones are left out. `path` is
  // for messages. Throws Error where rows differ in length, a quote has no end, or two columns have one name.
  static Table parse(std::vector<char> text, std::string path, const CsvOptions& options = {}) {
    return Table(std::move(text), std::move(path), options);
  }

  Table(Table&&) = default;
  Table& operator=(Table&&) = default;

  index_t rows() const { return static_cast<index_t>(lines_.size()); }
  const std::vector<std::string>& columns() const { return columns_; }

  // The text in a row, 0 to rows() - 1, of a column.
  std::string_view at(index_t row, const std::string& column) const { return field(row, position(column)); }

  // The numbers of some columns, [rows, columns.size()], row-major. Throws Error for what is no number.
  template <class T = float>
  std::vector<T> numbers(std::span<const std::string> columns) const {
    std::vector<std::size_t> positions;
    for (const std::string& column : columns)
      positions.push_back(position(column));
    std::vector<T> values;
    values.reserve(lines_.size() * positions.size());
    for (index_t row = 0; row < rows(); ++row)
      for (std::size_t i : positions)
        values.push_back(number<T>(row, i));
    return values;
  }
  template <class T = float>
  std::vector<T> numbers(std::initializer_list<std::string> columns) const {
    return numbers<T>(std::span(columns.begin(), columns.size()));
  }
  template <class T = float>
  std::vector<T> numbers(const std::string& column) const {
    return numbers<T>({column});
  }

  // A column of a few different words, or numbers that stand for classes. Throws Error for an empty field.
  Categories categories(const std::string& column) const {
    const std::size_t i = position(column);
    std::vector<std::string_view> names;
    for (index_t row = 0; row < rows(); ++row) {
      if (field(row, i).empty())
        require(false, where(row, i), "the field is empty (want a class), fill it or leave the row out");
      names.push_back(field(row, i));
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    if (std::all_of(names.begin(), names.end(), [](std::string_view name) {
          const auto [value, ok, fits] = parse_number<double>(name);
          return ok && value == value;  // "nan" has no place among numbers
        }))
      std::stable_sort(names.begin(), names.end(), [](std::string_view a, std::string_view b) {
        return parse_number<double>(a).value < parse_number<double>(b).value;
      });
    const std::vector<std::pair<std::string_view, label_t>> codes = code(names);
    Categories categories{{}, {names.begin(), names.end()}};
    for (index_t row = 0; row < rows(); ++row)
      categories.values.push_back(
          std::lower_bound(codes.begin(), codes.end(), std::pair(field(row, i), label_t{0}))->second);
    return categories;
  }

 private:
  Table(std::vector<char> text, std::string path, const CsvOptions& options)
      : path_(std::move(path)), text_(std::move(text)) {
    read_rows(options.separator);
    require(!lines_.empty(), "gpunet::data::read_csv: ", path_, " is empty (want a table)");
    if (options.header) {
      columns_.assign(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(width_));
      fields_.erase(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(width_));
      lines_.erase(lines_.begin());
    } else {
      for (std::size_t i = 0; i < width_; ++i)
        columns_.push_back(std::to_string(i));
    }
    for (std::size_t i = 0; i < width_; ++i)
      require(position(columns_[i]) == i, "gpunet::data::read_csv: ", path_, ": columns ",
              position(columns_[i]) + 1, " and ", i + 1, " are both called '", columns_[i], "', rename one");
  }

  // Cuts the text into fields, in place: a field never gets longer when its quotes go.
  void read_rows(char separator) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    char* at = text_.data();
    char* const end = at + text_.size();
    if (std::string_view(at, text_.size()).starts_with(byte_order_mark)) at += byte_order_mark.size();
    for (index_t line = 1; at < end;) {
      if (*at == '\n' || (*at == '\r' && (at + 1 == end || at[1] == '\n'))) {  // an empty line
        at += *at == '\r' && at + 1 < end ? 2 : 1;
        ++line;
        continue;
      }
      const std::size_t before = fields_.size();
      const index_t first_line = line;
      at = read_row(at, end, separator, line);
      const std::size_t count = fields_.size() - before;
      if (lines_.empty()) width_ = count;
      require(count == width_, "gpunet::data::read_csv: ", path_, ":", first_line, ": ", count, " fields (want ",
              width_, " as in the first line): look for a missing or an extra '", separator, "' or quote");
      lines_.push_back(first_line);
    }
  }

  // Reads fields up to the end of a row; returns where the next one begins.
  char* read_row(char* at, char* end, char separator, index_t& line) {
    while (true) {
      if (at < end && *at == '"')
        at = read_quoted(at + 1, end, line);
      else
        at = read_plain(at, end, separator);
      if (at < end && *at == separator) {
        ++at;
        continue;
      }
      if (at < end && *at == '\r') ++at;
      require(at == end || *at == '\n', "gpunet::data::read_csv: ", path_, ":", line,
              ": text behind the closing quote of a field (want '", separator, "' or the end of the line)");
      ++line;
      return at < end ? at + 1 : end;
    }
  }

  char* read_plain(char* at, char* end, char separator) {
    char* const begin = at;
    while (at < end && *at != separator && *at != '\n')
      ++at;
    char* last = at;
    if (last > begin && last[-1] == '\r' && (at == end || *at == '\n')) --last;
    fields_.emplace_back(begin, static_cast<std::size_t>(last - begin));
    return last;
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
      line += *at == '\n';
      *to++ = *at++;
    }
    fields_.emplace_back(begin, static_cast<std::size_t>(to - begin));
    return at + 1;
  }

  std::string_view field(index_t row, std::size_t column) const {
    return fields_[static_cast<std::size_t>(row) * width_ + column];
  }

  std::size_t position(const std::string& column) const {
    const auto at = std::find(columns_.begin(), columns_.end(), column);
    if (at == columns_.end()) {
      std::string known;
      for (const std::string& name : columns_)
        known += concat(known.empty() ? "'" : ", '", name, "'");
      require(false, "gpunet::data::Table: ", path_, " has no column '", column, "' (it has ", known, ")");
    }
    return static_cast<std::size_t>(at - columns_.begin());
  }

  // "FILE:LINE: column 'NAME': "
  std::string where(index_t row, std::size_t column) const {
    return concat("gpunet::data::Table: ", path_, ":", lines_[static_cast<std::size_t>(row)], ": column '",
                  columns_[column], "': ");
  }

  template <class T>
  struct Number {
    T value;
    bool ok, fits;
  };
  // A number with nothing but blanks around it. Independent of the locale.
  template <class T>
  static Number<T> parse_number(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
      text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
      text.remove_suffix(1);
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return {value, error == std::errc() && end == text.data() + text.size(),
            error != std::errc::result_out_of_range};
  }
  template <class T>
  T number(index_t row, std::size_t column) const {
    const std::string_view text = field(row, column);
    const auto [value, ok, fits] = parse_number<T>(text);
    if (!ok)
      require(false, where(row, column), "'", text.substr(0, 40), fits ? "' is not a number" : "' is out of range",
              text.empty() ? ", fill the field or leave the row out" : "");
    return value;
  }

  static std::vector<std::pair<std::string_view, label_t>> code(const std::vector<std::string_view>& names) {
    std::vector<std::pair<std::string_view, label_t>> codes;
    for (std::string_view name : names)
      codes.emplace_back(name, static_cast<label_t>(codes.size()));
    std::sort(codes.begin(), codes.end());
    return codes;
  }

  std::string path_;
  std::vector<char> text_;                // a vector keeps its address when the table moves
  std::vector<std::string_view> fields_;  // [rows][width], in text_
  std::vector<index_t> lines_;            // of the file, where each row begins
  std::vector<std::string> columns_;
  std::size_t width_ = 0;
};

// Reads a table from a file: read_csv("iris.csv").numbers({"width", "length"}). Throws Error with file, line and column.
inline Table read_csv(const std::string& path, const CsvOptions& options = {}) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  require(file != nullptr, "gpunet::data::read_csv: ", path, " cannot be opened (", std::strerror(errno), ")");
  std::vector<char> text;
  constexpr std::size_t piece = 1 << 16;
  for (std::size_t size = 0, read = piece; read == piece; text.resize(size += read)) {
    text.resize(size + piece);
    read = std::fread(text.data() + size, 1, piece, file.get());
  }
  require(!std::ferror(file.get()), "gpunet::data::read_csv: ", path, " cannot be read (", std::strerror(errno),
          ")");
  return Table::parse(std::move(text), path, options);
}

}  // namespace gpunet::data
