// Tables in text files.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/data/csv_reader.hpp>
#include <gpunet/io/file.hpp>

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
  // is for messages. Throws Error where there is no line at all (a header alone is a table without rows), rows differ in
  // length, a quote has no end, or two columns have one name.
  static Table parse(std::vector<char> text, std::string path, const CsvOptions& options = {}) {
    return Table(std::move(text), std::move(path), options);
  }

  Table(Table&&) = default;
  Table& operator=(Table&&) = default;

  index_t rows() const { return static_cast<index_t>(lines_.size()); }
  const std::vector<std::string>& columns() const { return columns_; }

  // The text in a row, 0 to rows() - 1, of a column.
  std::string_view at(index_t row, const std::string& column) const { return field(row, position(column)); }

  // The numbers of some columns, [rows, columns.size()], row-major. Throws Error for what is no number, not finite (unless
  // allow_nan), or too large for a T; what is too small is 0.
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

  // Those of all columns but one, such as that of the classes. Throws Error where none is left.
  template <class T = float>
  std::vector<T> numbers_but(const std::string& column) const {
    std::vector<std::string> others = columns_;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(position(column)));
    require(!others.empty(), "gpunet::data::Table: ", path_, " has no column but '", column,
            "' (want numbers beside it)");
    return numbers<T>(others);
  }

  // A column of a few different words, or numbers that stand for classes. Throws Error for an empty field, and for nan or
  // inf among numbers (unless allow_nan); among words they are words.
  Categories categories(const std::string& column) const {
    const std::size_t i = position(column);
    bool are_numbers = true, has_nan = false;
    index_t not_finite = -1;  // the first row with such a number
    for (index_t row = 0; row < rows(); ++row) {
      if (field(row, i).empty())
        require(false, where(row, i), "the field is empty (want a class), fill it or leave the row out");
      const auto [value, ok, fits] = parse_number<double>(field(row, i));
      are_numbers &= ok;
      if (!ok || std::isfinite(value)) continue;
      has_nan |= std::isnan(value);
      if (not_finite < 0) not_finite = row;
    }
    if (are_numbers && not_finite >= 0 && !allow_nan_) refuse(not_finite, i, "(want a class)");
    are_numbers &= !has_nan;  // which has no place among numbers
    struct Class {
      std::string_view name;
      label_t number;
    };
    std::map<std::pair<double, std::string_view>, Class> classes;
    const auto key = [&](index_t row) {
      const std::string_view text = field(row, i);
      const double value = are_numbers ? parse_number<double>(text).value : 0;
      const bool is_exact =
          are_numbers && std::abs(value) < 0x1p53;  // else a double may be that of several numbers
      return std::pair(value, is_exact ? std::string_view() : text);
    };
    for (index_t row = 0; row < rows(); ++row)
      classes.try_emplace(key(row), Class{field(row, i), 0});
    Categories categories;
    for (auto& [value, of] : classes) {
      of.number = static_cast<label_t>(categories.names.size());
      categories.names.emplace_back(of.name);
    }
    for (index_t row = 0; row < rows(); ++row)
      categories.values.push_back(classes.find(key(row))->second.number);
    return categories;
  }

 private:
  Table(std::vector<char> text, std::string path, const CsvOptions& options)
      : path_(std::move(path)), allow_nan_(options.allow_nan), text_(std::move(text)) {
    detail::CsvRows rows = detail::CsvReader(text_, path_, options.separator).read();
    fields_ = std::move(rows.fields), lines_ = std::move(rows.lines), width_ = rows.width;
    if (options.header) {
      columns_.assign(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(width_));
      fields_.erase(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(width_));
      lines_.erase(lines_.begin());
    } else {
      for (std::size_t i = 0; i < width_; ++i)
        columns_.push_back(std::to_string(i));
    }
    sort_names();
  }

  // Makes by_name_. Throws Error where two names are equal.
  void sort_names() {
    for (std::size_t i = 0; i < width_; ++i)
      by_name_.push_back(i);
    std::sort(by_name_.begin(), by_name_.end(), [this](std::size_t a, std::size_t b) {
      return std::pair(std::string_view(columns_[a]), a) < std::pair(std::string_view(columns_[b]), b);
    });
    for (std::size_t i = 1; i < width_; ++i)
      require(columns_[by_name_[i - 1]] != columns_[by_name_[i]], "gpunet::data::read_csv: ", path_, ": columns ",
              by_name_[i - 1] + 1, " and ", by_name_[i] + 1, " are both called '", columns_[by_name_[i]],
              "', rename one");
  }

  std::string_view field(index_t row, std::size_t column) const {
    return fields_[static_cast<std::size_t>(row) * width_ + column];
  }

  std::size_t position(const std::string& column) const {
    const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), column,
                                     [this](std::size_t i, const std::string& name) { return columns_[i] < name; });
    if (at != by_name_.end() && columns_[*at] == column) return *at;
    const auto quoted = [](const std::string& name) {
      return concat('\'', name, '\'');
    };
    throw Error(concat("gpunet::data::Table: ", path_, " has no column '", column, "' (it has ",
                       gpunet::detail::short_list(columns_, quoted), ")"));
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
    const bool is_whole = end == text.data() + text.size(), fits = error != std::errc::result_out_of_range;
    if constexpr (std::is_floating_point_v<T>)
      if (is_whole && !fits && is_below_one(text)) return {text.front() == '-' ? -T{} : T{}, true, true};
    return {value, is_whole && error == std::errc(), fits};
  }
  // Of a number that is out of range, by the place of its first digit and its exponent: whether it is too small.
  static bool is_below_one(std::string_view text) {
    const std::size_t e = std::min(text.find_first_of("eE"), text.size());
    const std::size_t point = std::min(text.find('.'), e), first = text.find_first_of("123456789");
    double exponent = 0;  // of any length
    const std::size_t digits = e + (text.substr(e).starts_with("e+") || text.substr(e).starts_with("E+") ? 2 : 1);
    if (e < text.size()) std::from_chars(text.data() + digits, text.data() + text.size(), exponent);
    return static_cast<double>(point) - static_cast<double>(first) + exponent < 0;
  }
  template <class T>
  T number(index_t row, std::size_t column) const {
    const std::string_view text = field(row, column);
    const auto [value, ok, fits] = parse_number<T>(text);
    if (!ok)
      require(false, where(row, column), "'", text.substr(0, 40), fits ? "' is not a number" : "' is out of range",
              text.empty() ? ", fill the field or leave the row out"
                           : ", mend the line, or read a column of words with categories()");
    if constexpr (std::is_floating_point_v<T>)
      if (!allow_nan_ && !std::isfinite(value)) refuse(row, column, "(a loss would be NaN)");
    return value;
  }
  [[noreturn]] void refuse(index_t row, std::size_t column, std::string_view why) const {
    throw Error(concat(where(row, column), "'", field(row, column).substr(0, 40), "' is not finite ", why,
                       ", fill the field, leave the row out, or read the table with {.allow_nan = true}"));
  }

  std::string path_;
  bool allow_nan_ = false;
  std::vector<char> text_;                // a vector keeps its address when the table moves
  std::vector<std::string_view> fields_;  // [rows][width], in text_
  std::vector<index_t> lines_;            // of the file, where each row begins
  std::vector<std::string> columns_;
  std::vector<std::size_t> by_name_;  // the positions of the columns, sorted by their names
  std::size_t width_ = 0;
};

// Reads a table from a file: read_csv("iris.csv").numbers({"width", "length"}). Throws Error with file, line and column.
inline Table read_csv(const std::string& path, const CsvOptions& options = {}) {
  io::InputFile file(path);
  std::vector<char> text(file.size());
  file.read(std::as_writable_bytes(std::span(text)));
  return Table::parse(std::move(text), path, options);
}

}  // namespace gpunet::data
