// Tables in text files (CSV).
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>

namespace gpunet::data {

// The format of a table, with the names of pandas.read_csv.
struct CsvOptions {
  char separator = ',';  // between fields
  bool header = true;    // the first line has the names of the columns; else they are "0", "1", ...
  // Whether missing values are read, by numbers() as NaN, by categories() as -1, and infinite
  // numbers as they are. By default they are an Error, because one of them makes every loss NaN.
  bool allow_nan = false;
  // More words for missing values, as {"?", "-999"}. A number stands for all equal numbers.
  std::vector<std::string> na_values = {};
  // Whether pandas' words are missing values: an empty field, NA, N/A, n/a, #N/A, <NA>, NaN, nan,
  // null, NULL, None, ...
  bool keep_default_na = true;
  char decimal = '.';   // of numbers, '.' or ',': ',' reads 2,5
  char comment = '\0';  // lines that begin with it are skipped
};

// A column as classes: values[row] is an index into `names`; -1 for a missing value.
struct Categories {
  std::vector<label_t> values;
  std::vector<std::string> names;
};

// How Table::categories numbers fields that are none of the given names.
struct CategoryOptions {
  // The class of all such fields, as -1 or names.size(). Without it they are an Error.
  std::optional<label_t> unknown = {};
};

// A table of text. Its columns are accessed by name and converted to numbers or classes.
class Table {
 public:
  // Parses the text of a file: fields between separators, one row per line. A field in double
  // quotes may contain separators, line breaks, and quotes written twice (RFC 4180). Lines end with
  // \n, \r\n or \r; empty lines and lines of blanks are skipped. A first line `sep=;`, Excel's,
  // names the separator. `path` is for messages. Throws Error if there is no line (a header alone
  // is a table without rows), if rows differ in length, or if a quote is not closed.
  static Table parse(std::vector<char> text, std::string path, const CsvOptions& options = {});

  Table(Table&&) = default;
  Table& operator=(Table&&) = default;

  index_t rows() const { return static_cast<index_t>(lines_.size()); }
  // Returns the names of the columns. As in pandas, the second "x" is "x.1", and a third column
  // without a name is "Unnamed: 2".
  const std::vector<std::string>& columns() const { return columns_; }

  // Returns the text in row 0 to rows() - 1 of a column. Throws Error for an unknown column.
  std::string_view at(index_t row, const std::string& column) const {
    return field(row, position(column));
  }

  // Returns the numbers of some columns, [rows, columns.size()], row-major. Throws Error if a field
  // is not a number, missing or not finite (unless allow_nan; integers are never missing), or too
  // large for T. Numbers too small for T are 0.
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

  // Returns the numbers of all columns but one, for example the classes. Throws Error if it is the
  // only one.
  template <class T = float>
  std::vector<T> numbers_but(const std::string& column) const {
    std::vector<std::string> others = columns_;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(position(column)));
    require(!others.empty(), "gpunet::data::Table: ", path_, " has no column but '", column,
            "' (want numbers beside it)");
    return numbers<T>(others);
  }

  // Returns a column as classes with sorted names. If all fields are numbers, they are sorted as
  // numbers, and equal numbers (1, 01, 1.0) are one class, named as its first occurrence. Throws
  // Error for a missing value, and for inf among numbers (unless allow_nan).
  Categories categories(const std::string& column) const;
  // Returns a column as classes of these names, as of another table:
  // test.categories("color", kinds.names). If all names are numbers, fields are compared as
  // numbers. Throws Error for a missing value (unless allow_nan), for a field that is none of the
  // names (unless options.unknown), and for two equal names.
  Categories categories(const std::string& column, std::vector<std::string> names,
                        const CategoryOptions& options = {}) const;

 private:
  Table(std::vector<char> text, std::string path, const CsvOptions& options);

  // Names columns without a name, and renames columns with the name of another.
  void rename_columns();
  void sort_names();
  void collect_missing(const CsvOptions& options);

  std::string_view field(index_t row, std::size_t column) const {
    return fields_[static_cast<std::size_t>(row) * width_ + column];
  }

  std::size_t position(const std::string& column) const;

  // "FILE:LINE: column 'NAME': "
  std::string where(index_t row, std::size_t column) const;

  bool is_missing(std::string_view text) const;
  template <class T>
  T number(index_t row, std::size_t column) const;
  // Returns whether the field of a class is missing. Throws Error for it unless allow_nan.
  bool is_missing_class(index_t row, std::size_t column) const;

  // Throws Error for a field that is missing or not finite, as `what` says.
  [[noreturn]] void refuse(index_t row, std::size_t column, std::string_view what,
                           std::string_view why, std::string_view or_else = "") const;
  [[noreturn]] void refuse_number(index_t row, std::size_t column, bool fits) const;

  std::string path_;
  bool allow_nan_ = false;
  char decimal_ = '.';
  std::vector<std::string> na_words_;     // sorted
  std::vector<double> na_numbers_;        // numbers among them, without NaN
  std::vector<char> text_;                // keeps its address when the table is moved
  std::vector<std::string_view> fields_;  // [rows][width], in text_
  std::vector<index_t> lines_;            // the line of the file where each row begins
  std::vector<std::string> columns_;
  std::vector<std::size_t> by_name_;  // indices of columns, sorted by name
  std::size_t width_ = 0;
};

// Reads a table from a file: data::read_csv("iris.csv").numbers({"width", "length"}). Decompresses
// gzip, with <gpunet/io/zlib.hpp>. Throws Error as Table::parse, and for a file of another kind (a
// workbook of Excel, a web page, UTF-16).
Table read_csv(const std::string& path, const CsvOptions& options = {});

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/csv.ipp>
#endif
