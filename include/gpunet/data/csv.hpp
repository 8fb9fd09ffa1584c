// Tables in text files.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>

namespace gpunet::data {

// How a table is written.
struct CsvOptions {
  char separator = ',';  // between fields
  bool header = true;    // whether the first line has the names of the columns; else they are "0", "1", ...
  // Whether numbers() gives nan and inf as they are written. One of them makes every loss NaN, so that it is an Error.
  bool allow_nan = false;
};

// A column of words as numbers: values[row] is a position in `names`, which are sorted. Where all are numbers, they are
// sorted as such, and equal ones (1, 01, 1.0) are one class, called as the first of them is written.
struct Categories {
  std::vector<label_t> values;
  std::vector<std::string> names;
};

// A table of text, as it stands in a file. Columns are asked for by name and then made into numbers.
class Table {
 public:
  // Reads the text of a file: fields between separators, one line a row. A field in double quotes may hold separators,
  // line breaks, and quotes as two of them (RFC 4180). Lines end with \n, \r\n or \r; empty ones are left out. `path`
  // is for messages. Throws Error where there is no line at all (a header alone is a table without rows), rows differ
  // in length, a quote has no end, or two columns have one name.
  static Table parse(std::vector<char> text, std::string path, const CsvOptions& options = {});

  Table(Table&&) = default;
  Table& operator=(Table&&) = default;

  index_t rows() const { return static_cast<index_t>(lines_.size()); }
  const std::vector<std::string>& columns() const { return columns_; }

  // The text in a row, 0 to rows() - 1, of a column.
  std::string_view at(index_t row, const std::string& column) const { return field(row, position(column)); }

  // The numbers of some columns, [rows, columns.size()], row-major. Throws Error for what is no number, not finite
  // (unless allow_nan), or too large for a T; what is too small is 0.
  template <class T = float>
  std::vector<T> numbers(std::span<const std::string> columns) const;
  template <class T = float>
  std::vector<T> numbers(std::initializer_list<std::string> columns) const {
    return numbers<T>(std::span(columns.begin(), columns.size()));
  }
  template <class T = float>
  std::vector<T> numbers(const std::string& column) const {
    return numbers<T>({column});
  }

  // Those of all columns but one, such as that of the classes. Throws Error where none is left.
  template <class T = float>
  std::vector<T> numbers_but(const std::string& column) const {
    std::vector<std::string> others = columns_;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(position(column)));
    require(!others.empty(), "gpunet::data::Table: ", path_, " has no column but '", column,
            "' (want numbers beside it)");
    return numbers<T>(others);
  }

  // A column of a few different words, or numbers that stand for classes. Throws Error for an empty field, and for nan
  // or inf among numbers (unless allow_nan); among words they are words.
  Categories categories(const std::string& column) const;

 private:
  Table(std::vector<char> text, std::string path, const CsvOptions& options);

  // Makes by_name_. Throws Error where two names are equal.
  void sort_names();

  std::string_view field(index_t row, std::size_t column) const {
    return fields_[static_cast<std::size_t>(row) * width_ + column];
  }

  std::size_t position(const std::string& column) const;

  // "FILE:LINE: column 'NAME': "
  std::string where(index_t row, std::size_t column) const;

  template <class T>
  T number(index_t row, std::size_t column) const;
  [[noreturn]] void refuse(index_t row, std::size_t column, std::string_view why) const;

  std::string path_;
  bool allow_nan_ = false;
  std::vector<char> text_;                // a vector keeps its address when the table moves
  std::vector<std::string_view> fields_;  // [rows][width], in text_
  std::vector<index_t> lines_;            // of the file, where each row begins
  std::vector<std::string> columns_;
  std::vector<std::size_t> by_name_;  // the positions of the columns, sorted by their names
  std::size_t width_ = 0;
};

// Reads a table from a file: read_csv("iris.csv").numbers({"width", "length"}). Throws Error with file, line and
// column.
Table read_csv(const std::string& path, const CsvOptions& options = {});

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/csv.ipp>
#endif
