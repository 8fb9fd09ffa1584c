// Bodies of csv.hpp.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

#include <gpunet/core/text.hpp>
#include <gpunet/data/csv.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/foreign_file.hpp>
#include <gpunet/io/gzip.hpp>

namespace gpunet::data {

namespace detail {

// The fields of a table, as parts of the text.
struct CsvRows {
  std::vector<std::string_view> fields = {};  // [lines.size()][width]
  std::vector<index_t> lines = {};            // the line of the text where each row begins
  std::size_t width = 0;
};

GPUNET_INLINE bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// Returns the text without blanks around it.
GPUNET_INLINE std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

// Returns advice on options for a table that was read as a single column, from its first field;
// empty if the field has no sign of another format.
GPUNET_INLINE std::string other_format(std::string_view first_field) {
  if (first_field.starts_with('#')) return ", or skip the lines of comments: {.comment = '#'}";
  const std::size_t at = first_field.find_first_of(";\t|");
  if (at == std::string_view::npos) return {};
  return concat(", or name another separator: {.separator = '",
                first_field[at] == '\t' ? "\\t" : first_field.substr(at, 1), "'}");
}

// Splits a text into one or more rows of equal length. Errors name the line.
class CsvReader {
 public:
  // `path` is for messages.
  CsvReader(std::span<char> text, const std::string& path, const CsvOptions& options)
      : text_(text),
        path_(path),
        separator_(options.separator),
        comment_(options.comment),
        decimal_(options.decimal) {}

  // Splits the text into fields. Removes quotes in place.
  CsvRows read() {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    char* at = text_.data();
    char* const end = at + text_.size();
    if (std::string_view(at, text_.size()).starts_with(byte_order_mark))
      at += byte_order_mark.size();
    index_t line = 1;
    if (const std::string_view text(at, end);
        text.size() > 5 && text.starts_with("sep=") && is_break(text[5])) {
      separator_ = text[4];
      at = after_break(at + 5, end), ++line;
    }
    check_format();
    while (at < end) {
      if (char* const line_end = skipped(at, end)) {
        at = after_break(line_end, end);
        ++line;
        continue;
      }
      const std::size_t before = rows_.fields.size();
      const index_t first_line = line;
      at = read_row(at, end, line);
      const std::size_t count = rows_.fields.size() - before;
      if (rows_.lines.empty()) rows_.width = count;
      require(count == rows_.width, "gpunet::data::read_csv: ", path_, ":", first_line, ": ", count,
              " fields (want ", rows_.width,
              " as in the first line): look for a missing or an extra '", separator_, "' or quote",
              rows_.width == 1 ? other_format(rows_.fields[0]) : "");
      rows_.lines.push_back(first_line);
    }
    require(!rows_.lines.empty(), "gpunet::data::read_csv: ", path_, " is empty (want a table)");
    return std::move(rows_);
  }

 private:
  static bool is_break(char c) { return c == '\n' || c == '\r'; }
  // Returns the position after the line break at `at`: \n, \r\n or \r; the end for itself.
  static char* after_break(char* at, char* end) {
    if (at == end) return end;
    return at + (*at == '\r' && at + 1 < end && at[1] == '\n' ? 2 : 1);
  }

  // Throws Error for characters of the format that would be read as another part of it.
  void check_format() const {
    require(!is_break(separator_) && separator_ != '"',
            "gpunet::data::read_csv: a separator that is a quote or a line break, give another");
    require(decimal_ == '.' || decimal_ == ',', "gpunet::data::read_csv: a decimal point '",
            decimal_, "' (want '.' or ',')");
    require(decimal_ != separator_,
            "gpunet::data::read_csv: the separator and the decimal point are both '", separator_,
            "', give another {.separator = ';'}");
    require(comment_ != separator_ && comment_ != '"' && !is_break(comment_),
            "gpunet::data::read_csv: comments begin with the separator, a quote or a line break, "
            "which rows may begin with, too, give another {.comment = '#'}");
  }

  // Returns the end of a line of blanks or a comment; null for a row.
  char* skipped(char* at, char* end) const {
    if (comment_ != '\0' && *at == comment_) return std::find_if(at, end, is_break);
    char* const text =
        std::find_if(at, end, [&](char c) { return !is_blank(c) || c == separator_; });
    return text == end || is_break(*text) ? text : nullptr;
  }

  // Reads the fields of a row and returns the beginning of the next row.
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
              ": text after the closing quote of a field (want '", separator_,
              "' or the end of the line)");
      ++line;
      return after_break(at, end);
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
              ": a quote opens here and is never closed, close it (a quote inside a field is "
              "written twice)");
      if (*at == '"') {
        if (at + 1 == end || at[1] != '"') break;
        ++at;
      }
      line += is_break(*at) && after_break(at, end) == at + 1;  // \r\n is counted once
      *to++ = *at++;
    }
    rows_.fields.emplace_back(begin, static_cast<std::size_t>(to - begin));
    return at + 1;
  }

  std::span<char> text_;
  const std::string& path_;
  char separator_, comment_, decimal_;
  CsvRows rows_;
};

template <class T>
struct Number {
  T value;
  bool ok, fits;
};
// Returns whether a number that is out of range is too small, by the position of its first digit
// and its exponent.
GPUNET_INLINE bool is_below_one(std::string_view text) {
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = std::min(text.find('.'), e), first = text.find_first_of("123456789");
  double exponent = 0;  // of any length
  const std::size_t digits =
      e + (text.substr(e).starts_with("e+") || text.substr(e).starts_with("E+") ? 2 : 1);
  if (e < text.size()) std::from_chars(text.data() + digits, text.data() + text.size(), exponent);
  return static_cast<double>(point) - static_cast<double>(first) + exponent < 0;
}
// Parses a number with optional blanks around it, independently of the locale. With another
// decimal point than '.', a '.' is no part of a number.
template <class T>
Number<T> parse_number(std::string_view text, char decimal = '.') {
  if (decimal != '.') {
    std::string with_point(text);
    for (char& c : with_point)
      c = c == decimal ? '.' : c == '.' ? decimal : c;
    return parse_number<T>(with_point);
  }
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = end == text.data() + text.size(),
             fits = error != std::errc::result_out_of_range;
  if constexpr (std::is_floating_point_v<T>)
    if (is_whole && !fits && is_below_one(text))
      return {text.front() == '-' ? -T{} : T{}, true, true};
  return {value, is_whole && error == std::errc(), fits};
}

// Returns the text for a message; escapes NUL bytes, which would end it.
GPUNET_INLINE std::string shown(std::string_view text) {
  using namespace std::string_view_literals;
  return gpunet::detail::escaped(text, {{'\0', "\\0"sv}});
}

}  // namespace detail

GPUNET_INLINE Table Table::parse(std::vector<char> text, std::string path,
                                 const CsvOptions& options) {
  return Table(std::move(text), std::move(path), options);
}

GPUNET_INLINE Table::Table(std::vector<char> text, std::string path, const CsvOptions& options)
    : path_(std::move(path)),
      allow_nan_(options.allow_nan),
      decimal_(options.decimal),
      text_(std::move(text)) {
  detail::CsvRows rows = detail::CsvReader(text_, path_, options).read();
  fields_ = std::move(rows.fields), lines_ = std::move(rows.lines), width_ = rows.width;
  if (options.header) {
    columns_.assign(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(width_));
    fields_.erase(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(width_));
    lines_.erase(lines_.begin());
    rename_columns();
  } else {
    for (std::size_t i = 0; i < width_; ++i)
      columns_.push_back(std::to_string(i));
  }
  sort_names();
  collect_missing(options);
}

GPUNET_INLINE void Table::rename_columns() {
  // Unnamed columns come last: they give way to the others.
  std::vector<std::size_t> order, unnamed;
  for (std::size_t i = 0; i < width_; ++i) {
    (columns_[i].empty() ? unnamed : order).push_back(i);
    if (columns_[i].empty()) columns_[i] = concat("Unnamed: ", i);
  }
  order.insert(order.end(), unnamed.begin(), unnamed.end());
  // Of each name, for its next column; 0: the name itself is free.
  std::map<std::string, std::size_t> numbers;
  for (const std::string& name : columns_)
    numbers[name] = 0;
  for (const std::size_t i : order) {
    std::size_t& number = numbers[columns_[i]];
    std::string name = columns_[i];
    for (; number > 0 && numbers.contains(name); ++number)
      name = concat(columns_[i], '.', number);
    numbers[name] = std::max<std::size_t>(numbers[name], 1);
    columns_[i] = std::move(name);
  }
}

GPUNET_INLINE void Table::sort_names() {
  for (std::size_t i = 0; i < width_; ++i)
    by_name_.push_back(i);
  std::sort(by_name_.begin(), by_name_.end(),
            [this](std::size_t a, std::size_t b) { return columns_[a] < columns_[b]; });
}

GPUNET_INLINE void Table::collect_missing(const CsvOptions& options) {
  if (options.keep_default_na)  // pandas' STR_NA_VALUES
    na_words_ = {"",     "#N/A",   "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN",
                 "-nan", "1.#IND", "1.#QNAN",  "<NA>", "N/A",     "NA",       "NULL",
                 "NaN",  "None",   "n/a",      "nan",  "null"};
  for (const std::string& word : options.na_values)
    na_words_.emplace_back(detail::trimmed(word));
  std::sort(na_words_.begin(), na_words_.end());
  for (const std::string& word : na_words_)
    if (const auto number = detail::parse_number<double>(word, decimal_);
        number.ok && !std::isnan(number.value))
      na_numbers_.push_back(number.value);
}

GPUNET_INLINE bool Table::is_missing(std::string_view text) const {
  if (std::binary_search(na_words_.begin(), na_words_.end(), detail::trimmed(text))) return true;
  if (na_numbers_.empty()) return false;
  const auto number = detail::parse_number<double>(text, decimal_);
  return number.ok &&
         std::find(na_numbers_.begin(), na_numbers_.end(), number.value) != na_numbers_.end();
}

GPUNET_INLINE std::size_t Table::position(const std::string& column) const {
  const auto at = std::lower_bound(
      by_name_.begin(), by_name_.end(), column,
      [this](std::size_t i, const std::string& name) { return columns_[i] < name; });
  if (at != by_name_.end() && columns_[*at] == column) return *at;
  const auto quoted = [](const std::string& name) {
    return concat('\'', detail::shown(name), '\'');
  };
  throw_error(
      Error(concat("gpunet::data::Table: ", path_, " has no column '", detail::shown(column),
                   "' (it has ", gpunet::detail::short_list(columns_, quoted), ")",
                   width_ == 1 ? detail::other_format(columns_[0]) : "")));
}

GPUNET_INLINE std::string Table::where(index_t row, std::size_t column) const {
  return concat("gpunet::data::Table: ", path_, ":", lines_[static_cast<std::size_t>(row)],
                ": column '", detail::shown(columns_[column]), "': ");
}

GPUNET_INLINE void Table::refuse(index_t row, std::size_t column, std::string_view what,
                                 std::string_view why, std::string_view or_else) const {
  const std::string_view text = field(row, column);
  const std::string subject =
      text.empty() ? "the field" : concat("'", detail::shown(text.substr(0, 40)), "'");
  throw_error(Error(concat(
      where(row, column), subject, text.empty() ? " is empty " : what, why,
      ", fill the field, leave the row out, or read the table with {.allow_nan = true}", or_else)));
}

GPUNET_INLINE void Table::refuse_number(index_t row, std::size_t column, bool fits) const {
  const std::string_view text = field(row, column).substr(0, 40);
  std::string without_commas(text);
  std::erase(without_commas, ',');
  std::string advice = ", fix the line, or read a column of words with categories()";
  if (decimal_ == '.' && without_commas.size() < text.size() &&
      detail::parse_number<double>(without_commas).ok)
    advice =
        " (because of its comma), read decimal commas with {.decimal = ','}, or remove those "
        "between thousands";
  else if (text.find_first_of("0123456789") == std::string_view::npos)
    advice += concat(", or missing values with {.allow_nan = true, .na_values = {\"",
                     detail::shown(text), "\"}}");
  throw_error(Error(concat(where(row, column), "'", detail::shown(text),
                           fits ? "' is not a number" : "' is out of range", advice)));
}

template <class T>
T Table::number(index_t row, std::size_t column) const {
  const std::string_view text = field(row, column);
  const auto [value, ok, fits] = detail::parse_number<T>(text, decimal_);
  bool is_finite = ok;
  if constexpr (std::is_floating_point_v<T>) is_finite = ok && std::isfinite(value);
  if (is_finite && na_numbers_.empty()) return value;
  if (is_missing(text)) {
    if constexpr (!std::is_floating_point_v<T>)
      refuse(row, column, " is a missing value ", "(no integer is NaN)", " as numbers of float");
    else if (allow_nan_)
      return std::numeric_limits<T>::quiet_NaN();
    refuse(row, column, " is a missing value ", "(a loss would be NaN)");
  }
  if (!ok) refuse_number(row, column, fits);
  if (!is_finite && !allow_nan_) refuse(row, column, " is not finite ", "(a loss would be NaN)");
  return value;
}

template <class T>
std::vector<T> Table::numbers(std::span<const std::string> columns) const {
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

#if GPUNET_COMPILED  // all types of std::from_chars
template std::vector<float> Table::numbers(std::span<const std::string>) const;
template std::vector<double> Table::numbers(std::span<const std::string>) const;
template std::vector<long double> Table::numbers(std::span<const std::string>) const;
template std::vector<char> Table::numbers(std::span<const std::string>) const;
template std::vector<signed char> Table::numbers(std::span<const std::string>) const;
template std::vector<unsigned char> Table::numbers(std::span<const std::string>) const;
template std::vector<short> Table::numbers(std::span<const std::string>) const;
template std::vector<unsigned short> Table::numbers(std::span<const std::string>) const;
template std::vector<int> Table::numbers(std::span<const std::string>) const;
template std::vector<unsigned> Table::numbers(std::span<const std::string>) const;
template std::vector<long> Table::numbers(std::span<const std::string>) const;
template std::vector<unsigned long> Table::numbers(std::span<const std::string>) const;
template std::vector<long long> Table::numbers(std::span<const std::string>) const;
template std::vector<unsigned long long> Table::numbers(std::span<const std::string>) const;
#endif

namespace detail {

// The identity of a class: its number, or its text.
using ClassKey = std::pair<double, std::string_view>;

GPUNET_INLINE bool is_class_number(std::string_view text, char decimal) {
  const auto number = parse_number<double>(text, decimal);
  return number.ok && !std::isnan(number.value);  // NaN cannot be sorted as a number
}

GPUNET_INLINE ClassKey class_key(std::string_view text, bool are_numbers, char decimal) {
  if (!are_numbers) return {0, text};
  const auto [value, ok, fits] = parse_number<double>(text, decimal);
  // Larger numbers may round to the same double.
  const bool is_exact = ok && std::abs(value) < 0x1p53;
  return {value, is_exact ? std::string_view() : text};
}

}  // namespace detail

GPUNET_INLINE bool Table::is_missing_class(index_t row, std::size_t column) const {
  const std::string_view text = field(row, column);
  if (!is_missing(text)) return false;
  if (!allow_nan_)
    refuse(row, column, " is a missing value ", "(want a class)",
           " (as class -1) or, if it is a class, {.keep_default_na = false}");
  return true;
}

GPUNET_INLINE Categories Table::categories(const std::string& column) const {
  const std::size_t i = position(column);
  std::vector<index_t> present;  // rows
  for (index_t row = 0; row < rows(); ++row)
    if (!is_missing_class(row, i)) present.push_back(row);
  const bool are_numbers = std::all_of(present.begin(), present.end(), [&](index_t row) {
    return detail::is_class_number(field(row, i), decimal_);
  });
  std::map<detail::ClassKey, std::string_view> classes;
  for (const index_t row : present) {
    const detail::ClassKey key = detail::class_key(field(row, i), are_numbers, decimal_);
    if (!std::isfinite(key.first) && !allow_nan_)
      refuse(row, i, " is not finite ", "(want a class)");
    classes.try_emplace(key, field(row, i));
  }
  std::vector<std::string> names;
  for (const auto& [key, name] : classes)
    names.emplace_back(name);
  return categories(column, std::move(names));
}

GPUNET_INLINE Categories Table::categories(const std::string& column,
                                           std::vector<std::string> names,
                                           const CategoryOptions& options) const {
  const std::size_t i = position(column);
  const bool are_numbers = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return detail::is_class_number(name, decimal_);
  });
  Categories categories{{}, std::move(names)};
  std::map<detail::ClassKey, label_t> classes;
  for (const std::string& name : categories.names) {
    const auto number = static_cast<label_t>(classes.size());
    const auto [other, is_new] =
        classes.try_emplace(detail::class_key(name, are_numbers, decimal_), number);
    require(is_new, "gpunet::data::Table::categories: the names ", other->second, " and ", number,
            ", '", detail::shown(name), "', are one class, leave one out");
  }
  for (index_t row = 0; row < rows(); ++row) {
    if (is_missing_class(row, i)) {
      categories.values.push_back(-1);
      continue;
    }
    const std::string_view text = field(row, i);
    const auto found = classes.find(detail::class_key(text, are_numbers, decimal_));
    if (found == classes.end() && !options.unknown)
      throw_error(
          Error(concat(where(row, i), "'", detail::shown(text.substr(0, 40)), "' is none of the ",
                       categories.names.size(), " classes (",
                       gpunet::detail::short_list(
                           categories.names, [](const auto& name) { return detail::shown(name); }),
                       "), fix the line, or number all such fields: {.unknown = -1}")));
    categories.values.push_back(found != classes.end() ? found->second : *options.unknown);
  }
  return categories;
}

GPUNET_INLINE Table read_csv(const std::string& path, const CsvOptions& options) {
  io::InputFile file(path);
  std::vector<char> text(file.size());
  file.read(std::as_writable_bytes(std::span(text)));
  if (const auto packed = std::as_bytes(std::span(text)); io::is_gzip(packed)) {
    constexpr std::size_t most = std::size_t{4} << 30;  // bytes, decompressed
    const std::vector<std::byte> bytes = io::gunzip(packed, path, most);
    const std::string_view unpacked = io::detail::as_text(bytes);
    text.assign(unpacked.begin(), unpacked.end());
  }
  io::detail::refuse_foreign_table({text.data(), text.size()}, path);
  return Table::parse(std::move(text), path, options);
}

}  // namespace gpunet::data
