// Tables in text files (CSV).
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

// The format of a table.
struct CsvOptions {
  char separator = ',';  // between fields
  bool header = true;    // the first line has the names of the columns; else they are "0", "1", ...
  // Whether numbers() accepts nan and inf. By default they are an Error, because one of them makes every loss NaN.
  bool allow_nan = false;
};

// A column as classes: values[row] is an index into `names`, which are sorted. If all fields are numbers, they are
// sorted as numbers, and equal ones (1, 01, 1.0) are one class, named as its first occurrence.
struct Categories {
  std::vector<label_t> values;
  std::vector<std::string> names;
};

// A table of text. Its columns are accessed by name and converted to numbers or classes.
class Table {
 public:
  // Parses the text of a file: fields between separators, one row per line. A field in double quotes may contain
  // separators, line breaks, and quotes written twice (RFC 4180). Lines end with \n, \r\n or \r; empty lines are skipped.
  // `path` is for messages. Throws Error if there is no line (a header alone is a table without rows), if rows differ in
  // length, if a quote is not closed, or if two columns have the same name.
  static Table parse(std::vector<char> text, std::string path, const CsvOptions& options = {});

  Table(Table&&) = default;
  Table& operator=(Table&&) = default;

  index_t rows() const { return static_cast<index_t>(lines_.size()); }
  const std::vector<std::string>& columns() const { return columns_; }

  // Returns the text in row 0 to rows() - 1 of a column. Throws Error for an unknown column.
  std::string_view at(index_t row, const std::string& column) const { return field(row, position(column)); }

  // Returns the numbers of some columns, [rows, columns.size()], row-major. Throws Error if a field is not a number, not
  // finite (unless allow_nan), or too large for T. Numbers too small for T are 0.
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

  // Returns the numbers of all columns but one, for example the one of the classes. Throws Error if it is the only one.
  template <class T = float>
  std::vector<T> numbers_but(const std::string& column) const {
    std::vector<std::string> others = columns_;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(position(column)));
    require(!others.empty(), "gpunet::data::Table: ", path_, " has no column but '", column,
            "' (want numbers beside it)");
    return numbers<T>(others);
  }

  // Returns a column as classes. Throws Error for an empty field, and for nan or inf (unless allow_nan) if the other fields
  // are numbers.
  Categories categories(const std::string& column) const;

 private:
  Table(std::vector<char> text, std::string path, const CsvOptions& options);

  // Computes by_name_. Throws Error if two names are equal.
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
  std::vector<char> text_;                // keeps its address when the table is moved
  std::vector<std::string_view> fields_;  // [rows][width], in text_
  std::vector<index_t> lines_;            // the line of the file where each row begins
  std::vector<std::string> columns_;
  std::vector<std::size_t> by_name_;  // indices of columns, sorted by name
  std::size_t width_ = 0;
};

// Reads a table from a file: data::read_csv("iris.csv").numbers({"width", "length"}). Throws Error as Table::parse.
Table read_csv(const std::string& path, const CsvOptions& options = {});

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/csv.ipp>
#endif
